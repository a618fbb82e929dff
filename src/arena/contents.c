/* What a shipment carries of an arena: its bytes from the base on, and which of them are pointers.
 *
 * A typed arena knows that already. For an untyped one a plan tells: what it has found in blocks and cells becomes a
 * bit a word, as typed allocation would have written it. From then on the two are the same.
 *
 * Bytes that do not come back (fields of HAUL_SKIP, and those whose direction is in) are listed once, when the arena is
 * shipped.
 */
#include "arena/arena.h"
#include "base/sort.h"
#include "graph/bars.h"
#include "pack/plan.h"

static haul_status out_of_memory(haul_error *error)
{
    return haul__fail(error, HAUL_ERROR_MEMORY, "no memory to note what is shipped");
}

size_t haul__contents_bitmap_bytes(const haul__contents *contents)
{
    return (contents->bytes / sizeof(void *) + 63) / 64 * sizeof(uint64_t);
}

/* ---- Bytes that do not come back. */

int haul__contents_keep(haul__contents *c, size_t at, size_t bytes)
{
    if (!haul__grow(&c->arena->context->allocator, (void **)&c->kept, &c->kept_capacity, c->kept_count + 1,
                    sizeof *c->kept))
        return 0;
    c->kept[c->kept_count].at = at;
    c->kept[c->kept_count++].bytes = bytes;
    return 1;
}

static int note_kept(haul__contents *c, size_t at, size_t bytes)
{
    haul__kept_bytes *last = c->kept_count > 0 ? &c->kept[c->kept_count - 1] : NULL;
    if (!last || last->at + last->bytes != at)
        return haul__contents_keep(c, at, bytes);
    last->bytes += bytes;
    return 1;
}

static int note_barred(haul__contents *c, const haul__walk *walk, size_t at)
{
    size_t i;
    for (i = 0; i < walk->barred_count; i++)
        if ((walk->barred[i].bars & HAUL__UNRETURNED) &&
            !haul__contents_keep(c, at + walk->barred[i].offset, walk->barred[i].bytes))
            return 0;
    return 1;
}

static int note_gaps(haul__contents *c, const haul__gapped *run)
{
    const haul__walk *walk;
    size_t at;
    haul__flat flat;
    haul__flat_begin(&flat, haul__type_walk(run->type), run->at, run->count, run->stride);
    while (haul__flat_next(&flat, &walk, &at)) {
        size_t gap = 0, bytes;
        for (; haul__next_gap(walk, &gap, &bytes); gap += bytes)
            if (!note_kept(c, at + gap, bytes))
                return 0;
        if (!note_barred(c, walk, at))
            return 0;
    }
    return 1;
}

static int comes_before(const void *a, const void *b)
{
    return ((const haul__kept_bytes *)a)->at < ((const haul__kept_bytes *)b)->at;
}

/* A field that does not come back may hold gaps of its own. */
static void merge_kept(haul__contents *c)
{
    size_t i, left = 0;
    for (i = 0; i < c->kept_count; i++) {
        haul__kept_bytes *last = left > 0 ? &c->kept[left - 1] : NULL;
        size_t end = c->kept[i].at + c->kept[i].bytes;
        if (!last || c->kept[i].at >= last->at + last->bytes)
            c->kept[left++] = c->kept[i];
        else if (end > last->at + last->bytes)
            last->bytes = end - last->at;
    }
    c->kept_count = left;
}

static haul_status keep_gaps(haul__contents *c, haul_error *error)
{
    size_t i;
    for (i = 0; i < c->arena->gapped_count; i++)
        if (!note_gaps(c, &c->arena->gapped[i]))
            return out_of_memory(error);
    if (!haul__nurseries_keep(c))
        return out_of_memory(error);
    haul__sort(c->kept, c->kept_count, sizeof *c->kept, comes_before);
    merge_kept(c);
    return HAUL_OK;
}

/* ---- A graph that was discovered in the arena. */

static void take_slots(haul__contents *c, const haul_plan *plan, const haul__block *block, uintptr_t address)
{
    unsigned cell;
    if (block->form == HAUL__FULL || block->form == HAUL__BARE)
        return;
    for (cell = 0; cell < HAUL__CELLS; cell++, address += HAUL__CELL_BYTES) {
        uint64_t slots;
        for (slots = haul__placed_slots(&plan->found.map, block, cell); slots; slots &= slots - 1) {
            size_t word = (address - (uintptr_t)c->base) / sizeof(void *) + haul__lowest64(slots);
            c->own[word / 64] |= (uint64_t)1 << (word % 64);
        }
    }
}

/* Of a granule: bytes that do not come back, and, where it belongs to an object with skipped bytes, those that are not
 * described. */
static int take_gaps_of(haul__contents *c, const haul__block *block, unsigned granule, size_t at)
{
    int has_gaps = block->side->holes && (block->side->holes[granule / 64] >> (granule % 64) & 1);
    uint16_t gaps = has_gaps ? (uint16_t)~haul__byte_mask(block, granule) : 0;
    unsigned byte;
    gaps |= haul__barred_mask(block, granule, HAUL__UNRETURNED);
    if ((gaps & HAUL__FULL_MASK) == HAUL__FULL_MASK)
        return note_kept(c, at, HAUL__GRANULE);
    for (byte = 0; byte < HAUL__GRANULE; byte++)
        if ((gaps >> byte & 1) && !note_kept(c, at + byte, 1))
            return 0;
    return 1;
}

