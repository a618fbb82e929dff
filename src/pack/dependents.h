/* Objects of a plan whose contents depend on addresses.
 */
#ifndef HAUL_PACK_DEPENDENTS_H
#define HAUL_PACK_DEPENDENTS_H

#include "base/base.h"
#include "haul/plan.h"

/* The number of such objects; they are numbered type by type. */
size_t haul__plan_dependent_count(const haul_plan *plan);
/* The type of object `first`. *count: the number of objects of that type from it on. */
const haul_type *haul__plan_dependent_type(const haul_plan *plan, size_t first, size_t *count);
/* The offset of object `i` in the arena. */
uint64_t haul__plan_dependent(const haul_plan *plan, size_t i);
/* HAUL_ERROR_UNSUPPORTED, with the path: one of them reaches into [first, end). */
haul_status haul__refuse_dependents(haul_plan *plan, uintptr_t first, uintptr_t end,
                                    const char *text);

#endif
