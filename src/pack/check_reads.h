/* The check of the read set: results must not change integers that counts, conditions and switches
 * read, nor terminators.
 */
#ifndef HAUL_PACK_CHECK_READS_H
#define HAUL_PACK_CHECK_READS_H

#include "pack/pieces.h"

/* Does the plan have a read set? */
int haul__has_read_set(const haul_plan *plan);
/* These get memory in advance: the first for haul__check_piece, the second for haul__check_range.
 * HAUL_ERROR_MEMORY. */
haul_status haul__prepare_read_set(haul_plan *plan);
haul_status haul__prepare_update(haul_plan *plan);
/* After haul__prepare_read_set: is a field of the read set in the piece? */
int haul__piece_is_read(const haul_plan *plan, const haul__piece *piece);
/* HAUL_ERROR_GRAPH, with the path: scatter would change a field of the read set. The first checks a
 * piece of the compacted arena; the second what haul__scatter_data would write, from a copy of
 * `bytes` bytes of the arena. */
haul_status haul__check_piece(haul_plan *plan, const haul__piece *piece, const void *memory);
haul_status haul__check_range(haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                              size_t offset, size_t bytes);

/* The same for the whole compacted arena. It needs no memory. */
haul_status haul__check_compacted(haul_plan *plan, const void *arena);

#endif
