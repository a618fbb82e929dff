/* The arena of an image comes out of the source, in pieces.
 *
 * The slow obvious version packs the arena, hashes it, and writes it: three times through memory.
 * Here each piece is hashed while it is in a second-level cache. A piece of a large array needs no
 * packing at all: it is hashed where it lies in the source, and written from there; or, where all
 * of the arena must be in one memory, hashed as it is copied.
 *
 * With threads, each takes pieces that follow one another (base/pool.h). Pieces are apart, and so
 * are their bits in the bitmap.
 */
#include "image/packing.h"

#include "base/status.h"
#include "image/format.h"

/* 0: this piece cannot be filled now. */
static int pack_piece(haul__packing *p, const uintptr_t *flat, haul__front *front, size_t number,
                      uint64_t *hash)
{
    const haul__straight *s = p->straight;
    const uint64_t first = (uint64_t)number * HAUL__IMAGE_PIECE, left = s->bytes - first,
                   end = first + (left < HAUL__IMAGE_PIECE ? left : HAUL__IMAGE_PIECE);
    const size_t bytes = (size_t)(end - first);
    unsigned char *const to = p->arena + first;
    const void *const source = haul__straight_source(s, front, first, end);
    haul__filled filled;
    if (source) {
        const size_t bit = (size_t)(first >> HAUL__WORD_SHIFT) / 64;
        memset(p->bitmap + bit, 0, (((bytes >> HAUL__WORD_SHIFT) + 63) / 64) * sizeof *p->bitmap);
        if (p->is_whole && p->is_hashed)
            *hash += haul__image_copy_piece(to, source, bytes, number);
        else if (p->is_whole)
            memcpy(to, source, bytes);
        else
            *hash += haul__image_piece_hash(source, bytes, number);
        p->pieces[number] = p->is_whole ? to : source;
        return 1;
    }
    filled = haul__straight_fill(s, front, flat, first, end, p->base, p->arena, p->bitmap);
    if (filled == HAUL__FILL_WANTS_INDEX)
        haul__atomic_store(&p->wants_index, 1u);
    if (filled == HAUL__FILL_IS_CROOKED)
        haul__atomic_store(&p->is_crooked, 1u);
    if (filled != HAUL__FILLED)
        return 0;
    if (p->is_hashed)
        *hash += haul__image_piece_hash(to, bytes, number);
    p->pieces[number] = to;
    return 1;
}

typedef struct packing_job {
    haul__packing *packing;
    const uintptr_t *flat;
} packing_job;

static void pack_chunk(void *user, size_t chunk, size_t first, size_t end, void *scratch)
{
    const packing_job *j = user;
    haul__packing *p = j->packing;
    uint64_t hash = 0;
    haul__front front;
    (void)chunk;
    (void)scratch;
    while (first < end && p->pieces[first]) /* done before the index was made */
        first++;
    haul__straight_begin(p->straight, (uint64_t)first * HAUL__IMAGE_PIECE, &front);
    for (; first < end; first++)
        if (haul__atomic_load(&p->wants_index) || haul__atomic_load(&p->is_crooked) ||
            !pack_piece(p, j->flat, &front, first, &hash))
            break;
    haul__atomic_add(&p->hash, hash);
}

haul_status haul__pack_straight(haul__packing *p, int *is_crooked)
{
    haul_context *context = p->context;
    const size_t bytes = (size_t)p->straight->bytes;
    haul__pool *pool = haul__context_pool(context, bytes);
    size_t grain;
    packing_job j = { p, NULL };
    p->count = (bytes + HAUL__IMAGE_PIECE - 1) / HAUL__IMAGE_PIECE;
    p->pieces = haul__allocate_zeroed(&context->allocator, p->count * sizeof *p->pieces);
    if (!p->pieces)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    j.flat = haul__table_show(&context->table, &p->straight->plan->found.map);
    grain = p->count / HAUL__POOL_CHUNKS + 1;
    for (;;) {
        haul__pool_run(pool, bytes, 0, p->count, grain, pack_chunk, &j);
        if (p->is_crooked || !p->wants_index)
            break;
        p->wants_index = 0;
        if (!haul__straight_index(p->straight))
            return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    }
    *is_crooked = (int)p->is_crooked;
    return HAUL_OK;
}
