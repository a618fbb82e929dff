/* The verbs of the device table, by file. */
#ifndef HAUL_CUDA_VERBS_H
#define HAUL_CUDA_VERBS_H

#include "gpu.h"

/* allocations.c */
haul_status haul__gpu_allocate(void *state, uint64_t bytes, size_t alignment,
                               haul_address *address);
void haul__gpu_release(void *state, haul_address address, uint64_t bytes);
haul_status haul__gpu_stage(void *state, size_t bytes, void **memory);
void haul__gpu_unstage(void *state, void *memory, size_t bytes);
/* copy.c */
haul_status haul__gpu_copy_to(void *state, haul_address to, const void *from, size_t bytes);
haul_status haul__gpu_copy_from(void *state, void *to, haul_address from, size_t bytes);
haul_status haul__gpu_across(void *state, haul_address to, void *from_state, haul_address from,
                             size_t bytes);

/* gpus.c */
void haul__gpu_refusal(const void *settings, haul_status status, char *text, size_t bytes);

/* patch.c */
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

/* mirror.c */
haul_status haul__gpu_mirror(void *state, size_t bytes, haul_mirror *mirror);
void haul__gpu_unmirror(void *state, const haul_mirror *mirror);

/* locked.c */
haul_status haul__gpu_lock(void *state, void *memory, size_t bytes);
void haul__gpu_unlock(void *state, void *memory, size_t bytes);
haul_status haul__gpu_pull(void *state, const haul_crossing *crossing);
haul_status haul__gpu_push(void *state, const haul_crossing *crossing);

/* streams.c */
haul_status haul__gpu_select(void *state, void *stream);
haul_status haul__gpu_fence(void *state, uint64_t *fence);
haul_status haul__gpu_poll(void *state, uint64_t fence);
haul_status haul__gpu_await(void *state, uint64_t fence);
haul_status haul__gpu_wait(void *state);
haul_status haul__gpu_signal(void *state, void *event);

/* ranges.c */
void haul__gpu_phase_begin(void *state, const char *name);
void haul__gpu_phase_end(void *state);

#endif
