/* The objects of an image, one by one: what their fields are now, and where their pointers lead.
 *
 * The library has checked the graph, and this reads it by the same rules, which docs/describing.md
 * has. A file that is trusted may hold anything, so nothing outside of the block is read.
 */
#ifndef HAUL_TOOL_OBJECTS_H
#define HAUL_TOOL_OBJECTS_H

#include "tool.h"

typedef enum kind { PLAIN, POINTERS, OBJECTS } kind;

/* What a pointer leads to: `count` elements of `stride` bytes. */
typedef struct range {
    const unsigned char *at;
    size_t count, stride, bytes; /* bytes: of all of them */
    kind kind;
    int is_text;           /* PLAIN: it ends with a terminator of one byte */
    int is_pool;           /* PLAIN: with objects in it, and their pointers */
    const haul_type *type; /* OBJECTS */
    /* POINTERS: the struct whose field led here, and how many pointers lie before these */
    const unsigned char *self;
    haul_field_info field;
    unsigned level;
} range;

typedef enum meaning {
    IS_NULL,
    IS_NUMBER, /* an integer, or a tag alone */
    IS_END,    /* of another field's array */
    IS_BORROWED,
    LEADS,
    IS_BROKEN /* it, or its target, does not lie in the block */
} meaning;

typedef struct pointer {
    meaning meaning;
    uint64_t word, tag;
    const unsigned char *address; /* without the tag */
    range to;                     /* of LEADS */
} pointer;

typedef struct block {
    const unsigned char *at;
    size_t bytes;
} block;

block block_of(const haul_image *image);
/* The range of a root. 0: it does not lie in the block. */
int range_of_root(const block *b, const haul_root *root, range *to);

/* Does the field count in this object? */
int field_holds(const unsigned char *self, const haul_field_info *field);
/* Fields of a type; 0 for one that has more than its bytes could tell. */
size_t fields_of(const haul_type *type);
/* The number of pointers in the field itself. */
size_t pointers_of(const haul_field_info *field);
/* The pointer `index` of the field. */
pointer read_field(const block *b, const unsigned char *self, const haul_field_info *field,
                   size_t index);
/* The pointer `index` of an array of pointers. */
pointer read_element(const block *b, const range *pointers, size_t index);
/* The elements of a tail. 0: they do not lie in the block. */
int read_tail(const block *b, const unsigned char *self, const haul_field_info *field, range *to);
/* The integer at this place of the struct, as the types read it. */
int64_t read_integer(const unsigned char *self, const haul_integer *place);

/* Bytes of the object that no field covers that holds now. Begin with *at 0; 0: there are no
 * more. `bytes`: of the object. */
int next_plain(const unsigned char *self, const haul_type *type, size_t bytes, size_t *at,
               size_t *count);

#endif
