/* The search for words that no field describes and that hold addresses.
 */
#ifndef HAUL_AUDIT_HIDDEN_POINTERS_H
#define HAUL_AUDIT_HIDDEN_POINTERS_H

#include "audit/recorded.h"

haul_status haul__audit_words(haul__audit *a);

#endif
