/* A snapshot: the graph of a shipment as the device has it, in host memory of its own.
 */
#ifndef HAUL_SHIP_SNAPSHOT_H
#define HAUL_SHIP_SNAPSHOT_H

#include "ship/shipment.h"

typedef struct haul__snapshot {
    haul_context *context;
    unsigned char *memory; /* the arena */
    size_t bytes;
    haul_root *roots; /* in the memory */
    size_t root_count;
} haul__snapshot;

/* Copies the arena from the device, with pointers as of the copy; inside a call that has entered
 * the shipment. The roots are those of the shipment, or `root`, an object of the host's graph, if
 * its type is not NULL. HAUL_ERROR_ARGUMENT: there is no root, or the shipment does not have it. */
haul_status haul__snapshot_take(haul_shipment *shipment, const haul_root *root,
                                haul__snapshot *snapshot);
/* The same from a copy of the whole arena, which may be any bytes. */
haul_status haul__snapshot_of(haul_shipment *shipment, const unsigned char *arena,
                              haul__snapshot *snapshot);
/* An ordered plan of it. HAUL_ERROR_GRAPH, with the path: a pointer leads out of it. Others as
 * haul_plan_create. */
haul_status haul__snapshot_plan(haul__snapshot *snapshot, haul_plan **plan);
void haul__snapshot_drop(haul__snapshot *snapshot);

#endif
