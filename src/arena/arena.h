/* The arena room's door: arenas made, held and dropped.
 */
#ifndef HAUL_ARENA_ARENA_H
#define HAUL_ARENA_ARENA_H

#include "arena/room.h"

void haul__arena_hold(haul_arena *arena);
/* Inside a haul__finish call the second, and answer its answer. */
void haul__arena_drop(haul_arena *arena);
haul__freed *haul__arena_let_go(haul_arena *arena);
/* `region` NULL: memory comes from the context's allocator. On failure the region stays the
 * caller's. */
haul_status haul__arena_make(haul_context *context, const haul_arena_options *options,
                             const haul__region *region, haul_arena **arena);
/* The error message for a failure of haul__arena_make. */
const char *haul__arena_why_not(haul_status status);
size_t haul__arena_default_fixed_bytes(const haul_arena_options *options);

#endif
