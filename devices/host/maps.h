/* The mappings of this process, read line by line without allocating: a signal handler may, too.
 * Neighbours with the same name and permissions count as one mapping: the system splits a mapping
 * where a program gives advice about some of its pages. */
#ifndef HAUL_HOST_MAPS_H
#define HAUL_HOST_MAPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct haul__host_map {
    uintptr_t begin, end;
    int is_readable, is_writable, is_executable, is_shared;
    char name[80]; /* of the file, "[heap]", "[stack]"; "": none */
} haul__host_map;

typedef struct haul__host_maps {
    int file;
    size_t bytes, at;
    haul__host_map next; /* read ahead; it is empty at the end */
    char text[8192];
} haul__host_maps;

/* 0: the system does not tell. */
int haul__host_open_maps(haul__host_maps *maps);
/* 0: there are no more, and the file is closed. By rising address. */
int haul__host_next_map(haul__host_maps *maps, haul__host_map *map);
/* The mapping that has the address; 0: none. */
int haul__host_map_at(haul__host_maps *maps, uintptr_t address, haul__host_map *map);

#endif
