/* An audit under way: a recorded discovery, laid out, and answers about it for the searches.
 */
#ifndef HAUL_AUDIT_RECORDED_H
#define HAUL_AUDIT_RECORDED_H

#include "haul/audit.h"
#include "walk/met_types.h"
#include "walk/worklist.h"

typedef struct haul__audit {
    haul_context *context;
    haul_allocator *allocator;
    haul_audit_options options; /* defaults are filled in */
    haul_audit_info info;
    haul_status printed; /* HAUL_ERROR_FILE: the file has refused a line */
    haul__found found;
    haul__discovery walk;      /* its entries: all that was found, and the entry that led to it */
    uintptr_t lowest, highest; /* all described bytes, and ends of ranges, lie between them */
} haul__audit;

/* Is it the address of a described byte, or of one past it? */
int haul__audit_leads_in(const haul__audit *a, uintptr_t value);
/* Is a finding wanted, after `before` others of its kind? The search counts findings, and reports
 * the wanted ones by haul__audit_tell. */
int haul__audit_is_wanted(const haul__audit *a, size_t before);
/* The end of the entry's objects, if a field tells their size: it may come before the end of the
 * type. SIZE_MAX: no field does. */
size_t haul__audit_end(const haul__audit *a, const haul__entry *entry);

#endif
