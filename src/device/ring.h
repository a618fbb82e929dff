/* The ring of staging buffers, HAUL__RING_BYTES in all, and what is sent through it. */
#ifndef HAUL_DEVICE_RING_H
#define HAUL_DEVICE_RING_H

#include "device/pinned.h"

/* A small graph pins HAUL__FIRST_BYTES, no more; one of a megabyte, whole or in pieces, buffers of
 * HAUL__SECOND_BYTES. */
#define HAUL__RING_BYTES ((size_t)32 << 20)
#define HAUL__FIRST_BYTES ((size_t)512 << 10)
#define HAUL__SECOND_BYTES ((size_t)1280 << 10)
#define HAUL__RING_BUFFERS 8u /* at most */

typedef struct haul__buffer {
    haul__memory memory;
    /* nobody's; a call's; the device's until `fence` */
    enum { HAUL__FREE, HAUL__TAKEN, HAUL__BUSY } use;
    uint64_t fence;
    void *stream; /* the fence's */
} haul__buffer;

/* How many buffers the ring has. */
size_t haul__ring_buffers(const haul_device *device);
/* A buffer of the ring of at least `bytes`, that is the caller's until one of the next two. It may
 * wait for one. */
haul_status haul__take(haul_device *device, size_t bytes, haul__buffer **buffer);
/* The device is done with it; if it is late, it keeps it until it is. */
void haul__put(haul_device *device, haul__buffer *buffer);
/* Whatever the selected stream was told so far uses it. */
haul_status haul__put_after(haul_device *device, haul__buffer *buffer);
/* The same where a fence has been made for it. */
void haul__put_until(haul_device *device, haul__buffer *buffer, uint64_t fence);
/* Before the device closes. */
void haul__ring_close(haul_device *device);

/* Orders the copy of a taken buffer of the ring, which is the device's from then on. */
haul_status haul__send_buffer(haul_device *device, haul__buffer *buffer, haul_address to,
                              size_t bytes);
/* Bytes, piece by piece through the ring. After a failure pieces may be under way. */
haul_status haul__send_bytes(haul_device *device, const void *from, size_t bytes, haul_address to);

#endif
