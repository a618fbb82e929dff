/* The lists beside a map, sorted by address.
 */
#ifndef HAUL_LAYOUT_LISTS_H
#define HAUL_LAYOUT_LISTS_H

#include "context/context.h"
#include "map/found.h"

/* Sorts what discovery has appended. HAUL_ERROR_CANCELLED, with a record. */
haul_status haul__lists_sort(haul_context *context, haul__found *found);

/* ---- After that. */

/* Did the pointer lead to no elements at discovery? */
int haul__was_empty(const haul__found *found, uintptr_t pointer);
/* The first listed end of an array at this address or behind it: its number, or their count. */
size_t haul__first_array_end(const haul__found *found, uintptr_t address);
/* The end of an array that stands at this address, if ends are listed; NULL: none does. */
const haul__array_end *haul__array_end_at(const haul__found *found, uintptr_t word);

#endif
