/* Reading an image: its parts are copied, and then compared with their checksums and looked at.
 *
 * The arena comes last, when all that tells its meaning has been checked. It is copied into the
 * block in which it stays, and its offsets become pointers there (fill.c). An image that is not
 * trusted is checked as a graph meanwhile (validate.c). All of this happens in memory that nobody
 * else has, so a byte that was checked cannot change.
 *
 * An image of structs that have grown since is read by types of its own first, and then converted
 * (convert.c). From then on it is read as if it had been written so.
 */
#include "haul/image.h"

#include "arena/allocate.h"
#include "base/file.h"
#include "base/sized.h"
#include "base/status.h"
#include "image/compression.h"
#include "image/convert.h"
#include "image/validate.h"
#include "image/graph_block.h"
#include "image/head.h"
#include "image/input.h"
#include "image/type_make.h"
#include "image/type_text.h"
#include "map/address.h"
#include "walk/roots.h"

#define OPEN_IMAGE_MAGIC 0x696d6167u

struct haul_image {
    uint32_t magic;
    haul_context *context;
    haul__freed freed;
    haul_root *roots;
    size_t root_count;
    haul__image_block block;
    haul__made_types made; /* from the image's text */
};

typedef struct reader {
    haul_context *context;
    haul_error *error;
    haul__input input;
    haul_image_options options;
    haul_type *const *types;
    size_t count;          /* of types, and of roots */
    haul__type_text text;  /* of our types */
    haul__made_types made; /* all types of the image, where the caller has given none */
    haul_type **made_roots;
    haul__image_head head;
    haul__image_section sections[HAUL__IMAGE_SECTIONS];
    void *contents[HAUL__SECTION_KINDS]; /* by kind; NULL: none. The arena's are the block's. */
    size_t bytes[HAUL__SECTION_KINDS];
    haul__decompressor decompressor; /* of a compressed arena */
    haul__input *arena;              /* gives its bytes; NULL: none have come */
    uint64_t arena_offset;           /* in the image */
    int is_at_home; /* the image is mapped at the address that its pointers are made for */
    haul__image_block block;
    haul_image *image;
} reader;

/* ---- The sections beside the arena. */

static haul_status read_contents(reader *r, const haul__image_section *s)
{
    const haul_status status =
        haul__input_take(&r->input, (size_t)s->bytes, sizeof(uint64_t), &r->contents[s->kind]);
    if (status != HAUL_OK)
        return status;
    r->bytes[s->kind] = (size_t)s->bytes;
    return haul__image_hash(r->contents[s->kind], (size_t)s->bytes) == s->hash
               ? HAUL_OK
               : haul__image_refuse(r->error, "a section does not have its checksum");
}

/* ---- Types. */

/* The text of the types that the caller has given, or that were made. */
static haul_status write_types(reader *r)
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
        if (why_not)
            status = haul__fail(r->error, HAUL_ERROR_UNSUPPORTED,
                                "an image goes into no arena with type %s: %s",
                                haul_type_name(type), why_not);
    }
    return status;
}

static haul_status compare_types(const reader *r)
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
static haul_status list_made_roots(reader *r)
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

static haul_status make_types(reader *r)
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

