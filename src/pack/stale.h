/* Does a plan still fit its source? HAUL_ERROR_STALE, with the path, where it does not.
 */
#ifndef HAUL_PACK_STALE_H
#define HAUL_PACK_STALE_H

#include "pack/plan_struct.h"

/* Counts, terminators, what callbacks answered. */
haul_status haul__check_guards(haul_plan *plan);
int haul__ends_hold(const haul__block *block, uintptr_t address); /* of strings */
haul_status haul__check_odd(haul_plan *plan, const haul__odd *odd);
haul_status haul__check_kept(haul_plan *plan, const haul__kept *kept);
haul_status haul__check_tagged(haul_plan *plan, const haul__tagged *tagged);
/* `slot`: a pointer that leads out of the graph; 0: there is none. */
haul_status haul__check_lost(haul_plan *plan, uintptr_t slot);
/* A block's strings end elsewhere, or its pointers are others than when it was first packed. */
haul_status haul__block_changed(haul_plan *plan, size_t i);
/* One of a block's strings has lost its terminator. */
haul_status haul__check_ends(haul_plan *plan, const haul__block *block, uintptr_t address);
/* Names a pointer of the block that has changed; `old`: the compacted arena as it was sent, or
 * NULL. */
void haul__explain_block(haul_plan *plan, size_t i, const unsigned char *old, uint64_t base);
/* Fills the record's path with the way to a pointer word, or to a count or terminator; 0: not
 * that. */
void haul__name_changed(haul_plan *plan, uintptr_t pointer, uintptr_t count);

#endif
