/* The inside of the CUDA device: what an open one holds, and how its files speak to each other.
 *
 *     cuda.c     the table; open, close, capabilities
 *     visit.c    entering and leaving a verb; CUDA's errors in words; driver entries
 *     memory.c   device memory, staging
 *     copy.c     copies to, from and across
 *     patch.c    relocate, send and fetch; kernels.cu has what runs on the GPU
 *     mirror.c   memory at addresses where the host has some too
 *     direct.c   host memory that is locked, read and written where it lies
 *     order.c    streams, fences, waiting
 *     answer.c   a word that tells how far a stream has come
 *     ranges.c   names on a profiler's time line
 *     absent.c   instead of all of these, where Haul is built without CUDA
 *
 * Every verb is a visit: haul__gpu_enter, CUDA calls each through haul__gpu_check, haul__gpu_leave.
 * All functions here work on one state, which one thread uses at a time; several states may be used
 * in several threads.
 */
#ifndef HAUL_CUDA_GPU_H
#define HAUL_CUDA_GPU_H

#include <cuda_runtime_api.h>

#include "haul/cuda.h"
#include "kernels.h"

/* Memory whose address is not the one that its allocator gave, for an alignment above the
 * allocator's. */
typedef struct haul__gpu_shifted {
    haul_address address, base;
    uint64_t bytes; /* as asked of the allocator */
} haul__gpu_shifted;

/* Device memory: two ranges, for an arena and what is told of it lie apart. */
typedef struct haul__gpu_range {
    haul_address address;
    uint64_t bytes; /* 0: none */
} haul__gpu_range;

/* Memory of the pool that was released last, for whoever asks for as much. */
#define HAUL__GPU_SPARES 4u
typedef struct haul__gpu_spare {
    void *memory;
    uint64_t bytes;
} haul__gpu_spare;

/* The fences that have been given out and may not have been reached: numbers first .. next - 1,
 * number n in events[n % capacity]. Grows when all of them are still ahead. */
typedef struct haul__gpu_fences {
    uint64_t first, next;
    cudaEvent_t *events; /* NULL where none has been made yet */
    size_t capacity;
} haul__gpu_fences;

/* The driver's order to write a word behind what a stream was told before. 0: it is ordered. */
typedef int haul__gpu_write(cudaStream_t stream, unsigned long long address, uint32_t value,
                            unsigned flags);

typedef struct haul__gpu {
    uint32_t magic;
    int lost; /* CUDA refuses all further work in this process */
    haul_allocator allocator;
    haul_cuda_settings settings;
    int processors;   /* multiprocessors */
    int reaches_host; /* memory that CUDA has registered, at the host's own address */
    size_t memory_bytes;
    cudaStream_t own, stream;   /* the device's own stream; the selected one */
    cudaMemPool_t pool;         /* NULL: cudaMalloc, or the user's callbacks */
    cudaStream_t side;          /* for work that runs beside the selected stream's, see order.c */
    cudaEvent_t joined;         /* where a stream waits for it, */
    cudaStream_t joined_by;     /* the last of them */
    cudaEvent_t crossing;       /* for the order between two devices, see `across` */
    uint64_t peers;             /* bit n: GPU n has been told that it may reach this one's memory */
    haul__gpu_range checked[2]; /* memory of this GPU, known to be; the last found first */
    haul__gpu_spare spares[HAUL__GPU_SPARES]; /* the oldest first */
    size_t spare_count;
    /* where memory has gone to the pool, and CUDA has not waited since: the last of the user's, or
     * its own; NULL: nowhere */
    cudaStream_t freed_on;
    haul__gpu_shifted *shifted;
    size_t shifted_count, shifted_capacity;
    haul__gpu_fences fences;
    uint32_t *answer;       /* pinned, for answer.c; NULL: there are none */
    uint32_t *answer_there; /* its address for kernels */
    /* in device memory: the blocks of a kernel that writes its answer itself, as they end */
    uint32_t *done;
    uint32_t answered; /* the last number that was ordered to be written there */
    int answers;       /* the last thing that the device's own stream was told does so */
    haul__gpu_write *write;
    void *domain; /* the profiler's, for ranges.c; NULL: there is no profiler */
    char message[512];
} haul__gpu;

