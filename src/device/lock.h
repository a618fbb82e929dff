/* Pages of a source that a device reaches where they lie. */
#ifndef HAUL_DEVICE_LOCK_H
#define HAUL_DEVICE_LOCK_H

#include "haul/device.h"
#include "pack/segments.h"

/* Page ranges of the source that one graph holds locked. */
typedef struct haul__locked {
    haul_interval *ranges;
    size_t count, capacity;
} haul__locked;

/* Locks all pages with live bytes of the plan. On failure, none. */
haul_status haul__lock_source(haul_device *device, const haul_plan *plan, haul__locked *locked);
void haul__unlock_source(haul_device *device, haul__locked *locked);
/* Forgets the ranges and leaves their pages locked for good. */
void haul__leave_locked(haul_device *device, haul__locked *locked);
/* Before the device closes: other devices release the locks that it made. */
void haul__leave_locks(haul_device *device);

#endif
