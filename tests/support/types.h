/* The context that the types of a test are made in. The first call of a test makes it, and it is
 * freed after the test: types need no context of their own, and leave no memory behind.
 */
#ifndef HAUL_TESTS_TYPES_H
#define HAUL_TESTS_TYPES_H

#include "haul/context.h"

haul_context *type_context(void);
/* What the last call on a type has said. */
const haul_error *type_error(void);

#endif
