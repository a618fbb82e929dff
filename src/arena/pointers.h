/* Pointers of an arena: which of them lead out, and what they are on the way back.
 */
#ifndef HAUL_ARENA_POINTERS_H
#define HAUL_ARENA_POINTERS_H

#include "arena/contents.h"

/* Is a word of the contents, by number, a slot? */
HAUL__INLINE int haul__is_slot(const haul__contents *c, size_t word)
{
    return (int)(c->slots[word / 64] >> (word % 64) & 1);
}

/* Does the address lie in the contents or in a neighbour, or one past them? */
int haul__leads_inside(const haul__contents *contents, uintptr_t value);
/* The first pointer from *at on that leads neither into the contents nor into a neighbour. 0: there
 * is none. */
int haul__next_outside(const haul__contents *contents, size_t *at);

/* The word on the device for a host pointer. A patch changes neither null nor a pointer to a place
 * that was not shipped. */
HAUL__INLINE uintptr_t haul__as_sent(const haul__contents *c, uintptr_t value, uint64_t device)
{
    size_t i;
    if (!value)
        return 0;
    if (value - (uintptr_t)c->base <= c->bytes)
        return value - (uintptr_t)c->base + (uintptr_t)device;
    for (i = 0; i < c->neighbour_count; i++)
        if (value - c->neighbours[i].host <= c->neighbours[i].bytes)
            return value - c->neighbours[i].host + (uintptr_t)c->neighbours[i].device;
    return c->outside == HAUL_OUTSIDE_NULL ? 0 : value;
}

/* The host pointer for a word of the device. 0: it leads neither into the contents nor into a
 * neighbour. */
HAUL__INLINE int haul__as_on_host(const haul__contents *c, uintptr_t word, uint64_t device,
                                  uintptr_t *value)
{
    size_t i;
    *value = word - (uintptr_t)device + (uintptr_t)c->base;
    if (word - (uintptr_t)device <= c->bytes)
        return 1;
    for (i = 0; i < c->neighbour_count; i++) {
        *value = word - (uintptr_t)c->neighbours[i].device + c->neighbours[i].host;
        if (word - (uintptr_t)c->neighbours[i].device <= c->neighbours[i].bytes)
            return 1;
    }
    return 0;
}

/* The same for a word that came back, where the host's value is `old`. A word that has not changed
 * is good. */
HAUL__INLINE int haul__word_back(const haul__contents *c, uintptr_t old, uintptr_t word,
                                 uint64_t device, uintptr_t *value)
{
    *value = old;
    if (word == haul__as_sent(c, old, device))
        return 1;
    *value = 0;
    return !word || haul__as_on_host(c, word, device, value);
}

#endif
