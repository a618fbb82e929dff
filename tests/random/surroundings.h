/* Memory around graphs that contexts know: registered statics of each policy, and functions with a
 * translation. And one static that nobody has registered, for wrong data.
 */
#ifndef RANDOM_SURROUNDINGS_H
#define RANDOM_SURROUNDINGS_H

#include "haul.h"
#include "support/open.h"

enum {
    STATIC_BYTES = 512,   /* of what is kept, of what becomes null, and of the stranger */
    STATIC_COPIED = 4096, /* of what is copied: graphs put objects there, one graph at a time */
    STATIC_MARGIN = 8192  /* on both sides of each: what is biased leads nowhere by chance */
};

typedef struct surroundings {
    unsigned char *memory;
    unsigned char *kept, *nulls, *copied, *stranger;
    test_static statics[3];
    test_translation functions[3];
} surroundings;

/* 1: there was memory. */
int surroundings_open(surroundings *s);
void surroundings_close(surroundings *s);
/* 1: all of it lies in one of the statics that are not copied. */
int surroundings_have(const surroundings *s, const void *address, size_t bytes);
/* For contexts; names lists of `s`. */
test_known surroundings_known(const surroundings *s);

#endif
