/* What the ruled rows of one object are now: asked of the object (ruled_field.c), and put together
 * (ruled_evaluate.c).
 */
#ifndef HAUL_WALK_RULED_FIELD_H
#define HAUL_WALK_RULED_FIELD_H

#include "walk/ancestors.h"

/* Who is asked. */
typedef struct haul__object {
    uintptr_t address;
    /* of the struct whose fields its rows read: its own address, but for the elements of an array
     * whose row says what each of them is */
    uintptr_t self;
    uintptr_t parent;       /* of the struct that led here; 0: not asked for, or a root */
    size_t index;           /* of such an element */
    const haul__held *held; /* through whom it was found */
    const haul__walk *walk;
} haul__object;

/* Callbacks are the rule's from now on; NULL: nobody's that asks. */
HAUL__INLINE void haul__ask_for(haul__discovery *d, const haul__object *o, const haul__rule *rule)
{
    if (HAUL__UNLIKELY(o->walk->is_wide))
        d->asked = haul__asked_of(d, o, rule);
}

typedef enum haul__outcome {
    HAUL__IS_ABSENT,  /* the row does not hold, or does not count */
    HAUL__IS_LEFT,    /* nothing: a hole in the object, zero in the copy */
    HAUL__IS_RAW,     /* bytes */
    HAUL__IS_INSIDE,  /* elements that lie in the object: an arm or the tail */
    HAUL__IS_POINTER, /* a slot as any other */
    HAUL__IS_ODD, /* a pointer whose bits are not the address of a described byte (listed_words.c) */
    HAUL__IS_TAGGED, /* one with tag bits that no device can leave alone: the host works it out */
    HAUL__IS_KEPT    /* a word that becomes something that is known on the host */
} haul__outcome;

typedef struct haul__field_value {
    haul__outcome what;
    uint8_t kept, bytes; /* kind and width of a kept word */
    uint8_t is_alias, may_be_static;
    uint8_t is_rest;          /* absent, but its bytes travel as far as no other row claims them */
    const haul__slot *slot;   /* with the type that was chosen */
    uintptr_t at, value;      /* where it stands, what it is */
    uintptr_t address, start; /* without tag bits; where the block begins: 0: nowhere to go */
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
/* Does the row hold? What its condition reads is noted. */
haul_status haul__ask(haul__discovery *d, const haul__object *o, size_t bytes,
                      const haul__ruled *ruled, int *holds);
/* What the word of a pointer row that holds is. */
haul_status haul__read_word(haul__discovery *d, const haul__object *o, const haul__ruled *ruled,
                            haul__field_value *w);
/* Does a slot, or a row, of an object of so many bytes read fields that it does not have? */
int haul__counts_beyond(const haul__slot *slot, size_t bytes);
int haul__reads_beyond(const haul__ruled *ruled, size_t bytes);

/* ruled_evaluate.c */
/* Element `index` of an entry. */
haul__object haul__object_of(const haul__entry *entry, const haul__walk *walk, size_t index);
/* How many bytes of the source the object takes. */
haul_status haul__size_of(haul__discovery *d, const haul__object *o, const haul__slot *slot,
                          size_t *bytes);

/* One word for each ruled row, in the discovery's survey `number`. `strict`: what is
 * wrong is refused; else it is left for later, and *must_visit set. */
/* an object that is reached while another is visited has a survey of its own */
enum { HAUL__VISITED, HAUL__REACHED };
haul_status haul__evaluate(haul__discovery *d, const haul__object *o, size_t bytes, unsigned number,
                           int strict, int *must_visit);
/* All that an object of so many bytes says of itself, noted: survey HAUL__VISITED. */
haul_status haul__evaluate_noted(haul__discovery *d, const haul__object *o, size_t bytes);
void haul__evaluations_close(haul__discovery *d);

#endif
