/* What the host's graph would be, if an arena that has come back were written to it.
 */
#ifndef HAUL_PACK_OVERLAY_H
#define HAUL_PACK_OVERLAY_H

#include "base/base.h"
#include "haul/plan.h"

/* `now`: the graph as haul__gather packs it; it gets the host's bytes where none are sent. `arena`:
 * what has come back, with pointers as in `now`; it gets the bytes of `now` wherever a return
 * writes nothing. `pointers`: they return, too. `known` gets a mask for each granule: bytes that
 * the plan describes. All others are 0 in both, whatever the host has. */
void haul__overlay(const haul_plan *plan, unsigned char *arena, unsigned char *now, int pointers,
                   uint16_t *known);

/* A pointer word of the plan, in the overlaid arena, and what the host's will be. Without their
 * tags, and as addresses: also those of distances. */
typedef struct haul__held {
    uintptr_t place, word, value; /* place: of the word in the arena */
    uint64_t was, put;            /* of one that is put: the word before, and now */
    unsigned bytes;
    int is_changed; /* it is not the word that was sent */
    int is_put;
    int is_worked_out; /* a distance or a fixed word: it does not come back */
} haul__held;

/* The most words of the list below. */
size_t haul__held_most(const haul_plan *plan);
/* Lists the pointers of an overlaid arena, by place. One that is null there and not on the host
 * leads to no elements: its word is made to lead to `nowhere`. HAUL_ERROR_LIMIT: a distance of 4
 * bytes cannot. */
haul_status haul__list_held(const haul_plan *plan, unsigned char *arena, const unsigned char *now,
                            int pointers, uintptr_t nowhere, haul__held *list, size_t *count);
/* Makes these words null again, unless something else has been written there since. */
void haul__take_back(const haul__held *list, size_t count);

#endif
