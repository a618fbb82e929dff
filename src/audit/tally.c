/* Tallies: a hash of pairs, with open addressing, linear probing, at most half full.
 */
#include "audit/tally.h"

static size_t place_of(const haul__tally *tally, uintptr_t first, uintptr_t second)
{
    size_t mask = tally->capacity - 1;
    uint64_t mixed = ((uint64_t)first * 3 + second) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(mixed >> 32) & mask;
    while (tally->at[at].first && (tally->at[at].first != first || tally->at[at].second != second))
        at = (at + 1) & mask;
    return at;
}

static int make_room(haul__tally *tally)
{
    haul__tally larger = *tally;
    size_t i;
    if (tally->count < tally->capacity / 2)
        return 1;
    larger.capacity = tally->capacity ? tally->capacity * 2 : 64;
    larger.at = haul__allocate_zeroed(tally->allocator, larger.capacity * sizeof *larger.at);
    if (!larger.at)
        return 0;
    for (i = 0; i < tally->capacity; i++)
        if (tally->at[i].first)
            larger.at[place_of(&larger, tally->at[i].first, tally->at[i].second)] = tally->at[i];
    haul__tally_close(tally);
    *tally = larger;
    return 1;
}

size_t *haul__tally_of(haul__tally *tally, uintptr_t first, uintptr_t second)
{
    haul__tallied *found;
    if (!make_room(tally))
        return NULL;
    found = &tally->at[place_of(tally, first, second)];
    if (!found->first) {
        found->first = first;
        found->second = second;
        tally->count++;
    }
    return &found->number;
}

void haul__tally_close(haul__tally *tally)
{
    haul__release(tally->allocator, tally->at, tally->capacity * sizeof *tally->at);
    tally->at = NULL;
    tally->count = tally->capacity = 0;
}
