/* The integers that counts, conditions and switches read.
 */
#ifndef HAUL_TYPE_FIELD_H
#define HAUL_TYPE_FIELD_H

#include "base/base.h"
#include "haul/type.h"

HAUL__INLINE int haul__is_integer_width(unsigned bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* Reads a field of `self`, widened. 0: an unsigned value of 8 bytes does not fit int64_t. */
int haul__read_field(const void *self, const haul_integer *place, int64_t *value);
/* The same, always taken as signed: for values that are only compared with each other. */
int64_t haul__read_stored(const void *self, const haul_integer *place);
/* Does a condition hold? For HAUL_WHEN_KIND_FIELD and HAUL_WHEN_KIND_NOT. */
int haul__when_holds(const haul_when *when, const void *self);

#endif
