/* Returns from a device that is not trusted: what comes is checked as an image of strangers is, and
 * then written.
 *
 * A private copy of the arena becomes the graph that the host would have afterwards: pointers lead
 * into the copy, and bytes that do not return are the host's. It is discovered again there, and
 * compared with the bits and words of the plan (validate). So counts, tags, conditions, ends and
 * pointers are checked together, by the code that checks them in a source.
 *
 * The copy is one block, and the host's objects lie apart. So each range that is found must lie
 * within one that was shipped, as elements of the same type: then it is as long on the host. What
 * was shipped is recorded by a walk of the host's graph.
 *
 * Objects that the new graph has no pointer to keep the bytes that the host has. Nothing has looked
 * at theirs, and the program may hold a pointer to them.
 *
 * Nothing here is fast: two recording walks take longer than all else.
 */
#include "ship/untrusted.h"

#include "base/sort.h"
#include "pack/bitmap.h"
#include "pack/overlay.h"
#include "pack/pack.h"
#include "pack/translate.h"
#include "ship/snapshot.h"
#include "type/field.h"
#include "walk/met_types.h"
#include "walk/paths.h"

/* A range that was shipped, in the copy. */
typedef struct shipped {
    uintptr_t begin, end;
    uintptr_t before;      /* the furthest end of those before it */
    const haul_type *type; /* of its elements, or what its pointers lead to; NULL: plain elements */
    size_t stride, run;
    unsigned what, levels; /* levels: of pointers, to the target */
} shipped;

typedef struct untrusted {
    haul_shipment *shipment;
    haul__snapshot snapshot; /* the copy */
    unsigned char *now;      /* the host's graph, with pointers into the copy */
    uint64_t *bitmap;
    haul__odd_word *words;
    shipped *list;
    size_t list_room, list_count, bitmap_words, word_room;
} untrusted;

static haul_status lack_memory(const untrusted *u)
{
    return haul__fail(&u->shipment->device->context->error, HAUL_ERROR_MEMORY,
                      "out of memory for the checks of what the device has left");
}

/* ---- What was shipped. */

/* The entry as a range, at its address. 0: it has no byte. */
static int describe(const haul__discovery *d, const haul__entry *entry, shipped *range)
{
    const size_t bytes = haul__entry_bytes(d, entry);
    memset(range, 0, sizeof *range);
    range->begin = entry->address;
    range->end = entry->address + bytes;
    range->stride = entry->stride;
    range->run = entry->run;
    range->what = entry->what;
    if (entry->what == HAUL__OBJECTS) {
        range->type = d->met_types[entry->met_type].type;
    } else if (entry->what == HAUL__POINTERS) {
        range->type = entry->slot->target;
        range->levels = entry->slot->levels - entry->level;
    }
    return bytes > 0;
}

static size_t entry_count(const haul__discovery *d)
{
    return d->entries.count + d->known.count;
}

static const haul__entry *entry_at(const haul__discovery *d, size_t i)
{
    return i < d->entries.count ? &d->entries.at[i] : &d->known.at[i - d->entries.count];
}

static int is_before(const void *a, const void *b)
{
    return ((const shipped *)a)->begin < ((const shipped *)b)->begin;
}

static int begins_by(const void *list, size_t i, uint64_t address)
{
    return ((const shipped *)list)[i].begin <= address;
}

/* The places of ranges in the copy, in order. */
static void place_shipped(untrusted *u, const haul__discovery *d)
{
    const uintptr_t block = (uintptr_t)u->snapshot.memory;
    uintptr_t reach = 0;
    size_t i;
    for (i = 0; i < entry_count(d); i++) {
        const haul__entry *entry = entry_at(d, i);
        shipped *range = &u->list[u->list_count];
        const size_t lower = entry->what == HAUL__OBJECTS
                                 ? haul__type_walk(d->met_types[entry->met_type].type)->true_lower
                                 : 0;
        uint64_t place;
        if (!describe(d, entry, range) ||
            !haul__offset_of(u->shipment->plan, range->begin + lower, &place))
            continue;
        range->end += block + (uintptr_t)place - lower - range->begin;
        range->begin = block + (uintptr_t)place - lower;
        u->list_count++;
    }
    haul__sort(u->list, u->list_count, sizeof *u->list, is_before);
    for (i = 0; i < u->list_count; i++) {
        u->list[i].before = reach;
        reach = u->list[i].end > reach ? u->list[i].end : reach;
    }
}

static haul_status list_shipped(untrusted *u)
{
    haul_context *context = u->shipment->device->context;
    const haul__bounds all = { 0, UINTPTR_MAX, SIZE_MAX };
    const haul_root *roots;
    haul__discovery walk;
    haul__found found;
    size_t count;
    haul_status status;
    roots = haul__plan_roots(u->shipment->plan, &count);
    status = haul__record(context, roots, count, &all, &found, &walk);
    if (status != HAUL_OK)
        return status;
    u->list_room = entry_count(&walk) + 1;
    u->list = haul__allocate(&context->allocator, u->list_room * sizeof *u->list, sizeof(uint64_t));
    if (u->list)
        place_shipped(u, &walk);
    else
        status = lack_memory(u);
    haul__record_close(&walk);
    haul__found_drop(context, &found);
    return status;
}

/* ---- What has come. */

