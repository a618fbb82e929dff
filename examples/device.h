/* What the examples with kernels share: the same C for both devices, and one call that runs it on
 * either. */
#ifndef EXAMPLES_DEVICE_H
#define EXAMPLES_DEVICE_H

/* Before a function that runs on the device: for nvcc it is made for the GPU too; for a C compiler
 * it is plain C99. */
#ifdef __CUDACC__
#define ON_DEVICE __host__ __device__ static inline
#else
#define ON_DEVICE static inline

#include <haul.h>
#include <haul/cuda.h>

/* Makes a context, opens the first GPU or, where there is none, the host device, and says which.
 * Free both, also after a failure. */
haul_status open_device(haul_context **context, haul_device **device);
int is_host(const haul_device *device);

/* The work of one thread of a kernel: of index `index`, on data at a device address. */
typedef void work_function(void *data, long index);

/* The launch of a CUDA kernel that does that work for each index below `count`, one thread each,
 * and waits for it. NULL, or CUDA's words for what failed. Without CUDA there is no such function:
 * ON_GPU(launch) is then NULL. */
typedef const char *gpu_launch(void *data, long count);
#ifdef EXAMPLES_CUDA
#define ON_GPU(launch) launch
#else
#define ON_GPU(launch) NULL
#endif

/* Does the work on the device: through `gpu` on a GPU, by calls of `work` on all cores on the host
 * device. HAUL_ERROR_DEVICE, after a message: the kernel failed. */
haul_status launch(haul_device *device, work_function *work, gpu_launch *gpu, void *data,
                   long count);

/* A clock, for differences. */
double milliseconds(void);

#endif
#endif
