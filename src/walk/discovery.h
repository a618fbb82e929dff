/* The state of one discovery, from its roots to its marks. Its members stand in groups, each under
 * the file that owns it.
 */
#ifndef HAUL_WALK_DISCOVERY_H
#define HAUL_WALK_DISCOVERY_H

#include "base/list.h"
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

/* A short array of plain bytes, or a string, that waits to be marked. */
typedef struct haul__pending {
    uintptr_t first, end;                  /* end 0: of a string, not known yet */
    const struct haul__plain_array *array; /* NULL: it needs no marks */
} haul__pending;

#define HAUL__PENDING 32u          /* arrays that wait before the first is marked */
#define HAUL__QUEUED ((size_t)256) /* a power of two */
/* Objects that are fetched at once. Fewer: an object and its marks have not come yet when it is
 * visited; more: they are out of the cache again. */
#define HAUL__FETCH_QUEUE ((size_t)8)

typedef struct haul__discovery {
    haul_context *context;
    haul_allocator *allocator;
    haul__found *found;
    haul__map *map;
    const haul_root *roots;
    size_t root_count, root;     /* root: the one being followed */
    int recording;               /* keep all entries, ask `readable`, check meanings */
    haul__sought sought;         /* stop there, with its path */
    const haul__map *within;     /* read only bytes that it describes; NULL: all */
    haul__order_log *order_log;  /* of a recording run; NULL: there is none */
    size_t at_entry, at_element; /* the visited element, for the path */

    /* met_types.c */
    struct haul__met_type *met_types; /* in the order of their numbers */
    size_t met_type_count, met_type_capacity;
    uint32_t *met_type_hash; /* 1 + number; 0: free */
    size_t met_type_hash_capacity;

    /* worklist.c */
    struct haul__chunk *head, *tail, *spare;
    size_t chunk_bytes, waiting_chunks;
    struct haul__bucket *buckets; /* HAUL__BUCKETS; NULL until they are needed */
    unsigned at_bucket;           /* the one that the queue was taken from */
    int is_spread;                /* objects that are marked in line go to the buckets */
    HAUL__LIST(struct haul__entry) entries;
    size_t entry_read; /* of a recording run */

    /* plain_arrays.c */
    haul__pending pending[HAUL__PENDING];
    size_t pending_count;

    /* extent.c */
    uintptr_t string_first, string_end; /* the last string whose end was searched */
    size_t string_unit;                 /* bytes of its element; 0: there is no string yet */
    int64_t string_sentinel;

    /* follow.c: objects with rules that joined the queue lately, a hash */
    uint64_t queued[HAUL__QUEUED];

    /* fetch_queue.c: a ring of objects with rules that are being fetched */
    uint64_t fetching[HAUL__FETCH_QUEUE];
    size_t fetching_first, fetching_count;

    /* ruled_evaluate.c: values of the visited object's ruled rows, and of a reached one's */
    struct haul__field_value *evaluation[2];
    size_t evaluation_capacity[2];

    /* ancestors.c */
    HAUL__LIST(haul__ancestor) ancestors; /* the rest of each list; it only grows */

    /* aliases.c */
    HAUL__LIST(struct haul__alias) aliases;

    /* pools.c */
    HAUL__LIST(struct haul__entry) pools;

    /* memo.c */
    struct haul__memo *memo;
    size_t memo_count, memo_capacity;

    /* checked_meanings.c */
    struct haul__seen *seen;
    size_t seen_count, seen_capacity;
} haul__discovery;

#endif
