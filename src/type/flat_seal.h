/* Sealing: the lists become the committed form of a type.
 */
#ifndef HAUL_TYPE_FLAT_SEAL_H
#define HAUL_TYPE_FLAT_SEAL_H

#include "type/flat_lists.h"

/* Sorts and checks the lists, and copies them into the type's own memory. */
haul_status haul__seal(haul__scratch *s, haul_type *type, haul_error *error);
/* Seals the lists as a nameless type that `type` owns. Afterwards the scratch is empty, except for
 * its alignment. */
haul_status haul__seal_inner(haul__scratch *s, haul_type *type, size_t bytes, haul_type **inner,
                             haul_error *error);

#endif
