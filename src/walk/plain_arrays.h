/* Short arrays and strings of plain bytes, followed in line.
 */
#ifndef HAUL_WALK_PLAIN_ARRAYS_H
#define HAUL_WALK_PLAIN_ARRAYS_H

#include "walk/met_types.h"

/* Follows the pointer `value`. 1: done, or its target is pending; 0: nothing was done, take the
 * general way. */
int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *array, uintptr_t value,
                             uintptr_t self);
/* Follows the pointer at `place`, whose count a callback answers, in line or the general way. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *array,
                                      uintptr_t place, uintptr_t self, size_t index);
haul_status haul__mark_pending(haul__discovery *d); /* marks all that wait */

#endif
