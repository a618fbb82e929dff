/* The committed form of a type, made for the walk: all that the rooms above read of it.
 *
 * Commit flattens a description into five short lists, each sorted by offset within one element:
 *   runs      the bytes that travel; one run [0, extent) for an ordinary struct
 *   slots     the pointers, those of embedded structs included
 *   parts     embedded arrays too large to be flattened, and embedded types with rules: `count`
 *             elements of another committed type
 *   ruled     rows with rules, and the tail: each object is asked for their meaning
 *   excluded  fields that are excluded from a direction; they stand in the other lists too
 * The runs and slots within a part, and the bytes of a ruled row, stand in no other list.
 */
#ifndef HAUL_TYPE_ROOM_H
#define HAUL_TYPE_ROOM_H

#include "base/base.h"
#include "haul/rebuild.h"
#include "haul/type.h"

typedef struct haul__run {
    size_t offset, bytes;
} haul__run;

/* Flags of a slot. Some are directions that bytes are excluded from: for a slot the bytes
 * of its target, for a haul__excluded the field itself. */
enum {
    HAUL__SLOT_OFF_GRID = 1, /* in some element it may lie off the grid of pointers */
    HAUL__SLOT_END = 2,      /* the end of a begin/end pair, or a limit: it is not followed */
    HAUL__SLOT_PACKED = 4,   /* its row is declared unaligned */
    HAUL__SLOT_EACH = 8,     /* of an array of pointers in the struct: null is fine at any count */
    HAUL__UNSENT = 16,       /* not copied to the device */
    HAUL__UNRETURNED = 32,   /* not copied back */
    HAUL__SLOT_POOL = 64,    /* other rows may find pointers in its target */
    HAUL__EXCLUDED = HAUL__UNSENT | HAUL__UNRETURNED
};

/* A field that is excluded from a direction. */
typedef struct haul__excluded {
    size_t offset, bytes;
    unsigned bars; /* HAUL__UNSENT, HAUL__UNRETURNED */
} haul__excluded;

typedef struct haul__slot {
    size_t offset; /* of the pointer in the element */
    size_t self;   /* offset of the struct whose fields the shapes read */
    /* in an array of pointers within the struct, the pointer's index (here->index); of an end or a
     * limit, the offset of its begin from `self` */
    size_t index;
    const haul_type *target; /* of the last level, committed; NULL: plain bytes */
    size_t unit;             /* bytes from one element of the last level to the next */
    const haul_count *shape; /* one for each level */
    const char *name;        /* its path within the element: "box.corner[2].next" */
    uint8_t levels;
    uint8_t flags;
} haul__slot;

typedef struct haul__part {
    size_t offset, count, stride;
    const haul_type *type; /* committed */
    const char *name;      /* "cells"; "" for the blocks of a constructor */
} haul__part;

/* The optional members of a field and its cases, copied; the cases' types are known from commit on.
 */
typedef struct haul__rule {
    haul_field said;
    int64_t mask;            /* bits of the switch's value, and of its cases', that are compared */
    haul_type **types;       /* one for each case */
    haul_type *ancestor;     /* that its callbacks get; NULL: none, or the parent */
    struct haul__rule *each; /* the rule of the pointers that a pointer leads to, or NULL */
} haul__rule;

/* Is the pointer one into the graph, owned or borrowed? An external one is not. */
HAUL__INLINE int haul__leads_in(const haul_field *said)
{
    return said->ownership != HAUL_EXTERNAL;
}

/* May it own its target, wherever that lies? */
HAUL__INLINE int haul__is_owner(const haul_field *said)
{
    return haul__leads_in(said) && said->ownership != HAUL_BORROWED;
}

/* Is it a pointer that becomes the end of an array in the copy? */
HAUL__INLINE int haul__is_limit(const haul__rule *rule)
{
    return rule->said.end_of.bytes != 0;
}

/* Do its callbacks get the struct that led to their object? */
HAUL__INLINE int haul__asks_parent(const haul__rule *rule)
{
    return rule->said.ancestor == HAUL_PARENT;
}

typedef enum haul__ruled_kind {
    /* with HAUL__SLOT_END: the end of a pair, which has its begin's rule; or a limit, which has its
     * begin's shapes */
    HAUL__RULED_POINTER,
    HAUL__RULED_DATA,
    HAUL__RULED_PART, /* `count` elements of slot.target, slot.unit bytes each */
    HAUL__RULED_TAIL  /* of slot.target, or plain bytes; slot.shape[0] counts the elements */
} haul__ruled_kind;

