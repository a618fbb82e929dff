/* Checks of an image's graph, in the block that it was copied to.
 */
#ifndef HAUL_IMAGE_VALIDATE_H
#define HAUL_IMAGE_VALIDATE_H

#include "context/context.h"
#include "haul/source.h"
#include "image/fill.h"
#include "walk/discovery.h"

/* A graph that an image claims to hold. */
typedef struct haul__claimed {
    haul_context *context;
    const haul_root *roots;
    size_t root_count;
    const haul__offsets *offsets; /* the block, and what tells its pointers */
} haul__claimed;

/* What a walk of the graph may read, and how much work it may do. */
haul__bounds haul__image_bounds(const haul__offsets *offsets);
/* Fills the block, and checks what comes. HAUL_OK: all that the roots reach lies in the block and
 * is as its types say; the rest of the block is zeros; bits and words tell its pointers and nothing
 * else. The context's record has the path to whatever is not so. Others as haul__fill. */
haul_status haul__image_validate(const haul__claimed *claimed, haul__filling *filling);

#endif
