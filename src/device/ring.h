/* The ring of staging buffers, HAUL__RING_BYTES in all, and sends through it. */
#ifndef HAUL_DEVICE_RING_H
#define HAUL_DEVICE_RING_H

#include "device/pinned.h"

/* Sizes of buffers: HAUL__FIRST_BYTES for a small graph, HAUL__SECOND_BYTES for one of a megabyte,
 * else a piece. */
#define HAUL__RING_BYTES ((size_t)32 << 20)
#define HAUL__FIRST_BYTES ((size_t)512 << 10)
#define HAUL__SECOND_BYTES ((size_t)1280 << 10)
#define HAUL__RING_BUFFERS 8u /* at most */

typedef struct haul__buffer {
    haul__memory memory;
    enum {
        HAUL__FREE,
        HAUL__TAKEN, /* by a call */
        HAUL__BUSY   /* the device uses it until `fence`, of `stream` */
    } use;
    uint64_t fence;
    void *stream;
} haul__buffer;

/* The number of buffers in the ring. */
size_t haul__ring_buffers(const haul_device *device);
/* A buffer of at least `bytes`, the caller's until it is put back or sent. Waits for one if all are
 * busy. */
haul_status haul__ring_take(haul_device *device, size_t bytes, haul__buffer **buffer);
/* Puts it back, free; busy until timeout_fence if the device has timed out. */
void haul__ring_put(haul_device *device, haul__buffer *buffer);
/* Puts it back, busy until a fence. */
void haul__ring_put_until(haul_device *device, haul__buffer *buffer, uint64_t fence);
/* Puts it back behind an order of `bytes` bytes that the device reads from it, or that failed as
 * `ordered` says. */
haul_status haul__ring_put_behind(haul_device *device, haul__buffer *buffer, size_t bytes,
                                  haul_status ordered);
/* Before the device closes. */
void haul__ring_close(haul_device *device);

/* Orders the copy of a taken buffer, which is busy from then on. */
haul_status haul__send_buffer(haul_device *device, haul__buffer *buffer, haul_address to,
                              size_t bytes);
/* Sends bytes through the ring, piece by piece. After a failure some pieces may be under way. */
haul_status haul__send_bytes(haul_device *device, const void *from, size_t bytes, haul_address to);

#endif
