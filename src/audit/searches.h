/* The four searches of an audit. Each notes what it finds.
 */
#ifndef HAUL_AUDIT_SEARCHES_H
#define HAUL_AUDIT_SEARCHES_H

#include "audit/recorded.h"

/* Called in this order: the first removes bytes beyond their blocks from the entries. */
haul_status haul__audit_blocks(haul__audit *a);   /* block_bounds.c */
haul_status haul__audit_words(haul__audit *a);    /* hidden_pointers.c */
haul_status haul__audit_left_out(haul__audit *a); /* left_out.c */
haul_status haul__audit_fields(haul__audit *a);   /* unused_fields.c */

#endif
