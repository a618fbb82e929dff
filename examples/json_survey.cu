/* The CUDA kernel of the json examples: one thread for each array or object. */
#include "json_survey.h"

static __global__ void survey_kernel(void *survey, long containers)
{
    const long index = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index < containers)
        survey_container(survey, index);
}

extern "C" const char *survey_on_gpu(void *survey, long containers)
{
    const unsigned threads = 128;
    survey_kernel<<<(unsigned)((containers + threads - 1) / threads), threads>>>(survey,
                                                                                 containers);
    cudaError_t error = cudaGetLastError();
    if (!error)
        error = cudaDeviceSynchronize();
    return error ? cudaGetErrorString(error) : NULL;
}