static int take_gaps(haul__contents *c, const haul__block *block, uintptr_t address)
{
    unsigned granule;
    if (!block->side || (!block->side->holes && !haul__has_bars(block)))
        return 1;
    for (granule = 0; granule < HAUL__BLOCK_GRANULES; granule++)
        if (!take_gaps_of(c, block, granule, address - (uintptr_t)c->base + granule * HAUL__GRANULE))
            return 0;
    return 1;
}

/* Does all that a block marks lie in the contents? */
static int lies_inside(const haul__contents *c, const haul__block *block, uintptr_t address)
{
    unsigned cell, granule;
    if (address >= (uintptr_t)c->base && address + HAUL__BLOCK_BYTES <= (uintptr_t)c->base + c->bytes)
        return 1;
    for (cell = 0; cell < HAUL__CELLS; cell++, address += HAUL__CELL_BYTES)
        for (granule = 0; granule < 32; granule++)
            if ((haul__live(block, cell) >> granule & 1) &&
                address + granule * HAUL__GRANULE - (uintptr_t)c->base >= c->bytes)
                return 0;
    return 1;
}

static haul_status check_plan(const haul__contents *c, const haul_plan *plan, haul_error *error)
{
    size_t i;
    if (plan->found.odd_count > 0)
        return haul__fail(error, HAUL_ERROR_UNSUPPORTED, "pointers off the grid: pack such graphs with haul_ship");
    if (plan->found.dependent_count > 0)
        return haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                          "objects whose contents depend on addresses: pack such graphs with haul_ship");
    for (i = 0; i < plan->found.map.block_count; i++)
        if (!lies_inside(c, haul__plan_block(plan, i), haul__block_address(plan->found.map.numbers[i])))
            return haul__fail(error, HAUL_ERROR_GRAPH, "the graph leads out of the arena");
    return HAUL_OK;
}

static haul_status take_plan(haul__contents *c, const haul_plan *plan, haul_error *error)
{
    haul_status status = check_plan(c, plan, error);
    size_t i;
    if (status != HAUL_OK)
        return status;
    c->own = haul__allocate_zeroed(&c->arena->context->allocator, haul__contents_bitmap_bytes(c));
    if (!c->own)
        return out_of_memory(error);
    c->slots = c->own;
    for (i = 0; i < plan->found.map.block_count; i++) {
        const haul__block *block = haul__plan_block(plan, i);
        uintptr_t address = haul__block_address(plan->found.map.numbers[i]);
        take_slots(c, plan, block, address);
        if (!take_gaps(c, block, address))
            return out_of_memory(error);
    }
    return HAUL_OK;
}

/* ---- Open and close. */

haul_status haul__contents_open(haul__contents *contents, haul_arena *arena, const haul_plan *plan, haul_error *error)
{
    haul_status status;
    memset(contents, 0, sizeof *contents);
    haul__arena_hold(arena);
    contents->arena = arena;
    contents->base = arena->room.base;
    contents->bytes = haul__arena_used(arena);
    contents->changes = arena->changes;
    contents->slots = arena->room.slots;
    haul__unpoison(contents->base, contents->bytes);
    status = plan ? take_plan(contents, plan, error) : keep_gaps(contents, error);
    if (status != HAUL_OK) {
        haul__contents_close(contents);
        return status;
    }
    if (arena->shipped < contents->bytes)
        arena->shipped = contents->bytes;
    return HAUL_OK;
}

void haul__contents_close(haul__contents *contents)
{
    haul_arena *arena = contents->arena;
    const haul_allocator *allocator;
    if (!arena)
        return;
    allocator = &arena->context->allocator;
    if (contents->root.type)
        haul__type_drop(contents->root.type);
    haul__release(allocator, contents->own, haul__contents_bitmap_bytes(contents));
    haul__release(allocator, contents->kept, contents->kept_capacity * sizeof *contents->kept);
    haul__release(allocator, contents->neighbours, contents->neighbour_count * sizeof *contents->neighbours);
    memset(contents, 0, sizeof *contents);
    haul__arena_drop(arena);
}

haul_status haul__contents_check(const haul__contents *contents, haul_error *error)
{
    if (contents->changes == contents->arena->changes && contents->bytes <= haul__arena_used(contents->arena))
        return HAUL_OK;
    return haul__fail(error, HAUL_ERROR_STALE, "something of the arena has been released, rolled back or reset since it was shipped");
}

/* ---- Pointers that lead out. */

static int leads_inside(const haul__contents *c, uintptr_t value)
{
    size_t i;
    if (value - (uintptr_t)c->base <= c->bytes)
        return 1;
    for (i = 0; i < c->neighbour_count; i++)
        if (value - c->neighbours[i].host <= c->neighbours[i].bytes)
            return 1;
    return 0;
}

int haul__next_outside(const haul__contents *c, size_t *at)
{
    size_t word = *at / sizeof(void *), end = c->bytes / sizeof(void *), group;
    for (group = word / 64; group * 64 < end; group++) {
        uint64_t slots = c->slots[group];
        if (group == word / 64)
            slots &= UINT64_MAX << (word % 64);
        for (; slots; slots &= slots - 1) {
            size_t here = group * 64 + haul__lowest64(slots);
            uintptr_t value;
            if (here >= end)
                return 0;
            value = haul__word_at(c->base + here * sizeof(void *));
            if (value && !leads_inside(c, value)) {
                *at = here * sizeof(void *);
                return 1;
            }
        }
    }
    return 0;
}
