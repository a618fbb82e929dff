/* The roots of a call.
 */
#ifndef HAUL_WALK_ROOTS_H
#define HAUL_WALK_ROOTS_H

#include "context/context.h"
#include "haul/plan.h"
#include "type/type.h"

/* HAUL_ERROR_ARGUMENT: none, a NULL root, a count of 0, a NULL type; HAUL_ERROR_STATE: a type that
 * is not committed. The context's record says which. */
haul_status haul__check_roots(haul_context *context, const haul_root *roots, size_t count);
/* Keep the types of checked roots, which a callback may free, until they are dropped. */
void haul__hold_types(const haul_root *roots, size_t count);
void haul__drop_types(const haul_root *roots, size_t count);

#endif
