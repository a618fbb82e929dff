/* Four programs' worth of types for images, rich in features, and graphs of them. Each has its
 * structs, its description, a builder of small graphs and a naive visitor in a file of its own.
 */
#ifndef IMAGES_SHAPES_H
#define IMAGES_SHAPES_H

#include "haul.h"
#include "images/reader.h"
#include "random/choices.h"

/* Memory for one graph, more than any builder takes. */
typedef struct pile {
    unsigned char memory[8192] __attribute__((aligned(16)));
    size_t used;
} pile;

/* Zeroed, at a multiple of 16. */
void *pile_take(pile *p, size_t bytes);
/* A string of 0 to 6 characters. */
char *pile_string(pile *p, choices *c);

typedef struct shape {
    const char *name;
    haul_status (*describe)(haul_context *context); /* sets *type */
    void (*forget)(void);
    haul_type **type; /* of the root */
    unsigned kind;    /* the root's, for `visit` */
    void *(*build)(pile *p, choices *c);
    reader_visitor *visit;
} shape;

extern const shape plain_shape; /* what a scan checks (image/scan.c) */
extern const shape mesh_shape;  /* arrays, strings, aliases, tags */
extern const shape value_shape; /* unions, conditions, switches, tails */
extern const shape space_shape; /* distances, ends, packed structs, pools, skipped bytes */

#endif
