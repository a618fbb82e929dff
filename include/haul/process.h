/* The memory of this process: what lies at an address.
 *
 * The audit asks, to tell the words of data that are addresses (audit.h). The answers are those of
 * a snapshot, taken when it is opened: of the mappings, as the system tells them, and of the blocks
 * of malloc's heap, as glibc lays them out. The heap is read through the system, so that no memory
 * that another thread gives back meanwhile can fault.
 *
 *   known         glibc: each block in use of the main heap; of other heaps, and of blocks with a
 *                 mapping of their own, whether one begins at the address. Blocks that free keeps
 *                 for the next malloc (fastbins, tcache) count as in use. With AddressSanitizer and
 *                 its like: the same by their allocator
 *   not known     blocks of other C libraries and allocators: such memory is a mapping
 *   left out      pages of a mapping that are not in memory, because nobody has touched them
 */
#ifndef HAUL_PROCESS_H
#define HAUL_PROCESS_H

#include "haul/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum haul_memory_kind {
    HAUL_MEMORY_BLOCK = 1,  /* a block of the heap */
    HAUL_MEMORY_STATIC = 2, /* static data or code of a program or library; a mapped file */
    HAUL_MEMORY_STACK = 3,  /* of the thread that opened the snapshot, or of the first thread */
    HAUL_MEMORY_MAPPING = 4 /* anything else, stacks of other threads too */
} haul_memory_kind;

typedef struct haul_memory {
    int kind;         /* haul_memory_kind */
    int is_told;      /* 1: the block is one that options.block of an audit has found (audit.h) */
    uintptr_t begin;  /* of the block, or of the mapping */
    size_t bytes;     /* of the block, or of the mapping */
    const char *name; /* of the file or mapping; "": none. Good while the snapshot is open */
} haul_memory;

/* Gives snapshots of a process's memory. Any thread may open one; a snapshot is for one thread. */
typedef struct haul_process {
    size_t table_bytes; /* sizeof(haul_process) */
    /* Takes a snapshot, in memory of the allocator, which must outlive it. HAUL_ERROR_MEMORY.
     * NULL with HAUL_OK: the system tells nothing. */
    haul_status (*open)(const haul_allocator *allocator, void **snapshot);
    /* Finds the block or mapping at the address. 0: there is none, or it cannot be read. */
    int (*find)(void *snapshot, uintptr_t address, haul_memory *memory);
    void (*close)(void *snapshot);
} haul_process;

/* The process that calls. Static. */
HAUL_API const haul_process *haul_this_process(void);

#ifdef __cplusplus
}
#endif
#endif
