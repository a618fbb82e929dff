/* The device handle. All functions of this room run inside a call that has entered the device's
 * context. On failure they fill its error record and have undone their work.
 */
#ifndef HAUL_DEVICE_ROOM_H
#define HAUL_DEVICE_ROOM_H

#include "context/context.h"
#include "device/ring.h"
#include "haul/device.h"

/* What lies in device memory for a shipment, in the list of its device. */
typedef struct haul__resident haul__resident;
struct haul__resident {
    haul__resident *next, *previous;
    /* Finds the place of a device address, or of a host address: the host address and the path
     * (HAUL_PATH_BYTES), "" if it has none. 0: nothing of it lies there. */
    int (*explain)(haul__resident *resident, haul_address address, void **host, char *path);
};

struct haul_device {
    uint32_t magic;
    int holders;             /* atomic: the caller's, and one for each shipment */
    haul_device_table table; /* a copy */
    void *state;
    haul_context *context; /* held */
    haul__freed freed;     /* for the caller's hold */
    long process;          /* that opened it */
    haul_device_capabilities capabilities;
    void *stream; /* the selected one; NULL: the device's own */
    haul__buffer ring[HAUL__RING_BUFFERS];
    size_t whole_bytes;    /* an arena up to this size arrives whole before any of it is written */
    size_t expected_bytes; /* of the next shipment: as the last one */
    uint64_t failures;     /* reported by the device; each may concern any work under way */
    haul_status failure;   /* the last one */
    /* A wait of this call timed out, and the work has a fence: memory that the call gives back
     * stays. */
    int timed_out;
    uint64_t timeout_fence;
    int is_unfenced; /* a wait of this call timed out, and the device could make no fence */
    uint64_t timeout_failures; /* `failures`, when the first wait of this call timed out */
    struct haul__deferred *deferred;
    size_t deferred_count, deferred_capacity;
    haul__resident *residents;
    uint64_t held_bytes;  /* of device memory: ranges and mirrored arenas */
    uint64_t allocations; /* of device memory, ever */
    size_t pinned_bytes;  /* staging memory; atomic, for readers outside of the context */
};

int haul__device_is_valid(const haul_device *device);
void haul__device_hold(haul_device *device);
void haul__device_drop(haul_device *device);
/* Enters the device's context and releases deferred memory whose fence has been reached. */
haul_status haul__device_enter(haul_device *device);

/* The bytes of device memory that its budget still allows. */
uint64_t haul__device_left(const haul_device *device);
/* What it can allocate now; all its memory, if it does not tell; UINT64_MAX: it tells neither. */
uint64_t haul__device_free(const haul_device *device);

void haul__device_add(haul_device *device, haul__resident *resident);
void haul__device_remove(haul_device *device, haul__resident *resident);

/* fork.c. Was the device opened by this process, and not by its parent before a fork? */
int haul__device_is_here(const haul_device *device);
/* Refuses a call in a child: fills the record. */
haul_status haul__device_refuse(const haul_device *device);
/* Before a free: in a child, replaces the verbs that it may call by ones that do nothing. */
void haul__device_settle(haul_device *device);

#endif
