/* Contents: the part of an arena that a shipment carries, from the base on, and its pointers.
 *
 * A typed arena has a bit for each pointer word. For an untyped one a plan tells the pointers: its
 * slots become the same bits. From then on the two are treated alike.
 *
 * Lists hold all that bits do not tell: ranges that do not come back, ranges that differ on the
 * device, and special words. They are made once, when the arena is shipped.
 *
 * Bytes that types leave out are zeros on the device, as in any packed graph. Excluded bytes are
 * sent as they are.
 */
#include "arena/arena.h"
#include "arena/arena_check.h"
#include "arena/arena_words.h"
#include "arena/changes.h"
#include "arena/contents.h"
#include "arena/nursery.h"
#include "arena/staying.h"
#include "map/exclusions.h"
#include "map/found.h"
#include "pack/plan.h"
#include "type/type.h"
#include "type/elements.h"
#include "map/forms.h"

static haul_status out_of_memory(haul_error *error)
{
    return haul__fail(error, HAUL_ERROR_MEMORY, "no memory to note what is shipped");
}

size_t haul__contents_bitmap_bytes(const haul__contents *contents)
{
    return (contents->bytes / sizeof(void *) + 63) / 64 * sizeof(uint64_t);
}

/* ---- A typed arena. */

/* Lists gaps, fields that do not come back, special words, and tails that do not come back. */
static int add_special(haul__contents *c, const haul__special *run)
{
    const haul__walk *element = haul__type_walk(run->type), *walk;
    const int is_tidy = haul__is_tidy(element);
    size_t at, gap, bytes, tail = 0, i;
    haul__flat flat;
    haul__flat_begin(&flat, element, run->at, run->count, run->stride);
    while (haul__flat_next(&flat, &walk, &at)) {
        for (gap = 0; is_tidy && haul__next_gap(walk, &gap, &bytes); gap += bytes)
            if (!haul__staying_add_edited(c, at + gap, bytes, NULL))
                return 0;
        for (i = 0; i < walk->excluded_count; i++)
            if ((walk->excluded[i].bars & HAUL__UNRETURNED) &&
                !haul__staying_add_data(c, at + walk->excluded[i].offset, walk->excluded[i].bytes))
                return 0;
        if (!haul__words_of_object(c, walk, at))
            return 0;
    }
    if ((haul__tail_exclusions(element, &tail) & HAUL__UNRETURNED) == 0)
        return 1;
    for (i = 0; i < run->count; i++)
        if (!haul__staying_add_data(c, run->at + i * run->stride + tail,
                                    element->extent - tail + run->tail))
            return 0;
    return 1;
}

static int sort_lists(haul__contents *c)
{
    haul__words_sort(c);
    return haul__staying_sort(c);
}

static haul_status take_typed(haul__contents *c, haul_error *error)
{
    size_t i;
    for (i = 0; i < c->arena->special_count; i++)
        if (!add_special(c, &c->arena->special[i]))
            return out_of_memory(error);
    return haul__nurseries_add_staying(c) && sort_lists(c) ? HAUL_OK : out_of_memory(error);
}

/* ---- A graph that was discovered in the arena. */

static void take_slots(haul__contents *c, const haul__found *found, const haul__block *block,
                       uintptr_t address)
{
    unsigned cell;
    if (block->form == HAUL__FULL || block->form == HAUL__BARE)
        return;
    for (cell = 0; cell < HAUL__CELLS; cell++, address += HAUL__CELL_BYTES) {
        uint64_t slots;
        for (slots = haul__placed_slots(&found->map, block, cell); slots; slots &= slots - 1) {
            size_t word = (address - (uintptr_t)c->base) / sizeof(void *) + haul__lowest64(slots);
            c->own[word / 64] |= (uint64_t)1 << (word % 64);
        }
    }
}

