/* Copies between memories, and of strips. */
#ifndef HAUL_HOST_COPIES_H
#define HAUL_HOST_COPIES_H

#include "host.h"

haul_status haul__host_copy_to(void *state, haul_address to, const void *from, size_t bytes);
haul_status haul__host_clear(void *state, haul_address at, uint64_t bytes);
haul_status haul__host_copy_from(void *state, void *to, haul_address from, size_t bytes);
haul_status haul__host_across(void *state, haul_address to, void *from_state, haul_address from,
                              size_t bytes);
haul_status haul__host_gather_strips(void *state, void *packed, size_t bytes,
                                     const haul_strip *strips, size_t count);
haul_status haul__host_scatter_strips(void *state, const haul_strip *strips, size_t count,
                                      const void *packed, size_t bytes);

#endif
