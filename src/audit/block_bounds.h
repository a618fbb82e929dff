/* The search for ranges that leave their blocks, or describe little of them.
 */
#ifndef HAUL_AUDIT_BLOCK_BOUNDS_H
#define HAUL_AUDIT_BLOCK_BOUNDS_H

#include "audit/recorded.h"

/* Comes before the other searches: it removes bytes beyond their blocks from the entries. */
haul_status haul__audit_blocks(haul__audit *a);

#endif
