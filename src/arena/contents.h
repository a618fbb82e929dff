/* Contents: what a shipment carries of an arena.
 */
#ifndef HAUL_ARENA_CONTENTS_H
#define HAUL_ARENA_CONTENTS_H

#include "arena/room.h"
#include "pack/read_set.h"

/* Bytes that do not come back. On the way there they stay as they are, unless they are edited. */
typedef struct haul__kept_bytes {
    size_t at, bytes;
    int is_edited;
    int is_data; /* kept by a direction alone: an update takes it there */
    unsigned char becomes[sizeof(uint64_t)]; /* of no more bytes than that; more become zeros */
} haul__kept_bytes;

/* A pointer that no bit tells: off the grid, or one that leads `delta` bytes beside its block. */
typedef struct haul__odd_place {
    size_t at;
    uintptr_t delta;
} haul__odd_place;

/* A pointer with high tags: without the bits of `mask`, and `delta` on, it is what it leads to. */
typedef struct haul__tagged_place {
    size_t at;
    uintptr_t delta, mask;
} haul__tagged_place;

/* Another arena on the same device. */
typedef struct haul__neighbour {
    uintptr_t host;
    size_t bytes;
    uint64_t device;
} haul__neighbour;

typedef struct haul__contents {
    haul_arena *arena; /* held */
    unsigned char *base;
    size_t bytes;   /* from its base */
    uint64_t opens; /* their number: the arena's, then */
    const uint64_t *slots;
    uint64_t *own;          /* slots that were discovered; NULL: the arena's */
    haul_root root;         /* it was discovered from; type NULL: it was not */
    haul__kept_bytes *kept; /* in order; odd words among them */
    size_t kept_count, kept_capacity;
    haul__odd_place *odd; /* in order */
    size_t odd_count, odd_capacity;
    haul__tagged_place *tagged; /* in order */
    size_t tagged_count;
    uint64_t there; /* the contents' address on the device; 0: they have none yet */
    /* how far odd words lead out of the contents, to come back in by their delta */
    size_t before, behind;
    haul__neighbour *neighbours;
    size_t neighbour_count;
    haul_outside outside;
    int direct;
    int is_edited; /* the last time they went there, some bytes were others */
    /* of a graph that was discovered: fields that shapes and rules read, and terminators */
    haul__reads reads;
    int lets_change; /* they may come back changed */
} haul__contents;

/* Describes what the arena holds now; `plan` tells its pointers, or NULL: the arena does.
 * HAUL_ERROR_GRAPH: the plan's graph does not lie in the arena. Fails with words in `error`. */
haul_status haul__contents_open(haul__contents *contents, haul_arena *arena, const haul_plan *plan,
                                haul_error *error);
void haul__contents_close(haul__contents *contents);
/* The same, but for the hold on the arena, which is the caller's then. */
void haul__contents_release(haul__contents *contents);
/* HAUL_ERROR_STALE: what was shipped is no longer there. */
haul_status haul__contents_check(const haul__contents *contents, haul_error *error);
size_t haul__contents_bitmap_bytes(const haul__contents *contents);
/* The same contents once more, for another range. HAUL_ERROR_MEMORY, with words. */
haul_status haul__contents_copy(haul__contents *copy, const haul__contents *contents,
                                haul_error *error);

#endif
