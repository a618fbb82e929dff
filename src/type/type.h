/* The type room's door to the rooms above: what a committed type says to the walker.
 *
 * Commit flattens a description into three short lists, each sorted by offset within one element:
 *   runs    the bytes that travel; one run [0, extent) for an ordinary struct
 *   slots   its pointers, those of embedded structs included
 *   parts   embedded arrays too large to be flattened, and embedded types with rules: so many
 *           elements of another committed type
 *   ruled   rows with rules, and the tail: what is there is asked of each object
 *   barred  fields that do not travel both ways; they are in the other lists too
 * A run or slot of a part is in none of the other lists; nor is a byte of a ruled row.
 */
#ifndef HAUL_TYPE_ROOM_H
#define HAUL_TYPE_ROOM_H

#include "base/base.h"
#include "haul/rebuild.h"
#include "haul/type.h"

typedef struct haul__run {
    size_t offset, bytes;
} haul__run;

enum {
    HAUL__SLOT_ODD = 1, /* may lie off the pointer grid: its row says so */
    /* the end of a begin/end pair: it travels as a pointer and is not followed */
    HAUL__SLOT_END = 2,
    /* one of an array of pointers in the struct: may be null whatever the count */
    HAUL__SLOT_EACH = 8
};

/* Bars: ways that bytes do not travel. Flags of slots too, for what they lead to. */
enum { HAUL__UNSENT = 16, HAUL__UNRETURNED = 32, HAUL__BARS = HAUL__UNSENT | HAUL__UNRETURNED };

/* A field with bars. */
typedef struct haul__excluded {
    size_t offset, bytes;
    unsigned bars;
} haul__excluded;

typedef struct haul__slot {
    size_t offset; /* of the pointer in the element */
    size_t self;   /* offset of the struct whose fields the shapes read */
    /* place in an array of pointers within the struct: here->index; of an end: where its begin
     * stands in the struct */
    size_t index;
    const haul_type *target; /* of the last level, committed; NULL: plain bytes */
    size_t unit;             /* bytes from one element of the last level to the next */
    const haul_shape *shape; /* one for each level */
    const char *name;        /* the way to it within the element: "box.corner[2].next" */
    uint8_t levels;
    uint8_t flags;
} haul__slot;

typedef struct haul__part {
    size_t offset, count, stride;
    const haul_type *type; /* committed */
    const char *name;      /* "cells"; "" for the blocks of a constructor */
} haul__part;

/* A rule and its cases, copied; the cases' types are known from commit on. */
typedef struct haul__rule {
    haul_rule said;
    haul_type **types;       /* one for each case */
    haul_type *holder;       /* whose nearest object its callbacks get, or NULL */
    struct haul__rule *each; /* of the pointers that a pointer leads to, or NULL */
} haul__rule;

typedef enum haul__ruled_kind {
    /* slot.flags tell the end of a begin/end pair, which has its begin's rule */
    HAUL__RULED_POINTER,
    HAUL__RULED_DATA,
    HAUL__RULED_PART, /* slot.target, slot.unit and `count` */
    HAUL__RULED_TAIL  /* slot.target or plain bytes; slot.shape[0] counts */
} haul__ruled_kind;

typedef struct haul__ruled {
    haul__slot slot; /* self is 0 */
    haul__ruled_kind kind;
    size_t bytes, count;     /* of the field; of a tail 0 */
    const haul__rule *rule;  /* NULL: a tail's */
    const haul__slot *cases; /* the slot with each case's type */
} haul__ruled;

