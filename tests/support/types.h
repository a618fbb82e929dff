/* The context that the types of a test are made in. The first call of a test makes it, and it is
 * freed after the test: types need no context of their own, and leave no memory behind.
 */
#ifndef HAUL_TESTS_TYPES_H
#define HAUL_TESTS_TYPES_H

#include "haul.h"

haul_context *type_context(void);
/* What the last call on a type has said. */
const haul_error *type_error(void);

/* An open type, named as it is said. */
haul_status type_make_in(haul_context *context, const char *name, size_t bytes,
                         const haul_field *fields, size_t count, haul_type **type);
haul_status type_make(const char *name, size_t bytes, const haul_field *fields, size_t count,
                      haul_type **type);
/* The same for what must succeed. TYPE_NEW(S, fields) takes members of haul_struct
 * behind that: .alignment, .size_fn. */
haul_type *type_new(const haul_struct *what);
#define TYPE_NEW(S, ...) type_new(&(const haul_struct)HAUL_STRUCT(S, NULL, __VA_ARGS__))

#endif
