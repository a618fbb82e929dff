/* The state of one discovery, from its roots to its marks. Its members stand in groups, each under
 * the file that owns it.
 */
#ifndef HAUL_WALK_DISCOVERY_H
#define HAUL_WALK_DISCOVERY_H

#include "base/index.h"
#include "base/list.h"
#include "map/turns.h"
#include "walk/discover.h"

/* One ancestor, the nearest of its type, and a link to the next one: a list without order, of one
 * ancestor for each type. object 0: there is none. */
typedef struct haul__ancestor {
    uintptr_t object;
    const haul_type *type;
    size_t next; /* 1 + a place in the discovery's list of ancestors; 0: the end */
} haul__ancestor;

/* The ancestor that callbacks of a rule get, if the rule asks for one. */
typedef struct haul__nearest {
    uintptr_t object;      /* 0: none */
    const haul_type *type; /* NULL: the rule names no type; the object is the parent */
} haul__nearest;

/* A short array or a string that waits to be marked. */
typedef struct haul__pending {
    uintptr_t first, end;                  /* end 0: of a string, not known yet */
    const struct haul__plain_array *array; /* NULL: it needs no marks */
} haul__pending;

/* A single object that waits to be excluded from directions. */
typedef struct haul__barred {
    uintptr_t object;
    uint16_t number; /* of its type */
    uint8_t ways;
} haul__barred;

/* retrace.c: the turns that this walk notes, and those of an earlier one. A step leads from one
 * block to another. */
typedef struct haul__retracing {
    size_t left, width; /* steps until the next turn; of a turn, 0: there was none yet */
    size_t objects;     /* found when this turn began */
    unsigned char turn;
    int is_noting, has_failed; /* has_failed: memory has run out */

    const haul__map *before; /* of the earlier walk */
    haul__spot *spots;       /* its objects by turn; NULL: there are none */
    haul__turn_ends ends;
    size_t count; /* of spots */
    /* The next to be fetched; those before `wanted` are needed soon, those from `most` on would
     * come too early. */
    size_t at, wanted, most;
    size_t steps;
} haul__retracing;

/* news.c */
typedef struct haul__news_state {
    int is_wanted;
    unsigned left, looks;  /* looks until the clock is read; of these, at first */
    uint64_t single_bytes; /* of single objects, about */
    double last, next;     /* the clock when it was read, and for the next call */
} haul__news_state;

/* The bytes that a discovery may read, and how many bytes of large ranges it may mark or search.
 * The same range found often, with other ends each time, would else take the square of its size. */
typedef struct haul__bounds {
    uintptr_t begin, end;
    size_t work;
} haul__bounds;

/* A place that an error has in a recording run. Entries stay, so its path can be written later. */
typedef struct haul__refusal {
    int is_noted;
    size_t root, entry, element;
    const haul__slot *slot;
} haul__refusal;

/* Of a walk that passes over what it cannot follow. */
typedef struct haul__passing {
    haul__refusal refused, passed; /* the last one; the first that was passed over */
    int has_spent;                 /* its work is over */
} haul__passing;

#define HAUL__PENDING 32u /* arrays that wait before the first is marked */
/* A target is excluded after it is marked, because its mark chooses the form of a new block. So as
 * many may wait for that as for their marks (HAUL__CANDIDATES). */
#define HAUL__BARRED 96u
#define HAUL__QUEUED ((size_t)256) /* a power of two */
/* Objects that are fetched at once. Fewer: an object and its marks have not come yet when it is
 * visited; more: they are out of the cache again. */
#define HAUL__FETCH_QUEUE ((size_t)8)

/* An array that one thread finds before any pointer into it (outer_arrays.c). */
#define HAUL__OUTERS 8u /* that are listed, at most */
typedef struct haul__outer {
    uintptr_t first;
    size_t bytes;
    const haul_type *type; /* of its elements; NULL: plain bytes */
} haul__outer;
typedef struct haul__outers { /* a list of them (base/list.h) */
    haul__outer *at;
    size_t count, capacity;
} haul__outers;

