/* A random universe of types, in a description of its own.
 *
 * The reference copier walks graphs by this description; the library by the haul types that
 * model_make_types builds from it with public calls only. The two share no table, so one mistake
 * cannot hide in both.
 */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "choices.h"
#include "haul.h"

enum {
    MODEL_STRUCTS = 12,
    MODEL_DERIVED = 6,
    MODEL_TYPES = MODEL_STRUCTS + MODEL_DERIVED,
    MODEL_FIELDS = 64,
    MODEL_RUNS = MODEL_FIELDS + 1,
    MODEL_BLOCKS = 40,
    MODEL_CASES = 3,
    MODEL_STRUCT_BYTES = 4096
};

typedef enum model_rule {
    RULE_ONE,
    RULE_COUNT, /* multiply * product of the count fields + add; no fields: add */
    RULE_END,
    RULE_SENTINEL,  /* up to and with the first element equal to `add` */
    RULE_BY_INDEX,  /* callbacks: (3 * index + 1) % 4 */
    RULE_BY_SELF,   /* first byte of self % 5 */
    RULE_BY_TARGET, /* the graph's own table, found through the context's argument */
    RULE_BY_BEFORE  /* the two bytes that the pointer in front of this one leads to, % 4; null: 0 */
} model_rule;

typedef struct model_shape {
    model_rule rule;
    unsigned field_count;
    unsigned field[3]; /* indices in the type */
    int64_t multiply, add;
} model_shape;

typedef enum model_kind {
    FIELD_DATA,
    FIELD_COUNT,
    FIELD_OPAQUE, /* data with a row of its own */
    FIELD_SKIP,
    FIELD_KIND, /* an integer that conditions and choices read */
    /* two bytes in front of everything: which type this is, for choices by the target */
    FIELD_TAG,
    FIELD_SIZE,    /* two bytes behind the tag: how long this object is */
    FIELD_EMBED,   /* count elements of target, stride apart */
    FIELD_POINTER, /* count pointers in a row, or one distance */
    FIELD_END,     /* end pointer of the field before it */
    FIELD_TAIL     /* elements of target up to the end of the object */
} model_kind;

enum { TAG_AT = 0, SIZE_AT = 2, TAG_BYTES = 2 };

/* What is not plain about a field. Conditions stand on pointers, and on embedded types and bytes
 * that are arms. */
typedef enum model_when {
    WHEN_ALWAYS,
    WHEN_FIELD, /* low <= (field & mask) <= high */
    WHEN_NOT,   /* the opposite */
    WHEN_SELF   /* the first byte of self is odd */
} model_when;

typedef enum model_base {
    BASE_FIXED,
    BASE_BY_INDEX, /* and as many bytes more as the pointer's place in its array says */
    BASE_BY_SELF,  /* and 8 times (first byte of self % 5) */
    /* the two bytes in front of the address say how far the block begins before it */
    BASE_BY_HEADER
} model_base;

typedef enum model_choice {
    CHOICE_NONE,
    CHOICE_BY_FIELD,
    CHOICE_BY_TAG,
    CHOICE_BY_SELF
} model_choice;

/* What becomes of a pointer. */
typedef enum model_mode {
    MODE_OWN,
    MODE_ALIAS,
    MODE_OWN_OR_STATIC,
    MODE_ALIAS_OR_STATIC,
    MODE_RAW,  /* its bytes travel as they are */
    MODE_NULL, /* it does not travel */
    MODE_EXTERNAL
} model_mode;

typedef struct model_case {
    int64_t value;
    int type;
    intptr_t bias; /* the word lies so much further behind the block's start */
} model_case;

typedef struct model_rule_of_field {
    int is_there;
    model_when when;
    unsigned kind; /* field that the condition reads */
    int64_t mask, low, high;
    int raw; /* bytes otherwise, not null */
    /* the field that begins in the same place, before this one in the list; -1: none */
    int arm_of;
    model_mode mode;
    uintptr_t tags;          /* low bits, and the highest ones */
    uintptr_t integers;      /* words below are integers; 0: none */
    uintptr_t integers_from; /* these and words above, too; 0: none */
    intptr_t bias;           /* the word is the address and so much */
    model_base base;
    model_choice choice; /* CHOICE_BY_SELF: (first byte of self + index) % case_count */
    unsigned selector;   /* field that the choice reads */
    int64_t choice_mask;
    unsigned case_count;
    model_case cases[MODEL_CASES];
    int is_distance; /* from the word to the address, of 4 or 8 bytes */
    /* of what the last pointers lead to; of the field itself, where it is none */
    haul_transfer direction;
    int is_shared; /* it owns its target only if no other field does */
} model_rule_of_field;

