/* Checks without a copy that a plan still fits its source.
 */
#ifndef HAUL_PACK_VERIFY_H
#define HAUL_PACK_VERIFY_H

#include "base/base.h"
#include "haul/plan.h"

struct haul__listener;

/* The comparisons that no device makes: counts, terminators, answers of callbacks.
 * HAUL_ERROR_STALE. */
haul_status haul__verify_counts(haul_plan *plan);

/* The comparisons of gather: HAUL_ERROR_STALE. Pointers are compared only if the plan was packed
 * before. The listener, which may be NULL, hears of nothing done: first, and behind 64 MiB each. */
haul_status haul__verify(haul_plan *plan, const struct haul__listener *listener);

#endif
