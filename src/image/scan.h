/* A graph as haul_image_write lays it out, checked from front to back.
 */
#ifndef HAUL_IMAGE_SCAN_H
#define HAUL_IMAGE_SCAN_H

#include "image/fill.h"
#include "validate/validate.h"

/* Fills the block, and scans what comes. *is_right 1: all that haul__validate asks for holds.
 * 0: the scan cannot tell. Working memory: 1, 2, 4 or 8 bits for each granule. HAUL_ERROR_MEMORY;
 * others as haul__fill. */
haul_status haul__image_scan(const haul__claimed *claimed, haul__filling *filling, int *is_right);
/* Fills the block, and checks what comes: by the scan or by the walk. Errors as of haul__validate
 * and haul__fill. */
haul_status haul__image_validate(const haul__claimed *claimed, haul__filling *filling);

#endif
