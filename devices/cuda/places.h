/* Memory in several places.
 */
#ifndef HAUL_CUDA_PLACES_H
#define HAUL_CUDA_PLACES_H

#include "gpu.h"

/* Places begin at multiples of it: CUDA moves pages in blocks of this size. */
#define HAUL__GPU_PLACE_BYTES ((size_t)2 << 20)

/* Does CUDA keep pages of one allocation in several places on this GPU? */
cudaError_t haul__gpu_can_place(int ordinal, int *can);
/* The bytes of device memory that the placings can take. */
uint64_t haul__gpu_placed_need(const haul_placing *placings, size_t count);
/* Managed memory; and where it is to lie, from an address that is a multiple of
 * HAUL__GPU_PLACE_BYTES on. On the selected stream. */
haul_status haul__gpu_take_managed(haul__gpu *gpu, const haul__gpu_visit *visit, uint64_t bytes,
                                   void **memory);
haul_status haul__gpu_place(haul__gpu *gpu, const haul__gpu_visit *visit, haul_address address,
                            const haul_placing *placings, size_t count);
/* Waits for the selected stream: such memory has no order. */
void haul__gpu_drop_managed(haul__gpu *gpu, const haul__gpu_visit *visit, void *memory);

#endif
