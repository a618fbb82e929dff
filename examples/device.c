/* One launch for both devices; on the host device the threads of a kernel become calls, on all
 * cores. */
#define _POSIX_C_SOURCE 200809L
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CORES_MAX = 64,
    SHARE = 64 /* indices taken at a time: many enough that taking them costs nothing */
};

haul_status open_device(haul_context **context, haul_device **device)
{
    const int gpu = haul_cuda_count() > 0;
    haul_status status = haul_context_create(NULL, context);
    if (!status)
        status =
            gpu ? haul_cuda_open(*context, NULL, device) : haul_host_open(*context, NULL, device);
    if (!status)
        printf("Device: %s\n", gpu ? "the first GPU" : "the host device (there is no GPU here)");
    return status;
}

int is_host(const haul_device *device)
{
    haul_device_info info;
    haul_device_get_info(device, &info);
    return strcmp(info.name, "host") == 0;
}

typedef struct job {
    work_function *work;
    void *data;
    long count, next;
    pthread_mutex_t lock;
} job;

static long take(job *all)
{
    long first;
    pthread_mutex_lock(&all->lock);
    first = all->next;
    all->next += SHARE;
    pthread_mutex_unlock(&all->lock);
    return first;
}

static void *one_core(void *argument)
{
    job *all = argument;
    for (long first = take(all); first < all->count; first = take(all))
        for (long i = first; i < first + SHARE && i < all->count; i++)
            all->work(all->data, i);
    return NULL;
}

/* The caller is one of the cores, so the work is done even where no thread can be had. A strict
 * launch (haul/host.h) has one thread. */
static void all_cores(void *argument)
{
    pthread_t threads[CORES_MAX];
    const long cores = getenv("HAUL_HOST_STRICT") ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    while (started < CORES_MAX && started + 1 < cores &&
           pthread_create(&threads[started], NULL, one_core, argument) == 0)
        started++;
    one_core(argument);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

haul_status launch(haul_device *device, work_function *work, gpu_launch *gpu, void *data,
                   long count)
{
    job all = { work, data, count, 0, PTHREAD_MUTEX_INITIALIZER };
    const char *failure;
    if (is_host(device))
        return haul_host_launch(device, all_cores, &all);
    failure = gpu ? gpu(data, count) : "built without CUDA";
    if (failure)
        fprintf(stderr, "the kernel failed: %s\n", failure);
    return failure ? HAUL_ERROR_DEVICE : HAUL_OK;
}

double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}
