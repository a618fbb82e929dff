/* Locked host memory, which the device reads and writes in place. */
#ifndef HAUL_HOST_LOCKED_H
#define HAUL_HOST_LOCKED_H

#include "host.h"

haul_status haul__host_lock(void *state, void *memory, size_t bytes);
void haul__host_unlock(void *state, void *memory, size_t bytes);
haul_status haul__host_pull(void *state, const haul_crossing *crossing);
haul_status haul__host_push(void *state, const haul_crossing *crossing);
void haul__host_drop_locks(haul__host *host);

#endif
