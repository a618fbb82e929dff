/* Changes: what has gone from an arena since which opening of contents.
 */
#ifndef HAUL_ARENA_CHANGES_H
#define HAUL_ARENA_CHANGES_H

#include "arena/room.h"

/* What was allocated at or above `first` may be gone: contents that reach there are stale. */
void haul__arena_changed(haul_arena *arena, size_t first);
/* One more opening of contents. 0: no memory. */
int haul__changes_note_opening(haul_arena *arena);
/* Has something below `bytes` gone since opening number `opens`? */
int haul__changes_reach(const haul_arena *arena, uint64_t opens, size_t bytes);

#endif
