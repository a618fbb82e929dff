/* The inside of the host device: what an open one holds.
 *
 *     host.c     the table; memory, copies, relocation, order, launches
 *     direct.c   host memory that is locked, read and written where it lies
 */
#ifndef HAUL_HOST_DEVICE_H
#define HAUL_HOST_DEVICE_H

#include "haul/host.h"

typedef struct haul__host_block {
    unsigned char *public_map, *private_map; /* as mmap gave them; the public one begins with its guard */
    size_t map_bytes;                        /* of the private one; the public one has two pages more */
    size_t slack, bytes;
} haul__host_block;

typedef struct haul__host_locked {
    unsigned char *memory;
    size_t bytes;
} haul__host_locked;

#define HAUL__HOST_MAGIC 0x486f7374u

typedef struct haul__host {
    uint32_t magic;
    int launching;
    haul_allocator allocator;
    size_t page;
    size_t memory_bytes;
    haul__host_block *blocks;
    size_t block_count, block_capacity;
    haul__host_locked *locks;
    size_t lock_count, lock_capacity;
    uint64_t fences;
    haul_host_counters counters;
    char message[256];
} haul__host;

/* Both answer the status. */
haul_status haul__host_fail(haul__host *host, haul_status status, const char *verb, const char *what);
haul_status haul__host_fail_range(haul__host *host, const char *verb, haul_address address, uint64_t bytes);

/* The private view of a range of device memory; NULL where any byte of it is in no block. */
unsigned char *haul__host_view(const haul__host *host, haul_address address, uint64_t bytes);

/* Room for one more element than `count` in an array of the device's. 0: no memory, and nothing has changed. */
int haul__host_grow(haul__host *host, void **array, size_t *capacity, size_t count, size_t element_bytes);

/* direct.c */
haul_status haul__host_lock(void *state, void *memory, size_t bytes);
void haul__host_unlock(void *state, void *memory, size_t bytes);
haul_status haul__host_pull(void *state, const haul_crossing *crossing);
haul_status haul__host_push(void *state, const haul_crossing *crossing);
void haul__host_drop_locks(haul__host *host);

#endif
