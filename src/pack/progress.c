/* Progress: a listener learns how far a call is, and may stop it.
 */
#include "pack/progress.h"

haul_status haul__tell(haul_context *context, const haul__listener *listener, uint64_t done,
                       uint64_t total)
{
    if (!listener || !listener->progress(listener->user, done, total))
        return HAUL_OK;
    return haul__context_cancelled(context);
}