/* Lists one byte. It extends the last range if it lies just behind it. */
static int note_byte(haul__contents *c, size_t at, int is_edited)
{
    haul__staying *last = c->staying_count > 0 ? &c->staying[c->staying_count - 1] : NULL;
    if (last && last->is_edited == is_edited && last->at + last->bytes == at) {
        last->bytes++;
        return 1;
    }
    return is_edited ? haul__staying_add_edited(c, at, 1, NULL) : haul__staying_add_data(c, at, 1);
}

/* Lists the bytes that do not come back, and the gaps of objects with skipped bytes. Bytes beside
 * such an object belong to no object; they are sent and returned. */
static int take_gaps(haul__contents *c, const haul__block *block, uintptr_t address)
{
    size_t at = address - (uintptr_t)c->base;
    unsigned granule, byte;
    if (!block->side || (!block->side->holes && !haul__has_exclusions(block)))
        return 1;
    for (granule = 0; granule < HAUL__BLOCK_GRANULES; granule++, at += HAUL__GRANULE) {
        uint16_t gaps, stays;
        if (at >= c->bytes)
            continue;
        gaps = haul__hole_mask(block, granule) & (uint16_t)~haul__byte_mask(block, granule);
        stays = haul__excluded_mask(block, granule, HAUL__UNRETURNED);
        for (byte = 0; byte < HAUL__GRANULE; byte++)
            if (((gaps | stays) >> byte & 1) && !note_byte(c, at + byte, gaps >> byte & 1))
                return 0;
    }
    return 1;
}

/* Do all described granules of the block lie in the contents? A granule without a described byte
 * can have a place too, as a gap or as a part of a unit (layout/layout.c). */
static int lies_inside(const haul__contents *c, const haul__block *block, uintptr_t address)
{
    unsigned granule;
    if (address >= (uintptr_t)c->base &&
        address + HAUL__BLOCK_BYTES <= (uintptr_t)c->base + c->bytes)
        return 1;
    for (granule = 0; granule < HAUL__BLOCK_GRANULES; granule++, address += HAUL__GRANULE)
        if (address - (uintptr_t)c->base >= c->bytes &&
            (haul__live(block, granule / 32) >> (granule % 32) & 1) &&
            haul__byte_mask(block, granule) != 0)
            return 0;
    return 1;
}

static haul_status check_plan(const haul__contents *c, const haul__found *found, haul_error *error)
{
    size_t i;
    if (found->dependent_count > 0)
        return haul__fail(
            error, HAUL_ERROR_UNSUPPORTED,
            "objects whose contents depend on addresses: pack such graphs with haul_ship");
    for (i = 0; i < found->map.block_count; i++)
        if (!lies_inside(c, haul__map_block(&found->map, i),
                         haul__block_address(found->map.numbers[i])))
            return haul__fail(error, HAUL_ERROR_GRAPH, "the graph leads out of the arena");
    return HAUL_OK;
}

static haul_status take_plan(haul__contents *c, const haul_plan *plan, haul_error *error)
{
    const haul__found *found = haul__plan_found(plan);
    haul_status status = check_plan(c, found, error);
    size_t i;
    if (status != HAUL_OK)
        return status;
    c->own = haul__allocate_zeroed(&c->arena->context->allocator, haul__contents_bitmap_bytes(c));
    if (!c->own)
        return out_of_memory(error);
    c->slots = c->own;
    for (i = 0; i < found->map.block_count; i++) {
        const haul__block *block = haul__map_block(&found->map, i);
        uintptr_t address = haul__block_address(found->map.numbers[i]);
        take_slots(c, found, block, address);
        if (!take_gaps(c, block, address))
            return out_of_memory(error);
    }
    if (!haul__words_of_graph(c, found) || !haul__nurseries_add_staying(c) || !sort_lists(c) ||
        haul__read_set_make(plan, 1, &c->arena->context->allocator, &c->reads) != HAUL_OK)
        return out_of_memory(error);
    return HAUL_OK;
}

haul_status haul__contents_check(const haul__contents *contents, haul_error *error)
{
    if (!haul__changes_reach(contents->arena, contents->opens, contents->bytes))
        return HAUL_OK;
    return haul__fail(
        error, HAUL_ERROR_STALE,
        "bytes of the arena have been released, rolled back or reset since it was shipped: "
        "haul_reship ships what it holds now");
}

