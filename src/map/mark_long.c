/* Marking objects of simple types that are longer than a cell.
 *
 * Such an object lies in a few cells, of one block or two. All cells are read first, and written
 * only if none of its bytes was marked: haul__mark, if it must take over, finds the marks
 * unchanged. In blocks of its uniform form the start and the live granules tell all. In mixed
 * blocks slots are compared too, all words of a cell at once; there an object begins and ends at
 * any word.
 */
#include "map/bits.h"
#include "map/mark_long.h"

/* The granules of [*at, end) in the cell of *at, which moves on to the next cell. */
HAUL__INLINE uint32_t take_granules(uintptr_t *at, uintptr_t end)
{
    uintptr_t stop = (*at | (HAUL__CELL_BYTES - 1)) + 1;
    uint32_t granules;
    if (stop > end)
        stop = end;
    granules = haul__range32(haul__granule_in_cell(*at), haul__granule_in_cell(stop - 1));
    *at = stop;
    return granules;
}

int haul__mark_long(haul__block *block, haul__block *next, uintptr_t address,
                    const haul__simple *simple)
{
    const uintptr_t end = address + simple->bytes;
    const uint32_t start = (uint32_t)1 << haul__granule_in_cell(address);
    uint32_t any = 0, missing = ~haul__cell_of(block, address)->aux & start;
    uintptr_t at, in;
    for (at = address; at < end;) {
        haul__cell *cell =
            haul__cell_of(haul__block_number(at) == haul__block_number(address) ? block : next, at);
        uint32_t granules = take_granules(&at, end);
        any |= cell->live & granules;
        missing |= ~cell->live & granules;
    }
    if (any)
        return missing ? -1 : 0;
    for (at = in = address; at < end; in = at) {
        haul__cell *cell =
            haul__cell_of(haul__block_number(in) == haul__block_number(address) ? block : next, in);
        cell->live |= take_granules(&at, end);
    }
    haul__cell_of(block, address)->aux |= start;
    if (next != block)
        next->carry = haul__granules_left(address);
    return 1;
}

/* The part of an object in one cell. */
typedef struct cell_part {
    haul__block *block;
    unsigned number; /* of the cell */
    uint32_t granules;
    uint64_t words, wanted; /* its words in the cell, and which of them are slots */
} cell_part;

/* The part at *at, which moves on to the next part. */
HAUL__INLINE cell_part take_part(haul__block *block, haul__block *next, uintptr_t address,
                                 const haul__simple *simple, uintptr_t *at)
{
    const unsigned first = haul__word_in_cell(*at);
    cell_part p;
    p.block = haul__block_number(*at) == haul__block_number(address) ? block : next;
    p.number = haul__cell_number(*at);
    p.wanted = haul__slots_from(simple, (*at - address) >> HAUL__WORD_SHIFT) << first;
    p.granules = take_granules(at, address + simple->bytes);
    p.words = haul__range64(first, haul__word_in_cell(*at - 1));
    return p;
}

/* 0: no byte of the part is live; 1: all are, with the same slots; -1: neither, or this block
 * cannot tell. */
static int is_known(const cell_part *p)
{
    const haul__cell *cell = &p->block->cells[p->number];
    uint64_t live, slots;
    if (p->block->form != HAUL__MIXED)
        return p->wanted || p->block->words || (cell->live & p->granules) ||
                       (p->block->form == HAUL__BARE && (cell->aux & p->granules))
                   ? -1
                   : 0;
    live = haul__load_cell(cell) & p->words;
    slots = haul__slots(p->block)[p->number] & p->words;
    if (!(live | slots))
        return 0;
    return live == p->words && slots == p->wanted ? 1 : -1;
}

/* Marks a part that has had no live byte. */
static void mark_part(const cell_part *p)
{
    haul__cell *cell = &p->block->cells[p->number];
    if (p->block->form != HAUL__MIXED) {
        cell->live |= p->granules;
        return;
    }
    haul__store_cell(cell, haul__load_cell(cell) | p->words);
    haul__slots(p->block)[p->number] |= p->wanted;
}

int haul__mark_long_apart(haul__block *block, haul__block *next, uintptr_t address,
                          const haul__simple *simple)
{
    const uintptr_t end = address + simple->bytes;
    uintptr_t at = address;
    cell_part p = take_part(block, next, address, simple, &at);
    const int met = is_known(&p);
    while (at < end) {
        p = take_part(block, next, address, simple, &at);
        if (is_known(&p) != met)
            return -1;
    }
    for (at = address; met == 0 && at < end;) {
        p = take_part(block, next, address, simple, &at);
        mark_part(&p);
    }
    return met < 0 ? -1 : met == 0;
}
