/* Gather of blocks: from the source to their places in the arena.
 */
#ifndef HAUL_PACK_GATHER_H
#define HAUL_PACK_GATHER_H

#include "pack/gather_cell.h"

/* Gathers blocks [first, end). Answers `end`, or the first block that is not as the plan has it;
 * the arena's bytes for that block then mean nothing. */
size_t haul__gather_blocks(haul_plan *plan, haul__sweep *s, size_t first, size_t end);

#endif
