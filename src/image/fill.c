/* The arena of an image comes into its block.
 *
 * The slow obvious version copies the arena, hashes it, relocates it, and then looks at the graph:
 * four times through memory. Here it is done in pieces that fit into a second-level cache, and the
 * graph is looked at while they are still there.
 *
 * With threads, each takes a piece that nobody has begun, while one of them looks at the graph.
 * That one takes pieces itself when it comes to bytes that are not there, so it waits only for a
 * piece that another thread works on. Pieces of different huge pages come in turn: if several
 * threads touch a new page at once, the system clears one for each of them, and keeps one.
 *
 * Why it is right: the pieces are apart, and a piece is looked at only once it is final. Whether
 * the checksum fits is known at the end. So who reads along must expect any bytes, and what it has
 * found counts only if the filling succeeds.
 */
#include "image/fill.h"

#include "base/status.h"
#include "image/head.h"
#include "map/address.h"

#define PAGE_PIECES (((size_t)2 << 20) / HAUL__IMAGE_PIECE) /* of a huge page (base/memory.c) */

/* A piece that nobody has begun; f->count: there is none. One thread takes them in order, and so do
 * several where fewer huge pages are left than threads. */
static size_t begin_piece(haul__filling *f)
{
    const size_t together = f->threads * PAGE_PIECES;
    size_t turn, first;
    if (haul__atomic_load(&f->is_stopped))
        return f->count;
    turn = haul__atomic_add(&f->begun, (size_t)1) - 1;
    first = turn - turn % together;
    if (turn >= f->count || f->count - first < together)
        return turn < f->count ? turn : f->count;
    turn -= first;
    return first + turn % f->threads * PAGE_PIECES + turn / f->threads;
}

static void fill_piece(haul__filling *f, size_t number)
{
    const haul__offsets *o = &f->offsets;
    haul__filled_piece *piece = &f->pieces[number];
    const size_t first = number * HAUL__IMAGE_PIECE, left = o->bytes - first,
                 bytes = left < HAUL__IMAGE_PIECE ? left : HAUL__IMAGE_PIECE,
                 bit_words = HAUL__IMAGE_PIECE / HAUL__WORD / 64, first_bits = number * bit_words;
    if (f->input)
        f->status = haul__input_read(f->input, o->block + first, bytes);
    else if (f->from && f->is_hashed)
        piece->hash = haul__image_copy_piece(o->block + first, f->from + first, bytes, number);
    else if (f->from)
        memcpy(o->block + first, f->from + first, bytes);
    if (f->status != HAUL_OK) {
        haul__atomic_store(&f->is_stopped, 1u);
        return;
    }
    if (f->is_hashed && !f->from)
        piece->hash = haul__image_piece_hash(o->block + first, bytes, number);
    piece->wrong = haul__image_relocate_bits(
        o, first_bits, number + 1 < f->count ? first_bits + bit_words : o->bitmap_words);
    haul__atomic_store(&piece->is_there, 1u);
}

int haul__fill_to(haul__filling *f, size_t end)
{
    unsigned spins = 0;
    while (f->there < end) {
        const haul__filled_piece *piece = &f->pieces[f->there / HAUL__IMAGE_PIECE];
        if (haul__atomic_load(&piece->is_there)) {
            if (piece->wrong != HAUL__NONE_WRONG)
                return 0;
            f->there += HAUL__IMAGE_PIECE;
        } else {
            const size_t number = begin_piece(f);
            if (number < f->count)
                fill_piece(f, number);
            else if (haul__atomic_load(&f->is_stopped))
                return 0;
            else
                haul__pool_rest(&spins);
        }
    }
    return 1;
}

/* What a loop of the pool needs. */
typedef struct job {
    haul__filling *filling;
    haul__reading_along *along;
    void *user;
} job;

static void work(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const job *j = user;
    haul__filling *f = j->filling;
    (void)number;
    (void)scratch;
    if (first == 0 && j->along)
        j->along(j->user);
    for (; first < end; first++) {
        size_t piece;
        while ((piece = begin_piece(f)) < f->count)
            fill_piece(f, piece);
    }
}

/* All pieces are there. */
static haul_status check_pieces(const haul__filling *f)
{
    haul_error *error = &f->context->error;
    uint64_t hash = 0;
    size_t i;
    for (i = 0; i < f->count; i++)
        hash += f->pieces[i].hash;
    if (f->is_hashed && hash != f->hash)
        return haul__image_refuse(error, "a section does not have its checksum");
    for (i = 0; i < f->count; i++)
        if (f->pieces[i].wrong != HAUL__NONE_WRONG)
            return haul__image_refuse_bit(&f->offsets, f->pieces[i].wrong, error);
    return haul__image_relocate_words(&f->offsets, error);
}

haul_status haul__fill(haul__filling *f, haul__reading_along *along, void *user)
{
    haul_context *context = f->context;
    haul__pool *pool = f->input ? NULL : haul__context_pool(context, f->offsets.bytes);
    job j = { f, along, user };
    haul_status status;
    f->threads = pool ? context->options.threads : 1;
    f->count = (f->offsets.bytes + HAUL__IMAGE_PIECE - 1) / HAUL__IMAGE_PIECE;
    f->pieces = haul__allocate_zeroed(&context->allocator, f->count * sizeof *f->pieces);
    if (!f->pieces)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    haul__pool_run(pool, f->offsets.bytes, 0, f->threads, 1, work, &j);
    status = f->status == HAUL_OK ? check_pieces(f) : f->status;
    haul__release(&context->allocator, f->pieces, f->count * sizeof *f->pieces);
    return status;
}
