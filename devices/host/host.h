/* The inside of the host device: the state of an open one.
 *
 *     host.c          the table; memory, order
 *     copies.c        copies between memories, and of strips
 *     patch.c         pointers follow their arena
 *     launch.c        launches, counters
 *     opening.c       access to device memory
 *     strict.c        strict launches: the child that runs a kernel
 *     reach.c         what such a kernel can reach
 *     maps.c          the mappings of this process
 *     fault.c         what a kernel ran into
 *     notes.c         the message of a failure, counters, growing tables
 *     pages.c         pages that can be mapped twice
 *     allocations.c   its memory, made of them
 *     small.c         small allocations, many to a map
 *     locked.c        locked host memory, read and written in place
 *     mirror.c        device memory and host memory at the same addresses
 */
#ifndef HAUL_HOST_DEVICE_H
#define HAUL_HOST_DEVICE_H

#include <pthread.h>

#include "haul/host.h"

/* The place of a small allocation. bytes 0: it is free, and `slack` is the number of the next free
 * slot. */
typedef struct haul__host_slot {
    uint32_t bytes, slack; /* slack: the bytes of the slot before the allocation */
} haul__host_slot;

typedef struct haul__host_region haul__host_region;
struct haul__host_region {
    unsigned char *public_at, *private_at; /* of the first slot */
    size_t stride;                         /* of a slot and its guard */
    unsigned kind, count, live, first_free;
    haul__host_region *next, *previous; /* the list of its kind, of regions with a free slot */
    haul__host_slot slots[];
};

#define HAUL__HOST_KINDS 5u      /* slots of 1, 2, 4, 8 and 16 pages */
#define HAUL__HOST_GUARDED 8192u /* a launch opens up to this many slots one by one */

typedef struct haul__host_block {
    unsigned char *public_map, *private_map; /* the public one begins with its guard page */
    size_t map_bytes; /* of the private one; the public one has two guard pages more */
    size_t slack, bytes;
    /* of a mirror: the host's bytes, which the public view shows except in launches; else NULL */
    unsigned char *window;
    haul__host_region *region; /* of small allocations; NULL: the block is one allocation */
    uint64_t on_host, moving;  /* of `bytes`, by place: all lie in the same pages here */
} haul__host_block;

typedef struct haul__host_locked {
    unsigned char *memory;
    size_t bytes;
} haul__host_locked;

#define HAUL__HOST_MAGIC 0x486f7374u

typedef struct haul__host {
    uint32_t magic;
    int launching; /* atomic */
    pthread_mutex_t
        mutex;    /* guards the blocks: a launch opens them while calls add and remove some */
    long process; /* that opened it */
    haul_allocator allocator;
    size_t page;
    int is_strict;
    int is_file, file; /* is_file: its pages are those of `file`; -1: not open yet */
    size_t memory_bytes, budget_bytes;
    /* by falling address: the system mostly gives lower and lower ones */
    haul__host_block *blocks;
    size_t block_count, block_capacity;
    haul__host_region *open[HAUL__HOST_KINDS]; /* with a free slot */
    size_t slots_live;
    haul__host_locked *locks;
    size_t lock_count, lock_capacity;
    uint64_t fences;
    haul_host_counters counters;
    char message[256];
} haul__host;

/* notes.c. Fill the message; answer the status. */
haul_status haul__host_fail(haul__host *host, haul_status status, const char *verb,
                            const char *what);
haul_status haul__host_fail_range(haul__host *host, const char *verb, haul_address address,
                                  uint64_t bytes);

/* Makes room for `count` + 1 elements in an array. 0: no memory, and nothing has changed. */
int haul__host_grow(haul__host *host, void **array, size_t *capacity, size_t count,
                    size_t element_bytes);

/* Refuses an allocation that exceeds the device's memory; counts one that was made, or released. */
haul_status haul__host_has_memory(haul__host *host, const char *verb, uint64_t bytes);
void haul__host_count(haul__host *host, uint64_t bytes);
void haul__host_discount(haul__host *host, uint64_t bytes);

#endif