typedef struct haul__ruled {
    haul__slot slot; /* self is 0 */
    haul__ruled_kind kind;
    size_t bytes, count;     /* of the field, 0 for a tail; elements of a part */
    const haul__rule *rule;  /* NULL: a tail without one */
    const haul__slot *cases; /* for each case the slot with that case's type */
} haul__ruled;

HAUL__INLINE size_t haul__case_count(const haul__ruled *ruled)
{
    return ruled->rule ? ruled->rule->said.type_switch.case_count : 0;
}

/* How objects of a type are walked; a later kind takes longer. */
typedef enum haul__walk_kind {
    HAUL__WALK_PLAIN, /* one run of plain bytes: [0, extent) */
    HAUL__WALK_DENSE, /* the same with pointers */
    HAUL__WALK_LOOSE, /* any runs, pointers and embedded elements */
    /* rows with rules, in at most 64 whole words, without embedded elements: masks of words */
    HAUL__WALK_WORDS,
    HAUL__WALK_RULED, /* any rows with rules */
    HAUL__WALK_SIZED  /* the same; objects have sizes of their own, by a tail or a function */
} haul__walk_kind;

/* The committed form. */
typedef struct haul__walk {
    const char *name;
    haul__walk_kind kind;
    size_t extent;    /* bytes from one element to the next */
    size_t span;      /* bytes of one element: to its upper bound or, if farther, its last byte */
    size_t alignment; /* every element's address is a multiple of it */
    size_t placement; /* the copy keeps addresses modulo this: the alignment, or a granule */
    size_t payload;   /* bytes that travel: MPI's size */
    size_t true_lower, true_upper; /* first and one past the last byte that travels */
    const haul__run *runs;
    const haul__slot *slots;
    const haul__part *parts;
    const haul__ruled *ruled;       /* by offset */
    const haul__excluded *excluded; /* by offset */
    size_t run_count, slot_count, part_count, ruled_count, excluded_count;
    haul_function *size;            /* answers the size of an object; NULL: the type knows it */
    haul_rebuild_function *rebuild; /* if `depends`; may be NULL */
    void *rebuild_user;
    int depends;     /* contents depend on addresses */
    int has_slots;   /* here or in a part, or something is ruled */
    int is_off_grid; /* some of its slots may lie off the grid of pointers */
    int has_parts;   /* elements of other types lie in it, in ruled rows and tails too */
    uint64_t holds;  /* its own bit as an ancestor, if types below ask for it; else 0 */
    uint64_t needs;  /* bits of the ancestor types that rules ask for, here or in types behind */
    int is_wide;     /* a worklist entry must carry its parent, or ancestors */
    int with_parent; /* callbacks of its rules ask for the struct that led here */
    int is_slot;     /* it is one ruled pointer of an array; its rule reads the parent */
    /* of HAUL__WALK_WORDS: its unruled words that travel, and its unruled slots */
    uint64_t run_words, slot_words;
} haul__walk;

HAUL__INLINE int haul__is_ruled(const haul__walk *walk)
{
    return walk->kind >= HAUL__WALK_WORDS;
}

HAUL__INLINE int haul__is_sized(const haul__walk *walk)
{
    return walk->kind == HAUL__WALK_SIZED;
}

/* Is each element one run, without rules? */
HAUL__INLINE int haul__is_dense(const haul__walk *walk)
{
    return walk->kind <= HAUL__WALK_DENSE;
}

/* Is marking not enough, because fields are excluded, or contents depend on addresses? */
HAUL__INLINE int haul__is_noted(const haul__walk *walk)
{
    return walk->depends || walk->excluded_count;
}

/* The committed form; NULL when the type is NULL, freed or not committed. */
const haul__walk *haul__type_walk(const haul_type *type);
int haul__type_is_valid(const haul_type *type);
/* Add and drop one hold of a committed type, in any thread. */
void haul__type_hold(const haul_type *type);
void haul__type_drop(const haul_type *type);

/* The exclusions of a direction: HAUL__UNSENT, HAUL__UNRETURNED, both or none. */
unsigned haul__exclusions_of(haul_transfer direction);

/* Is it the end of a pair whose begin lies behind the object's last byte? Then it is plain
 * bytes. */
HAUL__INLINE int haul__is_lone_end(const haul__slot *slot, size_t bytes)
{
    return (slot->flags & HAUL__SLOT_END) && slot->self + slot->index >= bytes;
}

#endif
