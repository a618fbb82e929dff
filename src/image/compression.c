/* Arenas that are compressed by zstd: one frame, whose bytes come and go in pieces.
 *
 * A stranger's frame must not cost more than its image says. The window that zstd keeps has a
 * bound, WINDOW_LOG, which writers obey. The arena's size has been compared with the context's
 * limit and with the bitmap, which is not compressed, before memory is taken for it: so it is at
 * most 64 times the bytes that have come. A frame that gives more or fewer bytes is refused.
 *
 * The section's checksum is that of the compressed bytes, so it is checked without zstd, and before
 * the last of them gives a byte. The frame has zstd's own checksum of what was compressed.
 */
#include "image/compression.h"

#include "base/status.h"
#include "image/format.h"
#include "image/head.h"

#ifdef HAUL_HAS_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_LOG 21 /* 2 MiB */

static haul_status short_of_memory(haul_context *context)
{
    return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for an image");
}

int haul__can_compress(void)
{
    return 1;
}

/* ---- Compressing. */

haul_status haul__compress(haul_context *context, int level, const void *bytes, size_t count,
                           haul__compressed *compressed)
{
    ZSTD_CCtx *state = ZSTD_createCCtx();
    size_t got;
    memset(compressed, 0, sizeof *compressed);
    compressed->room = ZSTD_compressBound(count);
    compressed->at = haul__allocate(&context->allocator, compressed->room, 2 * sizeof(void *));
    if (!state || !compressed->at) {
        ZSTD_freeCCtx(state);
        return short_of_memory(context);
    }
    ZSTD_CCtx_setParameter(state, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(state, ZSTD_c_windowLog, WINDOW_LOG);
    ZSTD_CCtx_setParameter(state, ZSTD_c_checksumFlag, 1);
    got = ZSTD_compress2(state, compressed->at, compressed->room, bytes, count);
    ZSTD_freeCCtx(state);
    if (ZSTD_isError(got)) /* nothing else can go wrong: the room is the bound */
        return short_of_memory(context);
    compressed->bytes = got;
    return HAUL_OK;
}

/* ---- Decompressing. */

/* Reads the next piece. The last one is not used before the checksum of all has been compared. */
static haul_status read_piece(haul__decompressor *d)
{
    const size_t count = d->left < HAUL__IMAGE_PIECE ? (size_t)d->left : HAUL__IMAGE_PIECE;
    const haul_status status = haul__input_read(d->from, d->piece, count);
    if (status != HAUL_OK)
        return status;
    d->hash += haul__image_piece_hash(d->piece, count, d->number++);
    d->begin = 0;
    d->end = count;
    d->left -= count;
    return d->left > 0 || d->hash == d->wanted
               ? HAUL_OK
               : haul__image_refuse(&d->context->error, "a section does not have its checksum");
}

/* Goes on until there is output, or the frame has ended. */
static haul_status step(haul__decompressor *d, ZSTD_outBuffer *out)
{
    while (out->pos == 0 && !d->has_ended) {
        ZSTD_inBuffer in;
        size_t rest;
        const haul_status status = d->begin == d->end && d->left > 0 ? read_piece(d) : HAUL_OK;
        if (status != HAUL_OK)
            return status;
        in.src = d->piece + d->begin;
        in.size = d->end - d->begin;
        in.pos = 0;
        rest = ZSTD_decompressStream(d->state, out, &in);
        d->begin += in.pos;
        if (ZSTD_isError(rest) && ZSTD_getErrorCode(rest) == ZSTD_error_memory_allocation)
            return short_of_memory(d->context);
        if (ZSTD_isError(rest))
            return haul__fail(&d->context->error, HAUL_ERROR_FORMAT,
                              "not a whole image: its arena cannot be decompressed: %s",
                              ZSTD_getErrorName(rest));
        d->has_ended = rest == 0;
        if (!d->has_ended && out->pos == 0 && d->begin == d->end && d->left == 0)
            return haul__image_refuse(&d->context->error, "its compressed arena has no end");
    }
    return HAUL_OK;
}

static haul_status give(void *decompressor, void *to, size_t count, size_t *got)
{
    haul__decompressor *d = decompressor;
    ZSTD_outBuffer out;
    haul_status status;
    out.dst = to;
    out.size = count;
    out.pos = 0;
    status = step(d, &out);
    *got = out.pos;
    return status == HAUL_OK && out.pos == 0
               ? haul__image_refuse(&d->context->error,
                                    "its arena has fewer bytes than its head says")
               : status;
}

haul_status haul__decompressor_open(haul__decompressor *d, haul_context *context, haul__input *from,
                                    uint64_t compressed, uint64_t hash, size_t count)
{
    memset(d, 0, sizeof *d);
    d->context = context;
    d->from = from;
    d->left = compressed;
    d->wanted = hash;
    d->state = ZSTD_createDCtx();
    d->piece = haul__allocate(&context->allocator, HAUL__IMAGE_PIECE, sizeof(void *));
    d->bytes.allocator = &context->allocator;
    d->bytes.error = &context->error;
    d->bytes.give = give;
    d->bytes.giver = d;
    d->bytes.left = count;
    if (!d->state || !d->piece)
        return short_of_memory(context);
    ZSTD_DCtx_setParameter(d->state, ZSTD_d_windowLogMax, WINDOW_LOG);
    return HAUL_OK;
}

haul_status haul__decompressor_end(haul__decompressor *d)
{
    unsigned char more;
    ZSTD_outBuffer out;
    haul_status status;
    out.dst = &more;
    out.size = 1;
    out.pos = 0;
    status = step(d, &out);
    if (status == HAUL_OK && (out.pos > 0 || d->begin < d->end || d->left > 0))
        status =
            haul__image_refuse(&d->context->error, "its arena has more bytes than its head says");
    return status;
}

void haul__decompressor_close(haul__decompressor *d)
{
    if (!d->context)
        return;
    ZSTD_freeDCtx(d->state);
    haul__release(&d->context->allocator, d->piece, HAUL__IMAGE_PIECE);
}

#else

int haul__can_compress(void)
{
    return 0;
}

haul_status haul__compress(haul_context *context, int level, const void *bytes, size_t count,
                           haul__compressed *compressed)
{
    (void)level;
    (void)bytes;
    (void)count;
    memset(compressed, 0, sizeof *compressed);
    return haul__fail(&context->error, HAUL_ERROR_UNSUPPORTED,
                      "this library was built without zstd, so it cannot compress: install "
                      "libzstd-dev and build it with -DHAUL_ZSTD=ON");
}

haul_status haul__decompressor_open(haul__decompressor *d, haul_context *context, haul__input *from,
                                    uint64_t compressed, uint64_t hash, size_t count)
{
    (void)from;
    (void)compressed;
    (void)hash;
    (void)count;
    memset(d, 0, sizeof *d);
    return haul__fail(&context->error, HAUL_ERROR_UNSUPPORTED,
                      "the image's arena is compressed, and this library was built without zstd: "
                      "install libzstd-dev and build it with -DHAUL_ZSTD=ON, or write the image "
                      "without compression");
}

haul_status haul__decompressor_end(haul__decompressor *d)
{
    (void)d;
    return HAUL_OK;
}

void haul__decompressor_close(haul__decompressor *d)
{
    (void)d;
}
#endif
