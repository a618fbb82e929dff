/* Which types are ancestors that rules ask for, and which types must pass them on.
 */
#ifndef HAUL_TYPE_ANCESTOR_BITS_H
#define HAUL_TYPE_ANCESTOR_BITS_H

#include "type/record.h"

/* Fills `holds`, `needs` and `is_wide` of flat forms that are made. */
void haul__find_ancestors(haul_type *const *types, size_t count);

#endif
