/* Marking a pointer's target the general way.
 */
#ifndef HAUL_WALK_MARK_ELEMENTS_H
#define HAUL_WALK_MARK_ELEMENTS_H

#include "map/mark.h"
#include "walk/worklist.h"

/* Marks [first, end), with the slots of the pattern. `slot` led there, and is named in errors. */
haul_status haul__mark_range(haul__discovery *d, const haul__slot *slot, uintptr_t first,
                             uintptr_t end, haul__pattern *pattern, haul__marked *marked);
/* The same for `count` runs of plain bytes that begin `stride` bytes apart. */
haul_status haul__mark_line(haul__discovery *d, const haul__slot *slot, uintptr_t first,
                            size_t count, size_t run, size_t stride, haul__marked *marked);
/* Marks the runs of one element, up to its byte `limit`. */
haul_status haul__mark_element(haul__discovery *d, const haul__slot *slot, const haul__walk *walk,
                               uintptr_t element, size_t limit, haul__marked *marked);
/* Marks elements that go to uniform blocks. 1: all are marked; 0: one needs the general way; -1:
 * out of memory. */
int haul__mark_starts(haul__discovery *d, const haul__entry *entry, haul__marked *marked);
/* Marks all elements of an entry of objects without rules. `dense`: they have neither holes nor
 * gaps between them, and end at `end`. */
haul_status haul__mark_elements(haul__discovery *d, const haul__entry *entry, int dense,
                                uintptr_t end, haul__marked *marked);
/* One past the span of the entry's last element. */
uintptr_t haul__end_of_runs(const haul__entry *entry, const haul__walk *walk);

#endif
