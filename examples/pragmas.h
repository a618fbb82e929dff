/* What the examples with pragmas share: an environment whose objects OpenMP knows of, or OpenACC if
 * the program is compiled for that. Regions run on the GPU; where there is none, a compiler that
 * makes this machine a device of its own (clang: -fopenmp-targets=x86_64-pc-linux-gnu) runs them
 * beside the host device. */
#ifndef EXAMPLES_PRAGMAS_H
#define EXAMPLES_PRAGMAS_H

#include <haul/cuda.h>

#include "common.h"
#ifdef _OPENACC
#include <haul/openacc.h>
#define ON_THE_HOST acc_on_device(acc_device_host) /* in a region */
#else
#include <haul/openmp.h>
#define ON_THE_HOST omp_is_initial_device()
#endif

typedef struct pragmas {
    haul_context *context;
    haul_device *device;
    haul_environment *environment;
#ifdef _OPENACC
    haul_openacc told;
#endif
} pragmas;

/* PRAGMAS_ON_HOST: the compiler makes regions for this machine, whatever else is in it. */
static inline int has_gpu(void)
{
#ifdef PRAGMAS_ON_HOST
    return 0;
#else
    return haul_cuda_count() > 0;
#endif
}

/* HAUL_ERROR_UNSUPPORTED: the compiler's run time has no device. */
static inline haul_status open_pragmas(pragmas *p, const haul_struct *structs, size_t count)
{
    haul_status status;
    memset(p, 0, sizeof *p);
    status = haul_context_create(NULL, &p->context);
    status = status ? status : haul_describe(p->context, structs, count);
    if (!status)
        status = has_gpu() ? haul_cuda_open(p->context, NULL, &p->device)
                           : haul_host_open(p->context, NULL, &p->device);
    status = status ? status : haul_environment_create(p->device, &p->environment);
#ifdef _OPENACC
    return status ? status : haul_openacc_watch(p->environment, &p->told);
#else
    return status ? status : haul_openmp_watch(p->environment, omp_get_default_device());
#endif
}

static inline void close_pragmas(pragmas *p)
{
    haul_environment_free(&p->environment);
    haul_device_close(&p->device);
    haul_context_free(&p->context);
}

/* The exit code of an example that has no device to run on. */
static inline int skipped(pragmas *p)
{
    printf("skipped: the run time of the pragmas has no device\n");
    close_pragmas(p);
    return 77;
}

/* Runs a function with regions. The host device's memory is accessible within a launch alone. */
static inline haul_status run_regions(pragmas *p, void (*function)(void *), void *argument)
{
    if (!has_gpu())
        return haul_host_launch(p->device, function, argument);
    function(argument);
    return HAUL_OK;
}

#endif
