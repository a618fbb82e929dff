/* The search for bytes that are left out: fields whose conditions do not hold.
 */
#ifndef HAUL_AUDIT_LEFT_OUT_H
#define HAUL_AUDIT_LEFT_OUT_H

#include "audit/recorded.h"

haul_status haul__audit_left_out(haul__audit *a);

#endif
