/* A plan's graph, sent to its range; and bytes of a range, received. */
#ifndef HAUL_SHIP_TRANSFER_H
#define HAUL_SHIP_TRANSFER_H

#include "ship/shipment.h"

/* The piece of a shipment's arena on the device: ordered; waited for, and counted as a transfer;
 * both. */
haul_status haul__shipment_order(haul_shipment *shipment, void *to, size_t at, size_t bytes);
haul_status haul__shipment_arrive(haul_shipment *shipment, size_t bytes);
haul_status haul__shipment_receive(haul_shipment *shipment, void *to, size_t at, size_t bytes);

/* Gathers piece by piece into the ring and orders the copies, pointers as base + offset. Adds what
 * gathering took to *packed. After a failure pieces may be under way. */
haul_status haul__send_arena(haul_device *device, haul_plan *plan, uint64_t base, haul_address to,
                             const haul__listener *listener, double *packed);
/* Its marks the same way: bitmap and odd offsets, or a list of pointers. */
haul_status haul__send_marks(haul_device *device, const haul_plan *plan, haul__range *range);
/* Where the parts of a plan's range lie; its bitmap too if the device is to patch. */
haul_status haul__lay_out(haul_device *device, const haul_plan *plan, int patched,
                          haul__range *range);
haul_status haul__allocate_range(haul_device *device, const haul_plan *plan, haul__range *range);

/* Puts a plan's graph on the device: allocates a range, packs, sends, relocates. On success
 * `*range` is the caller's to release, and the timings and counts in `*statistics` have been
 * brought up to date. */
haul_status haul__load(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                       const haul_async *async, haul__range *range, haul__work *work,
                       haul_shipment_statistics *statistics);

#endif
