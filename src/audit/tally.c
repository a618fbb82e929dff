/* Tallies: a list of pairs, and an index of it.
 */
#include "audit/tally.h"

static int is_pair(const void *pairs, size_t number, const void *pair)
{
    const haul__tallied *one = (const haul__tallied *)pairs + number, *other = pair;
    return one->first == other->first && one->second == other->second;
}

size_t *haul__tally_of(haul__tally *tally, uintptr_t first, uintptr_t second)
{
    const haul__tallied pair = { first, second, 0 };
    const uint64_t hash = haul__hash((uint64_t)first * 3 + second);
    const size_t found = haul__index_find(&tally->index, hash, tally->pairs.at, &pair, is_pair);
    if (found != SIZE_MAX)
        return &tally->pairs.at[found].number;
    if (!HAUL__LIST_ROOM(tally->allocator, &tally->pairs) ||
        !haul__index_add(tally->allocator, &tally->index, hash, tally->pairs.count))
        return NULL;
    tally->pairs.at[tally->pairs.count] = pair;
    return &tally->pairs.at[tally->pairs.count++].number;
}

void haul__tally_close(haul__tally *tally)
{
    HAUL__LIST_RELEASE(tally->allocator, &tally->pairs);
    haul__index_close(tally->allocator, &tally->index);
    memset(&tally->pairs, 0, sizeof tally->pairs);
}
