/* Pages of a source that a device reaches where they lie. */
#ifndef HAUL_DEVICE_LOCK_H
#define HAUL_DEVICE_LOCK_H

#include "haul/device.h"
#include "pack/pack.h"

/* Pages of the source that are locked for one graph. */
typedef struct haul__locked {
    haul_stretch *ranges;
    size_t count, capacity;
} haul__locked;

/* Locks all pages that hold something of the plan's. On failure, none. */
haul_status haul__lock_source(haul_device *device, const haul_plan *plan, haul__locked *locked);
void haul__unlock_source(haul_device *device, haul__locked *locked);
/* Locks that stay for good; the notes of them go. */
void haul__leave_locked(haul_device *device, haul__locked *locked);
/* Before the device closes: locks of its making are others' from then on. */
void haul__leave_locks(haul_device *device);

#endif
