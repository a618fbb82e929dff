/* Progress: a listener learns how far a call is, and may stop it.
 */
#ifndef HAUL_PACK_PROGRESS_H
#define HAUL_PACK_PROGRESS_H

#include "base/base.h"
#include "haul/plan.h"

/* Called at most once every few MiB. An answer other than 0 stops the work: HAUL_ERROR_CANCELLED. A
 * listener that is NULL, or has no function, hears nothing. */
typedef struct haul__listener {
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} haul__listener;
haul_status haul__tell(haul_plan *plan, const haul__listener *listener, uint64_t done,
                       uint64_t total);

#endif
