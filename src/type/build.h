/* What a type is inside: rows or blocks as they were given, the flat form that commit makes of
 * them, and the group that owns it.
 *
 *     haul_type_create, _add, constructors   build.c, constructors.c   fill rows, or blocks
 *     parameters, containers, instances      instance.c
 *     haul_type_commit                       commit.c                  closure, order, one group
 *       is every row right?                  check.c; its rule: rule.c, its direction: direction.c
 *       may arms of a union hold at once?    arms.c
 *       runs, slots, parts, ruled rows       flatten.c
 *       holders and those that ask for them  holders.c
 *     queries, iteration, the table          query.c, dump.c
 *
 * A group is what is held and freed as one: an open type by itself, or all types that one commit
 * closed, whatever cycles they form. Its record lies in the type that it began with. An open
 * constructor holds its old types' groups; a committed group holds the other groups that its types
 * reach.
 */
#ifndef HAUL_TYPE_BUILD_H
#define HAUL_TYPE_BUILD_H

#include "type/type.h"

struct haul__pointer_probe {
    char first;
    void *pointer;
};
/* what C asks of a pointer's address */
#define HAUL__GRID offsetof(struct haul__pointer_probe, pointer)

enum {
    HAUL__SLOT_PACKED = 4, /* flag of a slot whose row is declared unaligned */
    /* entries that one embedded array may add to the lists of the type around it; larger arrays
     * become parts. More: longer lists. Less: more nested walks. */
    HAUL__INLINE_MAX = 64,
    /* pointers of in-struct arrays whose shapes must be read from the struct */
    HAUL__ARRAY_SLOTS_MAX = 65536,
    HAUL__PLACEMENT_MIN = 2 * (int)sizeof(void *) /* a granule: what every copy keeps */
};

typedef struct haul__row {
    const char *name;
    size_t offset, bytes, element_bytes;
    haul_type *const *target;
    haul_type *type;       /* *target, as commit found it */
    size_t shape;          /* its first in the type's array of shapes */
    size_t serial;         /* rows are told apart by the order in which they were given */
    unsigned kind, levels; /* as given, right or wrong */
    int unaligned;
    haul__rule *rule; /* its own copy, or NULL */
    /* Of the rows up to this one, where the farthest of pointers ends, and of bytes that are not
     * sent; set by haul__check_places. */
    size_t pointers_end, unsent_end;
} haul__row;

/* Constructors: blocks of `count` old elements, one after the other; with loops, blocks[0] repeated
 * by all of them, the outermost first. */
typedef struct haul__block {
    size_t offset, count;
    haul_type *type;
} haul__block;

typedef struct haul__loop {
    size_t count, stride;
} haul__loop;

/* The names of one call's rows: the bytes follow. They never move. */
typedef struct haul__names {
    struct haul__names *next;
    size_t bytes;
} haul__names;

/* The same for their rules: the rules follow, then all their cases, then the cases' types. */
typedef struct haul__rules {
    struct haul__rules *next;
    size_t bytes;
} haul__rules;

typedef struct haul__group {
    haul_type *owner;          /* the type that this record lies in */
    int holders;               /* atomic */
    haul_type *members;        /* through haul_type.sibling */
    struct haul__group **held; /* other groups, once each; of a committed group only */
    size_t held_count;
    struct haul__group *next_dead;
} haul__group;

/* What a parameter stands for in an instance of a container. */
typedef struct haul__bound {
    haul_type *parameter, *argument;
} haul__bound;

struct haul_type {
    haul__walk walk; /* filled by commit; all zero before */
    uint32_t magic;
    haul_combiner combiner;
    int committed;
    haul_allocator allocator;
    size_t object_bytes; /* of this record, the name behind it included */
    const char *name;
    haul__group own, *group;
    haul_type *sibling;

    /* The description. */
    size_t bytes, lower; /* extent and lower bound: known from the first day */
    size_t reach;        /* where the last byte of an element ends */
    size_t alignment;    /* as declared */
    int is_aligned;      /* it was declared */
    int in_order;        /* rows are sorted by offset */
    haul__row *rows;
    size_t row_count, row_capacity;
    haul_shape *shapes;
    size_t shape_count, shape_capacity;
    haul__names *names;
    haul__rules *rules;
    haul_function *size; /* NULL: its sizeof, or its tail's end */
    int depends;         /* its contents do, on addresses: */
    haul_rebuild_function *rebuild;
    void *rebuild_user;
    int has_tail;
    haul__block *blocks;
    size_t block_count;
    haul__loop *loops;
    size_t loop_count;

