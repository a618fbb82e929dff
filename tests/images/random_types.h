/* Types, and small graphs of them as the arenas of images, drawn at random: three types that lead
 * to each other, with arms that overlap and share a number, tags, types chosen by a number, counts,
 * skipped bytes, directions and borrowed pointers. Graphs are laid out about as haul_image_write
 * does.
 *
 * Most types are refused when they are committed, and many images by the walk, so nothing here has
 * to be right but often: no expectation stands here, and none can share a mistake with the library.
 */
#ifndef HAUL_TESTS_IMAGES_RANDOM_TYPES_H
#define HAUL_TESTS_IMAGES_RANDOM_TYPES_H

#include "images/sample.h"

#define GRANULE (2 * WORD)
#define DRAWN_TYPE_MOST (80 * WORD)

enum { TYPES = 3, ROWS = 8, CASES = 3, OBJECTS = 240 };

/* In some drawings the type `a` is this: a number of `b` tells the type of one, and arrays of `b`
 * overlap it, so often that the walk refuses them. */
typedef struct crowded {
    uint8_t count, unused[WORD - 1];
    void *one, *some;
    uintptr_t more;
} crowded;

typedef struct drawn_type {
    haul_type *type;
    size_t bytes, alignment, row_count;
    haul_field rows[ROWS];
    char names[ROWS][4];
    haul_case cases[ROWS][CASES];
} drawn_type;

typedef struct drawn_object {
    const drawn_type *of;
    size_t offset;
    const haul_integer *tag; /* a number that tells its type; NULL: none does */
    int64_t value;           /* of the tag */
} drawn_object;

typedef struct drawing {
    random_source random;
    drawn_type types[TYPES]; /* "a", "b", "c" */
    int is_crowd;
    image_bytes arena, bits;
    haul__image_root root; /* of type a */
    size_t limit, next;    /* of the arena: where objects end at last, and the next one begins */
    drawn_object objects[OBJECTS];
    size_t object_count;
} drawing;

/* Committed ones, in place of those before. */
void drawing_of_types(drawing *d);
const drawn_type *drawing_type_of(const drawing *d, haul_type *const *handle);
/* An arena that ends with its last object, or later. 0: the roots do not fit. */
int drawing_of_graph(drawing *d);
void drawing_close(drawing *d);

static inline size_t below(drawing *d, size_t bound)
{
    return random_below(&d->random, bound);
}

static inline int one_in(drawing *d, size_t of)
{
    return random_one_in(&d->random, of);
}

#endif
