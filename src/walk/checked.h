/* Checked mode: an address that is found twice must have the same meaning both times.
 */
#ifndef HAUL_WALK_CHECKED_H
#define HAUL_WALK_CHECKED_H

#include "walk/worklist.h"

/* The role in which an address was seen: an object; a pointer word; an object whose rules ask for
 * the parent; or a place for which a callback that gets an ancestor has answered (HAUL__AS_ANSWER +
 * the question). An address can have all of these roles, the last two once for each `as`. */
enum { HAUL__AS_OBJECT, HAUL__AS_POINTER, HAUL__AS_CHILD, HAUL__AS_ANSWER };

/* How an address was first seen. */
typedef struct haul__seen {
    uintptr_t address;
    const void *as; /* type of the object or of the pointer's target; never NULL */
    size_t unit;
    size_t root, entry, element;
    uintptr_t parent; /* of an answer: the ancestor */
    int64_t answer;
    const haul__slot *slot; /* for the path; NULL: the element itself */
    int what;
} haul__seen;

/* checked_meanings.c */
/* Refuses an address that was seen with another meaning. `slot` led there, and ends the path. The
 * second form is for the pointer word of a level of its slot; outside of checked mode it does
 * nothing. */
haul_status haul__meet(haul__discovery *d, uintptr_t address, int what, const void *as, size_t unit,
                       const haul__slot *slot);
haul_status haul__meet_pointer(haul__discovery *d, uintptr_t address, const haul__slot *slot,
                               unsigned level);
/* The record of how the address was first seen. *is_new: this call made it, and the caller fills in
 * the rest. NULL: out of memory. */
haul__seen *haul__see(haul__discovery *d, uintptr_t address, int what, const void *as,
                      const haul__slot *slot, int *is_new);
/* Sets the error record's other_path to the place where the address was first seen. */
void haul__name_seen(haul__discovery *d, const haul__seen *seen);
void haul__meanings_close(haul__discovery *d);

/* checked_parents.c: refuses an entry whose rules give other values for this parent than for the
 * first one. */
haul_status haul__meet_parent(haul__discovery *d, const haul__entry *entry);

#endif
