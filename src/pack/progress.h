/* Progress: a listener hears how far a call is, and may stop it.
 */
#ifndef HAUL_PACK_PROGRESS_H
#define HAUL_PACK_PROGRESS_H

#include "base/base.h"
#include "haul/plan.h"

/* Told at most every few MiB; an answer other than 0 stops the work with HAUL_ERROR_STATE. NULL:
 * nobody listens. */
typedef struct haul__listener {
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} haul__listener;
haul_status haul__tell(haul_plan *plan, const haul__listener *listener, uint64_t done,
                       uint64_t total);

#endif
