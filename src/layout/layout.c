/* Layout: one sweep over the marks in order of address gives each cell its rank, the number of
 * granules placed before it.
 *
 * The slow obvious version keeps a table of objects with their new addresses. Here rank and live
 * bits answer for every address.
 *
 * Objects that need an alignment above a granule mark their page with it (haul__mark_placement).
 * Such a page is placed in units of that size: the arena position is rounded up before the page,
 * and a unit with a live granule gets a place as a whole, its dead granules as zeros. If the last
 * granule of a page and the first of the next are both live, an object may reach across, so both
 * pages get one unit: an object is never split.
 *
 * Devices fetch lines, and kernels take up to twice as long for arrays that begin within one. So a
 * large array, one as long as a block or longer, is aligned (haul__mark_array): a gap before the
 * cell where it begins, or before an earlier cell, so that no run of live granules is split. It
 * lies in the array's first block. No other large array begins there, unless it overlaps the
 * first, so a block needs one gap at most. If live granules fill the block from its beginning to
 * the array, there is no place for a gap, and the array follows its neighbour.
 *
 * With threads, they fold and count blocks first; one thread adds the counts up; then they rank the
 * cells. Placements above a granule depend on what lies before them, so one thread makes them.
 */
#include "base/sort.h"
#include "base/list.h"
#include "context/pulse.h"
#include "layout/layout.h"
#include "layout/lists.h"
#include "map/fold.h"
#include "map/forms.h"
#include "map/ragged.h"
#include "map/side.h"
#include "map/spare.h"

#define LINE_GRANULES (256u >> HAUL__GRANULE_SHIFT) /* a large array begins at a multiple of it */
/* A radix sort of so few blocks takes longer: it clears and adds up the counts of four passes. */
#define FEW_BLOCKS ((size_t)32)
/* Fewer blocks are folded as fast by one thread. */
#ifdef HAUL_STRESS_THREADS
#define WORTH_SWEEPING ((size_t)1)
#else
#define WORTH_SWEEPING ((size_t)128)
#endif

static int is_lower(const void *a, const void *b)
{
    const uint32_t *one = a, *other = b;
    return *one < *other;
}

/* Puts the blocks in order of address. Many: by a radix sort, lowest byte first, in four passes. */
static int sort_numbers(haul_context *context, haul__map *map)
{
    size_t bytes = map->block_count * sizeof *map->numbers, i;
    /* after four passes, the result is in the array that the first one read */
    uint32_t *from = map->numbers, *to, *other;
    unsigned shift;
    if (map->block_count <= FEW_BLOCKS) {
        haul__sort(map->numbers, map->block_count, sizeof *map->numbers, is_lower);
        return 1;
    }
    for (i = 1; i < map->block_count && from[i - 1] <= from[i]; i++)
        ;
    if (i >= map->block_count)
        return 1;
    other = to = haul__allocate(&context->allocator, bytes, sizeof *to);
    if (!to)
        return 0;
    for (shift = 0; shift < 32; shift += 8) {
        size_t count[257] = { 0 };
        uint32_t *swap;
        for (i = 0; i < map->block_count; i++)
            count[((from[i] >> shift) & 255u) + 1]++;
        for (i = 1; i < 256; i++)
            count[i] += count[i - 1];
        for (i = 0; i < map->block_count; i++)
            to[count[(from[i] >> shift) & 255u]++] = from[i];
        swap = from;
        from = to;
        to = swap;
    }
    haul__release(&context->allocator, other, bytes);
    return 1;
}

/* ---- Larger alignments. */

static int page_starts_live(const haul__block *block, size_t page)
{
    return (int)(haul__live(block, (unsigned)(page * HAUL__PAGE_CELLS)) & 1u);
}

static int page_ends_live(const haul__block *block, size_t page)
{
    return (int)(haul__live(block, (unsigned)((page + 1) * HAUL__PAGE_CELLS - 1)) >> 31);
}

static int page_is_empty(const haul__block *block, size_t page)
{
    size_t cell;
    for (cell = 0; cell < HAUL__PAGE_CELLS; cell++)
        if (haul__live(block, (unsigned)(page * HAUL__PAGE_CELLS + cell)))
            return 0;
    return 1;
}

static unsigned unit_of(const haul__block *block, size_t page)
{
    return block->side ? block->side->unit[page] : 0;
}