typedef struct haul__discovery {
    haul_context *context;
    haul_allocator *allocator;
    haul__found *found;
    haul__map *map;
    const haul_root *roots;
    size_t root_count, root;            /* root: the one being followed */
    int recording;                      /* keep all entries, ask `readable`, check meanings */
    struct haul__listing *listing;      /* gets the ranges that are found; NULL: nobody does */
    const struct haul__hints *hints;    /* NULL: none are noted */
    struct haul__named_granules *named; /* the found one, with hints; else NULL */
    haul__sought sought;                /* stop there, with its path */
    const haul__map *within;            /* read only bytes that it describes; NULL: all */
    const haul__bounds *bounds;         /* NULL: there are none */
    size_t work, work_most;             /* done so far, and at most (haul__spend) */
    /* In a changed graph: what the plan has found, whose map is `within`. Its answers stand for
     * those of callbacks. NULL: the graph is as it is. */
    const haul__found *changed;
    haul__passing *passing;      /* in a changed graph, and in an arena that a device has written */
    haul__order_log *order_log;  /* NULL: there is none */
    int in_order;                /* with a log, but not recording */
    haul__visited visited;       /* in order */
    size_t at_entry, at_element; /* the visited element, for the path */

    /* share.c */
    int is_alone;   /* no other thread takes part */
    int was_shared; /* others have: after a failure one thread walks again */
    int has_shared; /* others have found what lies before the objects that wait now */
    int wants_aims; /* all threads can walk by aims, from the roots */
    int has_no_aims;
    int is_by_aims;       /* this walk is by aims */
    haul__reason alone;   /* why one thread walks, as far as it is known */
    size_t repeated;      /* objects that walks before this one had found */
    haul__outers *outers; /* NULL: none are listed */

    /* met_types.c */
    struct haul__met_type *met_types; /* in the order of their numbers */
    size_t met_type_count, met_type_capacity;
    haul__index met_type_index;

    /* worklist.c */
    struct haul__chunk *head, *tail, *spare;
    size_t chunk_bytes, waiting_chunks;
    struct haul__bucket *buckets; /* HAUL__BUCKETS; NULL until they are needed */
    unsigned at_bucket;           /* the one that the queue was taken from */
    int is_spread;                /* objects that are marked in line go to the buckets */
    HAUL__LIST(struct haul__entry) entries;
    HAUL__LIST(struct haul__entry) known; /* within bounds: plain ranges without a new byte */
    size_t entry_read;                    /* of a recording run, or one in order */

    /* exclude.c: a ring of targets that wait to be excluded; NULL until there is one */
    haul__barred *barred;
    uint32_t barred_first, barred_count;

    /* plain_arrays.c */
    haul__pending pending[HAUL__PENDING];
    size_t pending_count;

    /* extent.c */
    uintptr_t string_first, string_end; /* the last string whose end was searched */
    size_t string_unit;                 /* bytes of its element; 0: there is no string yet */
    int64_t string_sentinel;

    /* follow.c: objects that joined the queue unmarked lately, a hash; did the walk stop at the
     * range that it was led to last (stops.h)? */
    uint64_t queued[HAUL__QUEUED];
    int has_stopped;

    haul__retracing retracing;
    haul__news_state news;

    /* fetch_queue.c: a ring of unmarked objects that are being fetched */
    uint64_t fetching[HAUL__FETCH_QUEUE];
    size_t fetching_first, fetching_count;

    /* ruled_evaluate.c: values of the visited object's ruled rows, and of a reached one's */
    struct haul__field_value *evaluation[2];
    size_t evaluation_capacity[2];

    /* read_set.c: the calls of `changed` by their questions; its reads outside of all objects */
    haul__index answers;
    HAUL__LIST(uint64_t) apart;
    int has_apart;

    /* ancestors.c */
    HAUL__LIST(haul__ancestor) ancestors; /* the rest of each list; it only grows */

    /* aliases.c */
    HAUL__LIST(struct haul__alias) aliases;

    /* targets.c: within bounds */
    HAUL__LIST(struct haul__word_target) targets;

    /* unless_owned.c: pointers to what may hold pointers; pointers to plain bytes */
    struct {
        HAUL__LIST(struct haul__waiting) list;
        size_t done; /* those before it have been decided, and followed if they are owners */
    } waiting[2];

    /* section_memo.c: the sections that were marked, as words; and where each begins */
    HAUL__LIST(size_t) section_words;
    haul__index section_index;

    /* pools.c */
    HAUL__LIST(struct haul__entry) pools;

    /* memo.c */
    struct haul__memo *memo;
    size_t memo_count, memo_capacity;

    /* checked_meanings.c */
    HAUL__LIST(struct haul__seen) seen;
    haul__index seen_index;
} haul__discovery;

/* Must each range be met by itself? Then no pointer is followed in line, except those to one simple
 * object in a walk that stops at what has a copy elsewhere (may_stop.c). */
HAUL__INLINE int haul__is_general(const haul__discovery *d)
{
    return d->recording || d->listing;
}

/* The pointers of an object, or the one at `first` (then `rows` is NULL), are followed now. */
HAUL__INLINE void haul__visit_one(haul__discovery *d, uintptr_t first, size_t bytes,
                                  const struct haul__walk *rows)
{
    d->visited.first = first;
    d->visited.end = first + bytes;
    d->visited.rows = rows;
}

#endif
