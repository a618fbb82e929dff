/* Marks what a pointer leads to, the general way.
 */
#ifndef HAUL_WALK_MARK_ELEMENTS_H
#define HAUL_WALK_MARK_ELEMENTS_H

#include "map/mark.h"
#include "walk/worklist.h"

/* `first` to `end`, whose slots the pattern tells, for something that `slot` leads to. */
haul_status haul__mark_range(haul__discovery *d, const haul__slot *slot, uintptr_t first,
                             uintptr_t end, haul__pattern *pattern, haul__marked *marked);
/* The runs of an element, those of its bytes that lie below `limit`. */
haul_status haul__mark_element(haul__discovery *d, const haul__slot *slot, const haul__walk *walk,
                               uintptr_t element, size_t limit, haul__marked *marked);
/* All elements of an entry of objects without rules. `end`: of elements that are `dense`, side by
 * side and without holes. */
haul_status haul__mark_elements(haul__discovery *d, const haul__entry *entry, int dense,
                                uintptr_t end, haul__marked *marked);
/* One past the room of the entry's last element. */
uintptr_t haul__end_of_runs(const haul__entry *entry, const haul__walk *walk);

#endif
