/* Pieces of a compacted arena: gathered one after the other, and scattered.
 */
#ifndef HAUL_PACK_PIECES_H
#define HAUL_PACK_PIECES_H

#include "base/base.h"
#include "haul/plan.h"
#include "pack/progress.h"

/* A piece of a compacted arena: where some whole blocks of the source lie. Zeros: the place before
 * the first one. */
typedef struct haul__piece {
    size_t at, bytes;  /* in the arena */
    size_t first, end; /* its blocks */
} haul__piece;
/* From a piece to the next one: at most `most` bytes where one block has no more. 0: there is
 * none. */
int haul__next_piece(const haul_plan *plan, size_t most, haul__piece *piece);
/* Does anything of it come back? */
int haul__piece_returns(const haul_plan *plan, const haul__piece *piece);

/* Copies the graph piece by piece, slots as base + offset: begin, each piece in order, end. Every
 * pointer, count and terminator is checked against the plan: HAUL_ERROR_STALE from the piece that
 * holds it (counts: from begin). A piece is written to `memory` (piece->bytes), all of it.
 * `listener` may be NULL. */
typedef struct haul__gathering {
    haul_plan *plan;
    uint64_t base;
    /* where the arena will lie, for words that are worked out here and not patched there */
    uint64_t there;
    int for_device; /* a device will read the arena, not this processor */
    const haul__listener *listener;
    uint64_t told;                   /* bytes, to the listener */
    size_t nulls;                    /* so far */
    size_t odd, kept, tagged, empty; /* the first of the plan's lists that is not wholly written */
} haul__gathering;
haul_status haul__gather_begin(haul__gathering *gathering, haul_plan *plan, uint64_t base,
                               uint64_t there, int for_device, const haul__listener *listener);
haul_status haul__gather_piece(haul__gathering *gathering, const haul__piece *piece, void *memory);
haul_status haul__gather_end(haul__gathering *gathering);

/* haul__gather, before anything is put in another order. */
haul_status haul__gather_compacted(haul_plan *plan, void *arena, uint64_t base, uint64_t there,
                                   int for_device, const haul__listener *listener);

void haul__scatter_piece(const haul_plan *plan, const haul__piece *piece, const void *memory);
/* haul__scatter of a compacted arena. */
void haul__scatter_compacted(const haul_plan *plan, const void *arena);

#endif
