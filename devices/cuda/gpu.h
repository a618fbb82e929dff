/* The inside of the CUDA device: what an open one holds, and how its files speak to each other.
 *
 *     cuda.c       the table; open, close, capabilities
 *     gpus.c       how many GPUs there are
 *     verb.c       entering and leaving a verb; CUDA's errors in words; driver entries
 *     memory.c     device memory, staging
 *     copy.c       copies to, from and across
 *     patch.c      relocate, send and fetch; kernels.cu has what runs on the GPU
 *     mirror.c     memory at addresses where the host has some too
 *     locked.c     host memory that is locked, read and written where it lies
 *     streams.c    streams, fences, waiting
 *     answer.c     a word that tells how far a stream has come
 *     ranges.c     names on a profiler's time line
 *     absent.c     instead of all of these, where Haul is built without CUDA
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
    cudaStream_t side;          /* for work that runs beside the selected stream's, see streams.c */
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

#endif
