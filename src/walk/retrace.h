/* Retracing: the objects of a list are fetched in the order in which an earlier walk found them.
 */
#ifndef HAUL_WALK_RETRACE_H
#define HAUL_WALK_RETRACE_H

#include "walk/met_types.h"

/* `before`: the listed map of an earlier walk, which stays until haul__retrace_close; NULL: there
 * was none. Without memory, this and haul__retrace set has_failed, and the walk goes on. */
void haul__retrace_open(haul__discovery *d, const haul__map *before);
void haul__retrace_close(haul__discovery *d);

/* Does a list leave the block? Near objects are in a cache, or fetched by the processor itself. */
#define HAUL__IS_FAR(from, to) HAUL__UNLIKELY((((from) ^ (to)) >> HAUL__BLOCK_SHIFT) != 0)

/* A list has led to an object of another block, which is marked: notes its turn, and fetches
 * objects that come later. `objects`: found so far. */
void haul__retrace(haul__discovery *d, uintptr_t address, const haul__met_type *met,
                   size_t objects);

#endif
