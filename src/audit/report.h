/* The report of an audit: findings, and lines of text in the file of its options.
 */
#ifndef HAUL_AUDIT_REPORT_H
#define HAUL_AUDIT_REPORT_H

#include "audit/recorded.h"

/* Reports what the searches have noted. HAUL_ERROR_MEMORY. */
haul_status haul__audit_tell(haul__audit *a);
/* Prints the last line. HAUL_ERROR_FILE: the file has not taken all. */
haul_status haul__audit_print_totals(haul__audit *a);

#endif
