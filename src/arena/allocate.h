/* Allocation: what it has noted of types and pointers, to be cut back with the arena.
 */
#ifndef HAUL_ARENA_ALLOCATE_H
#define HAUL_ARENA_ALLOCATE_H

#include "arena/room.h"

/* What is at or above `first` goes from the list of special objects. */
void haul__special_cut(haul_arena *arena, size_t first);
/* Drops the types of the table of stamps. */
void haul__stamps_drop(haul_arena *arena);
/* Sets the pointer bit of a word. */
void haul__set_slot(haul_arena *arena, size_t at);

#endif
