/* What a compacted arena carries: the runs of it that are sent. The rest is zeros: holes of
 * objects, and bytes that a direction does not send.
 */
#ifndef HAUL_PACK_CARRIED_H
#define HAUL_PACK_CARRIED_H

#include "pack/pieces.h"

/* Shorter gaps are sent. Smaller: a strip for each object of a row takes longer than its gaps. */
#define HAUL__CARRIED_GAP ((size_t)4096)

/* A run of the arena, by its place; in order of place. */
typedef void haul__carried_visitor(void *user, size_t place, size_t bytes);
void haul__visit_carried(const haul_plan *plan, const haul__piece *piece,
                         haul__carried_visitor *visit, void *user);

#endif
