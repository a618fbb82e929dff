/* What a shipment holds: a plan, or an arena's contents, and one range on a device. */
#ifndef HAUL_SHIP_SHIPMENT_H
#define HAUL_SHIP_SHIPMENT_H

#include "arena/arena.h"
#include "device/device.h"
#include "device/lock.h"
#include "device/range.h"
#include "device/streams.h"
#include "haul/ship.h"
#include "pack/pack.h"

/* What a device needs to reach a shipment's source by itself: lists in its memory, and locks. */
typedef struct haul__direct {
    enum { HAUL__UNTRIED, HAUL__READY, HAUL__REFUSED } state;
    haul__range lists; /* | segments | attachments |; of 0 bytes: none */
    size_t segment_count, attachment_count;
    haul__locked locked;
} haul__direct;

/* Work of a call that was not waited for to its end. */
typedef struct haul__late {
    uint64_t fence;    /* behind it; 0: there is none, or */
    uint64_t failures; /* the device's, when the call gave up */
    int is_untold;     /* ... there is, and no fence was to be had */
    /* held: another one than the shipment's, which reads its range; NULL: it is its own */
    haul_device *device;
} haul__late;

/* What comes back and has not been written to the host's objects yet. */
typedef struct haul__return haul__return;

struct haul_shipment {
    uint32_t magic;
    haul__freed freed;
    haul_device *device; /* held */
    haul_plan *plan;     /* held; NULL: the range holds an arena of the user's: */
    haul__contents contents;
    haul__range range;
    haul_ship_options options;
    haul_shipment_statistics statistics;
    /* the range's bitmap, or list, and odd offsets have arrived as they should */
    int marks_are_there;
    haul__work work;
    haul__return *returns; /* in the order of the calls */
    haul__memory spare;    /* of a return that has been written */
    haul__direct direct;
    haul__late late;
};

/* Contents are open where contents.arena is not NULL. */
HAUL__INLINE int haul__is_arena(const haul_shipment *shipment)
{
    return shipment->contents.arena != NULL;
}

/* Have its marks arrived, and are they all? Those of a plan's graph stay all. */
HAUL__INLINE int haul__marks_hold(const haul_shipment *shipment)
{
    return shipment->marks_are_there &&
           (!haul__is_arena(shipment) || shipment->range.grown == shipment->contents.arena->grown);
}

/* handle.c */
int haul__shipment_is_valid(const haul_shipment *shipment);
haul__listener haul__shipment_listener(const haul_ship_options *options);
/* A handle without a range; NULL: out of memory. Freed by haul__shipment_discard. */
haul_shipment *haul__shipment_new(haul_device *device, const haul_ship_options *options);
void haul__shipment_discard(haul_device *device, haul_shipment *shipment);
/* Makes it a shipment: takes over the hold on the plan, which may be NULL. */
void haul__shipment_complete(haul_shipment *shipment, haul_device *device, haul_plan *plan);

#endif
