/* The life of types: made, held, freed.
 */
#ifndef HAUL_TYPE_LIFE_H
#define HAUL_TYPE_LIFE_H

#include "type/record.h"

/* An open type without rows, held once; it holds its home. NULL: no memory. */
haul_type *haul__type_make(const haul__home *home, const haul_allocator *allocator,
                           const char *name, size_t bytes, haul_combiner combiner);
/* Frees it and all that it owns, except its group. */
void haul__type_release(haul_type *type);
void haul__type_release_flat(haul_type *type);
/* The number of entries of `blocks` whose types an open constructor holds. */
size_t haul__type_old_count(const haul_type *type);
void haul__group_hold(haul__group *group);
void haul__group_drop(haul__group *group);

#endif
