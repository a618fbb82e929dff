/* What lies around graphs, and contexts are told about: registered statics of each policy,
 * functions with a translation. And a static that nobody registered, for wrong data.
 */
#ifndef RANDOM_SURROUNDINGS_H
#define RANDOM_SURROUNDINGS_H

#include "haul.h"

enum {
    STATIC_BYTES = 512,   /* of what is kept, of what becomes null, and of the stranger */
    STATIC_COPIED = 4096, /* of what is copied: graphs put objects there, one graph at a time */
    STATIC_MARGIN = 8192  /* on both sides of each: what is biased leads nowhere by chance */
};

typedef struct surroundings {
    unsigned char *memory;
    unsigned char *kept, *nulls, *copied, *stranger;
    haul_static statics[3];
    haul_translation functions[3];
} surroundings;

/* 1: there was memory. */
int surroundings_open(surroundings *s);
void surroundings_close(surroundings *s);
/* 1: all of it lies in one of the statics that are not copied. */
int surroundings_have(const surroundings *s, const void *address, size_t bytes);
/* The options name lists of `s`, which must outlive the context. */
void surroundings_tell(const surroundings *s, haul_context_options *options);

#endif
