/* Checked mode: does all that is met twice mean the same both times?
 */
#ifndef HAUL_WALK_CHECKED_H
#define HAUL_WALK_CHECKED_H

#include "walk/worklist.h"

/* How an address was seen first, as an object, as a pointer word, as something that a parent says
 * what it is, or as a place that a callback with a holder answered for. All can be, at one address,
 * the last two for each `as`. */
enum { HAUL__AS_OBJECT, HAUL__AS_POINTER, HAUL__AS_CHILD, HAUL__AS_ANSWER };

typedef struct haul__seen {
    uintptr_t address;
    const void *as; /* type of the object, or of what the pointer leads to; never NULL */
    size_t unit;
    size_t root, entry, element;
    uintptr_t parent; /* a child's; of an answer the holder */
    int64_t answer;
    const haul__slot *slot; /* for the path; NULL: the element itself */
    int what;
} haul__seen;

/* checked_meanings.c */
/* The thing at this address is met as `as`; `slot` is the way to it, for the path. The second form
 * takes a pointer word as what it is at a level of its slot, and does nothing out of checked
 * mode. */
haul_status haul__meet(haul__discovery *d, uintptr_t address, int what, const void *as, size_t unit,
                       const haul__slot *slot);
haul_status haul__meet_pointer(haul__discovery *d, uintptr_t address, const haul__slot *slot,
                               unsigned level);
/* How it was seen first: now, where *is_new. NULL: out of memory. */
haul__seen *haul__see(haul__discovery *d, uintptr_t address, int what, const void *as,
                      const haul__slot *slot, int *is_new);
/* Sets the record's other_path to where it was seen first. */
void haul__name_seen(haul__discovery *d, const haul__seen *seen);
void haul__meanings_close(haul__discovery *d);

/* checked_parents.c: objects of the entry, whose rules ask who led there, are what they were for
 * who came first. */
haul_status haul__meet_parent(haul__discovery *d, const haul__entry *entry);

#endif
