/* Scatter of blocks: data from their places in the arena back to the source.
 */
#ifndef HAUL_PACK_SCATTER_H
#define HAUL_PACK_SCATTER_H

#include "base/base.h"
#include "haul/plan.h"

/* haul__scatter of the blocks [first, end) of a compacted arena. */
void haul__scatter_blocks(const haul_plan *plan, size_t first, size_t end,
                          const unsigned char *arena);

/* For whoever has to wait before it: fetches what it will write to, as far as there is room near
 * the processor. */
void haul__fetch_scattered(const haul_plan *plan);

#endif
