/* The arena room's door: arenas made, held and dropped.
 */
#ifndef HAUL_ARENA_ARENA_H
#define HAUL_ARENA_ARENA_H

#include "arena/room.h"

void haul__arena_hold(haul_arena *arena);
/* Not from inside a haul__finish, which answers what the second answers in place of it. */
void haul__arena_drop(haul_arena *arena);
haul__freed *haul__arena_let_go(haul_arena *arena);
/* `region` may be NULL: memory from the context's allocator. On failure the region is the
 * caller's. */
haul_status haul__arena_make(haul_context *context, const haul_arena_options *options,
                             const haul__region *region, haul_arena **arena);
/* The sentence for a failure of it. */
const char *haul__arena_why_not(haul_status status);
size_t haul__arena_default_fixed_bytes(const haul_arena_options *options);

#endif
