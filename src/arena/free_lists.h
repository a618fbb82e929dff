/* Free lists: released blocks, to be given out again.
 */
#ifndef HAUL_ARENA_FREE_LISTS_H
#define HAUL_ARENA_FREE_LISTS_H

#include "arena/room.h"

/* The bytes that an allocation takes; 0: more than the arena can have. */
size_t haul__arena_round(const haul_arena *arena, size_t bytes);
void *haul__free_list_take(haul_arena *arena, size_t rounded); /* NULL: there is none */
/* Adds a released block. 0: no memory. */
int haul__free_list_put(haul_arena *arena, size_t at, size_t rounded);
/* Removes blocks at or above `first`. */
void haul__free_lists_cut(haul_arena *arena, size_t first);
int haul__free_lists_make(haul_arena *arena);
void haul__free_lists_free(haul_arena *arena);
size_t haul__free_lists_bytes(const haul_arena *arena);

#endif
