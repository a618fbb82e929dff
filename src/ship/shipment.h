/* The shipment: a plan, or the contents of an arena, and one range on a device. */
#ifndef HAUL_SHIP_SHIPMENT_H
#define HAUL_SHIP_SHIPMENT_H

#include "arena/contents.h"
#include "device/device.h"
#include "device/lock.h"
#include "device/range.h"
#include "device/streams.h"
#include "haul/ship.h"
#include "pack/progress.h"

/* Zero copy: the lists in device memory, and the locks, by which a device reaches the source. */
typedef struct haul__zero_copy {
    enum { HAUL__UNTRIED, HAUL__READY, HAUL__REFUSED } state;
    haul__range lists; /* | segments | attachments |; 0 bytes: none */
    size_t segment_count, attachment_count;
    haul__locked locked;
} haul__zero_copy;

/* Timed-out work: a wait of a call on the shipment timed out. */
typedef struct haul__timeout {
    uint64_t fence;      /* behind it; 0: there is no such work, or is_unfenced */
    uint64_t failures;   /* the device's, when the wait timed out */
    int is_unfenced;     /* there is such work, and the device could make no fence */
    haul_device *device; /* held: another device, which reads the range; NULL: the shipment's */
} haul__timeout;

/* A result on its way to the host's objects (pending.h). */
typedef struct haul__return haul__return;

struct haul_shipment {
    haul__resident resident; /* first: see handle.c */
    uint32_t magic;
    haul__freed freed;
    haul_device *device; /* held */
    haul_plan *plan;     /* held; NULL: the range holds a user's arena, by its `contents` */
    haul__contents contents;
    haul__range range;
    haul_ship_options options;
    haul_shipment_info info; /* without the figures of the plan */
    haul_plan_info found;    /* of an arena: the figures that a plan would have */
    int marks_are_there;     /* all marks have arrived on the device */
    haul__work work;
    haul__return *returns; /* in the order of the calls */
    haul__memory spare;    /* memory of a written return, for the next one */
    haul__zero_copy zero_copy;
    haul__timeout timeout;
};

/* Is it of an arena? */
HAUL__INLINE int haul__is_arena(const haul_shipment *shipment)
{
    return shipment->contents.arena != NULL;
}

/* Are the marks on the device and complete? A plan's always are; an arena's are not once kernels
 * have added objects. */
HAUL__INLINE int haul__marks_hold(const haul_shipment *shipment)
{
    return shipment->marks_are_there &&
           (!haul__is_arena(shipment) || shipment->range.grown == shipment->contents.arena->grown);
}

/* handle.c */
int haul__shipment_is_valid(const haul_shipment *shipment);
/* Begins a call on the shipment, without a look at its pending work; see haul__shipment_enter. */
haul_status haul__shipment_enter_device(haul_shipment *shipment);
/* A handle without a range. NULL: out of memory. */
haul_shipment *haul__shipment_new(haul_device *device, const haul_ship_options *options);
void haul__shipment_discard(haul_device *device, haul_shipment *shipment);
/* Makes the handle valid: holds the device, takes over the hold on the plan (NULL: of an arena). */
void haul__shipment_complete(haul_shipment *shipment, haul_device *device, haul_plan *plan);

/* ship.c: ships a plan. On success takes over the caller's hold on it. */
haul_status haul__ship_plan(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                            const haul_async *async, haul_shipment **result);
/* shipment.c: frees a shipment inside the context's guard. Answers its arena, which the caller
 * frees next: it may be of another context. NULL: it has none. */
haul__freed *haul__shipment_end(haul_shipment *shipment);

#endif