/* Gives pages `first` to `last`, counted over all blocks, the largest unit among them. */
static int spread_unit(haul__map *map, size_t first, size_t last, unsigned unit)
{
    size_t page;
    for (page = first; unit && page <= last; page++) {
        haul__side *side = haul__map_side(map, haul__map_block(map, page / HAUL__PAGES));
        if (!side)
            return 0;
        side->unit[page % HAUL__PAGES] = (uint8_t)unit;
    }
    return 1;
}

static int join_pages(haul__map *map)
{
    size_t pages = map->block_count * HAUL__PAGES, page, first = 0;
    unsigned unit = 0;
    for (page = 0; page < pages; page++) {
        const haul__block *block = haul__map_block(map, page / HAUL__PAGES);
        size_t in_block = page % HAUL__PAGES;
        int joined = 0;
        if (page > 0 && page_starts_live(block, in_block)) {
            if (in_block > 0)
                joined = page_ends_live(block, in_block - 1);
            else if (map->numbers[page / HAUL__PAGES] == map->numbers[page / HAUL__PAGES - 1] + 1)
                joined =
                    page_ends_live(haul__map_block(map, page / HAUL__PAGES - 1), HAUL__PAGES - 1);
        }
        if (!joined) {
            if (page > 0 && !spread_unit(map, first, page - 1, unit))
                return 0;
            first = page;
            unit = 0;
        }
        if (unit < unit_of(block, in_block))
            unit = unit_of(block, in_block);
    }
    return pages == 0 || spread_unit(map, first, pages - 1, unit);
}

/* Dead granules get a place too, with an empty byte mask, if their unit has a live one. */
static int fill_units(haul__map *map, haul__block *block, size_t page, unsigned unit)
{
    size_t granules = (size_t)1 << (unit - HAUL__GRANULE_SHIFT), at, i;
    size_t first = page * HAUL__PAGE_GRANULES;
    if (block->form == HAUL__FULL)
        return 1;
    if (!haul__mark_masks(map, block, page))
        return 0;
    for (at = first; at < first + HAUL__PAGE_GRANULES; at += granules) {
        int live = 0;
        for (i = at; i < at + granules; i++)
            live |= (int)(block->cells[i / 32].live >> (i % 32)) & 1;
        for (i = at; live && i < at + granules; i++)
            block->cells[i / 32].live |= (uint32_t)1 << (i % 32);
    }
    return 1;
}

/* ---- Large arrays. */

/* Do live granules meet at the beginning of a cell? */
static int is_run_across(const haul__map *map, size_t i, unsigned cell)
{
    const haul__block *block = haul__map_block(map, i);
    if (!(haul__live(block, cell) & 1u))
        return 0;
    if (cell > 0)
        return (int)(haul__live(block, cell - 1) >> 31);
    return i > 0 && map->numbers[i - 1] + 1 == map->numbers[i] &&
           haul__live(haul__map_block(map, i - 1), HAUL__CELLS - 1) >> 31;
}

/* Decides about the gap of a block that is placed from `at` on. */
static void find_gap(const haul__map *map, size_t i, uint64_t at)
{
    haul__block *block = haul__map_block(map, i);
    const unsigned start = (unsigned)(HAUL__BLOCK_GRANULES - block->hash);
    unsigned cell = start / 32, before;
    block->gap = block->gap_cell = 0;
    if (!block->hash)
        return;
    block->hash = 0;
    for (before = 0; before < cell; before++)
        at += haul__bits32(haul__live(block, before));
    at += haul__bits32(haul__live(block, cell) & (((uint32_t)1 << start % 32) - 1u));
    while (is_run_across(map, i, cell))
        if (cell-- == 0)
            return;
    block->gap = (uint8_t)((0 - at) % LINE_GRANULES);
    block->gap_cell = (uint8_t)cell;
}

/* ---- The sweep. */

/* Must a block's marks be folded into live granules first? */
static int must_fold(const haul__map *map, const haul__block *block)
{
    return haul__has_masks(block) || block->form == HAUL__MIXED || map->has_placements;
}

