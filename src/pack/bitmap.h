/* The relocation bitmap of a plan, and the offsets of explicit relocations beside it.
 */
#ifndef HAUL_PACK_BITMAP_H
#define HAUL_PACK_BITMAP_H

#include "base/base.h"
#include "haul/plan.h"
#include "validate/validate.h"

/* Words [first, first + count) of the bitmap, 64 bits each. A bit is set where a word of the arena
 * is a slot, null or not. It follows from the plan alone. */
void haul__plan_bitmap(const haul_plan *plan, size_t first, size_t count, uint64_t *bitmap);
/* The offsets of the same words in the arena, in order. SIZE_MAX: there are more than `most`, or a
 * sample of a large graph's blocks has many more; then `offsets` holds nothing of use. */
size_t haul__plan_offsets(const haul_plan *plan, size_t most, uint64_t *offsets);
/* The number of explicit relocations; the offsets in the arena of `count` of them from number
 * `first` on. */
size_t haul__plan_explicit_count(const haul_plan *plan);
void haul__plan_explicit(const haul_plan *plan, size_t first, size_t count, uint64_t *to);
/* The pointers that the bitmap does not tell: those on the grid get a bit, the others are listed in
 * `words`, in order. Answers how many; there are haul__plan_words_most at most. */
size_t haul__plan_words_most(const haul_plan *plan);
size_t haul__plan_words(const haul_plan *plan, uint64_t *bitmap, haul__odd_word *words);

#endif
