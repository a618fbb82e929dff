/* The reference: what a graph consists of, and whether a copy is the same graph, by the model's
 * description alone.
 *
 * One walk does both. It follows a graph from its roots with a queue and a table of what it has
 * seen; given a copy's roots, it follows the copy in lock step and compares: data equal, null where
 * null, and every described byte of the original paired with one byte of the copy, in both
 * directions, so that aliases and interior distances are kept.
 */
#ifndef RANDOM_REFERENCE_H
#define RANDOM_REFERENCE_H

#include "graph.h"

typedef struct reference_range {
    uintptr_t host, copy; /* copy: 0 where there is none */
    size_t bytes;
} reference_range;

typedef enum reference_slot_kind {
    SLOT_FOLLOWED, /* something stands behind it */
    SLOT_EMPTY,    /* not null, and nothing stands behind it */
    SLOT_END,      /* `target` is the begin */
    SLOT_NULL,
    SLOT_RULED, /* with tags or a bias: `target` is what it leads to */
    SLOT_ALIAS, /* not followed: `target` is a described byte, or one past one */
    SLOT_KEPT,  /* no pointer: a word that is `becomes` in the copy, and never comes back */
    /* `bytes` bytes that lead from themselves to `target`, and `lead` bytes on; never comes back */
    SLOT_DISTANCE
} reference_slot_kind;

typedef struct reference_slot {
    unsigned char *at;
    void *value, *target;                /* target NULL: nothing */
    uintptr_t copy, becomes, lead, tags; /* tags: bits of the word that are no address */
    /* of a word that may have high ones, which no device patches: all of its tag bits; else 0 */
    uintptr_t high_tags;
    size_t bytes;
    reference_slot_kind kind;
    int is_empty;     /* ruled, and nothing stands behind it */
    int owns_statics; /* and nothing else: anywhere else, it would be an alias */
    /* the type, where it leads to one object of a type and may lead to any other of it; else -1 */
    int one_of;
} reference_slot;

/* A count that can be made smaller, and then stands for fewer elements, all of them still there. */
typedef struct reference_count {
    unsigned char *at;
    size_t bytes;
    int64_t smaller;
} reference_count;

/* A field that a rule has read: a condition, a choice, the count of a tail, an object's size. */
typedef enum reference_reader {
    READ_CONDITION,
    READ_CHOICE,
    READ_TAIL,
    READ_SIZE
} reference_reader;

typedef struct reference_read {
    reference_reader what;
    unsigned char *at;
    size_t bytes;
    const model_field *row; /* NULL: of a size */
} reference_read;

typedef struct reference {
    reference_range *data; /* described bytes that are no pointers: sorted, merged */
    size_t data_count, data_capacity;
    reference_range *all; /* with pointers */
    size_t all_count, all_capacity;
    /* those with skipped fields, whole: nothing else may lie there in the copy */
    reference_range *structs;
    size_t struct_count, struct_capacity;
    /* elements of types that leave bytes out, whole: sorted, merged; `copy` is of no meaning */
    reference_range *rooms;
    size_t room_count, room_capacity;
    reference_range *nothing; /* of the copy: what descriptions leave out */
    size_t nothing_count, nothing_capacity;
    reference_range *unsent; /* zeros in the copy: sorted, merged; `copy` is of no meaning */
    size_t unsent_count, unsent_capacity;
    reference_range *ended; /* arrays up to their terminators; `copy` is of no meaning */
    size_t ended_count, ended_capacity;
    reference_range *unreturned; /* the host's own, whatever the copy becomes: the same */
    size_t unreturned_count, unreturned_capacity;
    reference_slot *slots; /* sorted by place, each once */
    size_t slot_count, slot_capacity;
    reference_count *counts;
    size_t count_count, count_capacity;
    reference_read *reads;
    size_t read_count, read_capacity;
    size_t bytes;    /* described bytes */
    int has_holes;   /* elements of types that have some */
    int has_parts;   /* embedded elements */
    char wrong[256]; /* "": nothing */
} reference;

/* How much of directions is there in a copy? */
typedef enum reference_bars {
    BARS_ALL,      /* what is not sent is zeros */
    BARS_BACK,     /* it is sent as it lies: they count on the way back */
    BARS_OF_FIELDS /* the same, and what rows say of what they lead to does not count */
} reference_bars;

/* Where a copy lies, and the roots in it. */
typedef struct reference_place {
    uintptr_t roots[4], first;
    size_t bytes;
    reference_bars bars;
    int is_ordered; /* addresses need not be kept modulo two pointers */
} reference_place;

/* Walks the graph, and the copy (NULL: none), whose pointers are followed as they are, unless they
 * lead out of its place. Answers 1 when nothing was wrong. Free in either case. */
int reference_walk(const graph *g, const reference_place *copy, reference *r);
void reference_free(reference *r);

/* 1 when all bytes of [memory, memory + bytes) that are the copy of nothing are zero; else r->wrong
 * says where. */
int reference_rest_is_zero(reference *r, const void *memory, size_t bytes);

/* Gives the graph's late words something that this walk has found. 1: there were any, and the graph
 * has changed. */
int reference_draw_aliases(choices *c, graph *g, const reference *r);

/* How many of the `bytes` bytes at host address `at` lie all in one of the ranges, or all in none:
 * *inside says which. */
size_t reference_stretch(const reference_range *list, size_t count, uintptr_t at, size_t bytes,
                         int *inside);

/* A byte of data at host address `address`, if it is one, becomes `value` in the copy. */
void reference_set_data(const reference *r, uintptr_t address, unsigned char value);
/* 1: host address `address` is described; its copy is then *copy. */
int reference_find(const reference *r, uintptr_t address, uintptr_t *copy);

/* A copy made by the reference alone, block by block, for tests of the tests. */
typedef struct reference_copy {
    unsigned char *memory; /* all blocks, near each other: distances of 4 bytes reach */
    unsigned char **blocks;
    reference_place place; /* anywhere */
} reference_copy;

void reference_copy_make(const graph *g, const reference *r, reference_copy *copy);
void reference_copy_free(reference_copy *copy);

#endif
