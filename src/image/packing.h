/* The arena of an image, packed and hashed in pieces.
 */
#ifndef HAUL_IMAGE_PACKING_H
#define HAUL_IMAGE_PACKING_H

#include "context/context.h"
#include "pack/straight.h"

typedef struct haul__packing {
    haul_context *context;
    haul__straight *straight;
    unsigned char *arena; /* memory for all of it */
    int is_whole;         /* all of it must lie there; else large arrays stay in the source */
    int is_hashed;
    uint64_t base; /* pointers become base + offset */
    uint64_t *bitmap;
    const unsigned char **pieces; /* where each piece lies; new memory, the caller's to release */
    size_t count;                 /* of pieces */
    uint64_t hash;                /* haul__image_hash of the arena; atomic, as the next two are */
    unsigned wants_index, is_crooked;
} haul__packing;

/* The members up to `bitmap` are given, the others are 0. The context's threads take part.
 * *is_crooked: nothing of use was done, for the graph needs haul__plan_order. HAUL_ERROR_MEMORY. */
haul_status haul__pack_straight(haul__packing *packing, int *is_crooked);

#endif
