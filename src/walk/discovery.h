/* The state of one discovery, from its roots to its marks. Each file of this room works on a part of
 * it: the members stand in groups, under the files that own them.
 */
#ifndef HAUL_WALK_DISCOVERY_H
#define HAUL_WALK_DISCOVERY_H

#include "walk/discover.h"

/* Through whom something was found, of types that hold: one object, and those of other types in the
 * discovery's list `around`, each with the next. A type has the nearest of its objects there, once;
 * they are in no order. holder 0: no one. */
typedef struct haul__held {
    uintptr_t holder;
    const haul_type *type;
    size_t next; /* 1 + its place in the list; 0: no more */
} haul__held;

/* What callbacks of a rule get of those who led there, if it asks. */
typedef struct haul__asked {
    uintptr_t parent, holder; /* 0: none */
    const haul_type *type;    /* whose object is asked for; NULL: no holder is */
} haul__asked;

/* A counted array of plain bytes, or a string (end 0: not known yet), that waits for its marks. */
typedef struct haul__pending {
    uintptr_t first, end;
    const struct haul__plain_array *counted;
} haul__pending;

#define HAUL__PENDING 32u          /* that wait before the first is looked at */
#define HAUL__QUEUED ((size_t)256) /* a power of two */
/* less: objects and their marks are not there yet; more: they are gone again */
#define HAUL__FETCH_QUEUE ((size_t)8)

typedef struct haul__discovery {
    haul_context *context;
    haul_allocator *allocator;
    haul__found *found;
    haul__map *map;
    const haul_root *roots;
    size_t root_count, root; /* the one being followed */
    int recording;           /* record the way, ask `readable`, check meanings */
    /* look at rules without noting what was read, and without the sought place */
    int dry_run;
    haul__sought sought;     /* stop there and leave the path */
    const haul__map *within; /* read nothing else; NULL: all that is described */
    /* note there what is reached; NULL: nowhere. Recording runs only */
    haul__order_log *trail;
    size_t at_entry, at_element; /* what is being visited, for the path */

    /* met_types.c */
    struct haul__met_type *kinds;
    size_t kind_count, kind_capacity;
    uint32_t *kind_hash; /* 1 + number; 0: free */
    size_t kind_hash_capacity;

    /* worklist.c */
    struct haul__chunk *head, *tail, *spare;
    size_t chunk_bytes, waiting_chunks;
    struct haul__bucket *lanes; /* HAUL__BUCKETS; NULL until they are needed */
    unsigned at_lane;           /* the one that the queue was taken from */
    int is_spread;              /* what is found in line goes to the lanes */
    struct haul__entry *entries;
    size_t entry_count, entry_capacity, entry_read; /* read: when recording */

    /* plain_arrays.c */
    haul__pending spans[HAUL__PENDING];
    size_t span_count;

    /* extent.c */
    uintptr_t string_first, string_end; /* the last string that was gone through, */
    size_t string_unit;                 /* and how; 0: none */
    int64_t string_sentinel;
    int exact; /* count every string to its end, known or not */

    /* follow.c: objects with rules that were put on the worklist lately */
    uint64_t queued[HAUL__QUEUED];

    /* fetch_queue.c: a ring of those that are being fetched */
    uint64_t line[HAUL__FETCH_QUEUE];
    size_t line_first, line_count;

    /* ruled_evaluate.c: what rows of an object are, of the one being visited, and of one being
     * reached */
    struct haul__field_value *survey[2];
    size_t survey_capacity[2];
    int by_rule; /* what is followed is what a rule makes of a word */

    /* ancestors.c */
    uintptr_t from; /* the struct that led to what is being visited */
    /* through whom that was found, while its kind must know; else none */
    haul__held held;
    haul__asked asked;  /* what callbacks get of these */
    haul__held *around; /* what entries' holders go on with */
    size_t around_count, around_capacity;

    /* aliases.c */
    struct haul__alias *aliases;
    size_t alias_count, alias_capacity;

    /* memo.c */
    struct haul__memo *memo;
    size_t memo_count, memo_capacity;

    /* checked_meanings.c */
    struct haul__seen *seen;
    size_t seen_count, seen_capacity;
} haul__discovery;

#endif
