/* The report of an audit: findings, and lines of text in the file of its options.
 */
#ifndef HAUL_AUDIT_REPORT_H
#define HAUL_AUDIT_REPORT_H

#include "audit/recorded.h"

/* Names what the searches have noted since number `from`, as long as the discovery is there.
 * HAUL_ERROR_MEMORY. */
haul_status haul__audit_name(haul__audit *a, size_t from);
/* Reports all that has a name and is a finding still. */
void haul__audit_tell(haul__audit *a);
/* Prints the last line. HAUL_ERROR_FILE: the file has not taken all. */
haul_status haul__audit_print_totals(haul__audit *a);

#endif
