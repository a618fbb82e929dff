/* Gather and scatter of large arrays of plain bytes that are not sent, or do not come back.
 */
#ifndef HAUL_PACK_EXCLUDED_BYTES_H
#define HAUL_PACK_EXCLUDED_BYTES_H

#include "map/exclusions.h"

/* Copies the bytes of a full block to their place in an arena, and zeros for those that are not
 * sent. */
void haul__gather_excluded(const haul__block *block, uintptr_t address, unsigned char *to);
/* Copies them back to the source, except those that do not come back. */
void haul__scatter_excluded(const haul__block *block, uintptr_t address, const unsigned char *from);

#endif
