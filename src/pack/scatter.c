/* Scatter: from an arena back into the source, data only.
 *
 * The marks are those of gather, used the other way: live bytes that belong to no slot are written,
 * and nothing else. Arena and source are both passed once from front to back, and no object is
 * looked up.
 *
 * Equal bytes are not written, unless they were not sent. So string literals and other read-only
 * parts of a graph may be described, and unchanged pages stay clean. The comparison costs next to
 * nothing, since a line must be fetched before it can be written.
 */
#include "base/stream.h"
#include "map/mixed.h"
#include "pack/excluded_bytes.h"
#include "pack/fetch_ahead.h"
#include "pack/granule_data.h"
#include "pack/object_cells.h"
#include "pack/object_starts.h"
#include "pack/scatter.h"

#define FEW_BYTES ((size_t)32) /* up to this number, bytes are compared word by word */
/* up to this number, bytes are compared by wide words: a call of memcmp would cost more */
#define SOME_BYTES ((size_t)512)
/* bytes to prefetch while the caller waits: the size of a second-level cache */
#define FETCHED_BYTES ((size_t)1 << 20)

HAUL__INLINE int differ(const unsigned char *to, const unsigned char *from, size_t bytes)
{
    return bytes <= SOME_BYTES ? haul__differ_few(to, from, bytes) : memcmp(to, from, bytes) != 0;
}

HAUL__INLINE void scatter_bytes(unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t at;
    if (bytes > FEW_BYTES) {
        if (haul__load_word(to) != haul__load_word(from) || differ(to, from, bytes))
            haul__copy_few(to, from, bytes);
        return;
    }
    for (at = 0; at < bytes; at += HAUL__WORD)
        if (haul__load_word(from + at) != haul__load_word(to + at))
            memcpy(to + at, from + at, HAUL__WORD);
}

/* Copies words of the cell at `to`. In the arena, word i of the cell lies at `base` + i words. */
HAUL__INLINE void scatter_these(uint64_t words, unsigned char *to, const unsigned char *base)
{
    while (words) {
        unsigned at = haul__lowest64(words);
        uint64_t rest = ~(words >> at);
        unsigned run = rest ? haul__lowest64(rest) : 64u;
        scatter_bytes(to + at * HAUL__WORD, base + at * HAUL__WORD, run * HAUL__WORD);
        words &= at + run < 64u ? UINT64_MAX << (at + run) : 0u;
    }
}

/* Copies granules `live`, all or some of the cell's placed ones, without their slots. */
HAUL__INLINE void scatter_runs(uint64_t slots, unsigned char *to, const unsigned char *from,
                               uint32_t live, uint32_t placed)
{
    while (live) {
        unsigned first = haul__lowest32(live),
                 below = haul__bits32(placed & (((uint32_t)1 << first) - 1u));
        uint32_t rest = ~(live >> first);
        unsigned count = rest ? haul__lowest32(rest) : 32u;
        const uint64_t words = haul__range64(2 * first, 2 * (first + count) - 1);
        const unsigned char *run = from + below * HAUL__GRANULE;
        if (slots & words)
            scatter_these(words & ~slots, to, run - ((size_t)(2 * first) << HAUL__WORD_SHIFT));
        else
            scatter_bytes(to + first * HAUL__GRANULE, run, count * HAUL__GRANULE);
        live &= first + count < 32u ? UINT32_MAX << (first + count) : 0u;
    }
}

HAUL__HOT static void scatter_whole(const haul__map *map, const haul__block *block,
                                    unsigned char *to, const unsigned char *arena)
{
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++, to += HAUL__CELL_BYTES) {
        const unsigned char *from = arena + (haul__cell_rank(block, cell) << HAUL__GRANULE_SHIFT);
        uint32_t live = block->cells[cell].live;
        uint64_t slots = live ? haul__placed_slots(map, block, cell) : 0;
        haul__fetch_ahead(block, cell, (uintptr_t)to, (uintptr_t)from, 0);
        scatter_runs(slots, to, from, live, live);
    }
}

/* ---- Uniform blocks: object by object, the data between its slots. */

typedef struct data {
    size_t object;
    unsigned count;
    uint16_t offset[HAUL__SIMPLE_SLOTS + 1], bytes[HAUL__SIMPLE_SLOTS + 1];
} data;

