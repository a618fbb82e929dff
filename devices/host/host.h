/* The inside of the host device: what an open one holds.
 *
 *     host.c     the table; memory, copies, relocation, order, launches
 *     direct.c   host memory that is locked, read and written where it lies
 *     mirror.c   memory at addresses where the host has some too
 */
#ifndef HAUL_HOST_DEVICE_H
#define HAUL_HOST_DEVICE_H

#include "haul/host.h"

typedef struct haul__host_block {
    unsigned char *public_map, *private_map; /* as mmap gave them; the public one begins with its guard */
    size_t map_bytes;                        /* of the private one; the public one has two pages more */
    size_t slack, bytes;
    unsigned char *window; /* what the public view shows but in launches; NULL: nothing, it is closed */
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

/* Pages that can be mapped again; the same at `at`, in place of what is there; addresses for them, between two guards.
 * NULL, 0, NULL: the system has none, or refuses. */
unsigned char *haul__host_pages(size_t bytes);
int haul__host_show(unsigned char *pages, size_t bytes, unsigned char *at);
unsigned char *haul__host_reserve(const haul__host *host, size_t bytes);
/* What a block has of them. */
void haul__host_unmap(const haul__host *host, const haul__host_block *block);
/* Room for a block of so many bytes, `b`, that counts when it is added. NULL: the message says why. */
haul__host_block *haul__host_new_block(haul__host *host, const char *verb, uint64_t bytes, haul_status *status);
void haul__host_add_block(haul__host *host, uint64_t bytes);
void haul__host_remove_block(haul__host *host, haul__host_block *block);

/* mirror.c */
haul_status haul__host_mirror(void *state, size_t bytes, haul_mirror *mirror);
void haul__host_unmirror(void *state, const haul_mirror *mirror);
int haul__host_is_mirror(const haul__host *host, const unsigned char *memory, size_t bytes);
/* The public view shows the device's bytes, or the host's again. 0: the system refuses. */
int haul__host_turn(const haul__host *host, const haul__host_block *block, int to_device);

/* direct.c */
haul_status haul__host_lock(void *state, void *memory, size_t bytes);
void haul__host_unlock(void *state, void *memory, size_t bytes);
haul_status haul__host_pull(void *state, const haul_crossing *crossing);
haul_status haul__host_push(void *state, const haul_crossing *crossing);
void haul__host_drop_locks(haul__host *host);

#endif
