/* Containers, and the types that a row of an instance leads to.
 */
#ifndef HAUL_TYPE_INSTANCE_H
#define HAUL_TYPE_INSTANCE_H

#include "type/record.h"

int haul__type_is_parameter(const haul_type *type);
/* The type that takes the place of `found` in a row of the instance: a parameter's argument, the
 * instance in place of its container; else `found`. */
haul_type *haul__type_stands_for(const haul_type *instance, haul_type *found);
/* The same for any living type *found; an instance of another container is made if it is needed. */
haul_status haul__type_substitute(haul_type *instance, const char *field, haul_type **found,
                                  haul_error *error);
haul_status haul__type_instance(haul_type *container, size_t count, haul_type *const *parameters,
                                haul_type *const *arguments, haul_type **instance);
/* Checks that its container lives, and leads to each of its parameters. */
haul_status haul__check_bound(const haul_type *instance, haul_error *error);

#endif
