/* Relocate, send and fetch. */
#ifndef HAUL_CUDA_PATCH_H
#define HAUL_CUDA_PATCH_H

#include "gpu.h"

/* Up to here `send` is one kernel. Larger: a launch less for more arenas, but a kernel reads the
 * bus more slowly than the copy engine; from some 512 KiB on, that costs more than a launch. */
#define HAUL__GPU_SEND_BYTES ((size_t)256 << 10)
/* Up to here `fetch` pays: its kernel writes at 95 % of the copy engine's speed, and saves two
 * other kernels (together 10 us). */
#define HAUL__GPU_FETCH_BYTES ((size_t)8 << 20)
/* Up to here the host patches while it packs, which costs nothing; a launch costs 3 us. */
#define HAUL__GPU_PATCH_BYTES ((size_t)4 << 20)

haul_status haul__gpu_relocate(void *state, const haul_relocation *relocation);
haul_status haul__gpu_send(void *state, const haul_relocation *relocation, const void *from,
                           size_t bytes);
haul_status haul__gpu_fetch(void *state, void *to, const haul_relocation *relocation, size_t bytes);

#endif
