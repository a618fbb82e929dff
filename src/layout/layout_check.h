/* Invariants of a finished layout, for builds with HAUL_CHECKS.
 */
#ifndef HAUL_LAYOUT_CHECK_H
#define HAUL_LAYOUT_CHECK_H

#include "layout/layout.h"

/* HAUL_ERROR_STATE, with a sentence: an invariant does not hold. */
haul_status haul__layout_check(haul_context *context, const haul__found *found,
                               const haul__placed *placed);

#endif
