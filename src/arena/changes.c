/* Changes of an arena, and the contents that they make stale.
 *
 * Contents are stale if bytes below their end have been released since they were opened. Bytes
 * above their end, and earlier releases, do not matter. So each change notes its lowest byte, and
 * the number of contents opened before it. It makes stale whatever an earlier change from that byte
 * on made stale, so the entries of such changes are dropped. The entries left rise in both numbers,
 * and contents look at the first one after their opening alone. Each opening makes room for one
 * entry, so a release needs no memory.
 */
#include "arena/changes.h"
#include "base/list.h"

void haul__arena_changed(haul_arena *arena, size_t first)
{
    haul__change *last;
    while (arena->change_count > 0 && arena->changes[arena->change_count - 1].first >= first)
        arena->change_count--;
    last = arena->change_count > 0 ? &arena->changes[arena->change_count - 1] : NULL;
    if (arena->opens == 0 || (last && last->opens == arena->opens))
        return;
    arena->changes[arena->change_count].opens = arena->opens;
    arena->changes[arena->change_count++].first = first;
}

int haul__changes_note_opening(haul_arena *arena)
{
    if (haul__atomic_add(&arena->carriers, 0) == 1) /* no contents ask about earlier changes */
        arena->change_count = 0;
    if (!haul__grow(&arena->context->allocator, &arena->changes, &arena->change_capacity,
                    arena->change_count + 1, sizeof *arena->changes))
        return 0;
    arena->opens++;
    return 1;
}

static int is_earlier(const void *list, size_t i, uint64_t opens)
{
    return ((const haul__change *)list)[i].opens < opens;
}

int haul__changes_reach(const haul_arena *arena, uint64_t opens, size_t bytes)
{
    const size_t i = haul__search(arena->changes, 0, arena->change_count, opens, is_earlier);
    return i < arena->change_count && arena->changes[i].first < bytes;
}