static void add_data(data *to, size_t first, size_t end)
{
    if (first == end)
        return;
    to->offset[to->count] = (uint16_t)first;
    to->bytes[to->count++] = (uint16_t)(end - first);
}

static void lay_out(const haul__simple *simple, data *to)
{
    size_t cell, at = 0;
    uint64_t slots;
    to->object = simple->bytes;
    to->count = 0;
    for (cell = 0; cell < HAUL__SIMPLE_CELLS; cell++)
        for (slots = haul__simple_slots(simple, cell); slots; slots &= slots - 1) {
            size_t slot =
                cell * HAUL__CELL_BYTES + ((size_t)haul__lowest64(slots) << HAUL__WORD_SHIFT);
            add_data(to, at, slot);
            at = slot + HAUL__WORD;
        }
    add_data(to, at, simple->bytes);
}

/* Sizes and offsets are copied to locals, which no store to the source can change. */
HAUL__INLINE void scatter_cell_objects(const haul__cells *c, const unsigned char *from,
                                       const data *d, unsigned count)
{
    const size_t object = d->object;
    const uintptr_t address = c->address;
    size_t offset[HAUL__SIMPLE_SLOTS + 1], bytes[HAUL__SIMPLE_SLOTS + 1];
    uint32_t starts;
    unsigned i;
    for (i = 0; i < count; i++) {
        offset[i] = d->offset[i];
        bytes[i] = d->bytes[i];
    }
    for (starts = c->starts; starts; starts &= starts - 1, from += object) {
        unsigned char *to = (unsigned char *)(address + haul__lowest32(starts) * HAUL__GRANULE);
        for (i = 0; i < count; i++)
            scatter_bytes(to + offset[i], from + offset[i], bytes[i]);
    }
}

HAUL__INLINE void scatter_objects(const haul__map *map, const haul__block *block, uintptr_t address,
                                  const unsigned char *arena, const data *d, unsigned count)
{
    haul__cells c = haul__cells_begin(block, address, d->object);
    do {
        const unsigned char *from = arena + (haul__cell_rank(block, c.cell) << HAUL__GRANULE_SHIFT);
        const uint32_t live = block->cells[c.cell].live;
        haul__fetch_ahead(block, c.cell, c.address, (uintptr_t)from, 0);
        if (c.is_whole)
            scatter_cell_objects(&c, arena + haul__cells_place(&c), d, count);
        else
            scatter_runs(haul__placed_slots(map, block, c.cell), (unsigned char *)c.address, from,
                         live & ~haul__cells_done(&c), live);
    } while (haul__cells_next(&c));
}

/* Words [first, end) of a block, from an object that is partly in another block. */
static HAUL__NOINLINE void scatter_part(const haul__map *map, const haul__block *block,
                                        uintptr_t address, const unsigned char *arena,
                                        unsigned first, unsigned end)
{
    const unsigned char *const from =
        arena + (size_t)haul__place(block, address + first * HAUL__WORD);
    unsigned cell;
    for (cell = first / 64; cell * 64u < end; cell++)
        scatter_these(haul__words_between(cell, first, end) & ~haul__placed_slots(map, block, cell),
                      (unsigned char *)(address + cell * HAUL__CELL_BYTES),
                      (const unsigned char *)((uintptr_t)from + cell * HAUL__CELL_BYTES -
                                              first * HAUL__WORD));
}

/* A block that holds objects and nothing else. */
HAUL__INLINE void scatter_starts(const haul__map *map, const haul__block *block, uintptr_t address,
                                 const unsigned char *arena, const haul__objects *o, const data *d,
                                 unsigned count, int is_ragged)
{
    const size_t object = d->object, objects = o->count;
    const unsigned words = is_ragged ? 1 : 2, unit = words * HAUL__WORD; /* of a start */
    const unsigned char *const first = arena + (haul__cell_rank(block, 0) << HAUL__GRANULE_SHIFT);
    const unsigned char *from = first + o->carried * HAUL__GRANULE;
    haul__ragged_end end = haul__ragged_begin(o);
    size_t offset[HAUL__SIMPLE_SLOTS + 1], bytes[HAUL__SIMPLE_SLOTS + 1], k;
    unsigned i;
    for (i = 0; i < count; i++) {
        offset[i] = d->offset[i];
        bytes[i] = d->bytes[i];
    }
    if (o->carried)
        scatter_part(map, block, address, arena, 0, o->carried * words);
    for (k = 0; k < objects; k++, from += object) {
        const unsigned start = o->start[k];
        unsigned char *to = (unsigned char *)(address + (uintptr_t)start * unit);
        if (is_ragged) {
            const unsigned place = haul__ragged_place(&end, start);
            from = first + (size_t)place * HAUL__GRANULE + (start % 2) * HAUL__WORD;
            haul__ragged_next(&end, start, (unsigned)(object >> HAUL__WORD_SHIFT), place);
        }
        haul__fetch_objects(o, unit, k, address, (uintptr_t)from, 0);
        for (i = 0; i < count; i++)
            scatter_bytes(to + offset[i], from + offset[i], bytes[i]);
    }
    if (o->out * words < HAUL__BLOCK_WORDS)
        scatter_part(map, block, address, arena, o->out * words, (unsigned)HAUL__BLOCK_WORDS);
}