static haul_status find_roots(const reader *r)
{
    const haul__image_root *given = r->contents[HAUL__SECTION_ROOTS];
    haul_image *image = r->image;
    const size_t bytes = image->block.bytes;
    size_t i;
    if (r->bytes[HAUL__SECTION_ROOTS] != r->count * sizeof *given)
        return haul__fail(r->error, HAUL_ERROR_TYPE,
                          "the image has %zu roots, and %zu types are given",
                          r->bytes[HAUL__SECTION_ROOTS] / sizeof *given, r->count);
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
static haul__claimed claims_of(const reader *r, haul__offsets *offsets)
{
    haul__claimed claimed;
    offsets->block = r->image->block.at;
    offsets->bytes = r->image->block.bytes;
    offsets->at = r->head.address ? (uintptr_t)(r->head.address + r->arena_offset) : 0;
    offsets->bitmap = r->contents[HAUL__SECTION_BITS];
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
static haul_status fill_block(reader *r, uint64_t hash, int is_filled)
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
static haul_status make_image(reader *r)
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
static haul_status check_sizes(const reader *r, size_t arena)
{
    if (arena < 2 * HAUL__GRANULE || arena % HAUL__GRANULE)
        return haul__image_refuse(r->error, "its arena has no size that an arena can have");
    if (r->bytes[HAUL__SECTION_BITS] != ((arena >> HAUL__WORD_SHIFT) + 63) / 64 * 8)
        return haul__image_refuse(r->error, "its bitmap has not the size that its arena needs");
    if (r->bytes[HAUL__SECTION_WORDS] % sizeof(haul__image_word))
        return haul__image_refuse(r->error, "its list of words is cut");
    return HAUL_OK;
}

/* The arena's section, of `bytes` bytes when it is decompressed: all others that the library knows
 * have been read, and the types fit. */
static haul_status read_arena(reader *r, haul__input *input, const haul__image_section *s,
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

static haul__freed *drop_image(void *object)
{
    haul_image *image = object;
    haul_context *context = image->context;
    const haul_allocator *allocator = &context->allocator;
    if (image->root_count)
        haul__drop_types(image->roots, image->root_count);
    haul__drop_made_types(allocator, &image->made);
    haul__release(allocator, image->roots, image->root_count * sizeof *image->roots);
    haul__image_block_release(&image->block, allocator);
    image->magic = 0;
    haul__release(allocator, image, sizeof *image);
    haul__context_drop(context);
    return NULL;
}

/* All but the sections that have been read. */
static void close_arena(reader *r)
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
static haul_status compare_as_stored(reader *r, const haul__stored_types *stored)
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
static haul_status read_as_stored(reader *r, reader *was, const haul__image_section *s,
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
static haul_status read_grown(reader *r, const haul__image_section *s, size_t bytes)
{
    reader was = *r;
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
        drop_image(was.image);
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

static haul_status read_graph(reader *r, const haul__image_section *s, size_t bytes)
{
    haul_status status = r->types ? HAUL_OK : make_types(r);
    if (status == HAUL_OK)
        status = compare_types(r);
    if (status == HAUL_ERROR_TYPE && r->options.growth_count > 0)
        return read_grown(r, s, bytes);
    return status == HAUL_OK ? read_arena(r, &r->input, s, bytes) : status;
}

/* ---- The sections. */

static haul_status read_section(reader *r, const haul__image_section *s)
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

static haul_status read_all(reader *r)
{
    haul_status status = haul__image_read_head(&r->input, &r->head, r->sections);
    uint32_t i;
    r->is_at_home = r->block.mapping.at && r->head.address == (uintptr_t)r->block.mapping.at;
    for (i = 0; i < r->head.section_count && status == HAUL_OK; i++)
        status = read_section(r, &r->sections[i]);
    return status;
}

static void close_reader(reader *r)
{
    unsigned kind;
    for (kind = 0; kind < HAUL__SECTION_KINDS; kind++)
        haul__release(&r->context->allocator, r->contents[kind], r->bytes[kind]);
    close_arena(r);
}

static haul_status check_types(const reader *r)
{
    size_t i;
    if (!r->types && r->count == 0)
        return HAUL_OK; /* the image's own */
    if (!r->types || r->count == 0)
        return haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                          r->types ? "the number of types is 0: an image has a root"
                                   : "the list of types is NULL");
    for (i = 0; i < r->count; i++) {
        if (!haul__type_is_valid(r->types[i]))
            return haul__fail(r->error, HAUL_ERROR_ARGUMENT, "type %zu is NULL or freed", i);
        if (!haul_type_committed(r->types[i]))
            return haul__fail(r->error, HAUL_ERROR_STATE, "type %zu, %s, is not committed", i,
                              haul_type_name(r->types[i]));
    }
    return HAUL_OK;
}

static haul_status check_renames(const reader *r)
{
    const haul_image_rename *renames = r->options.renames;
    size_t i;
    if (r->options.rename_count > 0 && (!renames || !r->types))
        return haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                          renames ? "options->renames: without types there are no other names"
                                  : "options->renames is NULL, and rename_count is not 0");
    for (i = 0; i < r->options.rename_count; i++)
        if (!renames[i].stored || !renames[i].now)
            return haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                              "options->renames[%zu] has a name that is NULL", i);
    return HAUL_OK;
}

static haul_status check_growths(const reader *r)
{
    const haul_image_growth *growths = r->options.growths;
    size_t i;
    if (r->options.growth_count > 0 && (!growths || !r->types))
        return haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                          growths ? "options->growths: without types there are no other sizes"
                                  : "options->growths is NULL, and growth_count is not 0");
    for (i = 0; i < r->options.growth_count; i++)
        if (!growths[i].type || !growths[i].stored_bytes)
            return haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                              "options->growths[%zu] has no type or no .stored_bytes", i);
    return HAUL_OK;
}

