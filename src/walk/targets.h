/* Targets: what each pointer word leads to, by each object that covers it.
 *
 * A plan visits an object if any of its bytes is new, so a word that two objects cover is followed
 * once. Its marks are those of any order of visits only if both take the word for the same
 * pointer. A walk within bounds visits both, and lists here what each of them found.
 */
#ifndef HAUL_WALK_TARGETS_H
#define HAUL_WALK_TARGETS_H

#include "walk/ruled_field.h"

typedef struct haul__word_target {
    uintptr_t place; /* of the word */
    uintptr_t value;
    size_t bytes;      /* 0: it is not followed; of a terminated array: those of an element */
    int is_terminated; /* or the field's `sentinel` ends it */
    int64_t sentinel;
    const haul_type *type;  /* of the objects there; NULL: none, or not yet */
    unsigned levels;        /* that are left */
    const haul__slot *slot; /* NULL: it is an end or a limit */
    unsigned level;         /* of the pointer, in the slot's shapes */
    uintptr_t end;          /* the place of the word that ends the array; 0: none does */
    size_t span;            /* of a section: from its first byte to its last one; else 0 */
    int is_borrowed;
} haul__word_target;

/* Within bounds, lists a pointer that is followed, and one that is not. */
haul_status haul__note_target(haul__discovery *d, const haul__pointer *p, size_t count);
haul_status haul__note_unfollowed(haul__discovery *d, uintptr_t place, uintptr_t value);

/* The same for a section that is no array: p->value is its lowest byte. */
haul_status haul__note_span(haul__discovery *d, const haul__pointer *p, size_t bytes);

/* The same for a borrowed pointer. */
haul_status haul__note_borrowed(haul__discovery *d, uintptr_t place, uintptr_t value,
                                const haul__slot *slot);

/* Do both say the same of their word? */
int haul__is_same_target(const haul__word_target *a, const haul__word_target *b);

#endif
