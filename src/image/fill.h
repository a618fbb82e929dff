/* The arena of an image comes into its block, piece by piece, with pointers in place of offsets.
 */
#ifndef HAUL_IMAGE_FILL_H
#define HAUL_IMAGE_FILL_H

#include "base/pool.h"
#include "image/input.h"
#include "image/relocate.h"

typedef struct haul__filled_piece {
    uint64_t hash;
    size_t wrong;      /* the offset of a pointer that leads nowhere, or HAUL__NONE_WRONG */
    unsigned is_there; /* atomic: all members, and the piece's bytes, are final */
} haul__filled_piece;

typedef struct haul__filling {
    haul_context *context;
    haul__input *input;        /* gives the pieces, in order; NULL: see `from` */
    const unsigned char *from; /* the arena in memory; NULL: it lies in the block */
    haul__offsets offsets;
    uint64_t hash; /* that the arena should have */
    int is_hashed; /* 0: `hash` is not compared */
    /* fill.c: */
    size_t threads; /* that work on it */
    haul__filled_piece *pieces;
    size_t count, begun; /* begun: atomic; it may pass `count` */
    unsigned is_stopped; /* atomic: something is wrong */
    haul_status status;  /* of the input */
    size_t there;        /* bytes from the front that are there: of the thread that reads along */
} haul__filling;

/* Reads along with a filling: with haul__fill_to. It runs on one thread, any one. */
typedef void haul__reading_along(void *user);

/* Fills the block, and runs `along` meanwhile, which may be NULL. The context's threads take part
 * if nobody need be asked for the bytes. HAUL_ERROR_FORMAT: another checksum, or a pointer that
 * leads nowhere; HAUL_ERROR_MEMORY; HAUL_ERROR_LIMIT: a tag; others as haul__input_read. */
haul_status haul__fill(haul__filling *f, haul__reading_along *along, void *user);
/* Waits until the first `end` bytes are there. 0: some will never be, or are wrong. */
int haul__fill_to(haul__filling *f, size_t end);

#endif