/* Moves starts behind the cells: ranks take their room. Answers the number of starts. */
HAUL__HOT static size_t keep_starts(haul__block *block)
{
    size_t cell, count = 0;
    for (cell = 0; cell < HAUL__CELLS; cell++) {
        haul__starts(block)[cell] = block->cells[cell].aux;
        count += haul__bits32(block->cells[cell].aux);
    }
    return count;
}

HAUL__HOT static uint64_t rank_cells(haul__block *block, size_t first, size_t count, uint64_t at)
{
    size_t cell;
    if (block->form == HAUL__FULL) {
        if (first == 0)
            block->carry = at;
        return at + count * 32u;
    }
    for (cell = first; cell < first + count; cell++) {
        block->cells[cell].aux = (uint32_t)at;
        at += haul__bits32(block->cells[cell].live);
    }
    return at;
}

/* All cells, with the block's gap. */
static uint64_t rank_block(haul__block *block, uint64_t at)
{
    at = rank_cells(block, 0, block->gap_cell, at);
    return rank_cells(block, block->gap_cell, HAUL__CELLS - block->gap_cell, at + block->gap);
}

HAUL__HOT static size_t count_bits(const uint64_t *bits, size_t count)
{
    size_t i, sum = 0;
    for (i = 0; i < count; i++)
        sum += haul__bits64(bits[i]);
    return sum;
}

/* Granules from the last start to the block's end; 0: nothing starts in the block. */
static size_t last_granules(const haul__block *block)
{
    size_t cell = HAUL__CELLS;
    while (cell > 0 && !haul__starts(block)[cell - 1])
        cell--;
    return cell ? (HAUL__CELLS - cell + 1) * 32 - haul__highest64(haul__starts(block)[cell - 1])
                : 0;
}

/* The slots of all objects that start in the block, minus those behind its end, plus those of the
 * object that reaches into it. */
static size_t count_by_starts(const haul__simple *simple, haul__block *block)
{
    const size_t objects = keep_starts(block), last = last_granules(block);
    size_t count = objects * haul__count_slots(simple, 0);
    if (last)
        count -= haul__count_slots(simple, 2 * last);
    if (block->carry)
        count += haul__count_slots(simple, 2 * (size_t)block->carry);
    return count;
}

static size_t count_mixed(const haul__map *map, const haul__block *block)
{
    size_t count = 0;
    unsigned number;
    if (!block->side || !block->side->halves)
        return count_bits(haul__slots(block), HAUL__CELLS);
    for (number = 0; number < HAUL__CELLS; number++)
        count += haul__bits64(haul__placed_slots(map, block, number));
    return count;
}

/* Brings a block's slots into their final form, and counts them. */
static size_t close_slots(const haul__map *map, haul__block *block)
{
    if (block->words)
        return haul__ragged_count(haul__simple_of(map, block), block);
    if (haul__is_uniform(block))
        return count_by_starts(haul__simple_of(map, block), block);
    return block->form == HAUL__MIXED ? count_mixed(map, block) : 0;
}

static int has_units(const haul__block *block)
{
    size_t page = 0;
    while (page < HAUL__PAGES && !unit_of(block, page))
        page++;
    return page < HAUL__PAGES;
}

static int place_block(haul__map *map, size_t i, haul__placed *placed)
{
    haul__block *block = haul__map_block(map, i);
    uint64_t at = placed->granules;
    size_t page;
    placed->slots += close_slots(map, block);
    find_gap(map, i, at);
    block->base = at;
    if (!map->has_placements || !has_units(block)) {
        placed->granules = rank_block(block, at);
        if (!must_fold(map, block))
            placed->bytes += (size_t)(placed->granules - at - block->gap) << HAUL__GRANULE_SHIFT;
        return 1;
    }
    block->gap = block->gap_cell = 0;
    for (page = 0; page < HAUL__PAGES; page++) {
        unsigned unit = unit_of(block, page);
        if (unit > HAUL__GRANULE_SHIFT && !page_is_empty(block, page)) {
            uint64_t granules = UINT64_C(1) << (unit - HAUL__GRANULE_SHIFT);
            if (!fill_units(map, block, page, unit))
                return 0;
            at = (at + granules - 1) & ~(granules - 1);
            if (placed->alignment < (size_t)1 << unit)
                placed->alignment = (size_t)1 << unit;
        }
        at = rank_cells(block, page * HAUL__PAGE_CELLS, HAUL__PAGE_CELLS, at);
    }
    placed->granules = at;
    return 1;
}