#define HAUL__GPU_MAGIC 0x48437564u
#define HAUL__GPU_ALIGNMENT 256u /* what CUDA's allocators give at least */

/* ---- visit.c */

/* What a verb found when it was entered, to be put back when it is left. */
typedef struct haul__gpu_visit {
    const char *verb;
    int entered;         /* 0: nothing to put back */
    int current;         /* the caller's GPU; -1: it has none */
    int system_error;    /* errno */
    cudaError_t pending; /* the caller's */
    int relaxed;         /* the capture mode was */
    enum cudaStreamCaptureMode mode;
} haul__gpu_visit;

/* Makes the GPU current for this thread. HAUL_ERROR_DEVICE_LOST; HAUL_ERROR_DEVICE when an error of
 * the caller's own is pending. Whatever it answers, haul__gpu_leave follows, and hands on the
 * verb's status. */
haul_status haul__gpu_enter(haul__gpu *gpu, const char *verb, haul__gpu_visit *visit);
haul_status haul__gpu_leave(haul__gpu *gpu, haul__gpu_visit *visit, haul_status status);

/* HAUL_OK for cudaSuccess. Otherwise the status that belongs to the error; the message says `what`
 * (a CUDA function) failed, with `bytes` if that is not 0; the thread's CUDA error is clear
 * again. */
haul_status haul__gpu_check(haul__gpu *gpu, const haul__gpu_visit *visit, cudaError_t error,
                            const char *what, uint64_t bytes);
/* For what cannot fail for the caller, and for answers that are no failures: clears the error if it
 * is ours. */
void haul__gpu_forgive(const haul__gpu_visit *visit, cudaError_t error);
/* A failure that CUDA did not find. Answers `status`. */
haul_status haul__gpu_fail(haul__gpu *gpu, const haul__gpu_visit *visit, haul_status status,
                           const char *what);
/* The driver's entry of that name, as it is since that version of it, to *entry, a pointer to a
 * function. 0: there is none. (From CUDA 12.5 on.) */
int haul__gpu_find_entry(const haul__gpu_visit *visit, const char *name, unsigned since,
                         void *entry, size_t bytes);
/* For open, which has no state yet to fail in. */
haul_status haul__gpu_status(cudaError_t error);

/* ---- memory.c */

haul_status haul__gpu_allocate(void *state, uint64_t bytes, size_t alignment,
                               haul_address *address);
void haul__gpu_release(void *state, haul_address address, uint64_t bytes);
haul_status haul__gpu_stage(void *state, size_t bytes, void **memory);
void haul__gpu_unstage(void *state, void *memory, size_t bytes);
/* The address of such memory for kernels; NULL where it is not pinned. */
const unsigned char *haul__gpu_mapped(const haul__gpu_visit *visit, const void *memory);
/* The pool that settings and GPU call for; gpu->pool stays NULL where there is none. What it has
 * spare goes before it. */
cudaError_t haul__gpu_make_pool(haul__gpu *gpu);
void haul__gpu_drop_spares(haul__gpu *gpu, const haul__gpu_visit *visit);
/* Whose memory an address is. 0: CUDA cannot tell. */
int haul__gpu_ask_owner(const haul__gpu_visit *visit, const void *address,
                        struct cudaPointerAttributes *owner);
/* HAUL_ERROR_ARGUMENT unless the GPU's kernels may write all of [address, address + bytes). */
haul_status haul__gpu_check_memory(haul__gpu *gpu, const haul__gpu_visit *visit,
                                   haul_address address, uint64_t bytes);
/* Forgets that it has been found out of a range that goes. */
void haul__gpu_forget(haul__gpu *gpu, haul_address address, uint64_t bytes);

/* ---- copy.c */

