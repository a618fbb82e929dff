/* Objects of types with rules, or with sizes of their own: fetched, marked and visited.
 */
#ifndef HAUL_WALK_RULED_H
#define HAUL_WALK_RULED_H

#include "map/mark.h"
#include "walk/mark_inline.h"
#include "walk/ruled_field.h"

/* ruled_mark.c */
/* Marks an element of the entry that has been evaluated. *must_visit becomes 1 if it must be
 * visited even if it was marked before. */
haul_status haul__mark_ruled(haul__discovery *d, const haul__entry *entry, const haul__object *o,
                             haul__marked *marked, int *must_visit);

/* ruled_visit.c */
/* Evaluates an object, and follows its ruled rows. */
haul_status haul__visit_ruled(haul__discovery *d, haul__object *o);
/* Logs the word of a pointer and, if it is an owner, follows it to its `count` elements. */
haul_status haul__visit_decided(haul__discovery *d, const haul__ruled *ruled,
                                const haul__field_value *w, const haul__pointer *p, size_t count,
                                int is_owner);
/* Evaluates and marks an object from the fetch queue, and follows its ruled rows if it is new. */
haul_status haul__take_ruled(haul__discovery *d, const haul__entry *entry, haul__object *o,
                             int *is_new);

/* fetch_queue.c: an object from the worklist, with rules or of a brief type, is fetched, and marked
 * and visited some objects later. */
haul_status haul__fetch_push(haul__discovery *d, haul__candidates *c, uintptr_t element,
                             uint32_t number);
haul_status haul__fetch_drain(haul__discovery *d); /* marks and visits all that are left */

#endif
