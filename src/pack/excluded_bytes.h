/* Gather and scatter of full blocks, which large arrays of plain bytes fill, with bytes that are
 * not sent or do not come back, or with special words.
 */
#ifndef HAUL_PACK_EXCLUDED_BYTES_H
#define HAUL_PACK_EXCLUDED_BYTES_H

#include "map/exclusions.h"
#include "pack/plan_struct.h"

/* Copies the block's bytes to their place in an arena, and zeros for those that are not sent. */
void haul__gather_excluded(const haul__block *block, uintptr_t address, unsigned char *to);
/* Copies them back to the source, except special words and those that do not come back. */
void haul__scatter_excluded(const haul_plan *plan, const haul__block *block, uint32_t number,
                            const unsigned char *from);

#endif