/* What the rooms above read of a committed type. The rest is src/type's own. */
typedef struct haul__walk {
    const char *name;
    size_t extent; /* from one element to the next */
    /* the room of one element: up to its upper bound or, where extents are made small, its last
     * byte */
    size_t span;
    size_t alignment; /* every element's address is a multiple; 1: nothing is asked */
    /* the copy keeps addresses modulo this: alignment as declared, at least two pointers */
    size_t placement;
    size_t payload;                /* bytes that travel: MPI's size */
    size_t true_lower, true_upper; /* first and one past the last byte that travels */
    const haul__run *runs;
    const haul__slot *slots;
    const haul__part *parts;
    const haul__ruled *ruled;     /* by offset */
    const haul__excluded *barred; /* by offset */
    size_t run_count, slot_count, part_count, ruled_count, barred_count;
    haul_function *size;            /* of the objects' own; NULL: none */
    haul_rebuild_function *rebuild; /* with depends */
    void *rebuild_user;
    int depends;   /* contents depend on addresses */
    int dense;     /* one run, [0, extent), and no parts, and nothing is ruled */
    int has_slots; /* here or in a part, or something is ruled */
    /* elements of other types lie in it, ruled ones and a tail of a type included */
    int has_parts;
    int is_ruled; /* ruled, or of a size of its own */
    int is_sized; /* it has a tail or a size of its own */
    /* it has barred fields, or depends: an element that is reached must be more than marked */
    int is_noted;
    /* objects are holders for some of what they lead to: the bit of their type */
    uint64_t holds;
    /* holders from outside that are asked for, here or in what elements lead to: bits of their
     * types; several types have one bit where there are many */
    uint64_t needs;
    int is_wide;     /* who led there must be known: with_parent, or one of these two is not 0 */
    int with_parent; /* callbacks of its rules ask for the struct that led here, */
    /* or all of its rules do: it is one pointer of an array whose row says what each is */
    int is_slot;
    /* ruled, of at most 64 whole words, nothing in it but runs, slots and ruled rows; then: */
    int is_short;
    /* the words of an element that travel, and the slots, as far as no rule says so */
    uint64_t run_words, slot_words;
} haul__walk;

/* The committed form; NULL when the type is NULL, freed or not committed. */
const haul__walk *haul__type_walk(const haul_type *type);
int haul__type_is_valid(const haul_type *type);
/* Leaves a constant on a type, shared or not, for haul_type_error. Answers its status. */
haul_status haul__type_tell(const haul_type *type, const haul_error *constant);

/* One more holder, one less. Committed types only; any thread. */
void haul__type_hold(const haul_type *type);
void haul__type_drop(const haul_type *type);

/* The bars of a row's rule. */
unsigned haul__exclusions_of(haul_direction direction);

/* Is it the end of a pair whose begin an object of so many bytes does not have? Then it is bytes as
 * any others. */
HAUL__INLINE int haul__is_lone_end(const haul__slot *slot, size_t bytes)
{
    return (slot->flags & HAUL__SLOT_END) && slot->self + slot->index >= bytes;
}

/* ---- Elements one by one, those of parts included, in no recursion (flat.c). */

#define HAUL__FLAT_DEPTH (HAUL_EMBED_DEPTH_MAX + 8u)

typedef struct haul__flat {
    struct {
        const haul__walk *walk;
        size_t at, left, stride, part;
    } level[HAUL__FLAT_DEPTH];
    unsigned depth;
} haul__flat;

void haul__flat_begin(haul__flat *flat, const haul__walk *walk, size_t at, size_t count,
                      size_t stride);
/* 0: there are no more. */
int haul__flat_next(haul__flat *flat, const haul__walk **walk, size_t *at);

/* Bytes of an element that do not travel, from *at on; parts are not looked into. 0: there are no
 * more. */
int haul__next_gap(const haul__walk *walk, size_t *at, size_t *bytes);
/* Does what an element leaves out belong to nobody else? Not where elements reach into one
 * another. */
int haul__is_tidy(const haul__walk *walk);
/* Is what each byte of an element is known without a look at one? Not where rows hold now and
 * then. */
int haul__is_plain(const haul__walk *walk);
/* The bars of its tail, which begins at *offset; 0: it has no tail, or one that travels both
 * ways. */
unsigned haul__tail_exclusions(const haul__walk *walk, size_t *offset);
/* Its pointers from number *i on, those of parts left out: offsets. 0: there are no more. */
int haul__next_pointer(const haul__walk *walk, size_t *i, size_t *offset);

/* ---- Fields. */

/* Reads an integer field of a shape, widened: 0 when an unsigned 8-byte value does not fit
 * int64_t. */
int haul__read_field(const void *self, const haul_field_place *place, int64_t *value);
/* The same as it is stored, taken as signed: for guards, which compare only. */
int64_t haul__read_stored(const void *self, const haul_field_place *place);
/* Does the row hold, by what `field` is? For the kinds that read one. */
int haul__when_holds(const haul_when *when, const void *self);

#endif
