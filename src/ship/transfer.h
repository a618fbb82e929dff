/* Transfers of a plan's graph to its range, and of bytes of a range to the host. */
#ifndef HAUL_SHIP_TRANSFER_H
#define HAUL_SHIP_TRANSFER_H

#include "pack/progress.h"
#include "ship/shipment.h"

/* Adds bytes of a range that have crossed to the figures, by place. */
void haul__count_crossed(haul_shipment_info *info, const haul__range *range, size_t at,
                         size_t bytes, int is_back);
/* The transfer of a whole range with its lists to the device. */
void haul__count_sent(haul_shipment_info *info, const haul__range *range);
/* Copy a piece of the shipment's arena to the host: the first orders the copy, the second waits for
 * it and counts the transfer, the third does both. */
haul_status haul__shipment_order(haul_shipment *shipment, void *to, size_t at, size_t bytes);
haul_status haul__shipment_arrive(haul_shipment *shipment, size_t at, size_t bytes);
haul_status haul__shipment_receive(haul_shipment *shipment, void *to, size_t at, size_t bytes);

/* How an arena has been sent. */
typedef struct haul__sending {
    double packed; /* seconds of gathering */
    size_t saved;  /* bytes that have not crossed (squeeze.h) */
    int sends_all; /* nothing is squeezed: pages are counted by place, or it saves too little */
} haul__sending;

/* Gathers into the ring and orders the copies, piece by piece; a pointer becomes base + offset.
 * Adds to *sending. After a failure some pieces may be under way. */
haul_status haul__send_arena(haul_device *device, haul_plan *plan, uint64_t base, haul_address to,
                             const haul__listener *listener, haul__sending *sending);
/* Orders the transfer of a whole arena that was gathered in staging memory. `bytes`: of the arena
 * and the lists behind it; with lists, nothing is squeezed. */
haul_status haul__send_whole(haul_device *device, const haul_plan *plan, size_t bytes,
                             unsigned char *memory, haul_address to, haul__sending *sending);
/* Sends the marks: bitmap and explicit relocations, or a list of pointers. */
haul_status haul__send_marks(haul_device *device, const haul_plan *plan, haul__range *range);
/* Lays out the parts of a plan's range; with a bitmap if the device patches. */
haul_status haul__lay_out(haul_device *device, const haul_plan *plan, int patched,
                          haul__range *range);
/* In the places and within the budget of the options. Without device memory, the record names the
 * largest types. */
haul_status haul__allocate_range(haul_device *device, haul_plan *plan,
                                 const haul_ship_options *options, haul__range *range);

/* Puts a plan's graph on the device: allocates a range, packs, sends and patches. On success the
 * caller owns *range, and *info has the times and counts. */
haul_status haul__load(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                       const haul_async *async, haul__range *range, haul__work *work,
                       haul_shipment_info *info);

#endif
