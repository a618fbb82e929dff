/* The contract of images, as a judge: whatever the bytes were, an accepted image can be read and
 * written through its types, planned, packed, loaded again and freed; with its own types it is the
 * same graph. The same holds when its structs have grown since. Memory is bounded by the image's
 * size. If the library has written the image, and at most data in it has changed since, the graph
 * is written with the same bytes.
 */
#ifndef IMAGES_ORACLE_H
#define IMAGES_ORACLE_H

#include "images/image_bytes.h"
#include "images/shapes.h"
#include "support/doors.h"

typedef struct oracle {
    const shape *shape;
    haul_context *context;
    haul_context *walking; /* its loads are checked by the walk alone */
    fault_plan doors;      /* of both contexts */
    uint64_t before;       /* bytes that they held when the last load or plan began */
    size_t count;          /* bytes of the image that was loaded last */
    reader reader;
    uint8_t *roles; /* of the first reading */
    size_t room;    /* of the reader, in bytes of a block */
    image_bytes once, twice;
    image_bytes built;        /* the image of oracle_build, as the library has written it */
    const image_bytes *given; /* the bytes that are judged; NULL: types have changed since */
    unsigned long own;        /* accepted images in the library's own form */
    char message[512];        /* what broke the contract */
} oracle;

typedef enum verdict { REFUSED, ACCEPTED, BROKEN } verdict;

/* 0: the context or the types cannot be made. One oracle of a shape is open at a time. */
int oracle_open(oracle *o, const shape *of);
void oracle_close(oracle *o);

/* Before the reader reads a block of so many bytes. */
void oracle_make_room(oracle *o, size_t bytes);

/* A graph of the shape, drawn from the choices, as an image. */
void oracle_build(oracle *o, choices *c, image_bytes *image);
/* The same with up to 8 damages, drawn too (draw.c). */
void oracle_draw(oracle *o, choices *c, image_bytes *image);

/* One of them: the arena has at least 32 bytes, the other parts 8 or, the words, none. */
void image_damage(image_parts *parts, choices *c);

/* An image of a graph, and one of the same graph of structs that have grown, by the same choices.
 * BROKEN: converted, the first is not the second. */
verdict oracle_compare_grown(oracle *o, choices c);
verdict oracle_judge(oracle *o, const void *bytes, size_t count);
/* Loads them in a context in which allocation `at` fails, from 1 on, with types or (an even `at`)
 * with the image's own, and again. */
verdict oracle_judge_short_of_memory(oracle *o, const void *bytes, size_t count, uint64_t at);

#endif
