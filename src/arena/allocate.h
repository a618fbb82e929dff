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
/* Sets the pointer bits of words in a row, from `memory` on: an allocation of plain bytes becomes
 * a graph. */
void haul__set_slots(haul_arena *arena, const unsigned char *memory, const uint64_t *bits,
                     size_t words);
/* Why pointer bits do not tell all that a shipment of the type's objects needs; NULL: they do, if
 * they do for the types of its parts. */
const char *haul__slots_tell_too_little(const haul_type *type);

#endif
