/* The result of discovery: the map, and beside it all that a bit in the map cannot tell.
 */
#ifndef HAUL_MAP_FOUND_H
#define HAUL_MAP_FOUND_H

#include "haul/type.h"
#include "map/map.h"

/* Guards: values that discovery read to learn a count, or terminators that it stopped at, which
 * must be the same when the plan is used again. Most are small, and take one word:
 *
 *   | value, 14 bits, signed | log2 of its bytes, 2 bits | address, 48 bits |
 *
 * HAUL__GUARD_FAR in the value's place: it is the word before. So they are read from the last one
 * to the first. */
#define HAUL__GUARD_FAR 0x2000u
#define HAUL__GUARD_VALUE (2 * HAUL__GUARD_FAR - 1)
#define HAUL__GUARD_ADDRESS(guard) ((uintptr_t)((guard)&UINT64_C(0x0000ffffffffffff)))
#define HAUL__GUARD_PLACE(guard) ((guard)&UINT64_C(0x0003ffffffffffff)) /* and how to read it */

HAUL__INLINE int haul__guard_is_small(int64_t value)
{
    return value > -(int64_t)HAUL__GUARD_FAR && value < (int64_t)HAUL__GUARD_FAR;
}

/* `bytes` is 1, 2, 4 or 8; a value that is not small is left out. */
HAUL__INLINE uint64_t haul__guard_of(uintptr_t address, unsigned bytes, int64_t value)
{
    const uint64_t small =
        haul__guard_is_small(value) ? (uint64_t)value & HAUL__GUARD_VALUE : HAUL__GUARD_FAR;
    return (uint64_t)address | (uint64_t)((bytes >> 1) - (bytes >> 3)) << 48 | small << 50;
}

/* The same for what a callback answered. Most calls differ in little: what many have in common is
 * kept once. */
typedef struct haul__site {
    haul_function *function;
    haul_here here;   /* but for self, target and place */
    uintptr_t offset; /* of the place from self */
    int has_place;
    int is_plain; /* the target stands there as it is */
} haul__site;

typedef struct haul__call {
    uintptr_t self, target;
    int64_t answer;
    size_t site;
} haul__call;

/* A word that no slot bit tells: a pointer off the grid of words, or one whose bits are not the
 * address of a described byte. It reads `value`; value + delta is what it leads to, and its copy
 * has the same distance from that one's. */
typedef struct haul__odd {
    uintptr_t address, value, delta;
} haul__odd;

/* A pointer with tag bits above those that an alignment leaves free. It reads `value`; without the
 * bits of `mask`, and plus `delta`, it leads to what it leads to. No device patches it: the host
 * works it out from where the arena lies. */
typedef struct haul__tagged {
    uintptr_t address, value, delta, mask;
} haul__tagged;

/* A word that no device patches: what it becomes is known when it is packed. */
typedef enum haul__kept_kind {
    HAUL__KEPT_WORD,    /* it becomes `becomes` */
    HAUL__KEPT_DISTANCE /* the distance to the copy of the source address `becomes` */
} haul__kept_kind;

typedef struct haul__kept {
    uintptr_t address;
    uint64_t value, becomes; /* value: as it was read; bytes above `bytes` are 0 */
    uint8_t bytes, kind;
} haul__kept;

/* An object whose contents depend on addresses. */
typedef struct haul__dependent {
    uintptr_t address;
    const haul_type *type;
    size_t order; /* of its type, as they were met */
} haul__dependent;

/* What discovery leaves: the marks, and what guards them. */
typedef struct haul__found {
    haul__map map;
    uint64_t *guards;
    size_t guard_count, guard_capacity;
    uint64_t *calls; /* calls.c */
    size_t call_words, call_capacity;
    haul__site *sites;
    size_t site_count, site_capacity;
    haul__odd *odd; /* after layout: by address, each once; likewise `kept` and `tagged` */
    size_t odd_count, odd_capacity;
    haul__kept *kept;
    size_t kept_count, kept_capacity;
    haul__tagged *tagged;
    size_t tagged_count, tagged_capacity;
    /* bytes by which pointers lead out of their blocks: the arena has as many more */
    size_t room_before, room_behind;
    haul__dependent *dependents; /* after layout: type by type, by address, each once */
    size_t dependent_count, dependent_capacity;
    uintptr_t *empty; /* pointer words that led to no elements; after layout: in order */
    size_t empty_count, empty_capacity;
    size_t objects, bytes;
    size_t worklist_bytes;
} haul__found;

#endif
