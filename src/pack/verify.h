/* Does a plan still fit its source? Asked without a copy.
 */
#ifndef HAUL_PACK_VERIFY_H
#define HAUL_PACK_VERIFY_H

#include "base/base.h"
#include "haul/plan.h"

/* What no device compares: counts, terminators, what callbacks answer. HAUL_ERROR_STALE. */
haul_status haul__verify_counts(haul_plan *plan);

/* What gather checks, without a copy: HAUL_ERROR_STALE. Of a plan that was never packed it checks
 * no pointers. */
haul_status haul__verify(haul_plan *plan);

#endif
