/* Targets: what each pointer word leads to, by each object that covers it.
 *
 * A plan visits an object if any of its bytes is new, so a word that two objects cover is followed
 * once. Its marks are those of any order of visits only if both take the word for the same
 * pointer. A walk within bounds visits both, and lists here what each of them found.
 */
#ifndef HAUL_WALK_TARGETS_H
#define HAUL_WALK_TARGETS_H

#include "walk/ruled_field.h"

/* A walk of a million pointers lists a million: what follows from the slot is not kept. */
typedef struct haul__word_target {
    uintptr_t place; /* of the word */
    uintptr_t value;
    size_t bytes;           /* 0: it is not followed; of a terminated array: those of an element */
    const haul__slot *slot; /* NULL: it is an end or a limit */
    uintptr_t more;         /* what haul__target_end and haul__target_span say */
    uint16_t level;         /* of the pointer, in the slot's shapes */
    uint8_t is_borrowed, is_section;
} haul__word_target;

/* The place of the word that ends the array; 0: none does. */
HAUL__INLINE uintptr_t haul__target_end(const haul__word_target *t)
{
    return t->is_section ? 0 : t->more;
}

/* Of a section that is no array: the bytes from its first to its last one; else 0. */
HAUL__INLINE size_t haul__target_span(const haul__word_target *t)
{
    return t->is_section ? t->more : 0;
}

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
