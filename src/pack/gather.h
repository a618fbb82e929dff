/* Gather of blocks: from the source to their places in the arena.
 */
#ifndef HAUL_PACK_GATHER_H
#define HAUL_PACK_GATHER_H

#include "pack/gather_cell.h"

/* Blocks [first, end) of a plan. The first that is not as the plan has it (and was
 * perhaps not gathered), or the end. */
size_t haul__gather_blocks(haul_plan *plan, haul__sweep *s, size_t first, size_t end);

#endif
