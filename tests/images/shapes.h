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
    unsigned char memory[16384] __attribute__((aligned(16)));
    size_t used, gap; /* gap: bytes between objects */
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
    const struct shape *grown;      /* the same when its structs have grown; NULL: they have */
    const haul_image_growth *sizes; /* of structs that grow, each with the size in this shape */
    size_t size_count;
} shape;

extern const shape plain_shape; /* what a scan checks (image/scan.c) */
extern const shape mesh_shape;  /* arrays, strings, aliases, tags */
extern const shape value_shape; /* unions, conditions, switches, tails */
extern const shape space_shape; /* distances, ends, packed structs, pools, skipped bytes */
extern const shape grown_plain_shape, grown_mesh_shape, grown_value_shape, grown_space_shape;

/* Each shape is compiled twice. The second time, by a file that defines SHAPE_GROWN, structs have
 * fields that are called `added`. */
#ifdef SHAPE_GROWN
#define ADDED(...) __VA_ARGS__
#define SIZE(S)                                                                                    \
    {                                                                                              \
#S, sizeof(S), offsetof(S, added)                                                          \
    }
#define SHAPE(name) grown_##name##_shape
#define GROWN(name) NULL
#else
#define ADDED(...)
#define SIZE(S)                                                                                    \
    {                                                                                              \
#S, sizeof(S), 0                                                                           \
    }
#define SHAPE(name) name##_shape
#define GROWN(name) &grown_##name##_shape
#endif

#endif
