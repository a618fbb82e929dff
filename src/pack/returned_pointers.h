/* Pointers of a compacted arena on the way back.
 */
#ifndef HAUL_PACK_RETURNED_POINTERS_H
#define HAUL_PACK_RETURNED_POINTERS_H

#include "base/base.h"
#include "haul/plan.h"

/* Each pointer is null, or leads into the graph or one past a range. Else HAUL_ERROR_GRAPH, with
 * the path; or the pointer is counted in *outside, if that is not NULL. */
haul_status haul__check_compacted_pointers(haul_plan *plan, const void *arena, uint64_t base,
                                           size_t *outside);
/* The host pointer for the word that came back for a slot, in an arena at `base`. 0: it leads out
 * of the graph. */
int haul__returned_word(const haul_plan *plan, uintptr_t slot, uintptr_t word, uint64_t base,
                        uintptr_t *value);
/* After the check: writes them as host pointers, except those that lead out. */
void haul__write_compacted_pointers(haul_plan *plan, const void *arena, uint64_t base);

#endif
