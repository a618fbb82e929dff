/* Mirrors: device memory and host memory at the same addresses. */
#ifndef HAUL_HOST_MIRROR_H
#define HAUL_HOST_MIRROR_H

#include "host.h"

haul_status haul__host_mirror(void *state, size_t bytes, haul_mirror *mirror);
void haul__host_unmirror(void *state, const haul_mirror *mirror);
int haul__host_is_mirror(const haul__host *host, const unsigned char *memory, size_t bytes);
/* Makes the public view show the device's bytes, or the host's. 0: the system refuses. */
int haul__host_turn(const haul__host *host, const haul__host_block *block, int to_device);

#endif
