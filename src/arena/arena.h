/* The interface of the arena room: arenas made, held and dropped.
 */
#ifndef HAUL_ARENA_ARENA_H
#define HAUL_ARENA_ARENA_H

#include "arena/room.h"

void haul__arena_hold(haul_arena *arena);
void haul__arena_drop(haul_arena *arena);
/* haul__arena_drop for a haul__finish, which answers with the result. */
haul__freed *haul__arena_let_go(haul_arena *arena);
/* Makes an arena in `region`; NULL: in memory from the context's allocator. On failure the caller
 * still owns the region. */
haul_status haul__arena_make(haul_context *context, const haul_arena_options *options,
                             const haul__region *region, haul_arena **arena);
/* The error message for a failure of haul__arena_make. */
const char *haul__arena_why_not(haul_status status);
size_t haul__arena_default_fixed_bytes(const haul_arena_options *options);

#endif
