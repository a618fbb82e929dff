/* Invariants of shipments, for builds with HAUL_CHECKS.
 */
#ifndef HAUL_SHIP_CHECK_H
#define HAUL_SHIP_CHECK_H

#include "ship/pending.h"

/* HAUL_ERROR_STATE, with a sentence: an invariant does not hold. */
haul_status haul__shipment_check(const haul_shipment *shipment);

#endif
