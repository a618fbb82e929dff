/* Gather and scatter of blocks with bytes that are not sent, or do not come back.
 */
#ifndef HAUL_PACK_EXCLUDED_BYTES_H
#define HAUL_PACK_EXCLUDED_BYTES_H

#include "map/exclusions.h"
#include "pack/plan_struct.h"

/* Copies the block's bytes to their places in `arena`, and zeros to the gaps before them. Pointers
 * are copied as they are. */
void haul__gather_excluded(const haul__block *block, uintptr_t address, unsigned char *arena);
/* Copies the block's data back to the source, except bytes that do not come back. */
void haul__scatter_excluded(const haul_plan *plan, const haul__block *block, uint32_t number,
                            const unsigned char *arena);

#endif
