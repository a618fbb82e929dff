/* The shared walk: discovery by all threads of the context, while many simple objects wait.
 *
 * The address space is divided into districts. A pointer goes, in a parcel of many, to the district
 * of its target. One thread at a time takes a district, marks the targets of its parcels, and keeps
 * those that are new in it. They are visited by any thread, which sends their pointers on.
 *
 *     visit      an object's pointers go to the parcels of 32 districts
 *     mark       a district's parcels: its targets are marked in line; new objects wait there
 *
 * Threads work so in rounds. Between two rounds the caller's thread alone makes room for more
 * parcels, and marks what was put aside: objects that lie in two districts. Threads make blocks
 * themselves if the program lets all threads call its allocator; otherwise each gets some before
 * the round.
 *
 * Why it is right: marks are ORs, so their order does not matter, as long as no two objects
 * overlap. Only then could it matter, for the number of objects and for which type an address is
 * visited as, whichever is found first. So a walk is shared only where a block's starts tell every
 * object in it: all types are simple, with pointers to one object each, no two of them have one
 * shape, and each block has the form of one type. A target is then known if its start is set and
 * new if none of its granules is live. Anything else, and any failure but a lack of memory, ends
 * the shared walk. Then all threads walk by aims (walk_by_aims.c), or one thread walks again from
 * the roots (discover.c): its result does not depend on the others. One thread walks on from
 * the few objects that a round leaves over. It looks for overlaps, too (leftover.c).
 *
 * Why it is fast: blocks, cells and the table's entries of a district belong to the thread that has
 * taken it, so marks are plain loads and stores, the same as one thread's. A lock is taken once for
 * some hundred pointers. Each thread prefers districts of its own, whose cells stay in its caches.
 * New objects wait in place of their pointers, which are more. So parcels are marked before further
 * objects are visited. A few objects are visited earlier, while a parcel comes from the cache of
 * another thread. The context keeps the parcels' memory, and the next walk begins with as many:
 * touching new pages would cost more than a small graph gains. A parcel is not touched before it is
 * used, and a thread keeps its parcels from round to round.
 *
 * The walk is shared as soon as many objects have been found, those that wait included. Few of them
 * have been visited then.
 */
#include "map/mark.h"
#include "walk/hints.h"
#include "walk/leftover.h"
#include "walk/mark_inline.h"
#include "walk/share_rounds.h"
#include "walk/why.h"

/* Objects that one thread walks on from after a round, at most. */
#ifdef HAUL_STRESS_THREADS
#define FEW ((size_t)0)
#else
#define FEW HAUL__PARCEL
#endif
#define MANY_TYPES 64u

/* ---- When to share. */

/* Objects that wait have been marked, but not counted. If objects lie far apart, the first few
 * thousand touch most blocks of the map, and making these takes most of the time. */
int haul__has_found_many(const haul__discovery *d)
{
    const size_t done = d->found->objects + d->map->block_count * HAUL__BLOCK_IN_OBJECTS;
    return done >= HAUL__WORTH_SHARING ||
           done + haul__queue_waiting(d) + haul__buckets_waiting(d) >= HAUL__WORTH_SHARING;
}

/* Is an object visited alike as either type? They have one shape. */
static int are_visited_alike(const haul__met_type *a, const haul__met_type *b)
{
    uint32_t i;
    for (i = 0; i < a->edge_count; i++)
        if (a->edges[i].offset != b->edges[i].offset || a->edges[i].tag != b->edges[i].tag)
            return 0;
    return 1;
}

/* Does a start tell the type, as far as it matters? Types of one shape have one form. */
static int are_told_apart(const haul__discovery *d, const haul__met_type *met)
{
    const haul__met_type *other;
    for (other = d->met_types; other < met; other++)
        if (other->form == met->form && !are_visited_alike(other, met))
            return 0;
    return 1;
}

/* Are all pointers of the types met, and of those behind them, pointers to one simple object each,
 * whose start tells its type? Working that out meets the types behind. */
