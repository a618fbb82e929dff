/* An ordered arena that is packed once, straight from the source.
 */
#ifndef HAUL_PACK_STRAIGHT_H
#define HAUL_PACK_STRAIGHT_H

#include "layout/order_log.h"
#include "pack/plan_struct.h"

/* An entry of a table of ranges by address. */
typedef struct haul__landing {
    uintptr_t first; /* 0: free */
    uint32_t number; /* of the range, in the order of places */
    uint32_t place;  /* in granules */
} haul__landing;

/* An entry of a table by address alone, for ranges that lie close together. */
typedef struct haul__range_step {
    uint32_t first; /* the low bits of the address of the one range that begins in the step */
    uint32_t place; /* in granules; 0: none begins there */
} haul__range_step;

typedef struct haul__straight {
    haul_plan *plan;         /* a compacted one, whose map tells where pointers are */
    haul__order_log log;     /* the ranges in the order of their places */
    uint64_t bytes;          /* of the arena; 0: this is none */
    size_t alignment;        /* of its base */
    haul__landing *landings; /* a table of all ranges; NULL: it was not needed so far */
    size_t landing_count;    /* of its places, a power of two */
    haul__range_step *steps; /* or this table: an entry for each step of addresses */
    size_t step_count;
    uintptr_t lowest;    /* the first step begins there */
    unsigned step_shift; /* log2 of a step's bytes, no more than those of the shortest range */
} haul__straight;

/* After layout: works out the places of the log's ranges. If `bytes` is still 0 then, the graph
 * needs haul__plan_order. Of a range that was logged twice, the second entry may be dropped.
 * HAUL_ERROR_MEMORY. */
haul_status haul__straight_open(haul__straight *straight, haul_plan *plan);
/* Undoes that: the log is good for haul__plan_order. */
void haul__straight_give_up(haul__straight *straight);
/* The table, for haul__straight_fill. 0: there is no memory. */
int haul__straight_index(haul__straight *straight);
void haul__straight_close(haul__straight *straight, haul_context *context);
/* Where the range that begins at an address begins in the arena; 0: none begins there. */
uint64_t haul__straight_find(const haul__straight *straight, uintptr_t address);

/* Who fills parts of the arena, front to back. */
typedef struct haul__front {
    size_t range;   /* where the part begins: in this range, or before it */
    size_t next;    /* the range that the next new pointer leads to, as far as is known */
    size_t scanned; /* ranges that were looked at to find it */
} haul__front;

typedef enum haul__filled {
    HAUL__FILLED,
    HAUL__FILL_WANTS_INDEX, /* call haul__straight_index, and fill this part again */
    HAUL__FILL_IS_CROOKED   /* a pointer leads to no beginning: the graph needs haul__plan_order */
} haul__filled;

void haul__straight_begin(const haul__straight *straight, uint64_t at, haul__front *front);
/* The bytes [first, end) of the arena, if they lie side by side in the source, without pointers;
 * else NULL. `front` stands at `first`. */
const void *haul__straight_source(const haul__straight *straight, const haul__front *front,
                                  uint64_t first, uint64_t end);
/* Lets the front go on to `end` behind such bytes. */
void haul__straight_pass(const haul__straight *straight, haul__front *front, uint64_t end);
/* Writes the bytes [first, end) of `arena`, and their bits in `bitmap`. `first` is a multiple of 64
 * words, and so is `end`, or it is the arena's. Pointers become base + offset. Any thread, for
 * parts that are apart. `flat`: the context's table, with the map in it, or NULL. */
haul__filled haul__straight_fill(const haul__straight *straight, haul__front *front,
                                 const uintptr_t *flat, uint64_t first, uint64_t end, uint64_t base,
                                 unsigned char *arena, uint64_t *bitmap);

#endif
