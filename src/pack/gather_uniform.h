/* Gather of uniform blocks.
 */
#ifndef HAUL_PACK_GATHER_UNIFORM_H
#define HAUL_PACK_GATHER_UNIFORM_H

#include "pack/gather_cell.h"

/* Gathers the block's bytes and slots, in one pass. */
void haul__gather_uniform(haul__sweep *s, const haul__block *block, uintptr_t address);

#endif