#define PLACED_NS 4096u /* that a block takes, at most */

/* A block is placed as soon as it is folded, while it is in the cache. Placements need all blocks
 * folded first. */
static haul_status place_alone(haul_context *context, haul__map *map, haul__placed *placed)
{
    haul_status status = HAUL_OK;
    size_t i;
    unsigned cell;
    for (i = 0; i < map->block_count && status == HAUL_OK; i++) {
        haul__block *block = haul__map_block(map, i);
        for (cell = 0; i + 1 < map->block_count && cell < HAUL__CELLS; cell += 8)
            haul__prefetch_write(&haul__map_block(map, i + 1)->cells[cell]);
        if (must_fold(map, block) && !haul__mark_fold(map, block, &placed->bytes))
            return HAUL_ERROR_MEMORY;
        if (!map->has_placements && !place_block(map, i, placed))
            return HAUL_ERROR_MEMORY;
        status = haul__pulse_behind(context, i, PLACED_NS);
    }
    if (status == HAUL_OK && map->has_placements && !join_pages(map))
        return HAUL_ERROR_MEMORY;
    for (i = 0; map->has_placements && i < map->block_count && status == HAUL_OK; i++) {
        if (!place_block(map, i, placed))
            return HAUL_ERROR_MEMORY;
        status = haul__pulse_behind(context, i, PLACED_NS);
    }
    return status;
}

/* ---- The sweep by threads: fold and count, add up, rank. */

typedef struct sweep {
    haul__map *map;
    haul__map *parts;    /* one for each chunk: what it takes of the kept memory, and its bytes */
    size_t slots, bytes; /* atomic, as the next one is */
    size_t failures;
} sweep;

static uint64_t live_granules(const haul__block *block)
{
    uint64_t count = 0;
    unsigned cell;
    if (block->form == HAUL__FULL)
        return HAUL__BLOCK_GRANULES;
    for (cell = 0; cell < HAUL__CELLS; cell++)
        count += haul__bits32(block->cells[cell].live);
    return count;
}

/* Folds blocks. The number of their granules stands in the place of their base. */
static void fold_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    sweep *s = user;
    size_t slots = 0, bytes = 0;
    (void)scratch;
    for (; first < end; first++) {
        haul__block *block = haul__map_block(s->map, first);
        const int is_folded = must_fold(s->map, block);
        if (is_folded && !haul__mark_fold(&s->parts[number], block, &bytes)) {
            haul__atomic_add(&s->failures, (size_t)1);
            break;
        }
        slots += close_slots(s->map, block);
        block->base = live_granules(block);
        if (!is_folded)
            bytes += (size_t)block->base << HAUL__GRANULE_SHIFT;
    }
    haul__atomic_add(&s->slots, slots);
    haul__atomic_add(&s->bytes, bytes);
}

static void rank_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    sweep *s = user;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        haul__block *block = haul__map_block(s->map, first);
        rank_block(block, block->base);
    }
}

/* With a listener, blocks that are swept between two pulses: some 40 ms of work for one thread. */
#define SWEPT_BLOCKS ((size_t)16384)

static size_t strip_of(const haul_context *context, size_t count)
{
    return context->listener.discovery && count > SWEPT_BLOCKS ? SWEPT_BLOCKS : count;
}

static haul_status sweep_all(haul_context *context, size_t count, haul__pool_work *work, sweep *s)
{
    const size_t strip = strip_of(context, count), grain = strip / HAUL__POOL_CHUNKS + 1;
    haul_status status = HAUL_OK;
    size_t first, now;
    for (first = 0; first < count && status == HAUL_OK; first += now) {
        now = count - first < strip ? count - first : strip;
        haul__pool_run(context->pool, SIZE_MAX, first, first + now, grain, work, s);
        status = haul__pulse(context);
    }
    return status;
}