static haul_status read_types_and_graph(reader *r)
{
    haul_status status = check_renames(r);
    if (status == HAUL_OK)
        status = check_growths(r);
    if (status == HAUL_OK && r->types)
        status = write_types(r);
    return status == HAUL_OK ? read_all(r) : status;
}

static haul_status read_image(reader *r, haul_image **image)
{
    haul_status status = check_types(r);
    if (status == HAUL_OK)
        status = read_types_and_graph(r);
    if (status == HAUL_OK) {
        haul__image_block_leave(&r->image->block, r->contents[HAUL__SECTION_BITS]);
        r->image->magic = OPEN_IMAGE_MAGIC;
        *image = r->image;
    } else if (r->image) {
        drop_image(r->image);
    }
    close_reader(r);
    return status;
}

/* ---- The calls. */

/* Enters the context, and reads the arguments that all calls have in common. */
static haul_status begin(reader *r, haul_context *context, haul_type *const *types, size_t count,
                         const haul_image_options *options, size_t options_bytes,
                         haul_image **image)
{
    haul_status status = haul__context_enter(context);
    if (image)
        *image = NULL;
    if (status != HAUL_OK)
        return status;
    memset(r, 0, sizeof *r);
    r->context = context;
    r->error = &context->error;
    r->types = types;
    r->count = count;
    r->input.allocator = &context->allocator;
    r->input.error = r->error;
    r->input.left = SIZE_MAX;
    if (!image)
        status = haul__fail(r->error, HAUL_ERROR_ARGUMENT, "the address of the new image is NULL");
    else if (haul__read_options(&r->options, sizeof r->options, options, options_bytes) != HAUL_OK)
        status = haul__fail(r->error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    else if (r->options.arena && !haul__arena_is_valid(r->options.arena))
        status = haul__fail(r->error, HAUL_ERROR_ARGUMENT, "the arena has been freed");
    else if (r->options.arena && r->options.buffer)
        status = haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                            "a graph goes into a buffer or into an arena, and both are given");
    r->block.arena = r->options.arena;
    r->block.buffer = r->options.buffer;
    r->block.buffer_bytes = r->options.buffer_bytes;
    if (status != HAUL_OK)
        haul__context_leave(context);
    return status;
}

haul_status haul_image_from_bytes_sized(haul_context *context, const void *bytes, size_t byte_count,
                                        haul_type *const *types, size_t count,
                                        const haul_image_options *options, size_t options_bytes,
                                        haul_image **image)
{
    reader r;
    haul_status status = begin(&r, context, types, count, options, options_bytes, image);
    if (status != HAUL_OK)
        return status;
    r.input.bytes = bytes;
    r.input.left = byte_count;
    status = bytes ? read_image(&r, image)
                   : haul__fail(r.error, HAUL_ERROR_ARGUMENT, "the bytes of the image are NULL");
    haul__context_leave(context);
    return status;
}

haul_status haul_image_read_sized(haul_context *context, const haul_file *file,
                                  haul_type *const *types, size_t count,
                                  const haul_image_options *options, size_t options_bytes,
                                  haul_image **image)
{
    reader r;
    haul_status status = begin(&r, context, types, count, options, options_bytes, image);
    if (status != HAUL_OK)
        return status;
    r.input.file = file;
    status = file && file->read ? read_image(&r, image)
                                : haul__fail(r.error, HAUL_ERROR_ARGUMENT,
                                             "the file is NULL, or has no function that reads");
    haul__context_leave(context);
    return status;
}

