/* What a device handle holds. All functions of this room run inside a call that has entered the
 * device's context; when they fail they fill its error record, and have undone what they did.
 */
#ifndef HAUL_DEVICE_ROOM_H
#define HAUL_DEVICE_ROOM_H

#include "context/context.h"
#include "device/ring.h"
#include "haul/device.h"

struct haul_device {
    uint32_t magic;
    int holders;             /* atomic: the caller's, and one for each shipment */
    haul_device_table table; /* a copy: the back end's may go */
    void *state;
    haul_context *context; /* held */
    haul__freed freed;     /* for the caller's hold */
    long process;          /* that has opened it */
    haul_device_capabilities capabilities;
    void *stream; /* selected: the last call's; NULL: the device's own */
    haul__buffer ring[HAUL__RING_BUFFERS];
    size_t whole_bytes;    /* up to here all of an arena has arrived before any of it is written */
    size_t expected_bytes; /* of the next graph that is shipped: the last one's */
    /* that the device has reported, and the last of them: the work under way may be hit */
    uint64_t failures;
    haul_status failure;
    /* a wait of this call has answered HAUL_ERROR_PENDING: what it gives back is kept */
    int is_late;
    uint64_t late_fence;    /* ... until this fence */
    int is_untold;          /* the same, and no fence was to be had */
    uint64_t late_failures; /* `failures`, when the first such wait gave up */
    struct haul__deferred *deferred;
    size_t deferred_count, deferred_capacity;
};

int haul__device_is_valid(const haul_device *device);
void haul__device_hold(haul_device *device);
void haul__device_drop(haul_device *device);
/* haul__context_enter of the device's context, for a call that may give memory back. */
haul_status haul__device_enter(haul_device *device);

/* fork.c. Was it opened by this process? Not in a child after a fork: a call then fails with what
 * haul__device_refuse answers, and before a free that may call verbs comes haul__device_settle:
 * from then on the device's verbs do nothing. */
int haul__device_is_here(const haul_device *device);
haul_status haul__device_refuse(const haul_device *device);
void haul__device_settle(haul_device *device);

#endif
