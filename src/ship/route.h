/* The route of a crossing: how bytes get from the source to the device, or back.
 */
#ifndef HAUL_SHIP_ROUTE_H
#define HAUL_SHIP_ROUTE_H

#include "haul/ship.h"

/* The facts that decide. */
typedef struct haul__journey {
    int is_back; /* to the host */
    int is_async;
    int with_pointers, all_or_nothing; /* the options of a way back */
    int is_locked;                     /* the source is locked, and its lists are on the device */
    int is_arena;                      /* what was shipped is an arena as it lies */
    int is_edited;                     /* some of the arena's bytes differ on the device */
    int is_direct;                     /* the device turns the arena's pointers back itself */
    int is_ordered;                    /* the packed bytes are in the order of discovery */
    int fits;                          /* one buffer takes all of it */
} haul__journey;

haul_route haul__route(const haul__journey *journey);

#endif
