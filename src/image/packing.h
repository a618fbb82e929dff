/* The arena of an image, packed and hashed in pieces.
 */
#ifndef HAUL_IMAGE_PACKING_H
#define HAUL_IMAGE_PACKING_H

#include "context/context.h"
#include "pack/straight.h"

typedef struct haul__packed_piece {
    const unsigned char *at; /* where its bytes are, or will be */
    int is_source;           /* they are the source's */
    int is_done;
} haul__packed_piece;

typedef struct haul__packing {
    haul_context *context;
    haul__straight *straight;
    unsigned char *arena; /* memory for all of it; NULL: large arrays stay in the source */
    int is_hashed;
    uint64_t base; /* pointers become base + offset */
    uint64_t *bitmap;
    haul__packed_piece *pieces;
    size_t count;          /* of pieces */
    unsigned char *memory; /* of those that are not the source's, if there is no arena */
    size_t memory_bytes;
    uint64_t hash; /* haul__image_hash of the arena; atomic, as the next two are */
    unsigned wants_index, is_crooked;
} haul__packing;

/* The members up to `bitmap` are given, the others are 0. The context's threads take part.
 * *is_crooked: nothing of use was done, for the graph needs haul__plan_order. HAUL_ERROR_MEMORY,
 * without a record. */
haul_status haul__pack_straight(haul__packing *packing, int *is_crooked);
/* Gets memory for packed pieces, which haul__packing_close keeps for the next image. 0: there is
 * none. */
int haul__packing_memory(haul__packing *packing, size_t bytes);
void haul__packing_close(haul__packing *packing, haul_context *context);

#endif
