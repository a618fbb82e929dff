/* Making open types and filling them with fields.
 */
#ifndef HAUL_TYPE_BUILD_H
#define HAUL_TYPE_BUILD_H

#include "type/record.h"

/* A new open type. On failure *type is NULL. HAUL_ERROR_VERSION: a field has a member that this
 * library lacks. */
haul_status haul__type_new(const haul__home *home, const haul_allocator *allocator,
                           const haul_struct *what, haul_type **type);
/* The field that a row was made from. Its type switch names the cases' handles. */
void haul__field_of_row(const haul_type *type, const haul__row *row, haul_field *field);
/* A new open type that has these fields, and is like another one in everything else. */
haul_status haul__type_like(const haul_type *other, const char *name, const haul_field *fields,
                            size_t count, haul_type **type);
/* Adds fields to an open type; on failure it is as before. */
haul_status haul__type_add_fields(haul_type *type, const haul_field *fields, size_t count,
                                  size_t field_bytes);
haul_status haul__type_set_rebuild(haul_type *type, haul_rebuild_function *rebuild, void *user);

#endif
