/* Exclusions that discovery finds, and objects whose contents depend on addresses.
 */
#ifndef HAUL_WALK_EXCLUDE_H
#define HAUL_WALK_EXCLUDE_H

#include "walk/worklist.h"

/* After haul__follow's work, with its arguments: bars what the slot's direction bars of what it
 * leads to. */
haul_status haul__exclude_target(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index);
/* Bars a ruled field that holds, or the tail, of an object of so many bytes; a pointer's direction
 * is its target's. */
haul_status haul__exclude_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled,
                                size_t bytes);
/* Elements of a type that is_noted, after they have been reached. HAUL_ERROR_UNSUPPORTED: nothing
 * could rebuild them. */
haul_status haul__note_elements(haul__discovery *d, const haul__entry *entry);

#endif
