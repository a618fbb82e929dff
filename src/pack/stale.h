/* Checks that a plan still fits its source: HAUL_ERROR_STALE, with the path, if it does not.
 */
#ifndef HAUL_PACK_STALE_H
#define HAUL_PACK_STALE_H

#include "pack/plan_struct.h"

/* Checks counts, terminators and answers of callbacks. */
haul_status haul__check_read_set(haul_plan *plan);
int haul__ends_hold(const haul__block *block,
                    uintptr_t address); /* do the block's strings still end there? */
haul_status haul__check_special(const haul_plan *plan, const haul__special_word *word);
/* `slot`: a pointer that now leads out of the graph; 0: there is none. */
haul_status haul__check_lost(haul_plan *plan, uintptr_t slot);
/* Refuses a block that is not as the plan has it: a string has lost its terminator, or else a
 * pointer has changed. */
haul_status haul__block_changed(haul_plan *plan, size_t i);
/* Checks that every string of the block still has its terminator. */
haul_status haul__check_ends(haul_plan *plan, const haul__block *block, uintptr_t address);
/* Writes the path of the block's changed pointer to the record. `old`: the compacted arena as it
 * was sent, or NULL. */
void haul__explain_block(haul_plan *plan, size_t i, const unsigned char *old, uint64_t base);
/* Writes the path of a pointer word, or of a count or terminator, to the record. One of the two is
 * 0. */
void haul__name_changed(const haul_plan *plan, uintptr_t pointer, uintptr_t count);

#endif
