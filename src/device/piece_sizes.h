/* How much of an arena crosses at a time. */
#ifndef HAUL_DEVICE_PIECE_SIZES_H
#define HAUL_DEVICE_PIECE_SIZES_H

#include "base/base.h"
#include "haul/device.h"

/* The largest piece of a large arena. Larger: the transfer of the last piece, which no packing
 * hides, takes longer. Smaller: more orders, 14 us each when packing has evicted the driver's data
 * from the caches. Several threads pack faster than the device reads; smaller pieces keep more of
 * them under way. */
#define HAUL__PIECE_BYTES ((size_t)8 << 20)
#define HAUL__POOL_PIECE_BYTES ((size_t)4 << 20)

/* The size of pieces for an arena of `total` bytes. */
size_t haul__piece_bytes(const haul_device *device, size_t total);
/* The largest piece, and the largest for a device without chunk_bytes. */
size_t haul__piece_limit(const haul_device *device);
size_t haul__piece_most(const haul_device *device);
/* Do `total` bytes cross as one? */
int haul__crosses_whole(const haul_device *device, size_t total);

#endif