    /* An instance's, which holds the types of `bound` while it is open; container: NULL when that
     * has gone. */
    haul__bound *bound;
    size_t bound_count;
    haul_type *container, *next_instance;
    haul_type *below[2];  /* of the container's instances, those whose hash goes on with 0 and 1 */
    haul_type *instances; /* of a container: all that were made of it, held */
    haul_type *root;      /* of a container: the instance that the others are found from */

    /* The last failure: `shown` is `record`, a constant, or NULL for none. */
    haul_error *record;
    const haul_error *shown;

    /* The flat form. */
    void *flat; /* slots, parts, runs and names, in one piece */
    size_t flat_bytes;
    /* nameless committed types of its own that its parts lead to, through `sibling` */
    haul_type *inner;
    size_t depth;      /* types within types, itself included */
    size_t part_depth; /* parts within parts */
    size_t pointers;   /* described pointers of one element, or SIZE_MAX */

    /* Commit's marks, clear between calls. */
    int reached, state, looked_at;
    size_t cursor;
    haul_type *within;
    /* a bit of its own if a rule names it as a holder (holders.c); set anew by each commit */
    uint64_t holder;
};

/* build.c */
int haul__name_is_good(const char *name);
#define HAUL__NO_NAME(what)                                                                        \
    what " has no name: one is UTF-8, not empty, and has less than %u bytes."
/* An open type without rows, held once. NULL: no memory. */
haul_type *haul__type_make(const haul_allocator *door, const char *name, size_t bytes,
                           haul_combiner combiner);
/* Frees it and all that it owns, but no group. */
void haul__type_release(haul_type *type);
void haul__type_release_flat(haul_type *type);
/* The old types that an open constructor holds: their number, and each. */
size_t haul__type_old_count(const haul_type *type);
void haul__group_hold(haul__group *group);
void haul__group_drop(haul__group *group);
/* The record to write a failure into; NULL: there is no memory for one. */
haul_error *haul__type_record(haul_type *type);
haul_status haul__type_out_of_memory(haul_type *type);
/* Leaves words on a type: of an open one, those of `format`; of a committed one, the constant,
 * whose status both have. */
