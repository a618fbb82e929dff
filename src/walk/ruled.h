/* Objects of types with rules, or with sizes of their own: marked and visited.
 */
#ifndef HAUL_WALK_RULED_H
#define HAUL_WALK_RULED_H

#include "map/mark.h"
#include "walk/ruled_field.h"

/* ruled_mark.c */
/* Marks object `index` of the entry, of so many bytes. *must_visit: 1 if it is to be visited,
 * whatever was marked before. */
haul_status haul__mark_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t index, size_t bytes, haul__marked *marked, int *must_visit);
/* Marks an object of so many bytes by its survey HAUL__VISITED; *is_new: 0: it was there before. */
haul_status haul__mark_visited(haul__discovery *d, const haul__entry *entry, const haul__object *o,
                               size_t bytes, int *is_new);

/* ruled_visit.c */
/* Visits all that a rule has a say in; *bytes: the object's. */
haul_status haul__visit_ruled(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                              size_t *bytes);
/* Both, of one object that waited in line; *is_new: 0: it was there before. */
haul_status haul__take_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t *bytes, int *is_new);

/* fetch_queue.c: such objects, from the worklist, before they are marked: fetched, and taken a few
 * later. */
haul_status haul__fetch_push(haul__discovery *d, uintptr_t element, uint32_t kind);
haul_status haul__fetch_drain(haul__discovery *d); /* takes all of them */

#endif
