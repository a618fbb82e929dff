/* Exclusions that rows ask for, and objects whose contents depend on addresses.
 */
#ifndef HAUL_WALK_EXCLUDE_H
#define HAUL_WALK_EXCLUDE_H

#include "walk/worklist.h"

/* Excludes what the slot's direction excludes of its target. Called after haul__follow's work, with
 * its arguments. */
haul_status haul__exclude_target(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index);
/* Excludes a ruled field, or the tail, of an object of so many bytes. Pointers are left out: their
 * direction is their target's. */
haul_status haul__exclude_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled,
                                size_t bytes);
/* Excludes fields of marked elements whose type is_noted, and lists them if their contents depend
 * on addresses. HAUL_ERROR_UNSUPPORTED: no function rebuilds them. */
haul_status haul__note_elements(haul__discovery *d, const haul__entry *entry);

#endif
