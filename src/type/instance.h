/* Containers, and the types that a row of an instance leads to.
 */
#ifndef HAUL_TYPE_INSTANCE_H
#define HAUL_TYPE_INSTANCE_H

#include "type/record.h"

int haul__type_is_parameter(const haul_type *type);
/* The type that `found`, behind a row of the instance, stands for, if it is a parameter or the
 * container; else `found`. */
haul_type *haul__type_stands_for(const haul_type *instance, haul_type *found);
/* The same for any living type *found; an instance of another container is made if need be. */
haul_status haul__type_substitute(haul_type *instance, const char *field, haul_type **found,
                                  haul_error *error);
/* Are all of its parameters its container's? */
haul_status haul__check_bound(const haul_type *instance, haul_error *error);

#endif
