/* Fields that shapes and rules read, and terminators: what has arrived is compared with them.
 */
#ifndef HAUL_PACK_CHECK_READS_H
#define HAUL_PACK_CHECK_READS_H

#include "pack/pieces.h"

/* Has the plan any such field? Memory for
 * haul__check_piece, or for haul__check_range, so that these need none: HAUL_ERROR_MEMORY. */
int haul__has_reads(const haul_plan *plan);
haul_status haul__prepare_reads(haul_plan *plan);
haul_status haul__prepare_update(haul_plan *plan);
/* After the former: has the piece any? */
int haul__piece_has_reads(const haul_plan *plan, const haul__piece *piece);
/* What has arrived, of a piece of the compacted arena: HAUL_ERROR_GRAPH, with the path, where
 * scatter would write another value to such a field than discovery read there. The same of what
 * haul__scatter_data would write, from a copy of `bytes` bytes of the arena. */
haul_status haul__check_piece(haul_plan *plan, const haul__piece *piece, const void *memory);
haul_status haul__check_range(haul_plan *plan, uintptr_t first, uintptr_t end, const void *piece,
                              size_t offset, size_t bytes);

/* haul__check_piece of all of a compacted arena; takes no memory. */
haul_status haul__check_compacted(haul_plan *plan, const void *arena);

#endif
