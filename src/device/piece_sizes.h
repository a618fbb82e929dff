/* How much of an arena crosses at a time. */
#ifndef HAUL_DEVICE_PIECE_SIZES_H
#define HAUL_DEVICE_PIECE_SIZES_H

#include "base/base.h"
#include "haul/device.h"

/* A large arena crosses in pieces of at most HAUL__PIECE_BYTES: in larger ones more of the last
 * piece's transfer is not hidden behind packing; smaller ones cost more orders, 14 us each when
 * packing has driven what they need out of the caches. Several threads pack faster than the device
 * reads: for them pieces of HAUL__POOL_PIECE_BYTES, so that more of them are under way. */
#define HAUL__PIECE_BYTES ((size_t)8 << 20)
#define HAUL__POOL_PIECE_BYTES ((size_t)4 << 20)

/* The bytes of a piece in which `total` cross, of the largest, and of the largest where the device
 * has no wish of its own; how much crosses as one. */
size_t haul__piece_bytes(const haul_device *device, size_t total);
size_t haul__piece_limit(const haul_device *device);
size_t haul__piece_most(const haul_device *device);
int haul__crosses_whole(const haul_device *device, size_t total);

#endif
