/* Pointers to one simple object, in a walk that stops at what has a copy elsewhere.
 *
 * Most pointers of nodes are such. Unless the object has a copy, it is marked in line, as in a walk
 * that does not stop, and its range is listed. An answer about one object tells of its page, too
 * (map/elsewhere.h), so most objects that are absent need no question. In a row of new objects, and
 * in one of ranges with copies, the next address is known: one comparison takes the place of the
 * arithmetic of a page. In a list, the one object that waits is visited at once.
 */
#include "walk/may_stop.h"
#include "walk/mark_inline.h"
#include "walk/new_ranges.h"
#include "walk/news.h"

HAUL__INLINE size_t bytes_of(const haul__met_type *met)
{
    return met->walk->true_upper - met->walk->true_lower;
}

/* Marks an object that is absent, and lists it. *fresh: it is new, and waits to be visited. */
HAUL__INLINE haul_status find(haul__discovery *d, uintptr_t value, const haul__edge *edge,
                              const haul__met_type *met, int is_clear, int *fresh)
{
    const int found = haul__start_in_cell(value) < edge->near_starts
                          ? haul__mark_near(d->map->flat, value, met)
                          : haul__mark_over(d->map->flat, value, met);
    *fresh = found == HAUL__FRESH;
    if (HAUL__UNLIKELY(found < 0))
        return haul__reach_one(d, value, HAUL__ENTRY_TYPE(edge->tag));
    if (!found)
        return HAUL_OK;
    d->found->bytes += met->simple.bytes;
    return haul__list_one(d, value, met, is_clear) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

/* The object was clear: those that go on with its row are clear as far as its page goes, if its
 * page has no copies, or has them at the same distance, and some before the object. */
static void expect_clear(const haul__discovery *d, uintptr_t value, const haul__met_type *met)
{
    const uintptr_t begin = value + met->walk->true_lower;
    const haul__surroundings *s = &d->found->elsewhere->around[haul__place_around(begin)];
    const uintptr_t page_end = s->begin + ((uintptr_t)1 << HAUL__SURROUNDINGS_PAGE);
    haul__listing *listing = d->listing;
    size_t apart;
    if (listing->next <= value || listing->last_type != met->type)
        return;
    apart = listing->list.at[listing->list.count - 1].apart;
    if (listing->next - value == apart &&
        (!s->count || (apart == s->stride && !haul__is_before_ranges(s, begin))))
        listing->clear = value + (page_end - bytes_of(met) - begin);
}

/* The walk does not stop, after this answer. */
static HAUL__NOINLINE haul_status find_asked(haul__discovery *d, uintptr_t value,
                                             const haul__edge *edge, haul__meeting meeting,
                                             int *fresh)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(edge->tag)];
    haul_status status;
    int is_clear;
    if (meeting == HAUL__NOT_NOTED) /* a second question might find memory, and hide the failure */
        return HAUL_ERROR_MEMORY;
    if (meeting != HAUL__HERE) /* it asks again, and says why */
        return haul__reach_one(d, value, HAUL__ENTRY_TYPE(edge->tag));
    is_clear =
        haul__is_clear_around(d->found->elsewhere, value + met->walk->true_lower, bytes_of(met));
    status = find(d, value, edge, met, is_clear, fresh);
    if (is_clear)
        expect_clear(d, value, met);
    return status;
}

/* Finds the object, unless the walk stops there. What is known of its page tells that, or else a
 * question. */
HAUL__INLINE haul_status ask(haul__discovery *d, uintptr_t value, const haul__edge *edge,
                             int *fresh)
{
    const haul__elsewhere *elsewhere = d->found->elsewhere;
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(edge->tag)];
    const uintptr_t begin = value + met->walk->true_lower;
    haul__told told;
    haul__meeting meeting;
    uint32_t i;
    told = haul__told_around(elsewhere, begin, bytes_of(met), &i);
    if (told == HAUL__CLEAR)
        return find(d, value, edge, met, 1, fresh);
    meeting = HAUL__LIKELY(told == HAUL__COPIED)
                  ? haul__stop_around(elsewhere, begin, bytes_of(met), i)
                  : elsewhere->meet(elsewhere->user, begin, bytes_of(met));
    return HAUL__LIKELY(meeting == HAUL__WHOLE) ? HAUL_OK
                                                : find_asked(d, value, edge, meeting, fresh);
}

