/* Checks of a graph that comes from strangers, in a block of its own.
 */
#ifndef HAUL_VALIDATE_VALIDATE_H
#define HAUL_VALIDATE_VALIDATE_H

#include "context/context.h"
#include "haul/source.h"
#include "walk/discovery.h"

/* A pointer that no bit tells: off the grid of words, or with a tag of the bits in `mask`. */
typedef struct haul__odd_word {
    uint64_t offset, mask;
} haul__odd_word;

/* A block, and what tells its pointers. */
typedef struct haul__offsets {
    unsigned char *block;
    size_t bytes; /* of the block: at least a word */
    uintptr_t at; /* the address that pointers have for the block's begin; 0: they are offsets */
    const uint64_t *bitmap; /* a bit for each word of the block */
    uint64_t *kept;         /* the same where somebody keeps it; NULL: nobody does */
    size_t bitmap_words;
    const haul__odd_word *words; /* pointers that no bit tells, in order */
    size_t word_count;
} haul__offsets;

/* Looks at the recorded walk of a graph that is right so far, after layout. */
typedef haul_status haul__look(void *user, haul__discovery *walk);

/* A graph that a block is said to hold. */
typedef struct haul__claimed {
    haul_context *context;
    const haul_root *roots;
    size_t root_count;
    const haul__offsets *offsets;
} haul__claimed;

/* What is special about a graph that a device has left, and no image. */
typedef struct haul__left {
    /* Bytes that belong to no object become these, and no more is asked of them. (In an image they
     * are zeros.) A word that is wrong is HAUL_ERROR_GRAPH. */
    const unsigned char *rest;
    /* Pointers to no elements lead here, behind the block, if their words are null in the copy. */
    uintptr_t nowhere;
    haul__look *look; /* before the checks of bytes that two objects have */
    void *user;
} haul__left;

/* What a walk of the graph may read, and how much work it may do. */
haul__bounds haul__block_bounds(const haul__offsets *offsets);
/* Checks the graph in the block, whose words are pointers by now. HAUL_OK: all that the roots reach
 * lies in the block and is as its types say; the rest of the block is zeros; bits and words tell
 * its pointers and nothing else. The context's record has the path to whatever is not so. `left`
 * NULL: it is an image's. */
haul_status haul__validate(const haul__claimed *claimed, const haul__left *left);

#endif