haul_status haul__gpu_copy_to(void *state, haul_address to, const void *from, size_t bytes);
haul_status haul__gpu_copy_from(void *state, void *to, haul_address from, size_t bytes);
haul_status haul__gpu_across(void *state, haul_address to, void *from_state, haul_address from,
                             size_t bytes);

/* ---- patch.c */

/* Up to here `send` is one kernel. Larger: fewer launches, but a kernel pulls a little slower than
 * the copy engine pushes, and past some 512 KiB that costs more than the launch that it saves. */
#define HAUL__GPU_SEND_BYTES ((size_t)256 << 10)
/* Up to here `fetch` pays: its kernel pushes at 95 % of the copy engine's speed, and saves two
 * others (together 10 us). */
#define HAUL__GPU_FETCH_BYTES ((size_t)8 << 20)
/* Up to here the host patches while it packs: a launch costs 3 us, and adding a base while packing
 * nothing. */
#define HAUL__GPU_PATCH_BYTES ((size_t)4 << 20)

haul_status haul__gpu_relocate(void *state, const haul_relocation *relocation);
haul_status haul__gpu_send(void *state, const haul_relocation *relocation, const void *from,
                           size_t bytes);
haul_status haul__gpu_fetch(void *state, void *to, const haul_relocation *relocation, size_t bytes);

/* ---- mirror.c */

haul_status haul__gpu_mirror(void *state, size_t bytes, haul_mirror *mirror);
void haul__gpu_unmirror(void *state, const haul_mirror *mirror);

/* ---- direct.c */

haul_status haul__gpu_lock(void *state, void *memory, size_t bytes);
void haul__gpu_unlock(void *state, void *memory, size_t bytes);
haul_status haul__gpu_pull(void *state, const haul_crossing *crossing);
haul_status haul__gpu_push(void *state, const haul_crossing *crossing);

/* ---- order.c */

haul_status haul__gpu_select(void *state, void *stream);
haul_status haul__gpu_fence(void *state, uint64_t *fence);
haul_status haul__gpu_poll(void *state, uint64_t fence);
haul_status haul__gpu_await(void *state, uint64_t fence);
haul_status haul__gpu_wait(void *state);
haul_status haul__gpu_signal(void *state, void *event);
void haul__gpu_drop_fences(haul__gpu *gpu);
/* The side stream: what it is told next comes behind a fence, and what the selected stream is told
 * after the second, behind what the side stream was told. When the second fails, the side stream
 * has nothing left to do. It is one for all streams: while another stream's work is under way
 * there, it is not to be used. */
int haul__gpu_may_branch(haul__gpu *gpu, const haul__gpu_visit *visit);
haul_status haul__gpu_branch(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t fence);
haul_status haul__gpu_join(haul__gpu *gpu, const haul__gpu_visit *visit);

double haul__gpu_seconds(void);

/* ---- answer.c */

/* Nothing fails for want of answers. */
void haul__gpu_make_answers(haul__gpu *gpu, const haul__gpu_visit *visit);
void haul__gpu_drop_answers(haul__gpu *gpu, const haul__gpu_visit *visit);
/* The next kernel on the selected stream may end with writing the next number: where, and what
 * counts its blocks. 0: it need not. */
int haul__gpu_may_answer(haul__gpu *gpu, haul__gpu_answer *answer);
/* Has the selected stream done all that it was told? Waits, awake, so many seconds at most.
 * `ordered`: its last kernel writes the number. 0: not yet, or it has failed, or nobody can say. */
int haul__gpu_has_answered(haul__gpu *gpu, int ordered, double seconds);

/* ---- ranges.c */

void haul__gpu_range_open(haul__gpu *gpu);
void haul__gpu_range_close(haul__gpu *gpu);
void haul__gpu_range_begin(haul__gpu *gpu, const char *name);
void haul__gpu_range_end(haul__gpu *gpu);
void haul__gpu_phase_begin(void *state, const char *name);
void haul__gpu_phase_end(void *state);

#endif
