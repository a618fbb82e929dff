/* An arena from inside: what it holds, how it grows and how it is wiped.
 *
 *     base                          room.top        end                  base + capacity
 *     | what has been allocated     | zeros         | never touched      |
 *
 * All of it above room.top is zero: an allocation has only to move room.top. Beside it a bit for
 * each word tells which words are pointers (`slots`), written by typed allocation, and in checked
 * arenas a bit for each granule where allocations begin (`starts`) and one where checkpoints are
 * (`marks`). Above room.top all are zero too.
 *
 * Nothing below knows a device: memory comes from an allocator or from whoever makes the arena, and
 * what a device has sent is bytes in staging.
 */
#ifndef HAUL_ARENA_ROOM_H
#define HAUL_ARENA_ROOM_H

#include "arena/region.h"
#include "context/context.h"
#include "haul/arena.h"

/* Objects, at equal distances, of which a bit a word does not tell all: they have bytes that do not
 * come back, or pointers off the grid. */
typedef struct haul__special {
    size_t at, count, stride;
    size_t tail;           /* bytes behind each */
    const haul_type *type; /* held */
} haul__special;

/* Where the device may make objects: [struct | bits | memory]. What the struct says is only ever
 * compared with this: it lies where devices write. */
typedef struct haul__nursery_place {
    size_t at, memory; /* offsets; of the struct is `at` */
    size_t capacity;
    size_t used; /* as far as the host knows */
} haul__nursery_place;

/* The blocks of the drop-in forms that begin in a group of granules (block_sizes.c). */
typedef struct haul__blocks haul__blocks;

/* Released blocks of one size: their offsets, in granules. */
typedef struct haul__free_list {
    size_t *blocks;
    size_t count, capacity;
} haul__free_list;

/* The lowest place of the arena at which something has gone behind the opening of contents number
 * `opens`, and before that of any later ones. */
typedef struct haul__change {
    uint64_t opens;
    size_t first;
} haul__change;

struct haul_arena {
    haul__arena_room room; /* first: inline allocation reads it */
    uint32_t magic;
    int holders; /* atomic: the caller's, and one for each shipment */
    haul__freed freed;
    haul_context *context;
    haul_arena_options options;
    haul_error error;
    haul__region region;
    /* room.end is `end`, or room.top where no allocation can be so simple */
    unsigned char *end;
    size_t capacity;
    int is_plain;     /* room.end is `end` */
    size_t alignment; /* the largest that was asked for */
    haul__region slots_region, starts_region, marks_region;
    uint64_t *starts, *marks; /* NULL: not checked */
    /* of the types in room.stamps, which are held */
    unsigned char is_special[1u << HAUL__STAMP_BITS];
    haul__special *special;
    size_t special_count, special_capacity;
    haul__nursery_place *nurseries;
    size_t nursery_count, nursery_capacity;
    haul__free_list *free_lists; /* NULL: nothing is used again */
    haul__blocks *blocks;        /* NULL: there are none */
    haul__region blocks_region;
    size_t peak, released, reused;
    uint64_t resets;
    size_t floor;      /* the last checkpoint: only a rollback goes below */
    int carriers;      /* atomic: contents that are open */
    uint64_t opens;    /* contents that have been opened so far */
    int was_read_late; /* a device has given up on a copy of it, and may still read it */
    /* what has been released, given out again or cut off since (contents.c) */
    haul__change *changes;
    size_t change_count, change_capacity;
    /* times that objects of kernels have come back, with pointers where there were none */
    uint64_t grown;
};

#define HAUL__ARENA_MAGIC 0x48417631u

int haul__arena_is_valid(const haul_arena *arena);

HAUL__INLINE size_t haul__arena_used(const haul_arena *arena)
{
    return (size_t)(arena->room.top - arena->room.base);
}

/* Where a device finds what lies at `memory`, which is in the arena. */
HAUL__INLINE unsigned char *haul__arena_window(const haul_arena *arena, unsigned char *memory)
{
    const haul__region *region = &arena->region;
    return region->window ? region->window + (memory - (unsigned char *)region->memory) : memory;
}

/* Grows so that `end`, an offset, is within. 0: it cannot; the record says why. */
int haul__arena_grow(haul_arena *arena, size_t end);
void haul__arena_set_top(haul_arena *arena, unsigned char *top);
void haul__arena_note_peak(haul_arena *arena); /* before the top goes back */
/* Forgets what is known of [first, end): pointers, starts and blocks, and makes it zeros that
 * nobody may touch. */
void haul__arena_wipe(haul_arena *arena, size_t first, size_t end);
/* Nurseries that begin in [first, end) are no more. */
void haul__nurseries_remove(haul_arena *arena, size_t first, size_t end);
/* Bits of words or granules. */
void haul__clear_bits(uint64_t *bits, size_t first, size_t end);

#endif