typedef struct model_field {
    model_kind kind;
    char name[16];
    size_t offset, bytes;
    size_t count, stride;
    int target;           /* index of a type; -1: plain bytes */
    size_t element_bytes; /* of what the last level points to */
    unsigned levels;
    model_shape shape[HAUL_LEVELS];
    int unaligned, is_signed;
    int behind; /* the field that ends where this one begins; -1: any */
    model_rule_of_field rule;
} model_field;

typedef enum model_form {
    FORM_STRUCT,
    FORM_BYTES,
    FORM_POINTER,
    FORM_CONTIGUOUS,
    FORM_VECTOR,
    FORM_HVECTOR,
    FORM_INDEXED,
    FORM_HINDEXED,
    FORM_INDEXED_BLOCK,
    FORM_STRUCT_OF,
    FORM_SUBARRAY,
    FORM_RESIZED,
    FORM_DUP,
    FORM_COUNT
} model_form;

typedef struct model_run {
    size_t offset, bytes;
} model_run;

/* How long is an object? */
typedef enum model_sizing { SIZE_FIXED, SIZE_STORED, SIZE_BY_TAIL } model_sizing;

typedef struct model_type {
    model_form form;
    char name[16];
    /* from an element's address: bounds of its span; extent: to the next element */
    size_t lower, extent, upper;
    size_t true_lower, true_upper;
    size_t alignment; /* of every element, as its own pointers and declarations ask */
    size_t declared;  /* 0: not */
    int has_pointers, has_holes;
    int packed;
    model_sizing sizing;
    int64_t tag; /* value of its FIELD_TAG; 0: it has none */
    unsigned field_count, run_count;
    model_field field[MODEL_FIELDS];
    /* bytes that travel and belong to no field that may be something else */
    model_run run[MODEL_RUNS];
    /* How a derived type is made. */
    int old;
    size_t count, blocklength, stride;
    size_t lengths[MODEL_BLOCKS], displacements[MODEL_BLOCKS];
    size_t dimensions, sizes[3], subsizes[3], starts[3];
    haul_order order;
    haul_type *handle;
    haul_type *container, *parameter; /* where the struct is said as an instance; else NULL */
} model_type;

typedef struct model {
    unsigned struct_count, type_count; /* structs first, then derived */
    int has_directions, has_high_tags; /* some fields may have them */
    int is_plain;
    model_type type[MODEL_TYPES];
    char why[512]; /* the library's words, when it refused a type */
} model;

/* Draws a universe: legal in every detail. A plain one has nothing that asks for one thread; its
 * graphs seldom have objects that lie within others (graph.c). */
void model_draw(choices *c, model *m, int is_plain);

/* ---- What an object of a type is. The object is read as it stands. */

/* The integer of a field, widened. */
int64_t model_read(const void *address, size_t bytes, int is_signed);
/* Does the field's condition hold in this struct? */
int model_holds(const model_type *t, const model_field *f, const void *self);
/* The case of a choice, in this struct, whose target (read for choices by its tag) is `target`;
 * NULL: there is none. */
const model_case *model_choose(const model_type *t, const model_field *f, const void *self,
                               size_t index, const void *target);
/* How far the address lies behind the start of its block; the case's own part not counted.
 * `address` is read for BASE_BY_HEADER. */
intptr_t model_bias(const model_field *f, const void *self, size_t index, const void *address);
/* May an object of a SIZE_STORED type be so long? It ends between fields, and behind all that its
 * rows read. */
int model_can_end_at(const model_type *t, size_t bytes);
/* How long the object says it is; SIZE_MAX where its type is not SIZE_STORED. */
size_t model_stored_size(const model_type *t, const void *self);
/* NULL: it has none. */
const model_field *model_tail(const model_type *t);

/* ---- The library's types. */

/* Makes the haul types by the public API in a random manner and order, commits them, and compares
 * what the queries answer with the model. HAUL_OK, or what failed; *where says at what. Allocator
 * NULL: malloc. */
haul_status model_make_types(choices *c, model *m, haul_context *context, const char **where);
void model_free_types(model *m);

/* What callbacks look up; the graph provides it, and the trial hands it to the context as
 * argument. */
typedef struct model_oracle {
    /* for RULE_BY_TARGET; -1: unknown */
    int64_t (*count_of)(const struct model_oracle *oracle, const void *target);
    /* memory of the graph */
    int (*is_there)(const struct model_oracle *oracle, const void *address, size_t bytes);
    const void *roots[4];
    unsigned root_count;
    unsigned long wrong_roots; /* callbacks that were given a root that is none */
} model_oracle;

#endif
