/* Objects of brief types (brief_types.h): taken from the fetch queue, and visited.
 */
#ifndef HAUL_WALK_BRIEF_H
#define HAUL_WALK_BRIEF_H

#include "walk/mark_inline.h"

/* Fetches such an object, and what its marks lie in. */
void haul__fetch_brief(const haul__discovery *d, uintptr_t object, const haul__met_type *met);
/* Marks a fetched one and, if it is new, follows its pointers; those to single objects of simple
 * types become candidates. *done 0: nothing was done, for it needs the general way. */
haul_status haul__take_brief(haul__discovery *d, haul__candidates *c, uintptr_t object,
                             uint32_t number, int *done);
/* Follows the pointers of one that is marked, an element of an array. *done 0: nothing was done,
 * for it needs the general way. */
haul_status haul__visit_brief(haul__discovery *d, haul__candidates *c, uintptr_t object,
                              uint32_t number, int *done);

#endif
