/* A random universe of types, in a description of its own.
 *
 * The reference copier walks graphs by this description; the library by the haul types that model_make_types builds
 * from it with public calls only. The two share no table, so one mistake cannot hide in both.
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
    MODEL_FIELDS = 48,
    MODEL_RUNS = MODEL_FIELDS + 1,
    MODEL_BLOCKS = 40,
    MODEL_STRUCT_BYTES = 4096
};

typedef enum model_rule {
    RULE_ONE,
    RULE_COUNT,    /* multiply * product of the count fields + add; no fields: add */
    RULE_END,
    RULE_SENTINEL, /* up to and with the first element equal to `add` */
    RULE_BY_INDEX, /* callbacks: (3 * index + 1) % 4 */
    RULE_BY_SELF,  /* first byte of self % 5 */
    RULE_BY_TARGET /* the graph's own table, found through the context's argument */
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
    FIELD_OPAQUE,  /* data with a row of its own */
    FIELD_SKIP,
    FIELD_KIND,    /* a byte that conditions read */
    FIELD_EMBED,   /* count elements of target, stride apart */
    FIELD_POINTER, /* count pointers in a row */
    FIELD_END      /* end pointer of the field before it */
} model_kind;

/* What is not plain about a pointer field of one level. */
typedef enum model_when { WHEN_ALWAYS, WHEN_KIND, WHEN_SELF } model_when;

typedef struct model_rule_of_field {
    int is_there;
    model_when when;     /* WHEN_KIND: the low two bits of field `kind` are `value`; WHEN_SELF: the first byte of self
                            is odd */
    unsigned kind, value;
    int raw;             /* bytes otherwise, not null */
    int arm_of;          /* the field that lies in the same place, before this one in the list; -1: none */
    uintptr_t tags;      /* low bits */
    uintptr_t integers;  /* words below are integers */
    intptr_t bias;       /* the word is the address and so much */
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

typedef struct model_type {
    model_form form;
    char name[16];
    size_t lower, extent, upper; /* from an element's address: bounds of its span; extent: to the next element */
    size_t true_lower, true_upper;
    size_t alignment;            /* of every element, as its own pointers and declarations ask */
    size_t declared;             /* 0: not */
    int has_pointers, has_holes;
    int packed;
    unsigned field_count, run_count;
    model_field field[MODEL_FIELDS];
    model_run run[MODEL_RUNS];   /* bytes that travel and belong to no embedded type */
    /* How a derived type is made. */
    int old;
    size_t count, blocklength, stride;
    size_t lengths[MODEL_BLOCKS], displacements[MODEL_BLOCKS];
    size_t dimensions, sizes[3], subsizes[3], starts[3];
    haul_order order;
    haul_type *handle;
} model_type;

typedef struct model {
    unsigned struct_count, type_count; /* structs first, then derived */
    model_type type[MODEL_TYPES];
    char why[512]; /* the library's words, when it refused a type */
} model;

/* Draws a universe: legal in every detail. */
void model_draw(choices *c, model *m);

/* Does the field's condition hold in this struct? */
int model_holds(const model_type *t, const model_field *f, const void *self);

/* Makes the haul types by the public API in a random manner and order, commits them, and compares what the queries
 * answer with the model. HAUL_OK, or what failed; *where says at what. Allocator NULL: malloc. */
haul_status model_make_types(choices *c, model *m, const haul_allocator *allocator, const char **where);
void model_free_types(model *m);

/* What RULE_BY_TARGET looks up; the graph provides it, and the trial hands it to the context as argument. */
typedef struct model_oracle {
    int64_t (*count_of)(const struct model_oracle *oracle, const void *target);
    const void *roots[4];
    unsigned root_count;
    unsigned long wrong_roots; /* callbacks that were given a root that is none */
} model_oracle;

#endif
