/* The arena of an image comes out of the source, in pieces.
 *
 * The slow obvious version packs the arena, hashes it, and writes it: three times through memory.
 * Here each piece is hashed while it is in a second-level cache. A piece of a large array needs no
 * packing at all: it is hashed where it lies in the source, and written from there; or, where all
 * of the arena must be in one memory, hashed as it is copied.
 *
 * What is packed waits for the last piece's hash, which stands in front of it in a file. The
 * context keeps that memory for the next image: of new memory the system clears each page, which
 * takes up to a fifth of a save.
 *
 * With threads, each takes pieces that follow one another (base/pool.h). Pieces are apart, and so
 * are their bits in the bitmap.
 */
#include "image/packing.h"

#include "image/format.h"

#define KEPT_MOST ((size_t)128 << 20) /* bytes that a context keeps for its next image */

static uint64_t first_of(size_t number)
{
    return (uint64_t)number * HAUL__IMAGE_PIECE;
}

static uint64_t end_of(const haul__packing *p, size_t number)
{
    const uint64_t first = first_of(number), left = p->straight->bytes - first;
    return first + (left < HAUL__IMAGE_PIECE ? left : HAUL__IMAGE_PIECE);
}

/* The last writer's, if it is large enough. */
int haul__packing_memory(haul__packing *p, size_t bytes)
{
    haul_context *context = p->context;
    haul__notes *kept = &context->packed;
    if (kept->capacity * sizeof *kept->words < bytes) {
        haul__notes_forget(context, kept);
        p->memory = haul__allocate(&context->allocator, bytes, HAUL__LINE);
        p->memory_bytes = p->memory ? bytes : 0;
        return p->memory != NULL;
    }
    p->memory = (unsigned char *)kept->words;
    p->memory_bytes = kept->capacity * sizeof *kept->words;
    memset(kept, 0, sizeof *kept);
    return 1;
}

/* Keeps that memory for the next writer, unless it is much. */
static void leave_memory(haul__packing *p, haul_context *context)
{
    if (p->memory_bytes > KEPT_MOST)
        haul__release(&context->allocator, p->memory, p->memory_bytes);
    else
        haul__notes_keep(context, &context->packed, (void *)p->memory,
                         p->memory_bytes / sizeof *context->packed.words);
}

/* Finds the pieces that lie in the source as they are. The others get memory side by side: at their
 * places in an arena they would take as many pages as all of it. The first one is among them, since
 * nothing lies at the beginning of an arena. 0: there is no memory. */
static int find_pieces(haul__packing *p)
{
    const haul_allocator *allocator = &p->context->allocator;
    size_t number, packed = 0;
    p->count = ((size_t)p->straight->bytes + HAUL__IMAGE_PIECE - 1) / HAUL__IMAGE_PIECE;
    p->pieces = haul__allocate_zeroed(allocator, p->count * sizeof *p->pieces);
    if (!p->pieces)
        return 0;
    for (number = 0; number < p->count; number++) {
        haul__packed_piece *piece = &p->pieces[number];
        haul__front front;
        haul__straight_begin(p->straight, first_of(number), &front);
        piece->at = haul__straight_source(p->straight, &front, first_of(number), end_of(p, number));
        piece->is_source = piece->at != NULL;
        packed += !piece->is_source;
    }
    if (!p->arena && !haul__packing_memory(p, packed * HAUL__IMAGE_PIECE))
        return 0;
    for (number = packed = 0; number < p->count; number++)
        if (!p->pieces[number].is_source)
            p->pieces[number].at =
                p->arena ? p->arena + first_of(number) : p->memory + first_of(packed++);
    return 1;
}

static void take_piece(haul__packing *p, size_t number, uint64_t *hash)
{
    const uint64_t first = first_of(number);
    const size_t bytes = (size_t)(end_of(p, number) - first),
                 word = (size_t)(first >> HAUL__WORD_SHIFT) / 64;
    haul__packed_piece *piece = &p->pieces[number];
    memset(p->bitmap + word, 0, (((bytes >> HAUL__WORD_SHIFT) + 63) / 64) * sizeof *p->bitmap);
    if (!p->arena) {
        *hash += haul__image_piece_hash(piece->at, bytes, number);
        return;
    }
    if (p->is_hashed)
        *hash += haul__image_copy_piece(p->arena + first, piece->at, bytes, number);
    else
        memcpy(p->arena + first, piece->at, bytes);
    piece->at = p->arena + first;
}

/* 0: this piece cannot be filled now. */
static int pack_piece(haul__packing *p, const uintptr_t *flat, haul__front *front, size_t number,
                      uint64_t *hash)
{
    const uint64_t first = first_of(number), end = end_of(p, number);
    haul__packed_piece *piece = &p->pieces[number];
    haul__filled filled = HAUL__FILLED;
    if (piece->is_source) {
        haul__straight_pass(p->straight, front, end);
        take_piece(p, number, hash);
    } else {
        unsigned char *const arena = (unsigned char *)((uintptr_t)piece->at - (uintptr_t)first);
        filled =
            haul__straight_fill(p->straight, front, flat, first, end, p->base, arena, p->bitmap);
        if (filled == HAUL__FILLED && p->is_hashed)
            *hash += haul__image_piece_hash(piece->at, (size_t)(end - first), number);
    }
    if (filled == HAUL__FILL_WANTS_INDEX)
        haul__atomic_store(&p->wants_index, 1u);
    if (filled == HAUL__FILL_IS_CROOKED)
        haul__atomic_store(&p->is_crooked, 1u);
    piece->is_done = filled == HAUL__FILLED;
    return piece->is_done;
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
    while (first < end && p->pieces[first].is_done) /* before the index was made */
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
    if (!find_pieces(p))
        return HAUL_ERROR_MEMORY;
    j.flat = haul__table_show(&context->table, &p->straight->plan->found.map);
    grain = p->count / HAUL__POOL_CHUNKS + 1;
    for (;;) {
        haul__pool_run(pool, bytes, 0, p->count, grain, pack_chunk, &j);
        if (p->is_crooked || !p->wants_index)
            break;
        p->wants_index = 0;
        if (!haul__straight_index(p->straight))
            return HAUL_ERROR_MEMORY;
    }
    *is_crooked = (int)p->is_crooked;
    return HAUL_OK;
}

void haul__packing_close(haul__packing *p, haul_context *context)
{
    haul__release(&context->allocator, p->pieces, p->count * sizeof *p->pieces);
    leave_memory(p, context);
    memset(p, 0, sizeof *p);
}
