/* The relocation bitmap of a plan, and the offsets of the words that it does not tell.
 */
#ifndef HAUL_PACK_BITMAP_H
#define HAUL_PACK_BITMAP_H

#include "base/base.h"
#include "haul/plan.h"

/* Words [first, first + count) of the relocation bitmap, 64 bits each: set where a word of the
 * arena is a slot, null or not. It follows from the plan alone. */
void haul__plan_bitmap(const haul_plan *plan, size_t first, size_t count, uint64_t *bitmap);
/* The offsets in the arena of the same words, in order. SIZE_MAX: there are more than `most`, or by
 * a sample of a large graph's blocks there seem to be many more; what was written is of no use. */
size_t haul__plan_offsets(const haul_plan *plan, size_t most, uint64_t *offsets);
/* Pointers off the grid: their number, and the offsets of some of them in the arena. */
size_t haul__plan_odd_count(const haul_plan *plan);
void haul__plan_odd(const haul_plan *plan, size_t first, size_t count, uint64_t *odd);

#endif