/* The same; rows of new objects, and of objects with copies, need no question. */
HAUL__INLINE haul_status follow(haul__discovery *d, uintptr_t value, const haul__edge *edge,
                                int *fresh)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(edge->tag)];
    *fresh = 0;
    if (HAUL__TOO_HIGH(value))
        return haul__reach_one(d, value, HAUL__ENTRY_TYPE(edge->tag));
    if (haul__goes_on_clear(d->listing, value, met))
        return find(d, value, edge, met, 1, fresh);
    return haul__stop_expected(d->found->elsewhere, value + met->walk->true_lower, bytes_of(met))
               ? HAUL_OK
               : ask(d, value, edge, fresh);
}

haul_status haul__follow_or_stop(haul__discovery *d, uintptr_t value, const haul__edge *edge)
{
    int fresh;
    const haul_status status = follow(d, value, edge, &fresh);
    if (status != HAUL_OK || !fresh)
        return status;
    return haul__queue_push(d, value, HAUL__ENTRY_TYPE(edge->tag), 1) ? HAUL_OK : HAUL_ERROR_MEMORY;
}

/* Follows the pointers of an object. If *next is 0, it becomes the first new target; others go to
 * the worklist. */
HAUL__INLINE haul_status visit(haul__discovery *d, uint64_t entry, uint64_t *next)
{
    const haul__met_type *met = &d->met_types[HAUL__ENTRY_TYPE(entry)];
    const haul__edge *edge = met->edges, *end = edge + met->edge_count;
    for (; edge < end; edge++) {
        const uintptr_t value =
            haul__load_word((const void *)(HAUL__ENTRY_ADDRESS(entry) + edge->offset));
        haul_status status;
        int fresh;
        if (!value)
            continue;
        status = follow(d, value, edge, &fresh);
        if (HAUL__UNLIKELY(status != HAUL_OK))
            return status;
        if (!fresh)
            continue;
        if (!*next)
            *next = value | edge->tag;
        else if (!haul__queue_push(d, value, HAUL__ENTRY_TYPE(edge->tag), 1))
            return HAUL_ERROR_MEMORY;
    }
    return HAUL_OK;
}

/* An object that is the only one left is followed as in a list (drain.c, chase). */
HAUL__HOT static haul_status chase(haul__discovery *d, uint64_t entry)
{
    const size_t most = d->context->options.max_objects, written = d->tail->written,
                 next_look = d->found->objects + HAUL__NEWS_OBJECTS,
                 limit = d->news.is_wanted && next_look < most ? next_look : most;
    haul_status status;
    do {
        uint64_t next = 0;
        d->found->objects++;
        status = visit(d, entry, &next);
        if (status != HAUL_OK || !next)
            return status == HAUL_OK ? haul__news(d) : status;
        entry = next;
    } while (d->found->objects < limit && d->head == d->tail && d->tail->written == written &&
             d->met_types[HAUL__ENTRY_TYPE(entry)].stops);
    return haul__queue_push(d, HAUL__ENTRY_ADDRESS(entry), HAUL__ENTRY_TYPE(entry), 1)
               ? haul__news(d)
               : HAUL_ERROR_MEMORY;
}

HAUL__HOT static haul_status visit_one(haul__discovery *d, uint64_t entry)
{
    uint64_t next = 0;
    haul_status status;
    d->found->objects++;
    status = visit(d, entry, &next);
    if (status != HAUL_OK || !next)
        return status;
    return haul__queue_push(d, HAUL__ENTRY_ADDRESS(next), HAUL__ENTRY_TYPE(next), 1)
               ? HAUL_OK
               : HAUL_ERROR_MEMORY;
}

haul_status haul__visit_or_stop(haul__discovery *d, uint64_t entry, int is_alone)
{
    return is_alone ? chase(d, entry) : visit_one(d, entry);
}
