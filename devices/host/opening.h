/* Access to all device memory at its addresses. */
#ifndef HAUL_HOST_OPENING_H
#define HAUL_HOST_OPENING_H

#include "host.h"

/* Opens all device memory at its addresses, or closes it again. The caller holds the mutex. 0: the
 * system refuses. */
int haul__host_open_memory(const haul__host *host, int open);

#endif
