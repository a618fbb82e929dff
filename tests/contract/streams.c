/* Streams and events: streams.h. What fails here ends the program: the tests could not go on.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef HAUL_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

#include "contract/streams.h"

static int host_event;

static void *make_host_event(void)
{
    host_event = 0;
    return &host_event;
}

static int host_is_told(void *event)
{
    return *(int *)event != 0;
}

static void drop_host_event(void *event)
{
    (void)event;
}

const contract_streams *contract_host_streams(void)
{
    static const contract_streams streams = { NULL, NULL, make_host_event, host_is_told,
                                              drop_host_event };
    return &streams;
}

#ifdef HAUL_HAS_CUDA

static void demand(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
}

static void *make_stream(void)
{
    cudaStream_t stream;
    demand(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static void drop_stream(void *stream)
{
    demand(cudaStreamDestroy(stream));
}

static void *make_event(void)
{
    cudaEvent_t event;
    demand(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

static int is_told(void *event)
{
    int told = cudaEventQuery(event) == cudaSuccess;
    (void)cudaGetLastError();
    return told;
}

static void drop_event(void *event)
{
    demand(cudaEventDestroy(event));
}

const contract_streams *contract_cuda_streams(int number)
{
    static const contract_streams streams = { make_stream, drop_stream, make_event, is_told,
                                              drop_event };
    demand(cudaSetDevice(number));
    return &streams;
}

#else

const contract_streams *contract_cuda_streams(int number)
{
    (void)number;
    return NULL;
}

#endif
