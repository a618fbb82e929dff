/* Short arrays of plain bytes or of pointers, and strings, followed in line.
 */
#ifndef HAUL_WALK_PLAIN_ARRAYS_H
#define HAUL_WALK_PLAIN_ARRAYS_H

#include "walk/met_types.h"
#include "walk/pointer.h"

/* Follows the pointer `value`. 1: done, or its target is pending; 0: nothing was done, take the
 * general way. */
int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *array, uintptr_t value,
                             uintptr_t self);
/* Reads the pointer at p->place, whose count a callback answers, and follows it in line or the
 * general way. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *array,
                                      haul__pointer *p);
haul_status haul__mark_pending(haul__discovery *d); /* marks all that wait */

#endif
