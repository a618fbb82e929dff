/* Holds. A removal moves later holds of the same run up, so no place is ever marked as deleted.
 */
#include "environment/holds.h"
#include "base/index.h"

static size_t place_of(const haul__holds *holds, uintptr_t address)
{
    return (size_t)(haul__hash(address) >> 32) & (holds->capacity - 1);
}

static haul__hold *slot_of(const haul__holds *holds, uintptr_t address)
{
    size_t at = place_of(holds, address);
    while (holds->at[at].address && holds->at[at].address != address)
        at = (at + 1) & (holds->capacity - 1);
    return &holds->at[at];
}

haul__hold *haul__holds_find(const haul__holds *holds, uintptr_t address)
{
    haul__hold *hold = holds->capacity ? slot_of(holds, address) : NULL;
    return hold && hold->address ? hold : NULL;
}

int haul__holds_room(const haul_allocator *allocator, haul__holds *holds, size_t more)
{
    haul__holds larger;
    size_t i;
    if (holds->count + more <= holds->capacity / 2)
        return 1;
    larger.count = holds->count;
    larger.capacity = holds->capacity ? 2 * holds->capacity : 16;
    while (holds->count + more > larger.capacity / 2)
        larger.capacity *= 2;
    larger.at = haul__allocate_zeroed(allocator, larger.capacity * sizeof *larger.at);
    if (!larger.at)
        return 0;
    for (i = 0; i < holds->capacity; i++)
        if (holds->at[i].address)
            *slot_of(&larger, holds->at[i].address) = holds->at[i];
    haul__holds_close(allocator, holds);
    *holds = larger;
    return 1;
}

haul__hold *haul__holds_add(haul__holds *holds, uintptr_t address)
{
    haul__hold *hold = slot_of(holds, address);
    memset(hold, 0, sizeof *hold);
    hold->address = address;
    holds->count++;
    return hold;
}

void haul__holds_remove(haul__holds *holds, haul__hold *hold)
{
    const size_t mask = holds->capacity - 1;
    size_t gap = (size_t)(hold - holds->at), at = gap;
    holds->count--;
    for (at = (gap + 1) & mask; holds->at[at].address; at = (at + 1) & mask) {
        const size_t wanted = place_of(holds, holds->at[at].address);
        if (((at - wanted) & mask) < ((at - gap) & mask))
            continue; /* its run begins behind the gap */
        holds->at[gap] = holds->at[at];
        gap = at;
    }
    memset(&holds->at[gap], 0, sizeof holds->at[gap]);
}

void haul__holds_close(const haul_allocator *allocator, haul__holds *holds)
{
    haul__release(allocator, holds->at, holds->capacity * sizeof *holds->at);
    memset(holds, 0, sizeof *holds);
}