/* `o`: NULL if there are other things between the objects. */
HAUL__INLINE void scatter_either(const haul__map *map, const haul__block *block, uintptr_t address,
                                 const unsigned char *arena, const haul__objects *o, const data *d,
                                 unsigned count)
{
    if (block->words)
        scatter_starts(map, block, address, arena, o, d, count, 1);
    else if (o)
        scatter_starts(map, block, address, arena, o, d, count, 0);
    else
        scatter_objects(map, block, address, arena, d, count);
}

/* Most objects have their data in one or two runs: for these the innermost loop is unrolled. */
HAUL__INLINE void scatter_laid_out(const haul__map *map, const haul__block *block,
                                   uintptr_t address, const unsigned char *arena,
                                   const haul__objects *o, const data *d)
{
    switch (d->count) {
    case 1:
        scatter_either(map, block, address, arena, o, d, 1);
        break;
    case 2:
        scatter_either(map, block, address, arena, o, d, 2);
        break;
    default:
        scatter_either(map, block, address, arena, o, d, d->count);
    }
}

HAUL__HOT static void scatter_uniform(const haul__map *map, const haul__block *block,
                                      uintptr_t address, const unsigned char *arena)
{
    haul__objects o;
    data d;
    lay_out(haul__simple_of(map, block), &d);
    if (block->words)
        haul__find_ragged(block, &o);
    if (block->words || haul__find_objects(block, d.object, &o))
        scatter_laid_out(map, block, address, arena, &o, &d);
    else
        scatter_laid_out(map, block, address, arena, NULL, &d);
}

/* ---- Blocks with masks. */

/* A granule with one live word, in a block without special words. */
HAUL__INLINE void scatter_half(unsigned char *to, const unsigned char *from, uint64_t coded,
                               unsigned granule)
{
    const size_t at = haul__half_is_high(coded, granule) * HAUL__WORD;
    if (!haul__half_is_slot(coded, granule))
        scatter_bytes(to + at, from + at, HAUL__WORD);
}

/* Granules of a cell without slots, one by one, as gather has them. */
HAUL__INLINE void scatter_wholes(unsigned char *to, const unsigned char *from, uint32_t live,
                                 uint32_t whole)
{
    for (; whole; whole &= whole - 1) {
        const unsigned granule = haul__lowest32(whole);
        const unsigned below = haul__bits32(live & (((uint32_t)1 << granule) - 1u));
        if (haul__granules_differ(to + granule * HAUL__GRANULE, from + below * HAUL__GRANULE))
            memcpy(to + granule * HAUL__GRANULE, from + below * HAUL__GRANULE, HAUL__GRANULE);
    }
}

/* Granules `masked` of a cell, which are live in part, or may hold special words. `slots`: the
 * cell's; `excluded`: granules of which some bytes may be excluded. */
