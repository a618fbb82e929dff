/* Hints that a discovery notes: the granules that a program's hints name (map/named.h).
 *
 * A walk knows the field and the type of each pointer that it follows, and so the hints that name
 * its target. A range is named by each pointer that leads to it, not by the first one alone. Of the
 * hints that fit one pointer the first in the list counts; of those that name one granule, too. So
 * the order of the walk and the number of threads do not change which granules have names.
 */
#ifndef HAUL_WALK_HINTS_H
#define HAUL_WALK_HINTS_H

#include "haul/ship.h"
#include "map/named.h"
#include "walk/met_types.h"

typedef struct haul__hints {
    const haul_place_hint *at;
    size_t count;
} haul__hints;

/* Does the hint name what this slot leads to? */
int haul__names_slot(const haul_place_hint *hint, const haul__slot *slot);

/* 1 + the number of the first hint that names what a pointer of the slot leads to, if it is of this
 * type; 0: none does. Either may be NULL. */
uint32_t haul__hint_for(const haul__discovery *d, const haul__slot *slot, const haul_type *type);

/* Names all bytes that the entry leads to. 0: out of memory. Does nothing without hints, or if the
 * range cannot be one, which the walk will refuse. */
int haul__hint_entry(haul__discovery *d, const haul__entry *entry);

/* Names a range. `hint`: 1 + its number, or 0. 0: out of memory. */
HAUL__INLINE int haul__hint_range(const haul__discovery *d, uint32_t hint, uintptr_t first,
                                  uintptr_t end)
{
    return !hint || haul__hint_bytes(d->named, hint - 1, first, end);
}

#endif