/* Folds all blocks. All chunks take the memory that the map keeps. */
static haul_status fold_together(haul_context *context, sweep *s, size_t count)
{
    haul__map *map = s->map, *parts[HAUL__POOL_CHUNKS];
    const size_t strip = strip_of(context, count), grain = strip / HAUL__POOL_CHUNKS + 1,
                 chunks = (strip + grain - 1) / grain;
    haul_status status;
    size_t i;
    s->parts = haul__allocate_zeroed(&map->allocator, chunks * sizeof *s->parts);
    if (!s->parts)
        return HAUL_ERROR_MEMORY;
    for (i = 0; i < chunks; i++) {
        parts[i] = &s->parts[i];
        *parts[i] = *map;
        parts[i]->side_bytes = 0;
    }
    haul__spare_deal(map, parts, chunks);
    status = sweep_all(context, count, fold_chunk, s);
    for (i = 0; i < chunks; i++) {
        haul__spare_join(map, parts[i]);
        map->side_bytes += parts[i]->side_bytes;
    }
    haul__release(&map->allocator, s->parts, chunks * sizeof *s->parts);
    return s->failures ? HAUL_ERROR_MEMORY : status;
}

static haul_status place_together(haul_context *context, haul__map *map, haul__placed *placed)
{
    const size_t count = map->block_count;
    sweep s = { map, NULL, 0, 0, 0 };
    haul_status status = fold_together(context, &s, count);
    size_t i;
    if (status != HAUL_OK)
        return status;
    placed->slots += s.slots;
    placed->bytes += s.bytes;
    for (i = 0; i < count; i++) {
        haul__block *block = haul__map_block(map, i);
        const uint64_t granules = block->base;
        find_gap(map, i, placed->granules);
        block->base = placed->granules;
        placed->granules += granules + block->gap;
    }
    return sweep_all(context, count, rank_chunk, &s);
}

static haul_status place_blocks(haul_context *context, haul__map *map, haul__placed *placed)
{
    return context->pool && map->block_count >= WORTH_SWEEPING && !map->has_placements &&
                   haul__threads_may_allocate(context)
               ? place_together(context, map, placed)
               : place_alone(context, map, placed);
}

static uint64_t granules_of(size_t bytes)
{
    return (bytes + HAUL__GRANULE - 1) >> HAUL__GRANULE_SHIFT;
}

haul_status haul__layout(haul_context *context, haul__found *found, haul__placed *placed)
{
    haul__map *map = &found->map;
    haul_status status = HAUL_ERROR_MEMORY;
    memset(placed, 0, sizeof *placed);
    placed->granules = 1 + granules_of(found->room_before); /* offset 0 is never an object */
    placed->alignment = HAUL__GRANULE;
    if (sort_numbers(context, map) && haul__map_list(map))
        status = place_blocks(context, map, placed);
    if (status == HAUL_ERROR_MEMORY)
        haul__fail(&context->error, status, "out of memory in layout");
    if (status != HAUL_OK)
        return status;
    placed->granules += granules_of(found->room_behind);
    map->is_wide = placed->granules > UINT32_MAX;
    if (placed->granules > SIZE_MAX / 4 / HAUL__GRANULE)
        return haul__fail(&context->error, HAUL_ERROR_LIMIT,
                          "an arena larger than this machine's addresses");
    return haul__lists_sort(context, found);
}

/* ---- From a place to its address. */

static int begins_by(const void *map, size_t i, uint64_t granule)
{
    return haul__map_block(map, i)->base <= granule;
}

static int cell_begins_by(const void *block, size_t i, uint64_t granule)
{
    return haul__cell_rank(block, (unsigned)i) <= granule;
}

size_t haul__block_of_granule(const haul__map *map, uint64_t granule)
{
    const size_t i = haul__search(map, 0, map->block_count, granule, begins_by);
    return i ? i - 1 : 0;
}

uintptr_t haul__source_of(const haul__map *map, uint64_t granule)
{
    size_t i = haul__block_of_granule(map, granule), cell;
    const haul__block *block;
    uint32_t live;
    uint64_t skip;
    if (map->block_count == 0)
        return 0;
    block = haul__map_block(map, i);
    if (granule < block->base)
        return 0;
    cell = haul__search(block, 1, HAUL__CELLS, granule, cell_begins_by) - 1;
    skip = granule - haul__cell_rank(block, (unsigned)cell);
    for (live = haul__live(block, (unsigned)cell); live && skip; skip--)
        live &= live - 1;
    if (!live)
        return 0;
    return haul__block_address(map->numbers[i]) + cell * HAUL__CELL_BYTES +
           ((uintptr_t)haul__lowest32(live) << HAUL__GRANULE_SHIFT);
}
