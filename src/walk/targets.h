/* Targets: what each pointer word leads to, by each object that covers it.
 *
 * A plan visits an object if any of its bytes is new, so a word that two objects cover is followed
 * once. Its marks are those of any order of visits only if both take the word for the same
 * pointer. A walk within bounds visits both, and lists here what each of them found.
 */
#ifndef HAUL_WALK_TARGETS_H
#define HAUL_WALK_TARGETS_H

#include "walk/ruled_field.h"

typedef struct haul__target {
    uintptr_t place; /* of the word */
    uintptr_t value;
    size_t bytes;      /* 0: it is not followed; of a terminated array: those of an element */
    int is_terminated; /* or the field's `sentinel` ends it */
    int64_t sentinel;
    const haul_type *type; /* of the objects there; NULL: none, or not yet */
    unsigned levels;       /* that are left */
} haul__target;

/* Within bounds, lists a pointer that is followed, and one that is not. */
haul_status haul__note_target(haul__discovery *d, const haul__pointer *p, size_t count);
haul_status haul__note_unfollowed(haul__discovery *d, uintptr_t place, uintptr_t value);

/* Do both say the same of their word? */
int haul__is_same_target(const haul__target *a, const haul__target *b);

#endif
