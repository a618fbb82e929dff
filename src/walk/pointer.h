/* A pointer that the walk has read, and the modes in which fields and callbacks are read.
 */
#ifndef HAUL_WALK_POINTER_H
#define HAUL_WALK_POINTER_H

#include "walk/discovery.h"

/* Modes, as bits. */
enum {
    HAUL__NOTED = 0, /* what is read joins the read set, and a sought place ends the run */
    HAUL__DRY = 1,   /* a dry run: nothing is noted, nothing is sought */
    HAUL__EXACT = 2  /* the end of every string is found, even of one that was marked before */
};

typedef struct haul__pointer {
    const haul__slot *slot;
    unsigned level;                 /* of the slot's levels */
    uintptr_t place;                /* of the word */
    uintptr_t value;                /* the address of the target */
    uintptr_t self;                 /* the struct whose fields the shape reads */
    size_t index;                   /* for callbacks: its number in an array of pointers */
    size_t line;                    /* as in haul__entry */
    int by_rule;                    /* a rule has worked out the value */
    haul__nearest nearest;          /* for callbacks */
    const haul__ancestor *ancestor; /* that the target inherits */
} haul__pointer;

/* The bytes of an element of a slot's level. */
HAUL__INLINE size_t haul__unit_of(const haul__slot *slot, unsigned level)
{
    return level + 1u == slot->levels ? slot->unit : HAUL__WORD;
}

HAUL__INLINE int haul__is_last_level(const haul__pointer *p)
{
    return p->level + 1u == p->slot->levels;
}

#endif
