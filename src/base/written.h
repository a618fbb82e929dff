/* The pages of memory that this process has written, as the system tells.
 *
 * Linux can, from 6.11 on, of private memory without a file. Elsewhere nothing is watched.
 */
#ifndef HAUL_BASE_WRITTEN_H
#define HAUL_BASE_WRITTEN_H

#include "base/memory.h"

typedef struct haul__written {
    int faults, pages, mappings; /* descriptors of the system */
    long process;                /* that has opened them: a child would see its parent's memory */
    size_t page_bytes;           /* 0: they are not open */
} haul__written;

/* 0: the system tells no pages; nothing is open then. */
int haul__written_open(haul__written *written);
/* Ends all watches. Zeros are allowed. */
void haul__written_close(haul__written *written);

/* Ranges are whole pages. */

/* Watches a range from now on. 0: the system refuses. */
int haul__written_watch(const haul__written *written, uintptr_t begin, uintptr_t end);
/* Ends the watch of a range. Nothing happens if it has ended, or its memory is gone. */
void haul__written_forget(const haul__written *written, uintptr_t begin, uintptr_t end);
/* Sets a bit for each page of a watched range that was written since the watch began, or since the
 * last call; from bit `first` on. What is written later counts for the next call. 0: that is not
 * known; some pages may count as not written any more. */
int haul__written_take(const haul__written *written, uintptr_t begin, uintptr_t end, uint64_t *bits,
                       size_t first);

#endif
