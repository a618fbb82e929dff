/* Relocation, alone or with a copy. */
#ifndef HAUL_HOST_PATCH_H
#define HAUL_HOST_PATCH_H

#include "host.h"

haul_status haul__host_relocate(void *state, const haul_relocation *relocation);
haul_status haul__host_send(void *state, const haul_relocation *relocation, const void *from,
                            size_t bytes);
haul_status haul__host_fetch(void *state, void *to, const haul_relocation *relocation,
                             size_t bytes);

#endif
