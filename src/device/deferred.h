/* Deferred release of memory, locks and arenas that a device may still use. */
#ifndef HAUL_DEVICE_DEFERRED_H
#define HAUL_DEVICE_DEFERRED_H

#include "arena/region.h"
#include "device/lock.h"
#include "device/pinned.h"
#include "device/range.h"

/* One thing to release at a fence. One of the groups is set, the others are zeros. */
typedef struct haul__deferred {
    /* device memory */
    haul_address address;
    uint64_t bytes, held; /* held: of these, those that its budget counts */
    /* host memory */
    haul__memory memory;
    /* locks */
    haul__locked locked;
    /* an arena's memory, which this device gave; is_lent: its mirrored part is lent to
     * a shipment */
    haul__region *region;
    int is_lent;
    /* any other arena, held */
    haul_arena *arena;
    uint64_t fence;
} haul__deferred;

/* Release now or, if the device has timed out, at timeout_fence: host memory; the memory of a
 * range; a shipment's hold on its arena, which may be NULL. */
void haul__memory_put(haul_device *device, haul__memory *memory);
void haul__unload(haul_device *device, haul__range *range);
void haul__defer_arena(haul_device *device, haul_arena *arena);
/* Releases host memory at a fence. */
void haul__memory_put_until(haul_device *device, haul__memory *memory, uint64_t fence);
/* Unlocks now or, if work before the fence may be under way, at the fence. 0: there is no
 * such work. */
void haul__unlock(haul_device *device, haul__locked *locked, uint64_t fence);
/* Waits for all work that may use an arena's memory, which the device gave. 0: some still may. */
int haul__await_region(haul_device *device, const haul__region *region);
/* Releases all things whose fence has been reached. */
void haul__deferred_collect(haul_device *device);
/* The same, and waits for them. */
void haul__deferred_await(haul_device *device);
/* Before the device closes: waits, and releases all that can be. */
void haul__deferred_close(haul_device *device);

#endif
