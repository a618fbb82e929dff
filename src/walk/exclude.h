/* Exclusions that rows ask for, and objects whose contents depend on addresses.
 */
#ifndef HAUL_WALK_EXCLUDE_H
#define HAUL_WALK_EXCLUDE_H

#include "walk/pointer.h"
#include "walk/worklist.h"

/* Excludes the elements that a pointer leads to from the directions `ways`. */
haul_status haul__exclude_target(haul__discovery *d, const haul__pointer *p, size_t count,
                                 unsigned ways);
/* Excludes a ruled field, or the tail, of an object of `bytes` bytes. Pointer fields are left out:
 * their direction is for their targets. */
haul_status haul__exclude_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled,
                                size_t bytes);
/* Excludes the fields of an object of `bytes` bytes that have a direction, and no rule besides. */
haul_status haul__exclude_fields(haul__discovery *d, const haul__walk *walk, uintptr_t element,
                                 size_t bytes);
/* Excludes an object that a pointer with a direction leads to: one of fixed size, without embedded
 * elements. */
haul_status haul__exclude_object(haul__discovery *d, const haul__walk *walk, uintptr_t object,
                                 unsigned ways);
/* The same for an object of the type with this number, up to UINT16_MAX, some targets later: its
 * excluded words are fetched meanwhile. */
haul_status haul__exclude_later(haul__discovery *d, uintptr_t object, uint32_t number,
                                unsigned ways);
haul_status haul__exclude_waiting(haul__discovery *d); /* excludes all that wait */
void haul__exclude_close(haul__discovery *d);
/* For marked elements of a type that is_noted: excludes their fields, and lists the elements if
 * their contents depend on addresses. HAUL_ERROR_UNSUPPORTED: the type has no function that
 * rebuilds them. */
haul_status haul__note_elements(haul__discovery *d, const haul__entry *entry);

#endif
