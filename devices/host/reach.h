/* The memory that the kernel of a strict launch can reach. All other memory is closed to it. */
#ifndef HAUL_HOST_REACH_H
#define HAUL_HOST_REACH_H

#include "host.h"
#include "maps.h"

typedef struct haul__host_extent {
    uintptr_t begin, end;
} haul__host_extent;

#define HAUL__HOST_KEPT 4096u
#define HAUL__HOST_CLOSED 262144u
#define HAUL__HOST_DATA 16u

/* Large: it lies in memory that is mapped for one launch, and touched as far as it is used. */
typedef struct haul__host_reach {
    size_t page;
    uintptr_t function, frame; /* the kernel; the frame of the launching call */
    haul__host_extent linker;  /* the dynamic linker; empty: none, or not known */
    haul__host_extent kept[HAUL__HOST_KEPT];
    haul__host_extent closed[HAUL__HOST_CLOSED];
    /* writable static data of the program or library that holds the kernel */
    haul__host_extent segments[HAUL__HOST_DATA], data[HAUL__HOST_DATA]; /* as told, as mapped */
    haul__host_extent stack; /* from the launching call up */
    size_t kept_count, closed_count, segment_count, data_count, data_objects;
    haul__host_maps maps;
} haul__host_reach;

void haul__host_keep(haul__host_reach *reach, uintptr_t begin, size_t bytes);
/* Finds static data and thread-local storage, before the fork. */
void haul__host_keep_objects(haul__host_reach *reach);
/* In the child: finds the mappings to close, and the mapped parts of the static data and the stack.
 * Answers NULL, or the reason of a failure. */
const char *haul__host_find_closed(haul__host_reach *reach);
/* 0: the system refuses. */
int haul__host_protect(const haul__host_extent *extents, size_t count, int protection);
int haul__host_is_in(const haul__host_extent *extents, size_t count, uintptr_t address);

#endif
