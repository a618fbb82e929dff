/* Orders to a device's streams, and when they are done. */
#ifndef HAUL_DEVICE_STREAMS_H
#define HAUL_DEVICE_STREAMS_H

#include "base/base.h"
#include "haul/ship.h"

/* The last asynchronous work on a shipment. All earlier work is done when this is. */
typedef struct haul__work {
    int is_pending;
    uint64_t fence, failures; /* the device's failures when it was ordered */
    void *stream;
} haul__work;

/* Around a phase of a call ("pack", "transfer", "relocate", "scatter"), for a profiler. */
void haul__phase_begin(haul_device *device, const char *name);
void haul__phase_end(haul_device *device);

/* Fills the record: "<before><bytes><after> failed: <the device's words>". Answers `status`. */
haul_status haul__device_failed(haul_device *device, haul_status status, const char *before,
                                uint64_t bytes, const char *after);

/* The stream of all orders until the next select; each call begins with it. */
haul_status haul__select(haul_device *device, void *stream);
haul_status haul__fence(haul_device *device, uint64_t *fence);
/* The same, with words for a failure. */
haul_status haul__fence_behind(haul_device *device, size_t bytes, uint64_t *fence);
/* Waits for a fence, or asks: HAUL_OK, HAUL_ERROR_PENDING, or what failed. */
haul_status haul__await(haul_device *device, uint64_t fence);
haul_status haul__poll(haul_device *device, uint64_t fence);
/* Where there is no fence to wait for: HAUL_ERROR_DEVICE_LOST or HAUL_ERROR_PENDING. */
haul_status haul__ask_for_fence(haul_device *device, uint64_t unused);
/* Waits for all that the selected stream was told, after a failure that the record already
 * tells. */
void haul__drain(haul_device *device);
/* The end of a call's orders: synchronous, waits for them; asynchronous, notes them in *work and
 * tells the event. On failure, nothing is under way any more, or the device is late. The words are
 * for the record. Without `async`, `work` may be NULL. */
haul_status haul__conclude(haul_device *device, const haul_async *async, haul__work *work,
                           const char *before, uint64_t bytes, const char *after);

/* Order a copy. On failure, all that the stream was told is done. */
haul_status haul__copy_to(haul_device *device, haul_address to, const void *from, size_t bytes);
haul_status haul__copy_from(haul_device *device, void *to, haul_address from, size_t bytes);
/* Of no word, or one that changes and tells nothing: nothing. */
haul_status haul__patch(haul_device *device, const haul_relocation *relocation);

#endif
