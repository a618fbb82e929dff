/* Host memory for copies: pinned by the device or, where it refuses, the allocator's. */
#ifndef HAUL_DEVICE_PINNED_H
#define HAUL_DEVICE_PINNED_H

#include "base/base.h"
#include "haul/device.h"

#define HAUL__STAGE_ALIGNMENT 16u

typedef struct haul__memory {
    void *memory; /* NULL: none */
    size_t bytes;
    int plain; /* from the allocator */
} haul__memory;

haul_status haul__memory_get(haul_device *device, size_t bytes, haul__memory *memory);
/* At once: nothing uses it any more. */
void haul__memory_release(haul_device *device, haul__memory *memory);

#endif
