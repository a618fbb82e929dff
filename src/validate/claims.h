/* Bytes that one object counts by, and another one may write.
 */
#ifndef HAUL_VALIDATE_CLAIMS_H
#define HAUL_VALIDATE_CLAIMS_H

#include "walk/discovery.h"

/* HAUL_ERROR_GRAPH, with the path: a number that counts or selects, or a word that is worked
 * out, lies in plain bytes of another object; or a borrowed pointer does not lead to an object
 * of its type. HAUL_ERROR_LIMIT: objects overlap too often. `d`: a recorded walk, after layout. */
haul_status haul__check_claims(haul__discovery *d);

#endif
