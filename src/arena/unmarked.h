/* Pointers that a typed arena does not know of, found in a checked arena.
 */
#ifndef HAUL_ARENA_UNMARKED_H
#define HAUL_ARENA_UNMARKED_H

#include "arena/contents.h"

/* HAUL_ERROR_GRAPH, with the place: an allocation of plain bytes holds an address of the contents.
 * Nothing patches such a word. The arena is checked. */
haul_status haul__check_unmarked(const haul__contents *contents, haul_error *error);

#endif