haul_status haul_image_load_sized(haul_context *context, const char *path, haul_type *const *types,
                                  size_t count, const haul_image_options *options,
                                  size_t options_bytes, haul_image **image)
{
    reader r;
    haul_file file;
    int descriptor = -1;
    haul_status status = begin(&r, context, types, count, options, options_bytes, image);
    if (status != HAUL_OK)
        return status;
    r.input.file = &file;
    status = path ? haul__file_open(path, &descriptor, &r.input.left, r.error)
                  : haul__fail(r.error, HAUL_ERROR_ARGUMENT, "the file's name is NULL");
    if (status == HAUL_OK) {
        file = haul_file_descriptor(descriptor);
        status = read_image(&r, image);
        haul__file_close(descriptor);
    }
    haul__context_leave(context);
    return status;
}

/* The head says where the pages should lie. */
static haul_status map_file(reader *r, const char *path, int descriptor, size_t bytes,
                            int is_shared)
{
    haul_file file = haul_file_descriptor(descriptor);
    haul__input mapped = r->input;
    haul_status status = check_types(r);
    if (status == HAUL_OK && bytes == SIZE_MAX)
        status = haul__fail(r->error, HAUL_ERROR_FILE,
                            "%.300s is empty or no file: it is not mapped", path);
    r->input.file = &file;
    r->input.left = bytes;
    if (status == HAUL_OK)
        status = haul__image_read_head(&r->input, &r->head, r->sections);
    if (status == HAUL_OK && is_shared && !r->head.address)
        status = haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                            "the image has no address of its own (haul_image_write_options)");
    if (status == HAUL_OK)
        status = haul__file_map(descriptor, path, bytes, (uintptr_t)r->head.address, is_shared,
                                &r->block.mapping, r->error);
    r->input = mapped;
    r->input.bytes = r->block.mapping.at;
    r->input.left = bytes;
    return status;
}

static haul_status map_image(haul_context *context, const char *path, haul_type *const *types,
                             size_t count, int is_shared, haul_image **image)
{
    reader r;
    int descriptor = -1;
    size_t bytes;
    haul_status status = begin(&r, context, types, count, NULL, 0, image);
    if (status != HAUL_OK)
        return status;
    r.options.is_trusted = 1;
    status = path ? haul__file_open(path, &descriptor, &bytes, r.error)
                  : haul__fail(r.error, HAUL_ERROR_ARGUMENT, "the file's name is NULL");
    if (status == HAUL_OK) {
        status = map_file(&r, path, descriptor, bytes, is_shared);
        haul__file_close(descriptor);
    }
    if (status == HAUL_OK)
        status = read_image(&r, image);
    haul__context_leave(context);
    return status;
}

haul_status haul_image_map(haul_context *context, const char *path, haul_type *const *types,
                           size_t count, haul_image **image)
{
    return map_image(context, path, types, count, 0, image);
}

haul_status haul_image_map_shared(haul_context *context, const char *path, haul_type *const *types,
                                  size_t count, haul_image **image)
{
    return map_image(context, path, types, count, 1, image);
}

static int is_image(const haul_image *image)
{
    return image && image->magic == OPEN_IMAGE_MAGIC;
}

const haul_root *haul_image_roots(const haul_image *image, size_t *count)
{
    if (count)
        *count = is_image(image) ? image->root_count : 0;
    return is_image(image) ? image->roots : NULL;
}

void *haul_image_memory(const haul_image *image, size_t *bytes)
{
    if (bytes)
        *bytes = is_image(image) ? image->block.bytes : 0;
    return is_image(image) ? image->block.at : NULL;
}

void haul_image_free(haul_image **image)
{
    haul_image *freed = image ? *image : NULL;
    if (!freed)
        return;
    *image = NULL;
    if (is_image(freed))
        haul__free(&freed->freed, freed->context, drop_image, freed);
}
