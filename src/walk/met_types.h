/* The types that one discovery meets, with the marks of one element, and what is known of its
 * pointers, worked out beforehand.
 */
#ifndef HAUL_WALK_MET_TYPES_H
#define HAUL_WALK_MET_TYPES_H

#include "walk/discovery.h"
#include "map/mark.h"

/* What is known beforehand of a pointer to plain bytes that can be followed in line
 * (plain_arrays.c): an array whose count is multiply * fields + add, or a string. */
typedef struct haul__plain_array {
    const haul__slot *slot;
    struct {
        size_t offset;  /* in the struct whose fields the shape reads */
        int64_t bits;   /* of the field as it is read signed: those that count */
        unsigned width; /* bytes */
    } field[3];
    unsigned field_count;
    int64_t multiply, add;
    int64_t unit;          /* bytes of an element */
    uintptr_t misaligned;  /* bits of the address that must be 0 */
    uint8_t level;         /* of the slot */
    uint8_t needs_pointer; /* NULL has the count 0 */
    uint8_t is_string;
    uint8_t is_called; /* a function tells the count: multiply, fields and add say nothing */
} haul__plain_array;

#define HAUL__PLAIN_BYTES ((size_t)4095) /* longer ones are noted in the memo */
/* one less than a power of two; of fields, factors and products: then nothing overflows */
#define HAUL__PLAIN_COUNT 0xffff

/* A type as this discovery meets it: numbered, so that a worklist entry needs 16 bits for it, with
 * the marks of one element worked out in advance. */
typedef struct haul__edge {
    size_t offset;
    uint64_t tag;         /* the target's kind, where worklist entries have it */
    uint32_t near_starts; /* granules of a cell where a target can start and still lie inside */
    uint32_t one;         /* exactly one object: the in-line way may be tried */
} haul__edge;

/* Of a simple kind, what marks its objects in ragged blocks. */
typedef struct haul__ragged {
    /* as many ones as there are words from one less than a length before a start to a length
     * behind */
    uint64_t window;
    uint32_t form;  /* of the blocks; HAUL__NO_FORM: there is none */
    uint32_t reach; /* words of an object, less one */
    /* so many words of a block, behind the first `reach`, have all of their window in it; 0: it is
     * wider than 64 words */
    uint32_t inside;
} haul__ragged;

typedef struct haul__met_type {
    const haul_type *type;
    const haul__walk *walk;
    haul__edge *steps; /* one for each slot; NULL until the kind is first visited */
    haul__plain_array
        *counted;        /* as many, with slot NULL where there is none; or NULL: none at all */
    haul__simple simple; /* bytes 0: elements of this kind are marked the general way */
    uint32_t form;       /* of blocks whose slots are all theirs; HAUL__NO_FORM: there is none */
    haul__ragged ragged; /* objects that do not begin and end with granules */
    uint32_t edge_count;
    uint32_t plain; /* all steps are `one` */
    uint32_t ahead; /* so many objects before its visit one is fetched */
    /* the tag of all steps, where all are `one` and lead to one kind; else HAUL__NOT_UNIFORM */
    uint64_t uniform;
    uint64_t mark; /* a cell with the granules of an object at its beginning, and its start */
    uint32_t first_slot, last_slot; /* offsets */
} haul__met_type;

#define HAUL__NOT_UNIFORM UINT64_MAX
#define HAUL__POINTERS_AHEAD 32u /* that are collected before the first cell is looked at */
/* As many objects as have that many pointers are fetched ahead. Less: they are not there yet; more:
 * they are gone. */
#define HAUL__AHEAD_LEAST 8u
#define HAUL__AHEAD_MOST 16u
#define HAUL__EDGES 64u /* pointers of an object of which the innermost loop takes care */

/* The granules of a cell, from the first on, where an element can start and still lie inside; none
 * where it may end within a granule. */
HAUL__INLINE uint32_t haul__near_starts(const haul__met_type *kind)
{
    if (kind->simple.bytes > HAUL__CELL_BYTES || kind->simple.words)
        return 0;
    return ((uint32_t)(HAUL__CELL_BYTES - kind->simple.bytes) >> HAUL__GRANULE_SHIFT) + 1;
}

haul_status haul__met_type_of(haul__discovery *d, const haul_type *type, uint32_t *kind);
haul_status haul__met_type_edges(haul__discovery *d, uint32_t kind);
/* Of a simple kind of whole granules, one of whose objects does not begin with a granule: gives it
 * a form for such ones, once. 0: out of memory. */
int haul__met_type_ragged(haul__discovery *d, haul__met_type *kind);
/* Works out what is known of such pointers, at the slot's last level. 0: they go the general
 * way. */
int haul__foresee_plain_array(const haul__discovery *d, const haul__slot *slot, unsigned level,
                              haul__plain_array *counted);
void haul__met_types_close(haul__discovery *d);

#endif