static int lies_within(const shipped *range, const shipped *old)
{
    return range->end <= old->end && range->what == old->what && range->type == old->type &&
           range->levels == old->levels && range->stride == old->stride && range->run == old->run &&
           (range->begin - old->begin) % old->stride == 0;
}

static int was_shipped(const untrusted *u, const shipped *range)
{
    size_t i = haul__search(u->list, 0, u->list_count, range->begin, begins_by);
    while (i-- > 0) {
        if (lies_within(range, &u->list[i]))
            return 1;
        if (u->list[i].before <= range->begin)
            return 0;
    }
    return 0;
}

/* Each range that the graph has now must be one that it had, or a part of it. */
static haul_status compare_ranges(void *user, haul__discovery *d)
{
    const untrusted *u = user;
    size_t i;
    for (i = 0; i < entry_count(d); i++) {
        const haul__entry *entry = entry_at(d, i);
        shipped range;
        if (!describe(d, entry, &range) || was_shipped(u, &range))
            continue;
        d->at_entry = entry->parent;
        d->at_element = entry->parent_element;
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot,
                            "the device has left a pointer here, or a count, to what was not "
                            "shipped as elements of this type");
    }
    return HAUL_OK;
}

static haul_status prepare(untrusted *u)
{
    haul_plan *plan = u->shipment->plan;
    const haul_allocator *allocator = &u->snapshot.context->allocator;
    u->bitmap_words = ((u->snapshot.bytes >> HAUL__WORD_SHIFT) + 63) / 64;
    u->word_room = haul__plan_words_most(plan) + 1;
    u->now = haul__allocate(allocator, u->snapshot.bytes, HAUL__LINE);
    u->bitmap = haul__allocate(allocator, u->bitmap_words * sizeof *u->bitmap, sizeof *u->bitmap);
    u->words = haul__allocate(allocator, u->word_room * sizeof *u->words, sizeof(uint64_t));
    if (!u->now || !u->bitmap || !u->words)
        return lack_memory(u);
    haul__plan_bitmap(plan, 0, u->bitmap_words, u->bitmap);
    return haul__gather(plan, u->now, (uintptr_t)u->snapshot.memory, (uintptr_t)u->snapshot.memory,
                        0, NULL);
}

/* The copy as a graph. The context's `readable` knows the source's addresses. */
static haul_status check(untrusted *u)
{
    haul_context *context = u->snapshot.context;
    haul_readable *readable = context->options.readable;
    haul__offsets offsets;
    haul__claimed claimed;
    haul__left left;
    haul_status status;
    memset(&offsets, 0, sizeof offsets);
    offsets.block = u->snapshot.memory;
    offsets.bytes = u->snapshot.bytes;
    offsets.bitmap = u->bitmap;
    offsets.bitmap_words = u->bitmap_words;
    offsets.words = u->words;
    offsets.word_count = haul__plan_words(u->shipment->plan, u->bitmap, u->words);
    claimed.context = context;
    claimed.roots = u->snapshot.roots;
    claimed.root_count = u->snapshot.root_count;
    claimed.offsets = &offsets;
    left.rest = u->now;
    left.look = compare_ranges;
    left.user = u;
    context->options.readable = NULL;
    status = haul__validate(&claimed, &left);
    context->options.readable = readable;
    return status;
}

/* What the other returns check, with their messages. */
static haul_status check_as_trusted(const untrusted *u, const unsigned char *arena, uint64_t base,
                                    int pointers)
{
    haul_plan *plan = u->shipment->plan;
    const int lets_change = u->shipment->options.let_counts_change;
    if (pointers)
        return haul__check_pointers(plan, arena, base, lets_change, NULL);
    return lets_change ? HAUL_OK : haul__check_data(plan, arena);
}

static haul_status check_and_write(untrusted *u, const unsigned char *arena, int pointers)
{
    haul_plan *plan = u->shipment->plan;
    const uint64_t base = (uintptr_t)u->snapshot.memory;
    haul_status status = prepare(u);
    if (status == HAUL_OK)
        status = list_shipped(u);
    if (status == HAUL_OK)
        status = check_as_trusted(u, arena, u->shipment->range.address, pointers);
    if (status != HAUL_OK)
        return status;
    haul__overlay(plan, u->snapshot.memory, u->now, pointers);
    status = check(u);
    if (status == HAUL_OK) /* once more, because `arena` may have changed since */
        status = check_as_trusted(u, u->snapshot.memory, base, pointers);
    if (status == HAUL_OK && pointers)
        haul__scatter_pointers(plan, u->snapshot.memory, base);
    else if (status == HAUL_OK)
        status = haul__scatter(plan, u->snapshot.memory, 1);
    return status;
}

haul_status haul__write_untrusted(haul_shipment *shipment, const unsigned char *arena, int pointers)
{
    const haul_allocator *allocator = &shipment->device->context->allocator;
    untrusted u;
    haul_status status;
    memset(&u, 0, sizeof u);
    u.shipment = shipment;
    status = haul__snapshot_of(shipment, arena, &u.snapshot);
    if (status == HAUL_OK)
        status = check_and_write(&u, arena, pointers);
    haul__release(allocator, u.now, u.snapshot.bytes);
    haul__release(allocator, u.bitmap, u.bitmap_words * sizeof *u.bitmap);
    haul__release(allocator, u.words, u.word_room * sizeof *u.words);
    haul__release(allocator, u.list, u.list_room * sizeof *u.list);
    if (u.snapshot.context)
        haul__snapshot_drop(&u.snapshot);
    return status;
}
