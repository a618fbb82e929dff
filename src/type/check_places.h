/* Checks of a type from its description alone. A commit makes them first.
 */
#ifndef HAUL_TYPE_CHECK_PLACES_H
#define HAUL_TYPE_CHECK_PLACES_H

#include "type/record.h"

/* Size, alignment, and where the rows lie. Sorts the rows. */
haul_status haul__check_places(haul_type *type, haul_error *error);
/* check_arms.c: do the conditions of overlapping rows exclude each other, as far as can be seen
 * without an object? Rows lie in order, within the type. */
haul_status haul__check_arms(const haul_type *type, haul_error *error);

#endif
