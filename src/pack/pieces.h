/* Pieces of a compacted arena: gathered one after the other, or scattered.
 */
#ifndef HAUL_PACK_PIECES_H
#define HAUL_PACK_PIECES_H

#include "base/base.h"
#include "haul/plan.h"
#include "pack/progress.h"

/* A piece of a compacted arena: the places of a run of blocks. Zeros: the piece before the first
 * one. */
typedef struct haul__piece {
    size_t at, bytes;  /* in the arena */
    size_t first, end; /* its blocks */
} haul__piece;
/* Goes on to the next piece, of at most `most` bytes, or of one block that has more. 0: there is
 * none. */
int haul__next_piece(const haul_plan *plan, size_t most, haul__piece *piece);
/* Does any byte of the piece come back? */
int haul__piece_returns(const haul_plan *plan, const haul__piece *piece);

/* Copies the graph piece by piece: begin, each piece in order, end. Slots become base + offset.
 * Pointers, counts and terminators are compared with the plan: HAUL_ERROR_STALE from the piece that
 * holds a changed one, or from begin for counts. All of a piece's bytes are written to `memory`.
 * `listener` may be NULL. */
typedef struct haul__gathering {
    haul_plan *plan;
    uint64_t base;
    uint64_t final_base; /* where the arena will lie: words that the host works out */
    int for_device;      /* a device will read the arena */
    int is_shared;       /* granules may have bytes with a copy elsewhere */
    int spares;          /* blocks of which nothing is sent need no zeros: they do not cross */
    const haul__listener *listener;
    uint64_t reported; /* bytes reported to the listener */
    size_t nulls;      /* so far */
    /* the first word of each list of the plan that is not wholly written */
    size_t special, empty, end;
} haul__gathering;
haul_status haul__gather_begin(haul__gathering *gathering, haul_plan *plan, uint64_t base,
                               uint64_t final_base, int for_device, const haul__listener *listener);
haul_status haul__gather_piece(haul__gathering *gathering, const haul__piece *piece, void *memory);
haul_status haul__gather_end(haul__gathering *gathering);

/* The whole compacted arena of a plan. */
haul_status haul__gather_compacted(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                                   int for_device, const haul__listener *listener);

/* Writes the data of a piece, in `memory`, to the source. */
void haul__scatter_piece(const haul_plan *plan, const haul__piece *piece, const void *memory);
/* Writes the data of the whole compacted arena to the source. */
void haul__scatter_compacted(const haul_plan *plan, const void *arena);

#endif
