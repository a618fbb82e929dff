/* The walk by aims: all threads discover a graph of any simple kind, from its roots on.
 *
 * Strings, counted arrays, and arrays of pointers and of structs go the way of single objects
 * (share.c): a pointer goes to the district of its target, with the number of its aim (aims.h) and
 * the target's bytes; one thread at a time marks in a district; new ranges are visited by any
 * thread. An array of many pointers is visited in pieces, by several threads.
 *
 * Why it is right: a range is new, or the same as one that was found before, or it overlaps another
 * (map/starts.h). Without overlaps, neither marks nor the number of objects depend on the order, so
 * they are those of one thread. After an overlap, and after anything that one thread would refuse,
 * one thread walks again. Two rows that call one range by different types of the same shape
 * contradict each other: who comes first decides, here and in a walk by one thread, and checked
 * mode tells.
 *
 * What threads cannot do, they put aside, and the caller's thread does it between rounds: ranges in
 * two districts or long ones, and counts that a callback answers (asides.c).
 *
 * Threads make blocks and side pages themselves, so they ask the allocator: malloc, or one that the
 * context's options declare fit for that. Marks that one thread has made are not kept: a walk by
 * aims begins anew when a graph turns out to be worth it, because bare and mixed blocks do not tell
 * where ranges start.
 *
 * Rejected by measurement: read sets in arrays that grow (huge pages are cleared for each; parcels
 * take them).
 */
#include "walk/aliases.h"
#include "walk/asides.h"
#include "walk/by_aim.h"
#include "walk/hints.h"
#include "walk/mark_brief_by_aim.h"
#include "walk/mark_inline.h"
#include "walk/memo.h"
#include "walk/outer_arrays.h"
#include "walk/share_rounds.h"

/* The bytes of a long string, with its end; 0: it has none within the limit. */
static uint64_t long_string_bytes(const haul__discovery *d, uintptr_t first)
{
    const size_t room = HAUL__HIGHEST - first, limit = d->context->options.max_scan_bytes;
    const char *end = memchr((const void *)first, 0, limit < room ? limit : room);
    return end ? (uint64_t)((uintptr_t)end - first) + 1 : 0;
}

/* As what a long range is in the memo. With hints or a direction each row counts: it may name the
 * range, or exclude it. */
static const void *meaning_of(const haul__discovery *d, const haul__aim *aim)
{
    if (d->named || aim->ways || !aim->outer)
        return aim;
    return aim->outer == HAUL__OUTER_BYTES ? NULL : d->met_types[aim->met].type;
}

/* Marks a range that lies in two districts or is long. HAUL_ERROR_GRAPH: one thread must do the
 * whole walk. */
static haul_status settle_by_aim(haul__discovery *d, haul__share *share, uint64_t entry,
                                 uint64_t bytes)
{
    const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(entry)];
    const void *as;
    uintptr_t first;
    int is_noted, fresh;
    if (bytes == HAUL__TO_ASK) {
        const haul_status status = haul__ask_count(d, share, &entry, &bytes);
        if (status != HAUL_OK || !bytes)
            return status;
    }
    first = HAUL__ENTRY_ADDRESS(entry);
    is_noted = bytes >= HAUL__MEMO_BYTES;
    as = meaning_of(d, aim);
    if (!bytes)
        bytes = long_string_bytes(d, first);
    if (!bytes || first < HAUL__LOWEST || bytes > HAUL__HIGHEST - first ||
        (first & (aim->misaligned | (HAUL__WORD - 1))) != 0) {
        haul__give_up(share, HAUL__WHY_BEGIN, HAUL__ENTRY_TYPE(entry));
        return HAUL_ERROR_GRAPH;
    }
    if (is_noted && haul__memo_has(d, HAUL__MEMO_EXTENT, first, (size_t)bytes, as))
        return HAUL_OK; /* named, too */
    fresh =
        haul__mark_by_aim(d, &share->sharer[0].starts, share, aim, first, first + (uintptr_t)bytes);
    if (fresh < 0) {
        haul__give_up(share, haul__why_unmarked(fresh), HAUL__ENTRY_TYPE(entry));
        return fresh == HAUL__NO_MEMORY ? HAUL_ERROR_MEMORY : HAUL_ERROR_GRAPH;
    }
    if (!haul__hint_range(d, aim->hint, first, first + (uintptr_t)bytes) ||
        !haul__exclude_by_aim(d, aim, first, first + (uintptr_t)bytes))
        return HAUL_ERROR_MEMORY;
    d->found->objects += (size_t)fresh;
    if (is_noted && haul__memo_add(d, HAUL__MEMO_EXTENT, first, (size_t)bytes, as) != HAUL_OK)
        return HAUL_ERROR_MEMORY;
    return !fresh || !aim->has_pointers || haul__add_visits(d, share, entry, bytes, aim->piece)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

static haul_status settle_roots(haul__discovery *d, haul__share *share, haul__aims *aims)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; i < d->root_count && status == HAUL_OK; i++) {
        const haul_root *root = &d->roots[i];
        uint32_t met, aim;
        size_t bytes;
        status = haul__met_type_of(d, root->type, &met);
        if (status == HAUL_OK)
            status = haul__aim_objects(d, aims, met, &aim);
        if (status != HAUL_OK)
            return status;
        if (haul__multiply_overflows(root->count, d->met_types[met].walk->extent, &bytes) ||
            root->count > d->context->options.max_array_elements ||
            (uintptr_t)root->address > HAUL__HIGHEST || bytes > HAUL__HIGHEST ||
            aim > UINT16_MAX) { /* no entry has room for the aim's number */
            haul__give_up(share, HAUL__WHY_FAULT, aim);
            return HAUL_ERROR_GRAPH;
        }
        status = settle_by_aim(d, share, (uint64_t)(uintptr_t)root->address | (uint64_t)aim << 48,
                               bytes);
        if (status == HAUL_OK && i == 0 && root->count > 1 && !d->named)
            status = haul__add_outer(d, aims, aim, (uintptr_t)root->address, bytes);
    }
    return status;
}

