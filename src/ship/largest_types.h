/* The types with the most bytes, for the record of an error.
 */
#ifndef HAUL_SHIP_LARGEST_TYPES_H
#define HAUL_SHIP_LARGEST_TYPES_H

#include "base/base.h"
#include "haul/plan.h"

/* Appends them to the text of the context's record: "...; the most bytes have node (4096), (data)
 * (512)". Walks the graph; without memory for that the record stays as it is. */
void haul__name_largest_types(haul_context *context, haul_plan *plan);

#endif
