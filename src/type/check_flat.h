/* Checks of a type whose flat form is made. A commit makes them last.
 */
#ifndef HAUL_TYPE_CHECK_FLAT_H
#define HAUL_TYPE_CHECK_FLAT_H

#include "type/record.h"

/* No number is read from a pointer, or from bytes that are not sent. */
haul_status haul__check_reads(const haul_type *type, haul_error *error);
/* With all flat forms made: targets have bytes, and room for tag bits. */
haul_status haul__check_targets(const haul_type *type, haul_error *error);
/* check_zeros.c: no arm of a union leaves zeros in the copy where another row reads a number. */
haul_status haul__check_zeros(const haul_type *type, haul_error *error);

#endif
