/* Scatter of blocks: data from their places in the arena back to the source.
 */
#ifndef HAUL_PACK_SCATTER_H
#define HAUL_PACK_SCATTER_H

#include "base/base.h"
#include "haul/plan.h"

/* Writes the data of blocks [first, end) of a compacted arena. */
void haul__scatter_blocks(const haul_plan *plan, size_t first, size_t end,
                          const unsigned char *arena);

/* For a caller that waits before it scatters: prefetches the lines that will be written, as far as
 * a cache holds them. */
void haul__fetch_scattered(const haul_plan *plan);

#endif
