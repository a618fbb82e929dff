/* Starts beside blocks (starts.h). Their memory comes in slabs, and goes with the walk.
 */
#include "map/starts.h"
#include "map/bits.h"
#include "map/mark.h"
#include "map/mixed.h"

#define SLAB_BLOCKS 32u

struct haul__start_slab {
    struct haul__start_slab *next;
    uint64_t words[SLAB_BLOCKS][HAUL__START_WORDS];
};

int haul__starts_add(haul__start_notes *notes, const haul_allocator *allocator, haul__block *block)
{
    if (!notes->left) {
        struct haul__start_slab *slab = haul__allocate(allocator, sizeof *slab, sizeof(uint64_t));
        if (!slab)
            return 0;
        slab->next = notes->slabs;
        notes->slabs = slab;
        notes->left = SLAB_BLOCKS;
    }
    block->base = (uintptr_t)notes->slabs->words[--notes->left];
    memset(haul__starts_beside(block), 0, sizeof notes->slabs->words[0]);
    return 1;
}

/* The starts that the marks of a uniform block tell, of the words of a cell. */
static uint64_t marked_starts(const haul__block *block, unsigned number)
{
    const haul__cell *cell = &block->cells[number];
    return block->words ? haul__load_cell(cell)
                        : haul__words_of(cell->aux) & UINT64_C(0x5555555555555555);
}

int haul__starts_spell(haul__start_notes *notes, const haul__map *map, uintptr_t first,
                       uintptr_t last, int is_marked)
{
    uintptr_t at = first & ~(uintptr_t)(HAUL__BLOCK_BYTES - 1);
    for (; at <= last; at += HAUL__BLOCK_BYTES) {
        haul__block *block = haul__map_find(map, at);
        unsigned number;
        if (!haul__has_plain_starts(block))
            continue;
        if (!haul__starts_add(notes, &map->allocator, block))
            return 0;
        for (number = 0; is_marked && number < HAUL__CELLS; number++)
            haul__starts_beside(block)[number] = marked_starts(block, number);
    }
    return 1;
}

int haul__has_start(const haul__map *map, uintptr_t first, uintptr_t end)
{
    uintptr_t at, next;
    for (at = first; at < end; at = next) {
        const haul__block *block = haul__map_find(map, at);
        const uint64_t *starts = block ? haul__starts_beside(block) : NULL;
        uintptr_t last = at | (HAUL__CELL_BYTES - 1);
        next = starts ? last + 1 : (at | (HAUL__BLOCK_BYTES - 1)) + 1;
        if (last >= end)
            last = end - 1;
        if (starts && starts[haul__word_in_block(at) / 64] &
                          haul__range64(haul__word_in_cell(at), haul__word_in_cell(last)))
            return 1;
    }
    return 0;
}

int haul__is_range_end(const haul__map *map, uintptr_t address)
{
    const haul__block *block = haul__map_find(map, address);
    int is_live;
    if (!block)
        return 1;
    if (block->form == HAUL__MIXED)
        is_live = (int)((haul__load_cell(&block->cells[haul__cell_number(address)]) |
                         haul__slots(block)[haul__cell_number(address)]) >>
                        haul__word_in_cell(address)) &
                  1;
    else
        is_live = haul__any_live(map, address, address + HAUL__WORD);
    return is_live == haul__is_start_beside(block, address);
}

int haul__is_rest_dead(const haul__map *map, uintptr_t end)
{
    return end % HAUL__WORD == 0 || !haul__any_live(map, end, (end | (HAUL__WORD - 1)) + 1);
}

/* Does a range end before this address, or in its word? One that goes on behind a hole lies in
 * mixed blocks. */
static int is_end(const haul__map *map, uintptr_t end)
{
    const uintptr_t behind = (end | (HAUL__WORD - 1)) + 1;
    const haul__block *block;
    if (end % HAUL__WORD == 0)
        return haul__is_range_end(map, end);
    block = haul__map_find(map, behind);
    return !block || block->form != HAUL__MIXED || haul__is_range_end(map, behind);
}

int haul__is_known_range(const haul__map *map, uintptr_t first, uintptr_t end)
{
    if (!haul__is_start_beside(haul__map_find(map, first), first) ||
        haul__has_start(map, first + HAUL__WORD, end))
        return 0;
    return haul__is_rest_dead(map, end) && is_end(map, end);
}

void haul__starts_close(haul__start_notes *notes, const haul_allocator *allocator)
{
    while (notes->slabs) {
        struct haul__start_slab *slab = notes->slabs;
        notes->slabs = slab->next;
        haul__release(allocator, slab, sizeof *slab);
    }
    notes->left = 0;
}
