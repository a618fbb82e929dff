/* The types that one discovery meets, each with its marks and pointers worked out in advance.
 */
#ifndef HAUL_WALK_MET_TYPES_H
#define HAUL_WALK_MET_TYPES_H

#include "map/map.h"
#include "walk/worklist.h"

/* A pointer that can be followed in line (plain_arrays.c): to an array whose count is multiply *
 * fields + add, of plain bytes or of pointers to simple objects, or to a string. */
typedef struct haul__plain_array {
    const haul__slot *slot;
    struct {
        size_t offset;  /* in the struct whose fields the shape reads */
        int64_t bits;   /* mask for a field that is read signed */
        unsigned width; /* bytes */
    } field[3];
    unsigned field_count;
    int64_t multiply, add;
    /* If one field counts: the array has scale * field + shift bytes, if the field is least or up
     * to `span` more. Then nothing overflows, and the read is small: it has `width_mark` in
     * common with all reads of the field. */
    int64_t scale, shift;
    uint64_t least, span, width_mark;
    int64_t unit;          /* bytes of an element */
    uintptr_t misaligned;  /* bits that are 0 in an aligned address */
    uint8_t level;         /* of the slot */
    uint8_t needs_pointer; /* a NULL pointer must have the count 0 */
    uint8_t is_string;
    uint8_t is_called;    /* a callback counts; multiply, field and add are unused */
    uint8_t has_pointers; /* each leads to one object of the type with the number `target` */
    uint8_t is_short;     /* one field counts, and `scale` to `width_mark` are known */
    uint8_t ways;         /* the directions that its bytes are excluded from */
    uint8_t why;          /* haul__why: its pointers take the general way; 0: they do not */
    uint32_t target;
    uint32_t hint;         /* 1 + the number of the hint that names it; 0: none does */
    haul__reached demands; /* in order: the alignments of the array, for the log */
    size_t general;        /* pointers that took the general way because of `why`, or a callback */
} haul__plain_array;

#define HAUL__PLAIN_BYTES ((size_t)4095) /* the most bytes of such an array */
/* The most that a field, a factor or a product may be, so that nothing overflows. One less than a
 * power of two. */
#define HAUL__PLAIN_COUNT 0xffff

/* A pointer of a type's objects, prepared for the innermost loop. */
typedef struct haul__edge {
    size_t offset;
    uint64_t tag;         /* number of the target's type << 48, as in the queue */
    uint32_t near_starts; /* see haul__near_starts */
    uint32_t one;         /* it leads to exactly one object, which can be marked in line */
    /* The same, if the walk asks first whether the object has a copy elsewhere (may_stop.c). */
    uint32_t may_stop;
    uint32_t brief; /* it leads to exactly one object of a brief type (brief.h) */
    uint32_t ways;  /* it would be `one`, but its target is excluded from these directions */
    /* it leads to a short array or a string, which can wait to be marked; NULL: it does not */
    const haul__plain_array *array;
} haul__edge;

/* How objects of a simple type are marked in ragged blocks. */
typedef struct haul__ragged {
    /* 2 * words - 1 ones: the starts that an object of so many words excludes, its own included */
    uint64_t window;
    uint32_t form;  /* of such blocks; HAUL__NO_FORM: there is none */
    uint32_t reach; /* words of an object, less one */
    /* The number of words of a block, behind the first `reach`, whose whole window lies in the
     * block; 0: the window is wider than 64 words. */
    uint32_t inside;
} haul__ragged;

/* A type, numbered so that a worklist entry needs 16 bits for it. */
typedef struct haul__met_type {
    const haul_type *type;
    const haul__walk *walk;
    haul__edge *edges; /* one for each slot; NULL before its first visit */
    /* one for each slot that is no `one`; NULL: all are */
    haul__plain_array *arrays;
    haul__simple simple; /* bytes 0: its elements are marked the general way */
    uint32_t form;       /* of its uniform blocks; HAUL__NO_FORM: there is none */
    haul__ragged ragged; /* objects that do not begin and end with granules */
    uint32_t edge_count;
    uint32_t plain;     /* every edge is `one` */
    uint32_t has_ones;  /* some edge is */
    uint32_t stops;     /* every edge is `may_stop` */
    uint32_t is_record; /* every edge is an array that is followed in line and `is_short` */
    uint32_t ahead;     /* a fetch comes this many objects before the visit */
    /* the tag of all edges, if all are `one` and have the same tag; else HAUL__NOT_UNIFORM */
    uint64_t uniform;
    uint64_t mark;                  /* a cell with the marks of an object at its beginning */
    uint32_t first_byte, last_byte; /* that a visit reads: their offsets */
    /* 1 + the number of the hint that names its objects; 0: none does. A type that a hinted field
     * leads to has a further number, under which that field's pointers find it. */
    uint32_t hint;
    haul__reached demands; /* in order: the alignments of an object, for the log */
    /* in order: a simple type of the same size asks for less, so objects that were marked before
     * are logged too */
    uint32_t logs_known;
    size_t general;            /* its objects that were visited the general way */
    uint32_t is_brief;         /* brief_types.h */
    struct haul__brief *brief; /* brief.c; NULL before its first object */
    size_t brief_bytes;
    haul__plain_array *brief_arrays; /* of its pointers, in that memory */
    size_t brief_array_count;
} haul__met_type;

