/* The search for fields whose pointers never led anywhere.
 */
#ifndef HAUL_AUDIT_UNUSED_FIELDS_H
#define HAUL_AUDIT_UNUSED_FIELDS_H

#include "audit/recorded.h"

haul_status haul__audit_fields(haul__audit *a);

#endif
