/* Blocks with bytes that do not travel both ways: what gather and scatter do with them.
 */
#ifndef HAUL_PACK_EXCLUDED_BYTES_H
#define HAUL_PACK_EXCLUDED_BYTES_H

#include "map/exclusions.h"
#include "pack/plan_struct.h"

/* The bytes of a block, with those of its placing before it, to their places in `arena`; of
 * pointers, what stands there. */
void haul__gather_excluded(const haul__block *block, uintptr_t address, unsigned char *arena);
/* The way back, of one that has bars. */
void haul__scatter_excluded(const haul_plan *plan, const haul__block *block, uint32_t number,
                            const unsigned char *arena);

#endif
