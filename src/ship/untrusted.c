/* Returns from a device that is not trusted: what comes is checked as an image of strangers is, and
 * then written.
 *
 * A private copy of the arena becomes the graph that the host would have afterwards: pointers lead
 * into the copy, and bytes that do not return are the host's. It is discovered again there, and
 * compared with the bits and words of the plan (validate). So counts, tags, conditions, ends and
 * pointers are checked together, by the code that checks them in a source.
 *
 * The copy is one block, and the host's objects lie apart. So each range that is found must lie
 * within one that was shipped, as elements of the same type: then it is as long on the host. The
 * elements of a section lie apart, and it is as far from the first to the last one on the host only
 * within the span of a section that was shipped, which has its shape in the copy. What was shipped
 * is recorded by a walk of the host's graph.
 *
 * A pointer in the copy stands for one on the host, and the two may differ: a pointer to no
 * elements is null in the copy, or lies at the begin of another range. So each pointer that is
 * followed must lead to the same byte on the host. And a byte that the graph has now must have been
 * described when it was shipped: any other one is 0 in the copy, and does not come back.
 *
 * Objects that the new graph has no pointer to keep the bytes that the host has. Nothing has looked
 * at theirs, and the program may hold a pointer to them.
 *
 * Nothing here is fast: two recording walks take longer than all else.
 */
#include "ship/untrusted.h"

#include "base/sort.h"
#include "base/status.h"
#include "map/forms.h"
#include "pack/bitmap.h"
#include "pack/overlay.h"
#include "pack/pack.h"
#include "pack/translate.h"
#include "ship/snapshot.h"
#include "type/field.h"
#include "walk/met_types.h"
#include "walk/paths.h"
#include "walk/place.h"
#include "walk/pointer.h"
#include "walk/targets.h"

enum { SPAN = HAUL__PLAIN + 1 }; /* another kind of range: a section, with its gaps */

/* A range that was shipped, in the copy. The list is sorted by kind, by the distance of elements,
 * and by address. Bytes lie within a range of a kind if the last range of that kind that begins no
 * later reaches their end. */
