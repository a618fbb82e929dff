/* Host memory for copies: pinned by the device, or plain memory if the device refuses. */
#ifndef HAUL_DEVICE_PINNED_H
#define HAUL_DEVICE_PINNED_H

#include "base/base.h"
#include "haul/device.h"

#define HAUL__STAGE_ALIGNMENT 16u

typedef struct haul__memory {
    void *memory; /* NULL: none */
    size_t bytes;
    int plain; /* the allocator's: not pinned */
} haul__memory;

/* Memory aligned to HAUL__STAGE_ALIGNMENT. */
haul_status haul__memory_get(haul_device *device, size_t bytes, haul__memory *memory);
/* Releases it at once; the caller knows that no device uses it (else: haul__memory_put). */
void haul__memory_release(haul_device *device, haul__memory *memory);

#endif
