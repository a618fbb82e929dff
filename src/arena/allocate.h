/* Lists and bits that typed allocation has written.
 */
#ifndef HAUL_ARENA_ALLOCATE_H
#define HAUL_ARENA_ALLOCATE_H

#include "arena/room.h"

/* Removes special objects at or above `first` from their list. */
void haul__special_cut(haul_arena *arena, size_t first);
/* Drops the types in the table of stamps. */
void haul__stamps_drop(haul_arena *arena);
/* Sets the pointer bit of a word. */
void haul__set_slot(haul_arena *arena, size_t at);

#endif
