/* Streams and events of each kind of device, for the cases that need some.
 */
#ifndef HAUL_TESTS_STREAMS_H
#define HAUL_TESTS_STREAMS_H

#include "contract/contract.h"

/* The host device has no streams; an event of its is an int. */
const contract_streams *contract_host_streams(void);

/* Streams of this GPU, in no order with the legacy default stream. NULL in a build without CUDA.
 * Makes the GPU the thread's current one. */
const contract_streams *contract_cuda_streams(int number);

#endif
