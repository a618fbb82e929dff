/* The ship room's inside: what a device handle and a shipment hold, and how bytes cross.
 *
 * A shipment is one device range:
 *
 *     address            + bitmap_at         + odd_at          + bytes
 *     | arena            | relocation bitmap | odd offsets     |
 *
 * The last two are there only when the device patches pointers itself. One range means one allocation and one
 * transfer for a whole graph. All functions below run inside a call that has entered the device's context; when they
 * fail they fill its error record, and have undone what they did.
 */
#ifndef HAUL_SHIP_ROOM_H
#define HAUL_SHIP_ROOM_H

#include "graph/context.h"
#include "haul/ship.h"
#include "pack/pack.h"

struct haul_device {
    uint32_t magic;
    int holders;             /* atomic: the caller's, and one for each shipment */
    haul_device_table table; /* a copy: the back end's may go */
    void *state;
    haul_context *context;   /* held */
    haul_device_capabilities capabilities;
};

typedef struct haul__range {
    haul_address address;
    size_t arena_bytes, bitmap_at, bitmap_bytes, odd_at, odd_count;
    size_t bytes;
} haul__range;

struct haul_shipment {
    uint32_t magic;
    haul_device *device; /* held */
    haul_plan *plan;     /* held */
    haul__range range;
    haul_ship_options options;
    haul_shipment_statistics statistics;
};

int haul__device_is_valid(const haul_device *device);
void haul__device_hold(haul_device *device);
void haul__device_drop(haul_device *device);

/* Fills the record: "<before><bytes><after> failed: <the device's words>". Answers `status`. */
haul_status haul__device_failed(haul_device *device, haul_status status, const char *before, uint64_t bytes,
                                const char *after);

int haul__shipment_is_valid(const haul_shipment *shipment);
/* HAUL_ERROR_ARGUMENT or HAUL_ERROR_BUSY; every HAUL_OK is paired with haul__shipment_leave. */
haul_status haul__shipment_enter(haul_shipment *shipment);
void haul__shipment_leave(haul_shipment *shipment);
haul__listener haul__shipment_listener(const haul_ship_options *options);

/* Host memory for copies, from the device or, where it refuses, from the allocator. `skew`, below
 * HAUL__STAGE_ALIGNMENT, moves `data`, so that a piece of an arena lies as it does in the arena. */
#define HAUL__STAGE_ALIGNMENT 16u
typedef struct haul__staging {
    unsigned char *data; /* what was asked for */
    void *memory;
    size_t bytes;        /* of memory */
    int plain;           /* from the allocator */
} haul__staging;
haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging);
void haul__unstage(haul_device *device, haul__staging *staging);

/* One transfer, cut into the chunks that the device likes; done, or failed, when they return. On failure part of the
 * target may have been written. */
haul_status haul__send(haul_device *device, haul_address to, const void *from, size_t bytes);
haul_status haul__receive(haul_device *device, void *to, haul_address from, size_t bytes);
/* The same, counted as the shipment's. `at` is an offset in the arena. */
haul_status haul__shipment_send(haul_shipment *shipment, size_t at, const void *from, size_t bytes);
haul_status haul__shipment_receive(haul_shipment *shipment, void *to, size_t at, size_t bytes);

/* Puts a plan's graph on the device: allocates a range, packs, sends, relocates. On success `*range` is the caller's
 * to release, and the timings and counts in `*statistics` have been brought up to date. */
haul_status haul__load(haul_device *device, haul_plan *plan, const haul_ship_options *options, haul__range *range,
                       haul_shipment_statistics *statistics);
void haul__unload(haul_device *device, haul__range *range);

#endif