haul_status haul__type_refuse(haul_type *type, const haul_error *constant, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
void haul__type_sort_rows(haul_type *type);

/* instance.c */
int haul__type_is_parameter(const haul_type *type);
/* What a type that a row leads to stands for there, as far as no other container must be looked at:
 * found, or another. */
haul_type *haul__type_stands_for(const haul_type *instance, haul_type *found);
/* What a row of an instance leads to that was described as leading to the living type *found. */
haul_status haul__type_substitute(haul_type *instance, const char *field, haul_type **found,
                                  haul_error *error);
/* Are all of its parameters its container's? */
haul_status haul__check_bound(const haul_type *instance, haul_error *error);

/* holders.c, with the flat forms made: which types hold, and which must be told of their
 * holders. */
void haul__find_holders(haul_type *const *types, size_t count);

/* check.c. `field` may be NULL. */
haul_status haul__wrong(haul_error *error, const haul_type *type, const char *field,
                        const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
/* Before targets are known: size, alignment, where rows lie. Sorts the rows. */
haul_status haul__check_places(haul_type *type, haul_error *error);
/* With the row's target known (or NULL): element size and shapes. */
haul_status haul__check_row(const haul_type *type, const haul__row *row, haul_error *error);
/* With the flat form made: no count is read from a pointer. */
haul_status haul__check_counts(const haul_type *type, haul_error *error);
/* Does a row of pointers, whatever its rule, lie in [offset, offset + bytes)? Or one of bytes that
 * are not sent? */
int haul__touches_pointer_row(const haul_type *type, size_t offset, size_t bytes);
int haul__touches_unsent_row(const haul_type *type, size_t offset, size_t bytes);
/* The last part that begins before `limit`. In a struct parts do not interleave, so no other one
 * can reach there. */
const haul__part *haul__last_part_before(const haul__walk *walk, size_t limit);

/* rule.c */
/* What a row is without asking the object: one that is always opaque is data, one that is always
 * null is skipped. */
unsigned haul__row_kind(const haul__row *row);
/* Is there something to ask the object about this row? */
int haul__row_is_ruled(const haul__row *row);
/* The rule's condition, or NULL where it always holds. */
const haul_when *haul__row_when(const haul__row *row);
/* Copies the rules of new rows, which were counted by haul__measure_rules; both touch only their
 * arguments. */
haul_status haul__measure_rules(const haul_ref *refs, size_t count, size_t *rules, size_t *cases);
haul__rule *haul__copy_rule(const haul_rule *said, haul_case **cases, haul_type ***types,
                            haul__rule **rule);
/* With the targets of its cases known (or NULL). */
haul_status haul__check_rule(const haul_type *type, const haul__row *row, haul_error *error);
/* The row that each pointer behind a pointer to pointers is, where its rule says so. */
haul__row haul__each_row(const haul__row *row);
/* With the flat forms made: no condition reads a pointer, and targets leave room for tag bits. */
haul_status haul__check_rule_flat(const haul_type *type, const haul__row *row, haul_error *error);

/* arms.c: are arms that overlap told apart, as far as their conditions can tell? Rows lie in order,
 * within the type. */
haul_status haul__check_arms(const haul_type *type, haul_error *error);

/* direction.c */
/* Does it hold bytes that are not sent, whatever its condition? */
int haul__row_is_unsent(const haul__row *row);
/* The bars of the bytes that a row's direction is about: HAUL__UNSENT, HAUL__UNRETURNED; 0: they
 * travel both ways. */
unsigned haul__row_exclusions(const haul__row *row);
/* Does its kind of row have bytes for its direction to be about? */
haul_status haul__check_direction(const haul_type *type, const haul__row *row, haul_error *error);
/* With the flat forms made: nothing is read from bytes that are not sent. */
haul_status haul__check_unsent(const haul_type *type, const haul__row *row, haul_error *error);
haul_status haul__check_unsent_target(const haul_type *type, const haul__row *row,
                                      const haul_type *target, haul_error *error);

/* The row that holds the byte at `offset` of a type whose rows are in order; NULL: none does. */
const haul__row *haul__find_row(const haul_type *type, size_t offset);
size_t haul__row_unit(const haul__row *row);
int haul__fits(size_t offset, size_t bytes, size_t whole);
/* Bytes that every object has, as far as the type can tell: those before a tail. Of a type whose
 * rows are in order. */
size_t haul__fixed_bytes(const haul_type *type);
/* Do its objects tell their sizes themselves? */
int haul__type_is_sized(const haul_type *type);

/* flatten.c */
typedef struct haul__made_slot {
    haul__slot slot;
    size_t name; /* in the scratch text; likewise below */
} haul__made_slot;

typedef struct haul__made_part {
    haul__part part;
    size_t name;
} haul__made_part;

typedef struct haul__made_ruled {
    haul__ruled ruled;
    size_t name;
} haul__made_ruled;

/* Working memory of flattening, one type after the other. */
typedef struct haul__scratch {
    haul_allocator door;
    haul__run *runs;
    haul__made_slot *slots;
    haul__made_part *parts;
    haul__made_ruled *ruled;
    haul__excluded *barred;
    char *text;
    size_t run_count, slot_count, part_count, ruled_count, barred_count, text_bytes;
    size_t run_capacity, slot_capacity, part_capacity, ruled_capacity, barred_capacity,
        text_capacity;
    size_t alignment, placement;
} haul__scratch;

/* Makes the flat form of a type whose embedded types have theirs. */
haul_status haul__flatten(haul__scratch *scratch, haul_type *type, haul_error *error);
void haul__scratch_release(haul__scratch *scratch);

/* commit.c: makes the flat forms of an open type and all that it embeds, and takes them away
 * again. */
haul_status haul__type_preview(haul_type *type, haul__walk *walk, size_t *pointers);

#endif
