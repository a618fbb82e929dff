/* The arena of an image, from an arena of the user's as it lies.
 *
 * Nothing is discovered: the arena knows its pointers (haul_arena_new), and its bytes are the
 * image's, behind a few zeros, since an offset of 0 means null. Each piece is copied, its pointers
 * become offsets, and it is hashed while it is in a second-level cache. For a file, a piece without
 * pointers is hashed, and written, where it lies. So it takes little more than one copy.
 *
 * The arena's bytes are not looked at, so a pointer that the arena has not noted would be written
 * as data. Those of the root are compared; readers find the others, unless they trust the image.
 */
#include "image/lying.h"

#include <stdio.h>

#include "arena/edits.h"
#include "arena/staying.h"
#include "arena/unmarked.h"
#include "base/status.h"
#include "image/format.h"
#include "type/elements.h"

#define NONE_OUTSIDE SIZE_MAX

/* ---- Is it fit? */

static const char *unfit_root(const haul__contents *c, const haul_root *root)
{
    const haul__walk *walk = haul__type_walk(root->type);
    const size_t at = (uintptr_t)root->address - (uintptr_t)c->base;
    size_t i = 0, offset;
    if (root->count != 1)
        return "an arena with several root elements is not written as it lies";
    if (at >= c->bytes || walk->extent > c->bytes - at || walk->true_upper > c->bytes - at)
        return "the root does not lie in the arena";
    while (haul__next_pointer(walk, &i, &offset)) {
        const size_t word = (at + offset) / HAUL__WORD;
        if (haul__load_word(c->base + at + offset) != 0 && !(c->slots[word / 64] >> word % 64 & 1))
            return "the arena has not noted the root's pointers: make objects with haul_arena_new, "
                   "or write it without .as_it_lies";
    }
    return NULL;
}

/* Bytes that do not return are of fields that travel one way, or of a nursery. */
static int is_unfit(const haul__contents *c)
{
    size_t i;
    for (i = 0; i < c->staying_count; i++)
        if (!c->staying[i].is_edited)
            return 1;
    return c->word_count > 0;
}

haul_status haul__lying_open(haul__lying *lying, haul_arena *arena, const haul_root *root,
                             haul_error *error)
{
    haul__contents *c = &lying->contents;
    const char *why;
    haul_status status;
    if (!haul__arena_is_valid(arena) || haul__arena_used(arena) == 0)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "the arena is NULL, freed, or nothing has been allocated in it");
    status = haul__contents_open(c, arena, NULL, error);
    if (status != HAUL_OK)
        return status;
    why = unfit_root(c, root);
    if (why)
        return haul__fail(error, HAUL_ERROR_ARGUMENT, "%s", why);
    if (is_unfit(c))
        return haul__fail(error, HAUL_ERROR_UNSUPPORTED,
                          "an arena with nurseries, pointers off the grid of words, or fields that "
                          "travel one way is not written as it lies");
    lying->before = arena->alignment > HAUL__GRANULE ? arena->alignment : HAUL__GRANULE;
    return arena->starts ? haul__check_unmarked(c, error) : HAUL_OK;
}

void haul__lying_close(haul__lying *lying)
{
    haul__contents_close(&lying->contents);
}

size_t haul__lying_bytes(const haul__lying *lying)
{
    return lying->before + ((lying->contents.bytes + HAUL__GRANULE - 1) & ~(HAUL__GRANULE - 1));
}

/* ---- Pieces. */

typedef struct lying_job {
    haul__packing *packing;
    const haul__lying *lying;
    size_t outside; /* atomic: the lowest place of a pointer that leads out, or NONE_OUTSIDE */
} lying_job;

static size_t piece_end(const haul__lying *lying, size_t number)
{
    const size_t bytes = haul__lying_bytes(lying), first = number * HAUL__IMAGE_PIECE;
    return bytes - first < HAUL__IMAGE_PIECE ? bytes : first + HAUL__IMAGE_PIECE;
}

/* The bits of 64 words of the image's arena from word `first` on. */
static uint64_t bits_at(const haul__lying *lying, size_t first)
{
    const haul__contents *c = &lying->contents;
    const size_t before = lying->before / HAUL__WORD, words = c->bytes / HAUL__WORD;
    const size_t group = (first - before) / 64, shift = (first - before) % 64;
    const size_t groups = (words + 63) / 64;
    uint64_t bits;
    if (first < before) /* some of these are zeros */
        return before - first < 64 ? c->slots[0] << (before - first) : 0;
    bits = group < groups ? c->slots[group] >> shift : 0;
    if (shift && group + 1 < groups)
        bits |= c->slots[group + 1] << (64 - shift);
    return bits;
}

/* Fills the piece's bits. Has it any? */
static int take_bits(const haul__packing *p, const haul__lying *lying, size_t number)
{
    const size_t first = number * HAUL__IMAGE_PIECE / HAUL__WORD;
    const size_t end = (piece_end(lying, number) / HAUL__WORD + 63) / 64;
    uint64_t any = 0;
    size_t group;
    for (group = first / 64; group < end; group++)
        any |= p->bitmap[group] = bits_at(lying, group * 64);
    return any != 0;
}

/* Is some byte of the piece, whose bytes are all the contents', not written as it is? */
static int is_edited(const haul__lying *lying, size_t first, size_t end)
{
    const haul__contents *c = &lying->contents;
    const size_t i = haul__first_staying(c, first - lying->before);
    return i < c->staying_count && c->staying[i].at < end - lying->before;
}

