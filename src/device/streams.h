/* Orders to a device's streams, and when they are done. */
#ifndef HAUL_DEVICE_STREAMS_H
#define HAUL_DEVICE_STREAMS_H

#include "base/base.h"
#include "haul/ship.h"

/* The last asynchronous work of a shipment. When it is done, all earlier work is. */
typedef struct haul__work {
    int is_pending;
    uint64_t fence;
    uint64_t failures; /* device->failures when it was ordered */
    void *stream;
} haul__work;

/* For profilers, around a phase of a call: "pack", "transfer", "relocate" or "scatter". */
void haul__phase_begin(haul_device *device, const char *name);
void haul__phase_end(haul_device *device);

/* Fills the error record: "<before><bytes><after> failed: <the device's words>". Answers
 * `status`. */
haul_status haul__device_failed(haul_device *device, haul_status status, const char *before,
                                uint64_t bytes, const char *after);

/* Selects the stream of all orders up to the next select. NULL: the device's own. Every call
 * selects first. */
haul_status haul__select(haul_device *device, void *stream);
/* Selects the stream of a call; NULL: a synchronous one. HAUL_ERROR_UNSUPPORTED: it names an event,
 * and the device signals none. */
haul_status haul__select_for(haul_device *device, const haul_async *async);
haul_status haul__fence(haul_device *device, uint64_t *fence);
/* The same; a failure fills the record. */
haul_status haul__fence_behind(haul_device *device, size_t bytes, uint64_t *fence);
/* Wait for a fence; ask whether it has been reached. HAUL_OK, HAUL_ERROR_PENDING (the wait timed
 * out, or not yet), or a failure. */
haul_status haul__await(haul_device *device, uint64_t fence);
haul_status haul__poll(haul_device *device, uint64_t fence);
/* The poll of work that has no fence: HAUL_ERROR_DEVICE_LOST or HAUL_ERROR_PENDING. */
haul_status haul__ask_for_fence(haul_device *device, uint64_t unused);
/* Waits for the selected stream after a failure. The record, which already describes it, stays. */
void haul__drain(haul_device *device);
/* The end of a call's orders. Synchronous (`async` NULL): waits for them; `work` may be NULL.
 * Asynchronous: signals the event and notes a fence in *work. After a failure nothing is under way,
 * or the device has timed out. The words are for the record, as in haul__device_failed. */
haul_status haul__conclude(haul_device *device, const haul_async *async, haul__work *work,
                           const char *before, uint64_t bytes, const char *after);

/* Order a copy. On failure the stream is drained. */
haul_status haul__copy_to(haul_device *device, haul_address to, const void *from, size_t bytes);
haul_status haul__copy_from(haul_device *device, void *to, haul_address from, size_t bytes);
/* Order the copy of strips to a buffer, or back: by one order if the device has one, else run by
 * run. Buffer and list are staging memory. On failure the stream is drained. */
haul_status haul__gather_strips(haul_device *device, unsigned char *packed, size_t bytes,
                                const haul_strip *strips, size_t count);
haul_status haul__scatter_strips(haul_device *device, const haul_strip *strips, size_t count,
                                 const unsigned char *packed, size_t bytes);
/* Orders zeros, of a device with that verb. On failure the stream is drained. */
haul_status haul__clear(haul_device *device, haul_address at, size_t bytes);
/* Orders a patch, unless it has no words, or delta is 0 and `outside` is NULL. */
haul_status haul__patch(haul_device *device, const haul_relocation *relocation);

#endif
