/* Aims: what the pointers of each row lead to, for a walk that several threads share.
 */
#ifndef HAUL_WALK_AIMS_H
#define HAUL_WALK_AIMS_H

#include "base/list.h"
#include "base/multiples.h"
#include "walk/met_types.h"

enum {
    HAUL__AIM_ONE,     /* one object of a simple type */
    HAUL__AIM_BYTES,   /* an array of plain bytes */
    HAUL__AIM_STRING,  /* text up to a NUL */
    HAUL__AIM_OBJECTS, /* an array of objects */
    HAUL__AIM_BRIEF,   /* objects of a brief type: one, or an array */
    HAUL__AIM_POINTERS /* an array of pointers, each with the aim `next` */
};

#define HAUL__OUTER_BYTES UINT32_MAX /* outer arrays of plain bytes */

typedef struct haul__aim {
    haul__plain_array count; /* of an array: how many elements, and their bytes */
    uintptr_t misaligned;    /* bits that are 0 in an aligned address */
    size_t piece;            /* the most bytes of it that are visited at once */
    uint32_t met;            /* the type of objects */
    uint32_t next;
    uint32_t hint;  /* 1 + the number of the hint that names it; 0: none does */
    uint64_t bytes; /* of an object, or of an array whose constant count is within the limits */
    uint8_t kind;
    uint8_t has_pointers;
    uint8_t is_asked; /* a callback answers the count, so the caller's thread finds it out */
    uint8_t ways;     /* the directions that its bytes are excluded from */
    uint8_t is_wide;  /* a product with large constants: each step may overflow */
    uint32_t outer;   /* that it may lead into: 1 + the type's number; HAUL__OUTER_BYTES; 0: none */
    uint32_t of;      /* the type that its row stands in; of a root: unused */
    const haul__slot *slot; /* its row; NULL: it is of a root */
} haul__aim;

/* A pointer of a type's objects, prepared for the innermost loop. */
typedef struct haul__aimed_edge {
    uint64_t tag;   /* the number of its aim << 48 */
    uint64_t bytes; /* of its target, if they do not depend on fields, or 0 for a string */
    size_t offset;
    unsigned is_fixed;     /* nothing but the pointer need be read */
    unsigned first_outlet; /* of those for such entries (share.h) */
    unsigned words;        /* of such an entry */
    unsigned may_be_inner; /* there are outer arrays that it may lead into */
} haul__aimed_edge;

/* An outer array (outer_arrays.c) that is marked. */
typedef struct haul__outer_range {
    uint64_t first, bytes;
    uint64_t unit;        /* an element's bytes */
    haul__multiples grid; /* of them */
    uint32_t elements;    /* as haul__aim.outer */
} haul__outer_range;

/* Does its entry take one word? What is excluded from a direction goes the way of ranges. */
HAUL__INLINE int haul__is_single(const haul__aim *aim)
{
    return aim->kind == HAUL__AIM_ONE && !aim->ways;
}

#define HAUL__NO_AIM UINT32_MAX
#define HAUL__VISITED_AT_ONCE ((size_t)32) /* pointers, unless one object has more */

typedef struct haul__aims {
    HAUL__LIST(haul__aim) list;
    HAUL__LIST(haul__aimed_edge) edges; /* type by type */
    /* By type: its first edge in that list. Of a brief type, those of rows with rules come last,
     * one for each target (brief_marks.h). */
    HAUL__LIST(size_t) first;
    haul__why why; /* of the row that was looked at last: it has no aim */
    int has_strings, has_brief;
    size_t most_pointers;                 /* that one visit reads */
    size_t most_reads;                    /* that it notes: their words */
    size_t most_pieces;                   /* of an array of HAUL__SIMPLE_BYTES */
    HAUL__LIST(haul__outer_range) outers; /* HAUL__OUTERS at most */
} haul__aims;

/* Meets all types behind the roots, and works out their aims. *may 0: some row needs the walk of
 * one thread, and d->alone says which. HAUL_ERROR_MEMORY. */
haul_status haul__aims_prepare(haul__discovery *d, haul__aims *aims, int *may);
/* The row that an aim is of; all NULL: it is of a root. */
haul__reason haul__aimed_row(const haul__discovery *d, const haul__aims *aims, uint32_t aim);
/* The aim of an array of objects of the type. HAUL_ERROR_MEMORY. */
haul_status haul__aim_objects(haul__discovery *d, haul__aims *aims, uint32_t met, uint32_t *aim);
/* The same of an array of plain bytes, whose elements have one byte. */
haul_status haul__aim_bytes(haul__discovery *d, haul__aims *aims, uint32_t *aim);
/* A pointer with this aim, at offset 0. */
haul__aimed_edge haul__aimed_edge_of(const haul__aims *aims, uint32_t number);
void haul__aims_close(haul__discovery *d, haul__aims *aims);
/* May threads mark by aims, by the context's options? Else d->alone says why not. */
int haul__may_walk_by_aims(haul__discovery *d);
/* Can all threads walk by aims? Then it sets d->wants_aims and ends this walk with
 * HAUL_ERROR_STATE. */
haul_status haul__choose_aims(haul__discovery *d);

#endif
