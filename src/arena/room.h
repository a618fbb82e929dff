/* The arena itself: its memory and its tables.
 *
 *     base                          room.top        end                  base + capacity
 *     | allocated                   | zeros         | never touched      |
 *
 * Everything above room.top is zero, so an allocation only moves room.top. A table beside the arena
 * has a bit for each word that is a pointer (`slots`), which typed allocation writes. A checked
 * arena has two more tables, with a bit for each granule where an allocation begins (`starts`) or a
 * checkpoint stands (`marks`). Above room.top their bits are zero too.
 *
 * The arena room knows no device: memory comes from an allocator or from the caller, and bytes from
 * a device are in staging.
 */
#ifndef HAUL_ARENA_ROOM_H
#define HAUL_ARENA_ROOM_H

#include "arena/region.h"
#include "context/context.h"
#include "haul/arena.h"

/* A run of objects that a bit a word does not describe fully: they have bytes that do not come
 * back, or pointers off the grid. */
typedef struct haul__special {
    size_t at, count, stride;
    size_t tail;           /* bytes behind each object */
    const haul_type *type; /* held */
} haul__special;

/* A nursery, where the device makes objects: [struct | bits | memory]. The struct lies where
 * devices write, so it is only compared with these numbers. */
typedef struct haul__nursery_place {
    size_t at, memory; /* offsets of the struct and of its memory */
    size_t capacity;
    size_t used; /* as the host knows it */
} haul__nursery_place;

/* The blocks of the drop-in forms that begin in one group of granules (block_sizes.h). */
typedef struct haul__blocks haul__blocks;

/* Released blocks of one size, by their offsets in granules. */
typedef struct haul__free_list {
    size_t *blocks;
    size_t count, capacity;
} haul__free_list;

/* The lowest offset released after opening number `opens` and before the opening of the next
 * entry. */
typedef struct haul__change {
    uint64_t opens;
    size_t first;
} haul__change;

struct haul_arena {
    haul__arena_room room; /* first: inline allocation reads it */
    uint32_t magic;
    int holders; /* atomic: the caller, and each shipment */
    haul__freed freed;
    haul_context *context;
    haul_arena_options options;
    haul_error error;
    haul__region region;
    /* end of the opened memory; room.end is this, or room.top if allocation may not be inline */
    unsigned char *end;
    size_t capacity;
    int is_plain;     /* room.end is `end` */
    size_t alignment; /* the largest alignment asked for */
    haul__region slots_region, starts_region, marks_region;
    uint64_t *starts, *marks; /* NULL: not checked */
    /* for each of room.stamps, which hold their types: is the type special? */
    unsigned char is_special[1u << HAUL__STAMP_BITS];
    haul__special *special;
    size_t special_count, special_capacity;
    haul__nursery_place *nurseries;
    size_t nursery_count, nursery_capacity;
    haul__free_list *free_lists; /* NULL: blocks are not used again */
    haul__blocks *blocks;        /* NULL: there are none */
    haul__region blocks_region;
    size_t peak, released, reused;
    uint64_t resets;
    size_t floor;               /* the last checkpoint; only a rollback goes below it */
    int carriers;               /* atomic: open contents */
    uint64_t opens;             /* contents opened so far */
    int was_read_after_timeout; /* a copy of it timed out, so a device may still read it */
    /* releases, reuses and rollbacks (changes.c) */
    haul__change *changes;
    size_t change_count, change_capacity;
    /* the number of times that a nursery came back with new objects */
    uint64_t grown;
};

#define HAUL__ARENA_MAGIC 0x48417631u

int haul__arena_is_valid(const haul_arena *arena);

HAUL__INLINE size_t haul__arena_used(const haul_arena *arena)
{
    return (size_t)(arena->room.top - arena->room.base);
}

/* The address for a device of bytes at `memory` in the arena. */
HAUL__INLINE unsigned char *haul__arena_window(const haul_arena *arena, unsigned char *memory)
{
    const haul__region *region = &arena->region;
    return region->window ? region->window + (memory - (unsigned char *)region->memory) : memory;
}

/* Opens the arena's memory up to offset `end`. 0: it cannot, and the record says why. */
int haul__arena_grow(haul_arena *arena, size_t end);
void haul__arena_set_top(haul_arena *arena, unsigned char *top);
void haul__arena_note_peak(haul_arena *arena); /* call it before the top goes down */
/* Fills [first, end) with zeros, poisons it, and forgets its pointers, starts and blocks. */
void haul__arena_wipe(haul_arena *arena, size_t first, size_t end);
/* `at` is an offset for which `bytes` bytes were asked. If a nursery begins there: the bytes of all
 * of its parts. 0: the nursery has another size, or the offset lies within it. */
size_t haul__bytes_with_nursery(const haul_arena *arena, size_t at, size_t bytes);
/* Forgets nurseries that begin in [first, end). */
void haul__nurseries_remove(haul_arena *arena, size_t first, size_t end);
/* Clears bits [first, end). */
void haul__clear_bits(uint64_t *bits, size_t first, size_t end);

#endif
