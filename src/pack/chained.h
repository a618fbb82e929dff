/* Plans of the targets of chains.
 */
#ifndef HAUL_PACK_CHAINED_H
#define HAUL_PACK_CHAINED_H

#include "base/list.h"
#include "pack/plan_struct.h"

/* The targets that chains have now, and what decides them. */
typedef struct haul__chained {
    HAUL__LIST(haul_root) roots;
    haul__found reads; /* its read set alone */
    const haul_allocator *allocator;
} haul__chained;

/* Finds the targets of a source of chains. Must be closed after a failure, too. */
haul_status haul__chained_open(haul_context *context, void *root, haul_chain *const *chains,
                               size_t count, haul__chained *to);
void haul__chained_close(haul_context *context, haul__chained *from);
/* The plan holds its chains. HAUL_ERROR_MEMORY: it holds none. */
haul_status haul__chains_hold(haul_plan *plan, void *root, haul_chain *const *chains, size_t count);
void haul__chains_drop(haul_plan *plan);
/* Sets the record's path to the name of the plan's chain that reads the address. 0: none does. */
int haul__name_chain(const haul_plan *plan, uintptr_t address);

#endif