/* ---- Open and close. */

static void hold(haul__contents *contents, haul_arena *arena)
{
    haul__arena_hold(arena);
    haul__atomic_add(&arena->carriers, 1);
    contents->arena = arena;
}

haul_status haul__contents_open(haul__contents *contents, haul_arena *arena, const haul_plan *plan,
                                haul_error *error)
{
    haul_status status;
    memset(contents, 0, sizeof *contents);
    hold(contents, arena);
    contents->base = arena->room.base;
    contents->bytes = haul__arena_used(arena);
    contents->slots = arena->room.slots;
    haul__unpoison(contents->base, contents->bytes);
    if (!haul__changes_note_opening(arena))
        status = out_of_memory(error);
    else
        status = plan ? take_plan(contents, plan, error) : take_typed(contents, error);
    contents->opens = arena->opens;
#ifdef HAUL_CHECKS
    if (status == HAUL_OK && haul__contents_fault(contents))
        status = haul__fail(error, HAUL_ERROR_STALE, "broken invariant: %s",
                            haul__contents_fault(contents));
#endif
    if (status != HAUL_OK)
        haul__contents_close(contents);
    return status;
}

void haul__contents_release(haul__contents *contents)
{
    haul_arena *arena = contents->arena;
    const haul_allocator *allocator;
    if (!arena)
        return;
    allocator = &arena->context->allocator;
    if (contents->root.type)
        haul__type_drop(contents->root.type);
    haul__read_set_free(allocator, &contents->reads);
    haul__release(allocator, contents->own, haul__contents_bitmap_bytes(contents));
    haul__release(allocator, contents->staying,
                  contents->staying_capacity * sizeof *contents->staying);
    haul__release(allocator, contents->words, contents->word_capacity * sizeof *contents->words);
    haul__release(allocator, contents->neighbours,
                  contents->neighbour_count * sizeof *contents->neighbours);
    memset(contents, 0, sizeof *contents);
    haul__atomic_add(&arena->carriers, -1);
}

void haul__contents_close(haul__contents *contents)
{
    haul_arena *arena = contents->arena;
    haul__contents_release(contents);
    if (arena)
        haul__arena_drop(arena);
}

static void *duplicate(const haul_allocator *allocator, const void *list, size_t bytes, int *failed)
{
    void *made = bytes ? haul__allocate(allocator, bytes, sizeof(void *)) : NULL;
    if (made)
        memcpy(made, list, bytes);
    *failed |= bytes && !made;
    return made;
}

haul_status haul__contents_copy(haul__contents *copy, const haul__contents *c, haul_error *error)
{
    const haul_allocator *allocator = &c->arena->context->allocator;
    int failed = 0;
    *copy = *c;
    hold(copy, c->arena);
    if (copy->root.type)
        haul__type_hold(copy->root.type);
    copy->device_address = 0;
    copy->staying_capacity = c->staying_count;
    copy->word_capacity = c->word_count;
    copy->reads.capacity = c->reads.count;
    copy->reads.far_capacity = c->reads.far_count;
    copy->own = duplicate(allocator, c->own, c->own ? haul__contents_bitmap_bytes(c) : 0, &failed);
    copy->slots = copy->own ? copy->own : c->slots;
    copy->staying =
        duplicate(allocator, c->staying, c->staying_count * sizeof *c->staying, &failed);
    copy->words = duplicate(allocator, c->words, c->word_count * sizeof *c->words, &failed);
    copy->neighbours =
        duplicate(allocator, c->neighbours, c->neighbour_count * sizeof *c->neighbours, &failed);
    copy->reads.words =
        duplicate(allocator, c->reads.words, c->reads.count * sizeof *c->reads.words, &failed);
    copy->reads.far =
        duplicate(allocator, c->reads.far, c->reads.far_count * sizeof *c->reads.far, &failed);
    if (!failed)
        return HAUL_OK;
    haul__contents_close(copy);
    return out_of_memory(error);
}