HAUL__INLINE void scatter_granules(const haul_plan *plan, const haul__block *block, uint32_t number,
                                   unsigned cell, unsigned char *to, const unsigned char *from,
                                   uint32_t masked, uint64_t slots, uint32_t excluded)
{
    const uint32_t slotted = slots ? haul__any_word(slots) : 0;
    const int has_special = block->side && block->side->has_special;
    const uint32_t live = block->cells[cell].live, behind = (live & ~masked & ~slotted) << 1;
    const uint8_t *prefix = has_special ? NULL : haul__prefix(block, cell / HAUL__PAGE_CELLS);
    const uint32_t halves = has_special ? 0 : haul__halves(block, cell);
    const uint64_t coded = halves ? haul__slots(block)[cell] : 0;
    for (; masked; masked &= masked - 1) {
        const unsigned granule = haul__lowest32(masked);
        const unsigned below = haul__bits32(live & (((uint32_t)1 << granule) - 1u));
        const unsigned in_page = (cell * 32u + granule) % HAUL__PAGE_GRANULES;
        const unsigned first = prefix ? haul__prefix_of(prefix, in_page) : 0;
        unsigned char *const at = to + granule * HAUL__GRANULE;
        if (HAUL__UNLIKELY(excluded >> granule & 1))
            haul__scatter_partly(
                block, cell * 32u + granule, at, from + below * HAUL__GRANULE,
                haul__data_beside(plan, block, number, cell * 32u + granule, slots));
        else if (halves >> granule & 1)
            scatter_half(at, from + below * HAUL__GRANULE, coded, granule);
        else if (first && !(slotted >> granule & 1))
            haul__write_first(at, from + below * HAUL__GRANULE, first,
                              (int)(behind >> granule) & 1);
        else
            haul__copy_bytes(at, from + below * HAUL__GRANULE,
                             haul__data_beside(plan, block, number, cell * 32u + granule, slots));
    }
}

HAUL__HOT static void scatter_masked(const haul_plan *plan, const haul__block *block,
                                     uint32_t number, unsigned char *to, const unsigned char *arena)
{
    const int has_special = block->side && block->side->has_special;
    const int has_exclusions = haul__has_exclusions(block);
    unsigned cell;
    for (cell = 0; cell < HAUL__CELLS; cell++, to += HAUL__CELL_BYTES) {
        const unsigned char *from = arena + (haul__cell_rank(block, cell) << HAUL__GRANULE_SHIFT);
        const uint32_t live = block->cells[cell].live;
        uint64_t slots;
        uint32_t masked, slotted, excluded = 0;
        if (cell % HAUL__PAGE_CELLS == 0)
            haul__fetch_prefixes(block, cell / HAUL__PAGE_CELLS + 1);
        if (!live)
            continue;
        haul__fetch_ahead(block, cell, (uintptr_t)to, (uintptr_t)from, 0);
        if (HAUL__UNLIKELY(has_exclusions))
            excluded = haul__excluded_granules(block, cell, HAUL__UNSENT | HAUL__UNRETURNED);
        masked = has_special ? live : live & (haul__masked(block, cell) | excluded);
        slots = haul__placed_slots(&plan->found.map, block, cell);
        slotted = slots ? haul__any_word(slots) : 0;
        scatter_wholes(to, from, live, live & ~masked & ~slotted);
        scatter_runs(slots, to, from, live & ~masked & slotted, live);
        scatter_granules(plan, block, number, cell, to, from, masked, slots, excluded);
    }
}

void haul__scatter_blocks(const haul_plan *plan, size_t first, size_t end,
                          const unsigned char *arena)
{
    const haul__map *map = &plan->found.map;
    size_t i;
    for (i = first; i < end; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        unsigned char *to = (unsigned char *)haul__block_address(map->numbers[i]);
        if (block->form == HAUL__FULL && haul__is_cut(block))
            haul__scatter_excluded(plan, block, map->numbers[i],
                                   arena + (haul__cell_rank(block, 0) << HAUL__GRANULE_SHIFT));
        else if (block->form == HAUL__FULL)
            haul__copy_changed(to, arena + (haul__cell_rank(block, 0) << HAUL__GRANULE_SHIFT),
                               HAUL__BLOCK_BYTES);
        else if (haul__is_uniform(block) && !block->side && !block->gap && !map->has_placements)
            scatter_uniform(map, block, haul__block_address(map->numbers[i]), arena);
        else if (haul__has_masks(block))
            scatter_masked(plan, block, map->numbers[i], to, arena);
        else
            scatter_whole(map, block, to, arena);
    }
}

void haul__fetch_scattered(const haul_plan *plan)
{
    const haul__map *map = &plan->found.map;
    size_t i;
    unsigned cell;
    for (i = 0; i < map->block_count && haul__place_of_block(plan, i) < FETCHED_BYTES; i++)
        for (cell = 0; cell < HAUL__CELLS; cell++)
            haul__fetch_lines(haul__block_address(map->numbers[i]) + cell * HAUL__CELL_BYTES,
                              haul__live(haul__plan_block(plan, i), cell), 1);
}
