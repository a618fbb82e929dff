/* Flattening: from rows or blocks to lists.
 */
#ifndef HAUL_TYPE_FLATTEN_H
#define HAUL_TYPE_FLATTEN_H

#include "type/flat_lists.h"

/* Makes the flat form of a type whose embedded types have theirs. */
haul_status haul__flatten(haul__scratch *scratch, haul_type *type, haul_error *error);

#endif
