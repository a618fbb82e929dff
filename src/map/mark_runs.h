/* Marking many short runs of plain bytes at once.
 */
#ifndef HAUL_MAP_MARK_RUNS_H
#define HAUL_MAP_MARK_RUNS_H

#include "map/mark.h"

/* The same as haul__mark for `count` runs of plain bytes that begin `stride` bytes apart, at most a
 * page. *bytes: those in granules with new bytes. */
haul_status haul__mark_runs(haul__map *map, uintptr_t first, size_t count, size_t run,
                            size_t stride, haul__marked *marked, size_t *bytes);

#endif
