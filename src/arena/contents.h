/* Contents: the part of an arena that a shipment carries.
 */
#ifndef HAUL_ARENA_CONTENTS_H
#define HAUL_ARENA_CONTENTS_H

#include "arena/room.h"
#include "pack/sorted_reads.h"

/* A range that stays: it does not come back. It is sent as it is, or edited. */
typedef struct haul__staying {
    size_t at, bytes;
    int is_edited;
    int is_data; /* data that is excluded from the way back; an update sends it */
    unsigned char becomes[sizeof(uint64_t)]; /* the edited bytes; a longer range becomes zeros */
} haul__staying;

/* Another arena on the same device: its address on the host and on the device. */
typedef struct haul__neighbour {
    uintptr_t host;
    size_t bytes;
    uint64_t device;
} haul__neighbour;

typedef struct haul__contents {
    haul_arena *arena; /* held */
    unsigned char *base;
    size_t bytes;   /* from its base */
    uint64_t opens; /* the arena's count of openings when they were opened */
    const uint64_t *slots;
    uint64_t *own;  /* slots of a discovered graph; NULL: the arena's are used */
    haul_root root; /* the graph was discovered from it; type NULL: none was */
    /* in order; special words lie in such ranges */
    haul__staying *staying;
    size_t staying_count, staying_capacity;
    struct haul__special_word *words; /* pointers among the special words; by address */
    size_t word_count, word_capacity;
    size_t explicit_count;   /* explicit relocations among them; the others are tagged pointers */
    uint64_t device_address; /* the contents' address on the device; 0: they have none yet */
    /* bytes before and behind the contents that explicit relocations may point to; their addends
     * lead back into it */
    size_t before, behind;
    haul__neighbour *neighbours;
    size_t neighbour_count;
    haul_outside outside;
    int direct;
    int is_edited; /* some bytes were edited when the contents were last sent */
    /* the read set of a discovered graph */
    haul__read_set reads;
    int lets_change; /* the read set may change */
} haul__contents;

/* Opens contents on all that the arena holds now. `plan` tells the pointers; NULL: the arena does.
 * HAUL_ERROR_GRAPH: the plan's graph leads out of the arena. A failure is described in `error`. */
haul_status haul__contents_open(haul__contents *contents, haul_arena *arena, const haul_plan *plan,
                                haul_error *error);
void haul__contents_close(haul__contents *contents);
/* The same, except that the hold on the arena becomes the caller's. */
void haul__contents_release(haul__contents *contents);
/* HAUL_ERROR_STALE: bytes that were shipped have been released. */
haul_status haul__contents_check(const haul__contents *contents, haul_error *error);
size_t haul__contents_bitmap_bytes(const haul__contents *contents);
/* Copies contents, for another range on a device. HAUL_ERROR_MEMORY, described in `error`. */
haul_status haul__contents_copy(haul__contents *copy, const haul__contents *contents,
                                haul_error *error);

#endif