/* For a file: the pieces that are written where they lie. 0: there is no memory. */
static int find_lying_pieces(haul__packing *p, const haul__lying *lying)
{
    const haul_allocator *allocator = &p->context->allocator;
    size_t number, packed = 0;
    p->count = (haul__lying_bytes(lying) + HAUL__IMAGE_PIECE - 1) / HAUL__IMAGE_PIECE;
    p->pieces = haul__allocate_zeroed(allocator, p->count * sizeof *p->pieces);
    if (!p->pieces)
        return 0;
    for (number = 0; number < p->count; number++) {
        const size_t first = number * HAUL__IMAGE_PIECE, end = piece_end(lying, number);
        haul__packed_piece *piece = &p->pieces[number];
        const int has_bits = take_bits(p, lying, number);
        piece->is_source = !p->arena && !has_bits && first >= lying->before &&
                           end - lying->before <= lying->contents.bytes &&
                           !is_edited(lying, first, end);
        packed += !piece->is_source;
    }
    if (!p->arena && !haul__packing_memory(p, packed * HAUL__IMAGE_PIECE))
        return 0;
    for (number = packed = 0; number < p->count; number++) {
        const size_t first = number * HAUL__IMAGE_PIECE;
        p->pieces[number].at = p->pieces[number].is_source
                                   ? lying->contents.base + (first - lying->before)
                               : p->arena ? p->arena + first
                                          : p->memory + packed++ * HAUL__IMAGE_PIECE;
    }
    return 1;
}

/* Pointers of [first, end) become offsets, or addresses. The place of one that leads out. */
static size_t relocate_lying(const lying_job *j, unsigned char *to, size_t first, size_t end)
{
    const haul__contents *c = &j->lying->contents;
    const uintptr_t target = (uintptr_t)j->packing->base + j->lying->before;
    size_t word;
    for (word = first / HAUL__WORD; word * HAUL__WORD < end; word += 64) {
        uint64_t bits = j->packing->bitmap[word / 64];
        for (; bits; bits &= bits - 1) {
            const size_t at = (word + haul__lowest64(bits)) * HAUL__WORD - first;
            uintptr_t value = haul__load_word(to + at);
            if (value == 0)
                continue;
            value -= (uintptr_t)c->base;
            if (value > c->bytes)
                return first + at - j->lying->before;
            value += target;
            memcpy(to + at, &value, sizeof value);
        }
    }
    return NONE_OUTSIDE;
}

static size_t fill_piece(const lying_job *j, size_t number, unsigned char *to)
{
    const haul__lying *lying = j->lying;
    const haul__contents *c = &lying->contents;
    const size_t first = number * HAUL__IMAGE_PIECE, end = piece_end(lying, number);
    const size_t begin = first < lying->before ? lying->before : first;
    const size_t from = begin - lying->before;
    const size_t last = end - lying->before < c->bytes ? end - lying->before : c->bytes;
    if (end <= begin) {
        memset(to, 0, end - first);
        return NONE_OUTSIDE;
    }
    memset(to, 0, begin - first);
    memcpy(to + (begin - first), c->base + from, last - from);
    memset(to + (begin - first) + (last - from), 0, end - lying->before - last);
    haul__edit(c, to + (begin - first), from, last - from);
    return relocate_lying(j, to, first, end);
}

static void note_outside(lying_job *j, size_t outside)
{
    size_t lowest = haul__atomic_load(&j->outside);
    while (outside < lowest && !haul__atomic_replace(&j->outside, &lowest, outside))
        continue;
}

static void lying_chunk(void *user, size_t chunk, size_t first, size_t end, void *scratch)
{
    lying_job *j = user;
    haul__packing *p = j->packing;
    uint64_t hash = 0;
    (void)chunk;
    (void)scratch;
    for (; first < end; first++) {
        const haul__packed_piece *piece = &p->pieces[first];
        const size_t at = first * HAUL__IMAGE_PIECE;
        if (!piece->is_source) {
            const size_t outside = fill_piece(
                j, first, p->arena ? p->arena + at : p->memory + (piece->at - p->memory));
            if (outside != NONE_OUTSIDE) {
                note_outside(j, outside);
                return;
            }
        }
        if (p->is_hashed)
            hash += haul__image_piece_hash(piece->at, piece_end(j->lying, first) - at, first);
    }
    haul__atomic_add(&p->hash, hash);
}

static haul_status refuse_outside(haul_context *context, size_t at)
{
    char path[HAUL_PATH_BYTES];
    haul__fail(&context->error, HAUL_ERROR_GRAPH,
               "a pointer leads out of the arena, which is written as it lies");
    snprintf(path, sizeof path, "arena+%zu", at);
    haul__set_path(context->error.path, path);
    return HAUL_ERROR_GRAPH;
}

haul_status haul__pack_lying(haul__packing *p, const haul__lying *lying)
{
    const size_t bytes = haul__lying_bytes(lying);
    lying_job j;
    j.packing = p;
    j.lying = lying;
    j.outside = NONE_OUTSIDE;
    if (!find_lying_pieces(p, lying))
        return HAUL_ERROR_MEMORY;
    haul__pool_run(haul__context_pool(p->context, bytes), bytes, 0, p->count,
                   p->count / HAUL__POOL_CHUNKS + 1, lying_chunk, &j);
    return j.outside == NONE_OUTSIDE ? HAUL_OK : refuse_outside(p->context, j.outside);
}
