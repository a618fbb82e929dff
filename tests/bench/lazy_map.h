/* A file mapped so that a page's pointers are made when the page is first touched. */
#ifndef BENCH_LAZY_MAP_H
#define BENCH_LAZY_MAP_H

#include <stddef.h>

typedef struct lazy_map {
    char *file;
    size_t file_bytes;
    char *arena; /* the graph */
    size_t arena_bytes;
    const unsigned char *bits; /* of its pointers, a bit for each word */
} lazy_map;

/* An image whose pointers the bits alone tell, on pages. One at a time. */
void lazy_map_open(lazy_map *map, const char *path);
void lazy_map_close(lazy_map *map);

#endif
