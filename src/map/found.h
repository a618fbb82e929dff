/* The result of discovery: the map, and lists of all that bits in the map cannot tell.
 *
 *   reads, calls    the read set: values that discovery read, and answers of callbacks; they must
 *                   not change while the plan is in use
 *   special         special words: pointers and other words that no slot bit tells
 *   dependents      objects to rebuild
 *   empty           pointers that led to no elements
 *   ends            ends of arrays, if there are copies elsewhere
 *
 * Discovery appends to these lists. Layout sorts them by address.
 */
#ifndef HAUL_MAP_FOUND_H
#define HAUL_MAP_FOUND_H

#include "haul/type.h"
#include "map/course.h"
#include "map/elsewhere.h"
#include "map/map.h"

#include <string.h>

/* An entry of the read set, a read for short: a number that a count was worked out from, or the
 * terminator that ended an array. It must be the same when the plan is used again. Most values are
 * small, and the read takes one word:
 *
 *   | value, 14 bits, signed | log2 of its bytes, 2 bits | address, 48 bits |
 *
 * A larger value stands in the word before its read, which has HAUL__READ_FAR in its place. So
 * loops go from the last read to the first. */
#define HAUL__READ_FAR 0x2000u
#define HAUL__READ_VALUE (2 * HAUL__READ_FAR - 1)
#define HAUL__READ_ADDRESS(read) ((uintptr_t)((read)&UINT64_C(0x0000ffffffffffff)))
#define HAUL__READ_PLACE(read) ((read)&UINT64_C(0x0003ffffffffffff)) /* address and width */

HAUL__INLINE int haul__read_is_small(int64_t value)
{
    return value > -(int64_t)HAUL__READ_FAR && value < (int64_t)HAUL__READ_FAR;
}

/* `bytes` is 1, 2, 4 or 8. A value that is not small becomes HAUL__READ_FAR. */
HAUL__INLINE uint64_t haul__read_of(uintptr_t address, unsigned bytes, int64_t value)
{
    const uint64_t small =
        haul__read_is_small(value) ? (uint64_t)value & HAUL__READ_VALUE : HAUL__READ_FAR;
    return (uint64_t)address | (uint64_t)((bytes >> 1) - (bytes >> 3)) << 48 | small << 50;
}

/* The value of a small read. */
HAUL__INLINE int64_t haul__small_read(uint64_t read)
{
    return (int64_t)(read >> 50 ^ HAUL__READ_FAR) - (int64_t)HAUL__READ_FAR;
}

/* The part of a callback's call that many calls share. */
typedef struct haul__site {
    haul_function *function;
    haul_here here;   /* self, target and place are left out */
    uintptr_t offset; /* of here.place from self */
    int has_place;
    int is_plain; /* the word at here.place is the target */
} haul__site;

/* A callback's answer, which must be the same when the plan is used again. */
typedef struct haul__call {
    uintptr_t self, target;
    int64_t answer;
    size_t site;
} haul__call;

typedef enum haul__special_kind {
    HAUL__EXPLICIT, /* explicit relocation: the device patches the word by a list of offsets */
    HAUL__FIXED,    /* fixed word: it is `addend` in the copy */
    HAUL__DISTANCE, /* fixed word: the distance from the word to its target */
    HAUL__TAGGED    /* tagged pointer: no device can tell it, so the host writes the address */
} haul__special_kind;

/* A special word: one that no slot bit tells. In the words of ELF, slot bits are RELR, and this is
 * an entry of RELA. The word's target is
 *
 *     (value without the bits of `mask`) + addend
 *
 * A distance counts from the word's own address. The copied word leads to the copy of the target,
 * with the same addend and the same bits of `mask`. A limit alone becomes the end of an array,
 * wherever it leads on the host: its addend is not kept. */
typedef struct haul__special_word {
    uintptr_t address;
    uint64_t value, addend; /* value: as haul__load_special reads it */
    uintptr_t mask;         /* of a tagged pointer, else 0 */
    uint8_t bytes, kind;
    uint8_t is_empty; /* it is a pointer to no elements */
    uint8_t is_limit; /* the copied word is the copy of the target, without the addend */
} haul__special_word;

/* The bits of a word of 4 or 8 bytes, as a number. */
HAUL__INLINE uint64_t haul__load_special(uintptr_t address, unsigned bytes)
{
    uint64_t wide;
    uint32_t narrow;
    if (bytes == sizeof narrow) {
        memcpy(&narrow, (const void *)address, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, (const void *)address, sizeof wide);
    return wide;
}

HAUL__INLINE int haul__is_pointer(const haul__special_word *word)
{
    return word->kind == HAUL__EXPLICIT || word->kind == HAUL__TAGGED;
}

/* A word that leads to the end of an array: the end of a begin/end pair, or a limit. Another
 * object may begin there, whose copy lies elsewhere. So the copied word is the copy of the array's
 * begin plus the array's bytes. In one arena both lie side by side, as on the host, so ends are
 * listed only if there are copies elsewhere. */
typedef struct haul__array_end {
    uintptr_t word, begin; /* where they stand: the word, and the pointer to the array */
    uintptr_t bytes;       /* of the array */
    int is_limit;
} haul__array_end;

/* An object whose contents depend on addresses. */
typedef struct haul__dependent {
    uintptr_t address;
    const haul_type *type;
    size_t order; /* of its type among the types met */
} haul__dependent;

typedef struct haul__found {
    haul__map map;
    const haul__elsewhere *elsewhere; /* NULL: all that the roots reach is in the map */
    uint64_t *reads;
    size_t read_count, read_capacity;
    uint64_t *calls; /* haul__call records, packed (walk/callbacks.c) */
    size_t call_words, call_capacity;
    haul__site *sites;
    size_t site_count, site_capacity;
    haul__special_word *special; /* after layout: by address */
    size_t special_count, special_capacity;
    size_t explicit_count;           /* after layout: explicit relocations among them */
    size_t room_before, room_behind; /* bytes that explicit relocations need at the arena's ends */
    haul__dependent *dependents;     /* after layout: by type and address, each once */
    size_t dependent_count, dependent_capacity;
    uintptr_t *empty; /* pointer words that led to no elements; after layout: by address */
    size_t empty_count, empty_capacity;
    haul__array_end *ends; /* after layout: by word, each once */
    size_t end_count, end_capacity;
    struct haul__named_granules
        *named; /* which hints name which granules; NULL: no hints were noted */
    size_t objects, bytes;
    size_t worklist_bytes;
    haul__course course;
} haul__found;

#endif
