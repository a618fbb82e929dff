/* The values of the ruled rows of one object: each is read (ruled_field.c), and together they are
 * an evaluation (ruled_evaluate.c).
 */
#ifndef HAUL_WALK_RULED_FIELD_H
#define HAUL_WALK_RULED_FIELD_H

#include "walk/ancestors.h"
#include "walk/pointer.h"

/* An object whose rows are evaluated. */
typedef struct haul__object {
    uintptr_t address;
    /* The struct whose fields its rows read: normally the object itself; for an element of an array
     * whose row has an `each` rule, the struct with that row. */
    uintptr_t self;
    uintptr_t parent; /* of the struct that led here; 0: not asked for, or a root */
    size_t index;     /* of such an element, else 0 */
    const haul__ancestor *ancestor;
    const haul__walk *walk;
    size_t bytes;  /* its size, once it is known; SIZE_MAX: that of its type */
    unsigned mode; /* HAUL__NOTED, HAUL__DRY */
} haul__object;

/* A whole object that needs no ancestors, to be visited. */
HAUL__INLINE haul__object haul__single_object(uintptr_t address, const haul__walk *walk)
{
    static const haul__ancestor none;
    haul__object o;
    o.address = o.self = address;
    o.parent = 0;
    o.index = 0;
    o.ancestor = &none;
    o.walk = walk;
    o.bytes = SIZE_MAX;
    o.mode = HAUL__NOTED;
    return o;
}

/* The role of a row in one object. */
typedef enum haul__outcome {
    HAUL__IS_ABSENT,   /* the row does not hold, or another one has its bytes */
    HAUL__IS_LEFT,     /* a hole in the object, zero in the copy */
    HAUL__IS_RAW,      /* bytes */
    HAUL__IS_INSIDE,   /* elements in the object: an arm or the tail */
    HAUL__IS_POINTER,  /* an ordinary slot */
    HAUL__IS_EXPLICIT, /* a pointer that is no slot: an explicit relocation */
    HAUL__IS_TAGGED,   /* a pointer with high tag bits: the host works it out */
    HAUL__IS_FIXED     /* a fixed word: the host knows its value in the copy */
} haul__outcome;

/* The value of a row. */
typedef struct haul__field_value {
    haul__outcome what;
    uint8_t fixed, bytes; /* kind and width of a fixed word */
    uint8_t is_alias, may_be_static;
    uint8_t waits;            /* whether it is an alias is decided at the end: HAUL_UNLESS_OWNED */
    uint8_t is_rest;          /* absent, but bytes that no other row claims travel */
    uint8_t is_inside;        /* a pointer to a byte of its target, plus tags below a granule */
    const haul__slot *slot;   /* with the type that the rule chose */
    uintptr_t at, value;      /* the word's address, and the word */
    uintptr_t address, start; /* without tags; the target's begin, or 0; of a limit: its array */
    uint64_t becomes;
} haul__field_value;

HAUL__INLINE int haul__is_end(const haul__ruled *ruled)
{
    return ruled->kind == HAUL__RULED_POINTER && (ruled->slot.flags & HAUL__SLOT_END);
}

HAUL__INLINE size_t haul__ruled_end(const haul__ruled *ruled, size_t bytes)
{
    return ruled->kind == HAUL__RULED_TAIL ? bytes : ruled->slot.offset + ruled->bytes;
}

/* ruled_field.c */
/* *holds: does the row hold? The field that its condition reads joins the read set. */
haul_status haul__ask(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                      int *holds);
/* Reads the word of a pointer row that holds. */
haul_status haul__read_word(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                            haul__field_value *w);
/* The pointer that a row has read. */
haul__pointer haul__ruled_pointer(const haul__discovery *d, const haul__object *o,
                                  const haul__ruled *ruled, const haul__field_value *w);
/* Does a slot, or a row, read fields behind the end of an object of `bytes` bytes? */
int haul__counts_beyond(const haul__slot *slot, size_t bytes);
int haul__reads_beyond(const haul__ruled *ruled, size_t bytes);

/* ruled_evaluate.c */
/* An object of `bytes` bytes ends within the field, or before an integer that the field reads.
 * HAUL_ERROR_GRAPH. */
haul_status haul__refuse_cut(haul__discovery *d, const haul__slot *slot, size_t bytes);
haul_status haul__refuse_reading(haul__discovery *d, const haul__slot *slot, size_t bytes);
/* Element `index` of an entry, as an object. Its size is not known yet. */
haul__object haul__object_of(const haul__entry *entry, const haul__walk *walk, size_t index,
                             unsigned mode);
/* Works out o->bytes. `slot` led there, and is named in errors. */
haul_status haul__find_size(haul__discovery *d, haul__object *o, const haul__slot *slot);
/* Works out a value for each ruled row, in d->evaluation[o->mode]: an object can be reached, in a
 * dry run, while another is visited. In a dry run errors are left for the visit, and *must_visit
 * becomes 1. Otherwise the first error ends it, and the object must end between fields. */
haul_status haul__evaluate(haul__discovery *d, const haul__object *o, int *must_visit);
void haul__evaluations_close(haul__discovery *d);

#endif
