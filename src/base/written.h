/* Which pages of the host's memory have been written, as far as the system tells. */
#ifndef HAUL_BASE_WRITTEN_H
#define HAUL_BASE_WRITTEN_H

#include <stddef.h>
#include <stdint.h>

typedef struct haul__written {
    int is_open;
    int faults, map; /* what the system calls them by */
    size_t page;     /* its pages have so many bytes */
} haul__written;

/* 0: the system does not tell. */
int haul__written_open(haul__written *written);
/* Nothing is watched any more. One that begins with zeros may be closed. */
void haul__written_close(haul__written *written);
/* Watches whole pages from now on. 0: the system refuses, and tells nothing of them. */
int haul__written_watch(const haul__written *written, uintptr_t begin, uintptr_t end);
/* Tells each run of watched pages that was written since the last call, or since the watch. 0: some
 * of them are not watched any more, and anything may have been written. */
int haul__written_take(const haul__written *written, uintptr_t begin, uintptr_t end,
                       void (*tell)(void *user, uintptr_t begin, uintptr_t end), void *user);

#endif
