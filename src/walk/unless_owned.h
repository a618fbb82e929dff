/* Pointers that are owners only if no other field owns their target: HAUL_UNLESS_OWNED.
 */
#ifndef HAUL_WALK_UNLESS_OWNED_H
#define HAUL_WALK_UNLESS_OWNED_H

#include "walk/waiting.h"

/* Decides about all pointers that wait, and follows those that become owners. Called when all that
 * owners reach has been marked. */
haul_status haul__decide_waiting(haul__discovery *d);

#endif
