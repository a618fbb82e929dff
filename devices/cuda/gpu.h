/* The inside of the CUDA device: the state of an open one, and the frame of every verb.
 *
 *     cuda.c         the table; open, close, capabilities
 *     gpus.c         the number of GPUs
 *     verb.c         entering and leaving a verb; CUDA's errors in words; driver entries
 *     allocations.c  device memory, staging
 *     places.c       memory in several places
 *     copy.c         copies to, from and across
 *     patch.c        relocate, send and fetch; their kernels are in kernels.cu
 *     strips.c       strips of GPU memory to a buffer, and back
 *     mirror.c       device memory and host memory at the same addresses
 *     locked.c       locked host memory, which the GPU reads and writes in place
 *     streams.c      streams, fences, waiting
 *     answer.c       a word of host memory that tells how far a stream has come
 *     ranges.c       names on a profiler's time line
 *     absent.c       in place of all these in a build without CUDA
 *
 * Every verb is a visit: haul__gpu_enter, then CUDA calls, each through haul__gpu_check, then
 * haul__gpu_leave. One thread at a time uses a state; several threads may use several states.
 */
#ifndef HAUL_CUDA_GPU_H
#define HAUL_CUDA_GPU_H

#include <cuda_runtime_api.h>

#include "haul/cuda.h"
#include "kernels.h"

/* Memory with an alignment above the allocator's, and memory in several places. Its address may lie
 * above the allocation's base. */
typedef struct haul__gpu_shifted {
    haul_address address, base; /* ours; the allocator's */
    uint64_t bytes;             /* at base */
    int is_managed;             /* it lies in several places */
} haul__gpu_shifted;

/* A range of device memory. */
typedef struct haul__gpu_range {
    haul_address address;
    uint64_t bytes; /* 0: none */
} haul__gpu_range;

/* The last memory that was released, kept for a request of the same size. */
#define HAUL__GPU_SPARES 4u
typedef struct haul__gpu_spare {
    void *memory;
    uint64_t bytes;
} haul__gpu_spare;

/* Fences first .. next - 1 may not have been reached. Fence n has events[n % capacity]. The ring
 * grows when none of its fences has been reached. */
typedef struct haul__gpu_fences {
    uint64_t first, next;
    cudaEvent_t *events; /* each NULL until it is made */
    size_t capacity;
} haul__gpu_fences;

/* The driver's function that orders a write of one word behind all earlier work of a stream. 0: it
 * is ordered. */
typedef int haul__gpu_write(cudaStream_t stream, unsigned long long address, uint32_t value,
                            unsigned flags);

typedef struct haul__gpu {
    uint32_t magic;
    int lost; /* CUDA refuses all further work of this process */
    haul_allocator allocator;
    haul_cuda_options options;
    int processors;   /* multiprocessors */
    int can_place;    /* memory can lie in several places */
    int reaches_host; /* kernels reach registered memory at the host's own address */
    size_t memory_bytes;
    cudaStream_t own, stream;   /* the device's own stream, and the selected one */
    cudaMemPool_t pool;         /* NULL: memory is from cudaMalloc or the user's callbacks */
    cudaStream_t side;          /* runs beside the selected stream, see streams.c */
    cudaEvent_t joined;         /* the last work of `side` that a stream waits for */
    cudaStream_t joined_by;     /* that stream */
    cudaEvent_t crossing;       /* orders the streams of two devices, see copy.c */
    uint64_t peers;             /* bit n: access by GPU n has been asked for */
    haul__gpu_range checked[2]; /* known to be this GPU's memory; the last one found first */
    haul__gpu_spare spares[HAUL__GPU_SPARES]; /* the oldest first */
    size_t spare_count;
    /* a stream on which memory went back to the pool, and which CUDA has not waited for since: the
     * user's last one, else the device's own; NULL: none */
    cudaStream_t freed_on;
    haul__gpu_shifted *shifted;
    size_t shifted_count, shifted_capacity;
    haul__gpu_fences fences;
    uint32_t *answer;        /* pinned word, see answer.c; NULL: no answers */
    uint32_t *answer_on_gpu; /* its address for kernels */
    uint32_t *done;          /* in device memory: counts the ended blocks of an answering kernel */
    uint32_t answered;       /* the last number ordered to be written to *answer */
    int answers;             /* the last order to the device's own stream writes it itself */
    haul__gpu_write *write;
    void *domain; /* of NVTX, for ranges.c; NULL: there is no profiler */
    char message[512];
} haul__gpu;

#define HAUL__GPU_MAGIC 0x48437564u
#define HAUL__GPU_ALIGNMENT 256u /* the least alignment of CUDA's allocators */

/* The caller's state of CUDA at the start of a verb, restored at its end. */
typedef struct haul__gpu_visit {
    const char *verb;
    int entered;         /* 0: nothing to restore */
    int current;         /* the caller's GPU; -1: none */
    int system_error;    /* errno */
    cudaError_t pending; /* the caller's last error */
    int relaxed;         /* the capture mode has been changed; `mode` is the caller's */
    enum cudaStreamCaptureMode mode;
} haul__gpu_visit;

/* Makes the GPU current for this thread. HAUL_ERROR_DEVICE_LOST; HAUL_ERROR_DEVICE if an error of
 * the caller is pending. Whatever it answers, haul__gpu_leave follows; that answers the verb's
 * status. */
haul_status haul__gpu_enter(haul__gpu *gpu, const char *verb, haul__gpu_visit *visit);
haul_status haul__gpu_leave(haul__gpu *gpu, haul__gpu_visit *visit, haul_status status);

/* HAUL_OK for cudaSuccess. Otherwise the status of the error; the message names `what`, a CUDA
 * function, and `bytes` unless 0; the thread's CUDA error is cleared. */
haul_status haul__gpu_check(haul__gpu *gpu, const haul__gpu_visit *visit, cudaError_t error,
                            const char *what, uint64_t bytes);
/* Ignores an error of ours: clears it. For calls whose failure does not concern the caller, and for
 * answers that are no failures. */
void haul__gpu_forgive(const haul__gpu_visit *visit, cudaError_t error);
/* A failure that Haul found: fills the message. Answers `status`. */
haul_status haul__gpu_fail(haul__gpu *gpu, const haul__gpu_visit *visit, haul_status status,
                           const char *what);
/* Stores the driver's function `name`, in the form of driver version `since`, in the function
 * pointer *entry. 0: there is none. (From CUDA 12.5 on.) */
int haul__gpu_find_entry(const haul__gpu_visit *visit, const char *name, unsigned since,
                         void *entry, size_t bytes);
/* The status of a CUDA error. */
haul_status haul__gpu_status(cudaError_t error);

#endif
