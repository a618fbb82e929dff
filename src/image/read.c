/* Reading an image: its parts are copied, and then compared with their checksums and looked at.
 *
 * The arena comes last, when all that tells its meaning has been checked. It is copied into the
 * block in which it stays, and its offsets become pointers there (fill.c). An image that is not
 * trusted is checked as a graph meanwhile (scan.c). All of this happens in memory that nobody
 * else has, so a byte that was checked cannot change. The bitmap alone may stay where it lies.
 *
 * An image of structs that have grown since is read by types of its own first, and then converted
 * (convert.c). From then on it is read as if it had been written so.
 */
#include "image/read.h"

#include "arena/allocate.h"
#include "arena/arena.h"
#include "base/status.h"
#include "image/convert.h"
#include "image/scan.h"
#include "map/address.h"
#include "walk/roots.h"

/* ---- The sections beside the arena. */

/* The bitmap of an image in memory is not copied if nobody keeps it. It only chooses the words that
 * are relocated: what they are then is checked. */
static int can_lend(const haul__reader *r, uint32_t kind)
{
    return kind == HAUL__SECTION_BITS && r->input.bytes && !r->options.arena &&
           r->options.growth_count == 0 && (uintptr_t)r->input.bytes % sizeof(uint64_t) == 0;
}

static haul_status read_contents(haul__reader *r, const haul__image_section *s)
{
    const int is_lent = can_lend(r, s->kind);
    const haul_status status = is_lent ? haul__input_lend(&r->input, (size_t)s->bytes, &r->bits)
                                       : haul__input_take(&r->input, (size_t)s->bytes,
                                                          sizeof(uint64_t), &r->contents[s->kind]);
    if (status != HAUL_OK)
        return status;
    r->bytes[s->kind] = (size_t)s->bytes;
    return haul__image_hash(is_lent ? r->bits : r->contents[s->kind], (size_t)s->bytes) == s->hash
               ? HAUL_OK
               : haul__image_refuse(r->error, "a section does not have its checksum");
}

/* ---- Types. */

