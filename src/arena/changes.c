/* Changes: what has gone from an arena since which opening of contents.
 *
 * Contents are stale when something below their end has gone since they were opened; what has gone
 * behind it, or before, is nothing to them. So changes are noted with how many contents had been
 * opened by then. Of two changes the earlier one tells nothing if the later one lies as low; so
 * they lie higher and higher, and the first that is late enough is the lowest of those. Each
 * opening makes room for one more: a release needs no memory.
 */
#include "arena/changes.h"

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
    if (haul__atomic_add(&arena->carriers, 0) == 1) /* nobody asks about what was before */
        arena->change_count = 0;
    if (!haul__grow(&arena->context->allocator, (void **)&arena->changes, &arena->change_capacity,
                    arena->change_count + 1, sizeof *arena->changes))
        return 0;
    arena->opens++;
    return 1;
}

int haul__changes_reach(const haul_arena *arena, uint64_t opens, size_t bytes)
{
    size_t low = 0, high = arena->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (arena->changes[middle].opens < opens)
            low = middle + 1;
        else
            high = middle;
    }
    return low < arena->change_count && arena->changes[low].first < bytes;
}
