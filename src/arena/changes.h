/* Changes of an arena, and the contents that they make stale.
 */
#ifndef HAUL_ARENA_CHANGES_H
#define HAUL_ARENA_CHANGES_H

#include "arena/room.h"

/* Bytes at or above `first` have been released: contents that reach there are stale. */
void haul__arena_changed(haul_arena *arena, size_t first);
/* Counts one more opening. 0: no memory. */
int haul__changes_note_opening(haul_arena *arena);
/* Have bytes below `bytes` been released since opening number `opens`? */
int haul__changes_reach(const haul_arena *arena, uint64_t opens, size_t bytes);

#endif
