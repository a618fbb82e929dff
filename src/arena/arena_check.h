/* Invariants of arenas and their contents, for builds with HAUL_CHECKS.
 */
#ifndef HAUL_ARENA_CHECK_H
#define HAUL_ARENA_CHECK_H

#include "arena/contents.h"

/* The first invariant of the contents or their arena that does not hold, as a sentence; NULL: all
 * hold. */
const char *haul__contents_fault(const haul__contents *contents);

#endif
