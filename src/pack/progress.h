/* Progress: a listener learns how far a call is, and may stop it.
 */
#ifndef HAUL_PACK_PROGRESS_H
#define HAUL_PACK_PROGRESS_H

#include "context/context.h"

#define HAUL__PROGRESS_BYTES ((size_t)4 << 20) /* packed between two reports, about */

/* Told at most once every few MiB. HAUL_ERROR_CANCELLED: the listener stops the work. NULL: nobody
 * listens. */
haul_status haul__tell(haul_context *context, const haul__listener *listener, uint64_t done,
                       uint64_t total);

#endif