static haul_status look_at_types(haul__discovery *d, int *are_simple)
{
    size_t i;
    *are_simple = 1;
    for (i = 0; i < d->met_type_count && *are_simple; i++) {
        const haul_status status = haul__met_type_edges(d, (uint32_t)i);
        const haul__met_type *met = &d->met_types[i];
        if (status != HAUL_OK)
            return status;
        *are_simple = i < MANY_TYPES && met->simple.bytes && met->form != HAUL__NO_FORM &&
                      met->edges && met->plain && are_told_apart(d, met);
    }
    return HAUL_OK;
}

static haul_status may_share(haul__discovery *d)
{
    haul_status status;
    int may;
    if (d->is_alone || haul__why_one_thread(d) ||
        (d->named && !haul__threads_may_allocate(d->context))) {
        d->is_alone = 1;
        return HAUL_OK;
    }
    status = look_at_types(d, &may);
    d->is_alone =
        !may || !haul__are_uniform(d->map) || d->found->objects > d->context->options.max_objects;
    return status;
}

/* ---- Simple objects. */

/* The queue's objects go to their districts. 0: out of memory. */
static int take_queue(haul__discovery *d, haul__share *share)
{
    haul__chunk *chunk;
    while ((chunk = haul__queue_next(d)) != NULL)
        for (; chunk->read < chunk->written; chunk->read++)
            if (!haul__add_visit(d, share, &chunk->entry[chunk->read], 1))
                return 0;
    return 1;
}

/* Marks an object that lies in two districts, or for which there was no block. */
static haul_status settle_one(haul__discovery *d, haul__share *share, uint64_t entry,
                              uint64_t bytes)
{
    const uintptr_t address = HAUL__ENTRY_ADDRESS(entry);
    haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    const int is_ragged = (address & (HAUL__GRANULE - 1)) != 0;
    uint32_t form;
    int fresh;
    (void)bytes;
    if (is_ragged && !haul__met_type_ragged(d, met))
        return HAUL_ERROR_MEMORY;
    form = is_ragged ? met->ragged.form : met->form;
    if (!haul__can_start(met, address, form)) {
        haul__give_up(share, HAUL__WHY_BEGIN, HAUL__ENTRY_TYPE(entry));
        return HAUL_ERROR_GRAPH;
    }
    if (!haul__hint_range(d, met->hint, address, address + met->simple.bytes))
        return HAUL_ERROR_MEMORY;
    fresh = haul__mark_simple(d->map, address, form);
    if (fresh > 0)
        return haul__queue_push(d, address, HAUL__ENTRY_TYPE(entry), 1) ? HAUL_OK
                                                                        : HAUL_ERROR_MEMORY;
    if (fresh < 0)
        return HAUL_ERROR_MEMORY;
    if (haul__is_start(d->map->flat, address, form))
        return HAUL_OK;
    haul__give_up(share, HAUL__WHY_OVERLAP, HAUL__ENTRY_TYPE(entry));
    return HAUL_ERROR_GRAPH;
}

static haul_status walk_rounds(haul__discovery *d, haul__share *share)
{
    haul_status status = HAUL_OK;
    do {
        if (!haul__is_unfinished(share) && !take_queue(d, share))
            return HAUL_ERROR_MEMORY;
        status = haul__share_round(d, share, settle_one);
    } while (status == HAUL_OK && (haul__is_unfinished(share) || haul__queue_waiting(d) > FEW));
    return status;
}

haul_status haul__share_walk(haul__discovery *d)
{
    haul_status status;
    haul__share *share;
    if (!d->is_alone && !haul__why_one_thread(d))
        haul__pool_wake(d->context->pool, SIZE_MAX); /* they wake while this thread gets ready */
    status = may_share(d);
    if (status == HAUL_OK && d->is_alone)
        return haul__choose_aims(d);
    if (status != HAUL_OK)
        return status;
    share = haul__share_open(d, NULL);
    if (!share)
        return HAUL_ERROR_MEMORY;
    d->was_shared = 1;
    status = walk_rounds(d, share);
    if (status == HAUL_ERROR_GRAPH) {
        d->alone.why = haul__why_given_up(share);
        d->alone.walk = d->met_types[haul__given_up_about(share)].walk;
        d->alone.slot = NULL;
    }
    d->has_shared = status == HAUL_OK;
    haul__share_close(d, share);
    return status;
}
