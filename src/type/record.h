/* The record behind a haul_type: rows or blocks as they were given, the flat form that commit makes
 * of them, and the group that owns it.
 *
 *     haul_type_create, _add, _set           build.c          fill rows
 *     MPI's constructors                     constructors.c   fill blocks and loops
 *     parameters, containers, instances      instance.c
 *     haul_policy_create                     policy.c, policy_forms.c, policy_fields.c
 *     haul_type_commit                       commit.c         closure, order, one group
 *       is every row right?                  check_*.c
 *       runs, slots, parts, ruled rows       flatten.c, flat_lists.c, flat_seal.c
 *       ancestors that rules ask for         ancestor_bits.c
 *     queries, iteration, the table          query.c, dump.c
 *     made, held, freed                      life.c
 *
 * A group is held and freed as one: an open type by itself, or all types that one commit closed,
 * with any cycles among them. Its record lies in the type that it began with. An open constructor
 * holds the groups of its old types; a committed group holds the other groups that its types reach.
 */
#ifndef HAUL_TYPE_RECORD_H
#define HAUL_TYPE_RECORD_H

#include "base/memory.h"
#include "type/type.h"

struct haul__pointer_probe {
    char first;
    void *pointer;
};
/* the alignment that C gives a pointer */
#define HAUL__GRID offsetof(struct haul__pointer_probe, pointer)

enum {
    /* entries that one embedded array may add to the lists of the type around it; larger arrays
     * become parts. More: longer lists. Less: more nested walks. */
    HAUL__INLINE_MAX = 64,
    /* the most pointers of an array in a struct whose shapes read that struct */
    HAUL__ARRAY_SLOTS_MAX = 65536,
    HAUL__PLACEMENT_MIN = 2 * (int)sizeof(void *) /* a granule: every copy keeps it */
};

typedef struct haul__row {
    const char *name;
    size_t offset, bytes, element_bytes;
    haul_type *const *target;
    haul_type *type;       /* *target, as commit found it */
    size_t shape;          /* its first in the type's array of shapes */
    size_t serial;         /* its number in the order of adding */
    unsigned kind, levels; /* as given, not yet checked */
    int unaligned;
    haul__rule *rule; /* its own copy, or NULL */
    /* where the farthest pointer row up to this one ends, and the farthest unsent row; set by
     * haul__check_places */
    size_t pointers_end, unsent_end;
} haul__row;

/* Of a constructor: `count` old elements, one after the other. With loops, all of them repeat
 * blocks[0]; loops[0] is the outermost. */
typedef struct haul__old_block {
    size_t offset, count;
    haul_type *type;
} haul__old_block;

typedef struct haul__loop {
    size_t count, stride;
} haul__loop;

/* The names of one call's rows. The bytes follow, and never move. */
typedef struct haul__names {
    struct haul__names *next;
    size_t bytes;
} haul__names;

/* The same for their rules: the rules follow, then all their dimensions, their cases, and the types
 * of the cases. */
typedef struct haul__rules {
    struct haul__rules *next;
    size_t bytes;
} haul__rules;

typedef struct haul__group {
    haul_type *owner;          /* the type that this record lies in */
    int holders;               /* atomic */
    haul_type *members;        /* through haul_type.sibling */
    struct haul__group **held; /* by a committed group: other groups, each once */
    size_t held_count;
    struct haul__group *next_dead;
} haul__group;

/* An instance of a container takes `argument` in the place of `parameter`. */
typedef struct haul__bound {
    haul_type *parameter, *argument;
} haul__bound;

/* The context that a type was made from. The functions are those of the context's room, which lies
 * above this one. */
typedef struct haul__home {
    haul_context *context; /* NULL: a type of no blocks, which was made without a context */
    haul_error *error;     /* its record */
    void (*hold)(haul_context *context);
    void (*drop)(haul_context *context);
} haul__home;

struct haul_type {
    haul__walk walk; /* filled by commit; all zero before */
    uint32_t magic;
    haul_combiner combiner;
    int committed;
    haul_allocator allocator;
    haul__home home;
    size_t object_bytes; /* of this record and the name behind it */
    const char *name;
    haul__group own, *group;
    haul_type *sibling;

    /* The description. */
    size_t bytes, lower; /* extent and lower bound, known before commit */
    size_t reach;        /* where the last byte of an element ends */
    size_t alignment;    /* as declared */
    int is_aligned;      /* an alignment was declared */
    int in_order;        /* rows are sorted by offset */
    haul__row *rows;
    size_t row_count, row_capacity;
    haul_count *shapes;
    size_t shape_count, shape_capacity;
    haul__names *names;
    haul__rules *rules;
    haul_function *size;            /* answers an object's size; NULL: sizeof, or the tail's end */
    int depends;                    /* contents depend on addresses */
    haul_rebuild_function *rebuild; /* if `depends`; may be NULL */
    void *rebuild_user;
    int has_tail;
    haul__old_block *blocks;
    size_t block_count;
    haul__loop *loops;
    size_t loop_count;

    /* Of an instance, which holds the types of `bound` while it is open. */
    haul__bound *bound;
    size_t bound_count;
    haul_type *container; /* NULL: it has been freed */
    haul_type *next_instance;
    haul_type *below[2]; /* in the container's tree: instances whose hash goes on with 0 and 1 */
    /* Of a container. */
    haul_type *instances; /* all that were made of it, held */
    haul_type *root;      /* of the tree of instances */

    /* The flat form. */
    void *flat; /* slots, parts, runs and names, in one piece */
    size_t flat_bytes;
    haul_type *inner;  /* its own nameless types, which parts lead to; through `sibling` */
    size_t depth;      /* types within types, itself included */
    size_t part_depth; /* parts within parts */
    size_t pointers;   /* described pointers of one element, or SIZE_MAX */

    /* Commit's marks, clear between calls. */
    int reached, state, looked_at;
    size_t cursor;
    haul_type *within;
    uint64_t ancestor_bit; /* its own, if a rule names it as an ancestor (ancestor_bits.c) */
};

#endif