/* Marks the outer arrays, before anything that might lead into them. */
static haul_status settle_outers(haul__discovery *d, haul__share *share, haul__aims *aims)
{
    haul_status status = HAUL_OK;
    size_t i;
    for (i = 0; d->outers && i < d->outers->count && !d->named && status == HAUL_OK; i++) {
        const uintptr_t first = d->outers->at[i].first;
        const size_t bytes = d->outers->at[i].bytes;
        uint32_t aim;
        status = haul__aim_outer(d, aims, i, &aim);
        if (status != HAUL_OK || aim == HAUL__NO_AIM)
            continue;
        status = settle_by_aim(d, share, (uint64_t)first | (uint64_t)aim << 48, bytes);
        if (status == HAUL_OK)
            status = haul__add_outer(d, aims, aim, first, bytes);
    }
    return status;
}

static int has_visits(const haul__share *share)
{
    unsigned i;
    for (i = 0; i < HAUL__DISTRICTS; i++)
        if (share->district[i].has_visits)
            return 1;
    return 0;
}

/* What threads have read, and where it goes. */
typedef struct joined_reads {
    const haul__share *share;
    uint64_t *to;
    size_t at[HAUL__POOL_CHUNKS]; /* the first word of each thread's */
} joined_reads;

static void join_reads(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const joined_reads *joined = user;
    (void)number;
    (void)scratch;
    for (; first < end; first++) {
        const haul__parcel *parcel = joined->share->sharer[first].reads;
        uint64_t *to = joined->to + joined->at[first];
        for (; parcel; to += parcel->count, parcel = parcel->next)
            if (parcel->count)
                memcpy(to, parcel->entry, parcel->count * sizeof *parcel->entry);
    }
}

/* The borrowed pointers that a thread has listed join the walk's. */
static haul_status take_aliases(haul__discovery *d, const haul__discovery *own)
{
    size_t i;
    for (i = 0; i < own->aliases.count; i++) {
        haul__alias *alias = HAUL__LIST_ADD(d->allocator, &d->aliases);
        if (!alias)
            return HAUL_ERROR_MEMORY;
        *alias = own->aliases.at[i];
    }
    return HAUL_OK;
}

/* The threads' read sets, empty and borrowed pointers join the walk's. */
static haul_status take_found(haul__discovery *d, haul__share *share)
{
    haul__found *found = d->found;
    size_t reads = found->read_count, empty = found->empty_count, i;
    joined_reads joined;
    for (i = 0; i < share->sharer_count; i++) {
        joined.at[i] = reads;
        reads += share->sharer[i].read_words;
        empty += share->sharer[i].found.empty_count;
    }
    if ((reads && !haul__notes_grow(d->context, &d->context->reads, &found->reads,
                                    &found->read_capacity, reads)) ||
        (empty && !haul__grow(d->allocator, &found->empty, &found->empty_capacity, empty,
                              sizeof *found->empty)))
        return HAUL_ERROR_MEMORY;
    joined.share = share;
    joined.to = found->reads;
    if (reads > found->read_count)
        haul__pool_run(d->context->pool, (reads - found->read_count) * sizeof *found->reads, 0,
                       share->sharer_count, 1, join_reads, &joined);
    found->read_count = reads;
    for (i = 0; i < share->sharer_count; i++) {
        const haul__found *own = &share->sharer[i].found;
        if (take_aliases(d, &share->sharer[i].walk) != HAUL_OK)
            return HAUL_ERROR_MEMORY;
        if (own->empty_count)
            memcpy(found->empty + found->empty_count, own->empty,
                   own->empty_count * sizeof *own->empty);
        found->empty_count += own->empty_count;
    }
    return HAUL_OK;
}

haul_status haul__walk_by_aims(haul__discovery *d)
{
    haul__aims aims;
    haul__share *share;
    int may;
    haul_status status = haul__aims_prepare(d, &aims, &may);
    may &= haul__may_walk_by_aims(d);
    share = status == HAUL_OK && may ? haul__share_open(d, &aims) : NULL;
    d->was_shared = 1;
    if (!share) {
        haul__aims_close(d, &aims);
        return may ? HAUL_ERROR_MEMORY : HAUL_ERROR_GRAPH;
    }
    status = settle_roots(d, share, &aims);
    if (status == HAUL_OK)
        status = settle_outers(d, share, &aims);
    while (status == HAUL_OK && (haul__is_unfinished(share) || has_visits(share)))
        status = haul__are_too_many_asides(d, share) ? HAUL_ERROR_GRAPH
                                                     : haul__share_round(d, share, settle_by_aim);
    if (status == HAUL_OK && d->found->objects > d->context->options.max_objects)
        status = HAUL_ERROR_GRAPH; /* one thread tells the limit */
    if (status == HAUL_OK)
        status = take_found(d, share);
    if (status == HAUL_ERROR_GRAPH) {
        d->alone = haul__aimed_row(d, &aims, haul__given_up_about(share));
        d->alone.why = haul__why_given_up(share);
    }
    haul__share_close(d, share);
    haul__aims_close(d, &aims);
    return status;
}
