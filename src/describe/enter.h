/* Calls on types enter the context that the type was made from.
 */
#ifndef HAUL_DESCRIBE_ENTER_H
#define HAUL_DESCRIBE_ENTER_H

#include "type/record.h"

/* HAUL_OK, to be paired with a leave; HAUL_ERROR_ARGUMENT: the type is none; HAUL_ERROR_BUSY:
 * another call is under way on its context. */
haul_status haul__enter(haul_type *type);
/* Leaves the type's context, and answers `status`. */
haul_status haul__leave(haul_type *type, haul_status status);
/* How types that are made from a context find it. */
haul__home haul__home_of(haul_context *context);

#endif
