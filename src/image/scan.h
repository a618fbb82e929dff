/* A graph as haul_image_write lays it out, checked from front to back.
 */
#ifndef HAUL_IMAGE_SCAN_H
#define HAUL_IMAGE_SCAN_H

#include "image/validate.h"

/* *is_right 1: all that haul__image_validate asks for holds. 0: the scan cannot tell. Working
 * memory: 2, 4 or 8 bits for each granule. HAUL_ERROR_MEMORY. */
haul_status haul__image_scan(const haul__claimed *claimed, int *is_right);

#endif
