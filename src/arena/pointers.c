/* Pointers of an arena: which of them lead out.
 */
#include "arena/pointers.h"

int haul__leads_inside(const haul__contents *c, uintptr_t value)
{
    size_t i;
    if (value - (uintptr_t)c->base <= c->bytes)
        return 1;
    for (i = 0; i < c->neighbour_count; i++)
        if (value - c->neighbours[i].host <= c->neighbours[i].bytes)
            return 1;
    return 0;
}

int haul__next_outside(const haul__contents *c, size_t *at)
{
    size_t word = *at / sizeof(void *), end = c->bytes / sizeof(void *), group;
    for (group = word / 64; group * 64 < end; group++) {
        uint64_t slots = c->slots[group];
        if (group == word / 64)
            slots &= UINT64_MAX << (word % 64);
        for (; slots; slots &= slots - 1) {
            size_t number = group * 64 + haul__lowest64(slots);
            uintptr_t value;
            if (number >= end)
                return 0;
            value = haul__load_word(c->base + number * sizeof(void *));
            if (value && !haul__leads_inside(c, value)) {
                *at = number * sizeof(void *);
                return 1;
            }
        }
    }
    return 0;
}