#define HAUL__NOT_UNIFORM UINT64_MAX
#define HAUL__POINTERS_AHEAD 32u /* collected before the first cell is read */
/* Objects are fetched so far ahead that their pointers make HAUL__POINTERS_AHEAD, within these
 * bounds. Nearer: they have not come yet; further: they are out of the cache again. */
#define HAUL__AHEAD_LEAST 8u
#define HAUL__AHEAD_MOST 16u
#define HAUL__EDGES 64u /* the most pointers of an object in the innermost loop */

/* The number of granules of a cell, from the first on, that can start an element which lies in that
 * cell; 0 if elements are longer than a cell, or may end within a granule. */
HAUL__INLINE uint32_t haul__near_starts(const haul__met_type *met)
{
    if (met->simple.bytes > HAUL__CELL_BYTES || met->simple.words)
        return 0;
    return ((uint32_t)(HAUL__CELL_BYTES - met->simple.bytes) >> HAUL__GRANULE_SHIFT) + 1;
}

/* The bytes from an entry's begin to the end of its last element. */
HAUL__INLINE size_t haul__entry_bytes(const haul__discovery *d, const haul__entry *entry)
{
    const haul__walk *walk = d->met_types[entry->met_type].walk;
    const int is_fixed = entry->what == HAUL__OBJECTS && !haul__is_sized(walk);
    const size_t last = is_fixed ? walk->true_upper : entry->run ? entry->run : entry->stride;
    return entry->count ? (entry->count - 1) * entry->stride + last : 0;
}

/* Does the byte, one of the entry's range, lie in a gap between elements of a section? */
HAUL__INLINE int haul__is_in_gap(const haul__entry *entry, uintptr_t address)
{
    return entry->run && (address - entry->address) % entry->stride >= entry->run;
}

/* *number: the type's. A new type is added, which may move d->met_types. */
haul_status haul__met_type_of(haul__discovery *d, const haul_type *type, uint32_t *number);
/* The number under which pointers of the slot find the type. */
haul_status haul__met_type_by(haul__discovery *d, const haul__slot *slot, uint32_t *number);
/* In order there is one list of candidates: as if all lay near. */
HAUL__INLINE uint32_t haul__near_for(const haul__discovery *d, const haul__met_type *met)
{
    return d->in_order ? UINT32_MAX : haul__near_starts(met);
}

/* Works out the type's edges, once, if it is simple enough for the innermost loop. */
haul_status haul__met_type_edges(haul__discovery *d, uint32_t number);
/* Gives a simple type of whole granules a form for objects that do not begin with a granule, once.
 * 0: out of memory. */
int haul__met_type_ragged(haul__discovery *d, haul__met_type *met);
/* The directions of a slot's targets, if its pointers may be followed in line all the same: 0 in
 * walks that pass by some targets, or exclude nothing. */
HAUL__INLINE unsigned haul__ways_in_line(const haul__discovery *d, const haul__slot *slot)
{
    return haul__is_general(d) || d->within || d->found->elsewhere ? 0
                                                                   : slot->flags & HAUL__EXCLUDED;
}
/* Describes the pointers of a level of a slot. array->why: they take the general way. */
haul_status haul__prepare_plain_array(haul__discovery *d, const haul__slot *slot, unsigned level,
                                      haul__plain_array *array);
/* Describes the count alone, with offsets from the object that holds the slot. 0: it is no constant
 * and no product of fields with small factors. */
int haul__prepare_count(const haul__slot *slot, unsigned level, haul__plain_array *array);
/* Does each pointer of this level lead to one simple object, which is excluded from none but the
 * directions `ways`? *number: that of its type, which may be new. */
haul_status haul__leads_to_one(haul__discovery *d, const haul__slot *slot, unsigned level,
                               unsigned ways, uint32_t *number, int *leads);
void haul__met_types_close(haul__discovery *d);

#endif