/* The text of the types that the caller has given, or that were made. */
static haul_status write_types(haul__reader *r)
{
    const int calls = r->options.is_trusted || r->options.calls_functions;
    haul_status status;
    size_t i;
    if (haul__type_text_open(&r->text, &r->context->allocator, r->types, r->count, NULL) != HAUL_OK)
        return haul__fail(r->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    status = haul__type_text_admits(&r->text, calls, r->error);
    for (i = 0; r->options.arena && i < r->text.types.count && status == HAUL_OK; i++) {
        const haul_type *type = r->text.types.at[i];
        const char *why_not = haul__slots_tell_too_little(type);
        if (why_not && r->may_leave_arena)
            r->options.arena = r->block.arena = NULL;
        else if (why_not)
            status = haul__fail(r->error, HAUL_ERROR_UNSUPPORTED,
                                "an image goes into no arena with type %s: %s",
                                haul_type_name(type), why_not);
    }
    return status;
}

static haul_status compare_types(const haul__reader *r)
{
    const haul__stored_text stored = { r->contents[HAUL__SECTION_TYPES],
                                       r->bytes[HAUL__SECTION_TYPES], r->options.renames,
                                       r->options.rename_count };
    haul_status status = haul__type_text_compare(&r->text, &stored, r->error);
    if (status == HAUL_OK || !r->made.count)
        return status;
    r->error->status = HAUL_ERROR_FORMAT; /* the path has the place */
    return HAUL_ERROR_FORMAT;
}

/* The types of the roots become ours, as if the caller had given them. */
static haul_status list_made_roots(haul__reader *r)
{
    const haul__image_root *given = r->contents[HAUL__SECTION_ROOTS];
    size_t i;
    r->count = r->bytes[HAUL__SECTION_ROOTS] / sizeof *given;
    if (r->count == 0)
        return haul__image_refuse(r->error, "it has no root");
    r->made_roots = haul__allocate_zeroed(&r->context->allocator, r->count * sizeof *r->made_roots);
    if (!r->made_roots)
        return haul__fail(r->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    for (i = 0; i < r->count; i++) {
        if (given[i].type >= r->made.count)
            return haul__image_refuse(r->error, "a root has a type that there is not");
        r->made_roots[i] = r->made.at[given[i].type];
    }
    r->types = r->made_roots;
    return HAUL_OK;
}

static haul_status make_types(haul__reader *r)
{
    haul_status status = haul__make_types(r->context, r->contents[HAUL__SECTION_TYPES],
                                          r->bytes[HAUL__SECTION_TYPES], &r->made);
    if (status == HAUL_OK)
        status = list_made_roots(r);
    if (status == HAUL_OK)
        status = haul__commit_types(r->context, &r->made, r->types, r->count);
    return status == HAUL_OK ? write_types(r) : status;
}

/* ---- The image. */

static haul_status find_roots(const haul__reader *r)
{
    const haul__image_root *given = r->contents[HAUL__SECTION_ROOTS];
    haul_image *image = r->image;
    const size_t bytes = image->block.bytes;
    size_t i;
    if (r->bytes[HAUL__SECTION_ROOTS] != r->count * sizeof *given)
        return haul__fail(r->error, HAUL_ERROR_TYPE,
                          "types are given for %zu roots, and the image has %zu", r->count,
                          r->bytes[HAUL__SECTION_ROOTS] / sizeof *given);
    for (i = 0; i < r->count; i++) {
        haul_root *root = &image->roots[i];
        if (given[i].type != haul__type_text_number(&r->text, r->types[i]))
            return haul__fail(r->error, HAUL_ERROR_TYPE, "root %zu of the image has another type",
                              i);
        if (given[i].offset < HAUL__GRANULE || given[i].offset >= bytes || given[i].reserved ||
            given[i].count == 0 || given[i].count > SIZE_MAX)
            return haul__image_refuse(r->error, "a root does not lie in the arena");
        root->address =
            image->block.at + given[i].offset - haul__type_walk(r->types[i])->true_lower;
        root->count = (size_t)given[i].count;
    }
    return HAUL_OK;
}

/* What the image claims, in its block. */
static haul__claimed claims_of(const haul__reader *r, haul__offsets *offsets)
{
    haul__claimed claimed;
    offsets->block = r->image->block.at;
    offsets->bytes = r->image->block.bytes;
    offsets->at = r->head.address ? (uintptr_t)(r->head.address + r->arena_offset) : 0;
    offsets->kept = r->contents[HAUL__SECTION_BITS];
    offsets->bitmap = offsets->kept ? offsets->kept : r->bits;
    offsets->bitmap_words = r->bytes[HAUL__SECTION_BITS] / sizeof *offsets->bitmap;
    offsets->words = r->contents[HAUL__SECTION_WORDS];
    offsets->word_count = r->bytes[HAUL__SECTION_WORDS] / sizeof *offsets->words;
    claimed.context = r->context;
    claimed.roots = r->image->roots;
    claimed.root_count = r->image->root_count;
    claimed.offsets = offsets;
    return claimed;
}

/* The block is filled from the input, or in place. Pages of a file are not touched before they are
 * needed: not for their checksum. */
static haul_status fill_block(haul__reader *r, uint64_t hash, int is_filled)
{
    const haul__image_block *block = &r->image->block;
    haul__filling f;
    haul__claimed claimed;
    if (r->is_at_home)
        return block->is_lent ? HAUL_OK
                              : haul__image_refuse(r->error, "its arena has no place in its pages");
    memset(&f, 0, sizeof f);
    f.context = r->context;
    claimed = claims_of(r, &f.offsets);
    f.hash = hash;
    f.is_hashed = !r->head.arena_bytes && !(block->mapping.at && block->is_lent);
    if (!is_filled && r->arena->bytes) {
        f.from = r->arena->bytes;
        haul__input_pass(r->arena, block->bytes);
    } else if (!is_filled) {
        f.input = r->arena;
    }
    if (r->options.is_trusted)
        return haul__fill(&f, NULL, NULL);
    return haul__image_validate(&claimed, &f);
}

/* The block becomes the image's. */
static haul_status make_image(haul__reader *r)
{
    const haul_allocator *allocator = &r->context->allocator;
    size_t i;
    haul_image *image = haul__allocate_zeroed(allocator, sizeof *image);
    r->image = image;
    if (!image)
        return haul__fail(r->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    image->context = r->context;
    haul__context_hold(r->context);
    image->roots = haul__allocate_zeroed(allocator, r->count * sizeof *image->roots);
    if (!image->roots)
        return haul__fail(r->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    for (i = 0; i < r->count; i++)
        image->roots[i].type = r->types[i];
    image->root_count = r->count;
    haul__hold_types(image->roots, image->root_count);
    image->block = r->block;
    memset(&r->block, 0, sizeof r->block);
    image->made = r->made;
    memset(&r->made, 0, sizeof r->made);
    return find_roots(r);
}

/* The sizes of the sections, which depend on one another. */
static haul_status check_sizes(const haul__reader *r, size_t arena)
{
    if (arena < 2 * HAUL__GRANULE || arena % HAUL__GRANULE)
        return haul__image_refuse(r->error, "its arena has no size that an arena can have");
    if (r->bytes[HAUL__SECTION_BITS] != ((arena >> HAUL__WORD_SHIFT) + 63) / 64 * 8)
        return haul__image_refuse(r->error, "its bitmap has not the size that its arena needs");
    if (r->bytes[HAUL__SECTION_WORDS] % sizeof(haul__odd_word))
        return haul__image_refuse(r->error, "its list of words is cut");
    return HAUL_OK;
}

/* The arena's section, of `bytes` bytes when it is decompressed: all others that the library knows
 * have been read, and the types fit. */
static haul_status read_arena(haul__reader *r, haul__input *input, const haul__image_section *s,
                              size_t bytes)
{
    int is_filled = 0;
    haul_status status = check_sizes(r, bytes);
    r->arena_offset = s->offset;
    r->arena = input;
    if (status == HAUL_OK && r->head.arena_bytes) {
        status =
            haul__decompressor_open(&r->decompressor, r->context, input, s->bytes, s->hash, bytes);
        r->arena = &r->decompressor.bytes;
    }
    if (status == HAUL_OK)
        status = haul__image_block_open(&r->block, r->arena, bytes, (size_t)r->head.alignment,
                                        &is_filled);
    if (status == HAUL_OK)
        status = make_image(r);
    if (status == HAUL_OK)
        status = fill_block(r, s->hash, is_filled);
    return status == HAUL_OK && r->head.arena_bytes ? haul__decompressor_end(&r->decompressor)
                                                    : status;
}

/* ---- What is left behind. */

haul__freed *haul__drop_image(void *object)
{
    haul_image *image = object;
    haul_context *context = image->context;
    haul_arena *arena = image->arena;
    const haul_allocator *allocator = &context->allocator;
    if (image->root_count)
        haul__drop_types(image->roots, image->root_count);
    haul__drop_made_types(allocator, &image->made);
    haul__release(allocator, image->roots, image->root_count * sizeof *image->roots);
    haul__image_block_release(&image->block, allocator);
    image->magic = 0;
    haul__release(allocator, image, sizeof *image);
    haul__context_drop(context);
    return arena ? haul__arena_let_go(arena) : NULL;
}

/* All but the sections that have been read. */
static void close_arena(haul__reader *r)
{
    haul__image_block_release(&r->block, &r->context->allocator);
    haul__decompressor_close(&r->decompressor);
    if (r->text.allocator)
        haul__type_text_close(&r->text);
    if (r->made_roots)
        haul__release(&r->context->allocator, r->made_roots, r->count * sizeof *r->made_roots);
    haul__drop_made_types(&r->context->allocator, &r->made);
}

/* ---- Structs that have grown. */

/* The program's types as they were must be the image's. */
static haul_status compare_as_stored(haul__reader *r, const haul__stored_types *stored)
{
    haul_status status;
    haul__type_text_close(&r->text);
    if (haul__type_text_open(&r->text, &r->context->allocator, r->types, r->count, stored) !=
        HAUL_OK)
        return haul__fail(r->error, HAUL_ERROR_MEMORY, "out of memory for an image");
    status = compare_types(r);
    return status == HAUL_OK ? haul__type_text_admits(&r->text, 1, r->error) : status;
}

/* Reads the arena by types of the image's text, those of `was`, and converts it. */
static haul_status read_as_stored(haul__reader *r, haul__reader *was, const haul__image_section *s,
                                  size_t bytes)
{
    haul__stored_types stored;
    haul__offsets offsets;
    haul__claimed claimed;
    haul_status status = make_types(was);
    if (status == HAUL_OK)
        status = compare_types(was);
    stored.at = was->made.at;
    stored.count = was->made.count;
    stored.growths = r->options.growths;
    stored.growth_count = r->options.growth_count;
    if (status == HAUL_OK)
        status = compare_as_stored(r, &stored);
    if (status == HAUL_OK)
        status = read_arena(was, &r->input, s, bytes);
    if (status == HAUL_OK) {
        claimed = claims_of(was, &offsets);
        status = haul__image_convert(&claimed, &was->text, &r->text, r->contents, r->bytes);
    }
    r->text.stored = NULL;
    return status;
}

/* An image that does not have our types, but perhaps has them as they were. The other reader shares
 * our sections, and nothing else. */
static haul_status read_grown(haul__reader *r, const haul__image_section *s, size_t bytes)
{
    haul__reader was = *r;
    haul__input input = r->input;
    haul__image_section section = *s;
    haul_status status;
    was.types = NULL;
    was.count = 0;
    memset(&was.options, 0, sizeof was.options);
    memset(&was.text, 0, sizeof was.text);
    memset(&was.block, 0, sizeof was.block);
    status = read_as_stored(r, &was, s, bytes);
    if (was.image)
        haul__drop_image(was.image);
    close_arena(&was);
    if (status != HAUL_OK)
        return status;
    input.file = NULL;
    input.bytes = r->contents[HAUL__SECTION_ARENA];
    input.left = r->bytes[HAUL__SECTION_ARENA];
    section.bytes = input.left;
    section.hash = haul__image_hash(input.bytes, input.left);
    r->head.arena_bytes = r->head.address = 0;
    r->options.is_trusted = 0;
    return read_arena(r, &input, &section, input.left);
}

static haul_status read_graph(haul__reader *r, const haul__image_section *s, size_t bytes)
{
    haul_status status = r->types ? HAUL_OK : make_types(r);
    if (status == HAUL_OK)
        status = compare_types(r);
    if (status == HAUL_ERROR_TYPE && r->options.growth_count > 0)
        return read_grown(r, s, bytes);
    return status == HAUL_OK ? read_arena(r, &r->input, s, bytes) : status;
}

/* ---- The sections. */

static haul_status read_section(haul__reader *r, const haul__image_section *s)
{
    const int is_known = s->kind < HAUL__SECTION_KINDS;
    const uint64_t bytes = r->head.arena_bytes ? r->head.arena_bytes : s->bytes;
    int is_zero = 1;
    haul_status status = haul__input_skip(&r->input, s->offset, &is_zero);
    if (status == HAUL_OK && !is_zero)
        return haul__image_refuse(r->error, "a gap between sections is not zeros");
    if (status != HAUL_OK)
        return status;
    if (!is_known && !(s->flags & HAUL__SECTION_OPTIONAL))
        return haul__fail(r->error, HAUL_ERROR_VERSION,
                          "the image has a section of kind %u, which this library must understand "
                          "and does not know",
                          (unsigned)s->kind);
    if (!is_known)
        return haul__input_skip(&r->input, s->offset + s->bytes, &is_zero);
    if (r->is_at_home && (s->kind == HAUL__SECTION_WORDS || s->kind == HAUL__SECTION_BITS)) {
        r->bytes[s->kind] = (size_t)s->bytes;
        haul__input_pass(&r->input, (size_t)s->bytes);
        return HAUL_OK;
    }
    if (s->kind != HAUL__SECTION_ARENA)
        return read_contents(r, s);
    return bytes <= r->context->options.max_bytes
               ? read_graph(r, s, (size_t)bytes)
               : haul__fail(r->error, HAUL_ERROR_LIMIT, "%llu bytes, more than the limit of %zu",
                            (unsigned long long)bytes, r->context->options.max_bytes);
}

static haul_status read_all(haul__reader *r)
{
    haul_status status = haul__image_read_head(&r->input, &r->head, r->sections);
    uint32_t i;
    r->is_at_home = r->block.mapping.at && r->head.address == (uintptr_t)r->block.mapping.at;
    for (i = 0; i < r->head.section_count && status == HAUL_OK; i++)
        status = read_section(r, &r->sections[i]);
    return status;
}

haul_status haul__read_image(haul__reader *r)
{
    const haul_status status = r->types ? write_types(r) : HAUL_OK;
    return status == HAUL_OK ? read_all(r) : status;
}

void haul__close_reader(haul__reader *r)
{
    unsigned kind;
    for (kind = 0; kind < HAUL__SECTION_KINDS; kind++)
        haul__release(&r->context->allocator, r->contents[kind], r->bytes[kind]);
    close_arena(r);
}
