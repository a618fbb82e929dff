/* The bytes of an arena that hints name.
 */
#ifndef HAUL_SHIP_HINTED_H
#define HAUL_SHIP_HINTED_H

#include "haul/ship.h"

/* Adds to bytes[page * hint_count + hint] the bytes in each page that each hint names, in whole
 * granules of two pointers; the first hint that fits counts. If the plan's discovery has noted
 * hints, they are these; a plan without notes is walked. */
haul_status haul__count_hinted(haul_plan *plan, const haul_ship_options *options, size_t page_bytes,
                               uint64_t *bytes);

/* Drops the plan's notes: they are of one call's hints, and haul_from_shipment hands the plan to
 * calls with others. */
void haul__forget_notes(haul_plan *plan);

#endif
