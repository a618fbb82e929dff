/* The arena of an image, from an arena of the user's as it lies.
 */
#ifndef HAUL_IMAGE_LYING_H
#define HAUL_IMAGE_LYING_H

#include "arena/contents.h"
#include "image/packing.h"

typedef struct haul__lying {
    haul__contents contents; /* arena NULL: the source is none */
    size_t before;           /* bytes of zeros before the contents: an image has nothing at 0 */
} haul__lying;

/* Opens the arena of a root that lies in it. HAUL_ERROR_ARGUMENT: a freed or empty arena; the root
 * lies elsewhere, or has a pointer that the arena has not noted. HAUL_ERROR_UNSUPPORTED: bits alone
 * do not tell what an image needs. HAUL_ERROR_GRAPH, with the place: plain bytes of a checked arena
 * hold an address of it. Others as haul__contents_open. The caller closes it in any case. */
haul_status haul__lying_open(haul__lying *lying, haul_arena *arena, const haul_root *root,
                             haul_error *error);
void haul__lying_close(haul__lying *lying);
/* Bytes of the image's arena. */
size_t haul__lying_bytes(const haul__lying *lying);
/* The members of a packing up to `bitmap` are given, except `straight`, the others are 0. The
 * context's threads take part. HAUL_ERROR_GRAPH, with the place: a pointer leads out of the arena.
 * HAUL_ERROR_MEMORY, without a record. */
haul_status haul__pack_lying(haul__packing *packing, const haul__lying *lying);

#endif
