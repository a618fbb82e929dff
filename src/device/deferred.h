/* What a call gives back while the device may still use it. */
#ifndef HAUL_DEVICE_DEFERRED_H
#define HAUL_DEVICE_DEFERRED_H

#include "arena/arena.h"
#include "device/lock.h"
#include "device/pinned.h"
#include "device/range.h"

/* What a device still uses though nobody waits for it any more. */
typedef struct haul__deferred {
    haul_address address; /* of `bytes` of device memory; or */
    uint64_t bytes;
    haul__memory memory; /* or */
    haul__locked locked;
    haul__region *region; /* or: an arena's memory, which this device has given, and */
    int is_lent;          /* its part at the same addresses; or */
    haul_arena *arena;    /* any other arena, held */
    uint64_t fence;
} haul__deferred;

/* Kept, if the device is late. */
void haul__memory_put(haul_device *device, haul__memory *memory);
/* Kept until a fence. */
void haul__memory_put_until(haul_device *device, haul__memory *memory, uint64_t fence);
/* Device memory, given back; kept, if the device is late. */
void haul__unload(haul_device *device, haul__range *range);
/* Before a shipment lets go of its arena, which may be NULL: kept, if the device is late. */
void haul__keep_arena(haul_device *device, haul_arena *arena);
/* Waits for whatever may use an arena's memory, which the device has given, before that goes. 0: in
 * vain. */
int haul__is_done_with(haul_device *device, const haul__region *region);
/* Locks, given back; kept, where work before a fence may be under way with what they lock. 0: there
 * is none. */
void haul__unlock(haul_device *device, haul__locked *locked, uint64_t fence);
/* Gives back what was kept and is free by now. */
void haul__collect(haul_device *device);
/* Before the device closes. */
void haul__deferred_close(haul_device *device);

#endif
