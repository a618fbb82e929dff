/* One audit under way: a recorded discovery, laid out, and what it tells the searches.
 */
#ifndef HAUL_AUDIT_RECORDED_H
#define HAUL_AUDIT_RECORDED_H

#include "haul/audit.h"
#include "walk/met_types.h"
#include "walk/worklist.h"

typedef struct haul__audit {
    haul_context *context;
    haul_allocator *allocator;
    haul_audit_options options; /* with their defaults filled in */
    haul_audit_summary summary;
    haul__found found;
    haul__discovery walk;      /* its entries: all that was found, and from where */
    uintptr_t lowest, highest; /* no described byte lies outside, nor an end of a range */
} haul__audit;

/* Is this the address of a described byte, or of one past it? */
int haul__audit_leads_in(const haul__audit *a, uintptr_t value);
/* Counts are the searches' business; this hands a finding over, unless `before` of its kind were
 * found already and that is enough. */
int haul__audit_is_wanted(const haul__audit *a, size_t before);
void haul__audit_tell(haul__audit *a, const haul_audit_finding *finding);
/* An entry's bytes from its address on, to the last that travels; 0: none of them can be read. */
size_t haul__audit_extent(const haul__audit *a, const haul__entry *entry);
/* Where an object ends that tells its size itself, from its start on: perhaps before its type does.
 * SIZE_MAX: with it. */
size_t haul__audit_end(const haul__audit *a, const haul__entry *entry);

#endif