typedef struct shipped {
    uintptr_t begin, end;
    uintptr_t reach;       /* the furthest end of those of its kind that do not begin behind it */
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
    uint16_t *known;   /* bytes that were described, for each granule */
    haul__held *held;  /* the pointers of the plan */
    uintptr_t nowhere; /* behind the copy: pointers that are null there and not on the host */
    shipped *list;
    size_t granules, held_room, held_count;
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

/* The order of kinds, with elements at the same distances; < 0: that of `a` comes first. */
static int compare_kinds(const shipped *a, const shipped *b)
{
    const uintptr_t x[] = { a->what,   a->levels, (uintptr_t)a->type,
                            a->stride, a->run,    a->begin % a->stride };
    const uintptr_t y[] = { b->what,   b->levels, (uintptr_t)b->type,
                            b->stride, b->run,    b->begin % b->stride };
    size_t i;
    for (i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int is_before(const void *a, const void *b)
{
    const int kinds = compare_kinds(a, b);
    return kinds ? kinds < 0 : ((const shipped *)a)->begin < ((const shipped *)b)->begin;
}

static void describe_span(const haul__word_target *t, shipped *range)
{
    memset(range, 0, sizeof *range);
    range->begin = t->value;
    range->end = t->value + haul__target_span(t);
    range->stride = haul__unit_of(t->slot, t->level);
    range->what = SPAN;
}

/* Lists a range of the host's, whose first byte that is described lies `lower` bytes behind its
 * begin, at its place in the copy. */
static void add_shipped(untrusted *u, const shipped *range, size_t lower)
{
    shipped *added = &u->list[u->list_count];
    uint64_t place;
    if (!haul__offset_of(u->shipment->plan, range->begin + lower, &place))
        return;
    *added = *range;
    added->begin = (uintptr_t)u->snapshot.memory + (uintptr_t)place - lower;
    added->end = added->begin + (range->end - range->begin);
    u->list_count++;
}

/* The places of ranges in the copy, in order. */
static void place_shipped(untrusted *u, const haul__discovery *d)
{
    shipped range;
    size_t i;
    for (i = 0; i < entry_count(d); i++) {
        const haul__entry *entry = entry_at(d, i);
        const size_t lower = entry->what == HAUL__OBJECTS
                                 ? haul__type_walk(d->met_types[entry->met_type].type)->true_lower
                                 : 0;
        if (describe(d, entry, &range))
            add_shipped(u, &range, lower);
    }
    for (i = 0; i < d->targets.count; i++)
        if (haul__target_span(&d->targets.at[i])) {
            describe_span(&d->targets.at[i], &range);
            add_shipped(u, &range, 0);
        }
    haul__sort(u->list, u->list_count, sizeof *u->list, is_before);
    for (i = 0; i < u->list_count; i++) {
        shipped *range = &u->list[i];
        range->reach = range->end;
        if (i > 0 && compare_kinds(range - 1, range) == 0 && range[-1].reach > range->end)
            range->reach = range[-1].reach;
    }
}

static size_t span_count(const haul__discovery *d)
{
    size_t count = 0, i;
    for (i = 0; i < d->targets.count; i++)
        count += haul__target_span(&d->targets.at[i]) != 0;
    return count;
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
    u->list_room = entry_count(&walk) + span_count(&walk) + 1;
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

static int was_shipped(const untrusted *u, const shipped *range)
{
    size_t first = 0, end = u->list_count;
    while (first < end) { /* the first one that comes behind it */
        const size_t middle = first + (end - first) / 2;
        if (is_before(range, &u->list[middle]))
            end = middle;
        else
            first = middle + 1;
    }
    return first > 0 && compare_kinds(&u->list[first - 1], range) == 0 &&
           u->list[first - 1].reach >= range->end;
}

static const char not_shipped[] = "the device has left a pointer here, or a count, to what was not "
                                  "shipped as elements of this type";

/* Each range that the graph has now must be one that it had, or a part of it. Lines of sections are
 * parts of spans (compare_target). */
static haul_status compare_ranges(const untrusted *u, haul__discovery *d)
{
    size_t i;
    for (i = 0; i < entry_count(d); i++) {
        const haul__entry *entry = entry_at(d, i);
        shipped range;
        if (!describe(d, entry, &range) || range.run || was_shipped(u, &range))
            continue;
        d->at_entry = entry->parent;
        d->at_element = entry->parent_element;
        return haul__refuse(d, HAUL_ERROR_GRAPH, entry->slot, "%s", not_shipped);
    }
    return HAUL_OK;
}

static haul_status refuse_at(haul__discovery *d, uintptr_t address, const char *why)
{
    const haul_status status = haul__fail(&d->context->error, HAUL_ERROR_GRAPH, "%s", why);
    haul__name_near(d, address);
    return status;
}

/* What the graph has now must have been described when it was shipped. */
static haul_status compare_bytes(const untrusted *u, haul__discovery *d)
{
    const uintptr_t block = (uintptr_t)u->snapshot.memory;
    size_t i;
    for (i = 0; i < u->granules; i++) {
        const uintptr_t address = block + i * HAUL__GRANULE;
        const haul__block *at = haul__map_find(&d->found->map, address);
        unsigned missing, byte = 0;
        if (!at || !haul__is_placed(at, address))
            continue;
        missing = haul__byte_mask(at, haul__granule_in_block(address)) & ~(unsigned)u->known[i];
        while (missing && !(missing >> byte & 1))
            byte++;
        if (missing)
            return refuse_at(d, address + byte,
                             "the device has brought a field to life that did not hold when the "
                             "graph was shipped, so it was not sent, and does not come back");
    }
    return HAUL_OK;
}

static int is_held_before(const void *list, size_t i, uint64_t place)
{
    return ((const haul__held *)list)[i].place < place;
}

/* The pointer whose word stands at a place; NULL: the plan has none there. */
static const haul__held *find_held(const untrusted *u, uintptr_t place)
{
    const size_t i = haul__search(u->held, 0, u->held_count, place, is_held_before);
    return i < u->held_count && u->held[i].place == place ? &u->held[i] : NULL;
}

/* Does a pointer to no elements lead to one of its type, or behind one? */
static int is_beside_element(const untrusted *u, const haul__word_target *t)
{
    const size_t unit = haul__unit_of(t->slot, t->level);
    shipped range;
    memset(&range, 0, sizeof range);
    range.begin = t->value;
    range.end = t->value + unit;
    range.stride = unit;
    if (t->level + 1u < t->slot->levels) {
        range.what = HAUL__POINTERS;
        range.levels = t->slot->levels - (t->level + 1u);
    } else {
        range.what = t->slot->target ? HAUL__OBJECTS : HAUL__PLAIN;
    }
    range.type = t->slot->target;
    if (was_shipped(u, &range))
        return 1;
    range.begin -= unit;
    range.end -= unit;
    return was_shipped(u, &range);
}

static int is_in_span(const untrusted *u, const haul__word_target *t)
{
    shipped range;
    describe_span(t, &range);
    return was_shipped(u, &range);
}

/* Does it lead to the byte on the host that it leads to in the copy? */
static int leads_to_same(const untrusted *u, const haul__word_target *t, const haul__held *held)
{
    const uintptr_t host =
        haul__address_of(u->shipment->plan, t->value - (uintptr_t)u->snapshot.memory);
    return host && held->value == host + (held->word - t->value);
}

static haul_status compare_target(const untrusted *u, haul__discovery *d,
                                  const haul__word_target *t)
{
    const haul__held *held = find_held(u, t->place), *end;
    if (!t->slot) /* an end, which is compared with its begin, or a limit */
        return HAUL_OK;
    if (!held ||
        ((t->bytes > 0 || (t->is_borrowed && t->slot->target)) && !leads_to_same(u, t, held)))
        return refuse_at(d, t->place,
                         "the host's pointer leads to other elements than the device's");
    if (t->is_section && !is_in_span(u, t))
        return refuse_at(d, t->place, not_shipped);
    if (!t->bytes && !t->is_borrowed && held->is_changed && !is_beside_element(u, t))
        return refuse_at(d, t->place,
                         "the device has left a pointer to no elements here, which leads to no "
                         "element of its type, nor behind one");
    end = haul__target_end(t) ? find_held(u, haul__target_end(t)) : held;
    if (!end || end->value - held->value != end->word - held->word)
        return refuse_at(d, haul__target_end(t),
                         "the end of an array would be that of another one on the host");
    return HAUL_OK;
}

static int is_special_before(const void *list, size_t i, uint64_t address)
{
    return ((const haul__special_word *)list)[i].address < address;
}

/* Is it worked out in the graph that has come, or has it no byte there? */
static int is_as_before(const haul__held *held, const haul__discovery *d)
{
    const haul__found *found = d->found;
    const haul__block *block = haul__map_find(&found->map, held->place);
    const size_t i =
        haul__search(found->special, 0, found->special_count, held->place, is_special_before);
    if (i < found->special_count && found->special[i].address == held->place)
        return !haul__is_pointer(&found->special[i]) && found->special[i].bytes == held->bytes;
    return !block || !haul__is_placed(block, held->place) ||
           !(haul__byte_mask(block, haul__granule_in_block(held->place)) >>
                 (held->place & (HAUL__GRANULE - 1)) &
             1);
}

/* Words that are worked out do not come back. So no other word may become one, by a tag, and none
 * of them data, which the host has another value for. */
static haul_status compare_worked_out(const untrusted *u, haul__discovery *d)
{
    static const char why[] = "the device has made data of a distance, an external pointer or a "
                              "static one, or one of these of data";
    const haul__found *found = d->found;
    size_t i;
    for (i = 0; i < u->held_count; i++)
        if (u->held[i].is_worked_out && !is_as_before(&u->held[i], d))
            return refuse_at(d, u->held[i].place, why);
    for (i = 0; i < found->special_count; i++) {
        const haul__special_word *word = &found->special[i];
        const haul__held *held = find_held(u, word->address);
        if (!haul__is_pointer(word) && word->value && !(held && held->is_worked_out))
            return refuse_at(d, word->address, why);
    }
    return HAUL_OK;
}

static haul_status compare_all(void *user, haul__discovery *d)
{
    const untrusted *u = user;
    haul_status status = compare_ranges(u, d);
    size_t i;
    if (status == HAUL_OK)
        status = compare_bytes(u, d);
    if (status == HAUL_OK)
        status = compare_worked_out(u, d);
    for (i = 0; i < d->targets.count && status == HAUL_OK; i++)
        status = compare_target(u, d, &d->targets.at[i]);
    return status;
}

static haul_status prepare(untrusted *u)
{
    haul_plan *plan = u->shipment->plan;
    const haul_allocator *allocator = &u->snapshot.context->allocator;
    u->bitmap_words = ((u->snapshot.bytes >> HAUL__WORD_SHIFT) + 63) / 64;
    u->word_room = haul__plan_words_most(plan) + 1;
    u->granules = u->snapshot.bytes / HAUL__GRANULE;
    u->held_room = haul__held_most(plan) + 1;
    u->nowhere = ((uintptr_t)u->snapshot.memory + u->snapshot.bytes + HAUL_ALIGNMENT_MAX - 1) &
                 ~(uintptr_t)(HAUL_ALIGNMENT_MAX - 1);
    u->known = haul__allocate(allocator, u->granules * sizeof *u->known, sizeof *u->known);
    u->held = haul__allocate(allocator, u->held_room * sizeof *u->held, sizeof(uint64_t));
    u->now = haul__allocate(allocator, u->snapshot.bytes, HAUL__LINE);
    u->bitmap = haul__allocate(allocator, u->bitmap_words * sizeof *u->bitmap, sizeof *u->bitmap);
    u->words = haul__allocate(allocator, u->word_room * sizeof *u->words, sizeof(uint64_t));
    if (!u->now || !u->bitmap || !u->words || !u->known || !u->held)
        return lack_memory(u);
    memset(u->known, 0, u->granules * sizeof *u->known);
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
    left.nowhere = u->nowhere;
    left.look = compare_all;
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
    haul__overlay(plan, u->snapshot.memory, u->now, pointers, u->known);
    status = haul__list_held(plan, u->snapshot.memory, u->now, pointers, u->nowhere, u->held,
                             &u->held_count);
    if (status == HAUL_OK)
        status = check(u);
    haul__take_back(u->held, u->held_count);
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
    haul__release(allocator, u.known, u.granules * sizeof *u.known);
    haul__release(allocator, u.held, u.held_room * sizeof *u.held);
    haul__release(allocator, u.list, u.list_room * sizeof *u.list);
    if (u.snapshot.context)
        haul__snapshot_drop(&u.snapshot);
    return status;
}
