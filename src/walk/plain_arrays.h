/* Short arrays and strings of plain bytes, followed in line.
 */
#ifndef HAUL_WALK_PLAIN_ARRAYS_H
#define HAUL_WALK_PLAIN_ARRAYS_H

#include "walk/met_types.h"

/* Follows a pointer of this value. 1: done, or it waits as a span; 0: nothing has been done, go the
 * general way. */
int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *counted, uintptr_t value,
                             uintptr_t self);
/* Follows the pointer at `place` whose count a function tells, one way or the other. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *counted,
                                      uintptr_t place, uintptr_t self, size_t index);
haul_status haul__settle_spans(haul__discovery *d); /* all that wait */

#endif
