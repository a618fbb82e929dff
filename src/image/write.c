/* Writing an image: the graph is packed once, with offsets in place of pointers, and each part is
 * hashed where it lies and written.
 *
 * The plan is an ordered one, so the bytes depend on the graph alone.
 */
#include "haul/image.h"

#include "base/file.h"
#include "base/sized.h"
#include "base/sort.h"
#include "context/context.h"
#include "image/compression.h"
#include "image/format.h"
#include "image/type_text.h"
#include "pack/bitmap.h"
#include "pack/pack.h"
#include "pack/source.h"
#include "pack/translate.h"
#include "ship/pending.h"
#include "ship/snapshot.h"
#include "walk/discover.h"

#define LEVEL_MOST 19 /* of compression: higher ones take much memory */

typedef struct writer {
    haul_context *context;
    const haul_file *file;
    haul__snapshot snapshot; /* of a shipment; context NULL: the source is none */
    haul_plan *plan;
    int owns_plan;
    haul__type_text text;
    haul_type **types; /* of the roots */
    size_t root_count, arena_bytes, bitmap_bytes, word_count, word_room;
    haul__image_root *roots;
    haul__image_word *words;
    uint64_t *bitmap;
    void *arena;
    uintptr_t address;           /* of the image's first byte; 0: any */
    haul__compressed compressed; /* at NULL: the arena is written as it is */
    haul__image_head head;
    haul__image_section sections[HAUL__SECTION_KINDS];
    const void *contents[HAUL__SECTION_KINDS];
} writer;

/* ---- The parts. */

static haul_status short_of_memory(const writer *w)
{
    return haul__fail(&w->context->error, HAUL_ERROR_MEMORY, "out of memory for an image");
}

static haul_status find_plan(writer *w, const haul_source *source)
{
    haul_error *error = &w->context->error;
    haul_status status;
    if (source->kind == HAUL_SOURCE_ARENA)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "an arena keeps no types: haul_from_arena_root names its root");
    if (source->kind == HAUL_SOURCE_PLAN) {
        if (!haul__plan_is_valid(source->plan) || haul__plan_context(source->plan) != w->context)
            return haul__fail(error, HAUL_ERROR_ARGUMENT,
                              "the plan is NULL, freed or of another context");
        if (!haul__plan_is_ordered(source->plan))
            return haul__fail(error, HAUL_ERROR_ARGUMENT,
                              "an image needs an ordered plan (haul_plan_options.ordered)");
        w->plan = source->plan;
        return HAUL_OK;
    }
    status = source->kind == HAUL_SOURCE_ARENA_ROOT
                 ? haul__plan_make(w->context, &source->root, 1, 1, &w->plan)
                 : haul__plan_from(w->context, source, 1, &w->plan);
    w->owns_plan = status == HAUL_OK;
    return status;
}

static haul_status describe_types(writer *w, const haul_root *roots, size_t count)
{
    haul_error *error = &w->context->error;
    size_t i;
    w->root_count = count;
    w->types =
        haul__allocate(&w->context->allocator, w->root_count * sizeof *w->types, sizeof(void *));
    if (!w->types)
        return short_of_memory(w);
    for (i = 0; i < w->root_count; i++)
        w->types[i] = (haul_type *)(uintptr_t)roots[i].type;
    if (haul__type_text_open(&w->text, &w->context->allocator, w->types, w->root_count, NULL) !=
        HAUL_OK)
        return short_of_memory(w);
    return haul__type_text_admits(&w->text, 1, error);
}

/* The types come first: what no image can hold has other words on a device. */
static haul_status plan_snapshot(writer *w, const haul_source *source)
{
    haul_status status = haul__snapshot_take(source->shipment, &source->root, &w->snapshot);
    if (status == HAUL_OK)
        status = describe_types(w, w->snapshot.roots, w->snapshot.root_count);
    if (status == HAUL_OK)
        status = haul__snapshot_plan(&w->snapshot, &w->plan);
    w->owns_plan = status == HAUL_OK;
    return status;
}

static haul_status plan_source(writer *w, const haul_source *source)
{
    const haul_status status = find_plan(w, source);
    const haul_root *roots;
    size_t count;
    if (status != HAUL_OK)
        return status;
    roots = haul__plan_roots(w->plan, &count);
    return describe_types(w, roots, count);
}

static int is_word_before(const void *a, const void *b)
{
    return ((const haul__image_word *)a)->offset < ((const haul__image_word *)b)->offset;
}

/* The words that the plan relocates one by one, by a bit if they lie on the grid, else in the list;
 * and tagged pointers. */
static void add_words(writer *w)
{
    const haul__found *found = haul__plan_found(w->plan);
    const size_t count = haul__plan_explicit_count(w->plan);
    uint64_t offset, word;
    size_t i;
    for (i = 0; i < count; i++) {
        haul__plan_explicit(w->plan, i, 1, &offset);
        word = offset >> HAUL__WORD_SHIFT;
        if (offset % HAUL__WORD == 0)
            w->bitmap[word / 64] |= (uint64_t)1 << word % 64;
        else
            w->words[w->word_count++].offset = offset;
    }
    for (i = 0; i < found->special_count; i++)
        if (found->special[i].kind == HAUL__TAGGED &&
            haul__offset_of(w->plan, found->special[i].address, &offset)) {
            w->words[w->word_count].offset = offset;
            w->words[w->word_count++].mask = found->special[i].mask;
        }
    haul__sort(w->words, w->word_count, sizeof *w->words, is_word_before);
}

/* A graph that has a root here has a granule: the arena and the bitmap are not empty. */
static haul_status list_roots(writer *w)
{
    const haul_root *roots = haul__plan_roots(w->plan, &w->root_count);
    size_t i;
    w->roots = haul__allocate_zeroed(&w->context->allocator, w->root_count * sizeof *w->roots);
    if (!w->roots)
        return short_of_memory(w);
    for (i = 0; i < w->root_count; i++) {
        haul__image_root *root = &w->roots[i];
        const size_t lower = haul__type_walk(roots[i].type)->true_lower;
        if (!haul__offset_of(w->plan, (uintptr_t)roots[i].address + lower, &root->offset))
            return haul__fail(&w->context->error, HAUL_ERROR_UNSUPPORTED,
                              "no byte of root %zu travels: an image has nothing of it", i);
        root->count = roots[i].count;
        root->type = haul__type_text_number(&w->text, roots[i].type);
    }
    return HAUL_OK;
}

/* Where the arena begins in the image, when all before it is known. */
static uint64_t arena_offset(const writer *w)
{
    const size_t bytes[HAUL__SECTION_ARENA] = {
        [HAUL__SECTION_TYPES] = w->text.text.count,
        [HAUL__SECTION_ROOTS] = w->root_count * sizeof *w->roots,
        [HAUL__SECTION_WORDS] = w->word_count * sizeof *w->words,
        [HAUL__SECTION_BITS] = w->bitmap_bytes,
    };
    uint64_t end = sizeof w->head + (w->word_count > 0 ? 5 : 4) * sizeof *w->sections;
    uint32_t kind;
    for (kind = HAUL__SECTION_TYPES; kind < HAUL__SECTION_ARENA; kind++)
        if (bytes[kind] > 0)
            end = haul__section_begin(kind, bytes[kind], end) + bytes[kind];
    return haul__section_begin(HAUL__SECTION_ARENA, w->arena_bytes, end);
}

/* Pointers become offsets in the arena, or addresses in an image with an address of its own. */
static haul_status gather(writer *w)
{
    const uint64_t offset = arena_offset(w);
    const size_t alignment = haul__plan_alignment(w->plan);
    haul_error *error = &w->context->error;
    if (!w->address)
        return haul__gather(w->plan, w->arena, 0, HAUL__IMAGE_BELOW, 0, NULL);
    if (offset + w->arena_bytes > UINTPTR_MAX - w->address)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->address is 0x%zx, and the image does not fit behind it",
                          (size_t)w->address);
    if (offset % alignment)
        return haul__fail(
            error, HAUL_ERROR_UNSUPPORTED,
            "an arena of %zu bytes with an alignment of %zu has no address of its own",
            w->arena_bytes, alignment);
    return haul__gather(w->plan, w->arena, w->address + offset, w->address + offset, 0, NULL);
}

static haul_status pack(writer *w)
{
    const haul_allocator *allocator = &w->context->allocator;
    w->arena_bytes = haul__plan_bytes(w->plan);
    w->bitmap_bytes = haul__plan_bitmap_bytes(w->plan);
    w->arena = haul__allocate(allocator, w->arena_bytes, haul__plan_alignment(w->plan));
    w->bitmap = haul__allocate_zeroed(allocator, w->bitmap_bytes);
    w->word_room =
        haul__plan_found(w->plan)->special_count + haul__plan_explicit_count(w->plan) + 1;
    w->words = haul__allocate_zeroed(allocator, w->word_room * sizeof *w->words);
    if (!w->arena || !w->bitmap || !w->words)
        return short_of_memory(w);
    haul__plan_bitmap(w->plan, 0, w->bitmap_bytes / sizeof *w->bitmap, w->bitmap);
    add_words(w);
    return gather(w);
}

/* ---- The bytes. */

static void add_section(writer *w, uint32_t kind, const void *bytes, size_t count)
{
    haul__image_section *section = &w->sections[w->head.section_count];
    section->kind = kind;
    section->bytes = count;
    section->hash = haul__image_hash(bytes, count);
    w->contents[w->head.section_count++] = bytes;
}

static void fill_head(writer *w)
{
    haul__image_head *head = &w->head;
    uint64_t end;
    uint32_t i;
    memcpy(head->magic, HAUL__IMAGE_MAGIC, sizeof head->magic);
    head->version = HAUL__IMAGE_VERSION;
    head->order = HAUL__IMAGE_ORDER;
    head->word_bytes = sizeof(void *);
    head->alignment = haul__plan_alignment(w->plan);
    head->address = w->address;
    add_section(w, HAUL__SECTION_TYPES, w->text.text.at, w->text.text.count);
    add_section(w, HAUL__SECTION_ROOTS, w->roots, w->root_count * sizeof *w->roots);
    if (w->word_count > 0)
        add_section(w, HAUL__SECTION_WORDS, w->words, w->word_count * sizeof *w->words);
    add_section(w, HAUL__SECTION_BITS, w->bitmap, w->bitmap_bytes);
    if (w->compressed.at) {
        head->arena_bytes = w->arena_bytes;
        add_section(w, HAUL__SECTION_ARENA, w->compressed.at, w->compressed.bytes);
    } else {
        add_section(w, HAUL__SECTION_ARENA, w->arena, w->arena_bytes);
    }
    end = sizeof *head + head->section_count * sizeof *w->sections; /* when the list is whole */
    for (i = 0; i < head->section_count; i++) {
        haul__image_section *section = &w->sections[i];
        section->offset = haul__section_begin(section->kind, section->bytes, end);
        end = section->offset + section->bytes;
    }
    head->bytes = end;
    head->hash = haul__image_head_hash(head, w->sections);
}

static haul_status put(const writer *w, const void *bytes, size_t count)
{
    if (count == 0 || w->file->write(w->file->user, bytes, count) == HAUL_OK)
        return HAUL_OK;
    return haul__fail(&w->context->error, HAUL_ERROR_FILE, "the file refuses bytes of the image");
}

static haul_status put_all(const writer *w)
{
    static const char zeros[HAUL__IMAGE_PAGE];
    uint64_t end = sizeof w->head + w->head.section_count * sizeof *w->sections;
    haul_status status = put(w, &w->head, sizeof w->head);
    uint32_t i;
    if (status == HAUL_OK)
        status = put(w, w->sections, w->head.section_count * sizeof *w->sections);
    for (i = 0; i < w->head.section_count && status == HAUL_OK; i++) {
        status = put(w, zeros, (size_t)(w->sections[i].offset - end));
        if (status == HAUL_OK)
            status = put(w, w->contents[i], (size_t)w->sections[i].bytes);
        end = w->sections[i].offset + w->sections[i].bytes;
    }
    return status;
}

static haul_status write_image(haul_context *context, const haul_source *source,
                               const haul_image_write_options *options, const haul_file *file)
{
    const haul_allocator *allocator = &context->allocator;
    haul_status status;
    writer w;
    memset(&w, 0, sizeof w);
    w.context = context;
    w.file = file;
    w.address = options->address;
    status =
        source->kind == HAUL_SOURCE_DEVICE ? plan_snapshot(&w, source) : plan_source(&w, source);
    if (status == HAUL_OK)
        status = list_roots(&w);
    if (status == HAUL_OK)
        status = pack(&w);
    if (status == HAUL_OK && options->compression)
        status =
            haul__compress(context, options->compression, w.arena, w.arena_bytes, &w.compressed);
    if (status == HAUL_OK) {
        fill_head(&w);
        status = put_all(&w);
    }
    haul__release(allocator, w.arena, w.arena_bytes);
    haul__release(allocator, w.compressed.at, w.compressed.room);
    haul__release(allocator, w.bitmap, w.bitmap_bytes);
    haul__release(allocator, w.roots, w.root_count * sizeof *w.roots);
    haul__release(allocator, w.words, w.word_room * sizeof *w.words);
    haul__release(allocator, w.types, w.root_count * sizeof *w.types);
    if (w.text.allocator)
        haul__type_text_close(&w.text);
    if (w.owns_plan)
        haul__plan_drop(w.plan);
    if (w.snapshot.context)
        haul__snapshot_drop(&w.snapshot);
    return status;
}

/* ---- The calls. */

/* Enters the context, or the shipment, behind its work. Every HAUL_OK is paired with `end`. */
static haul_status begin(haul_context *context, const haul_source *theirs, size_t bytes,
                         haul_source *source)
{
    haul_status status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = haul__source_read(theirs, bytes, source, &context->error);
    if (status == HAUL_OK && source->kind == HAUL_SOURCE_DEVICE) {
        if (haul__shipment_is_valid(source->shipment) &&
            source->shipment->device->context == context) {
            haul__context_leave(context);
            return haul__shipment_enter(source->shipment, NULL);
        }
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                            "the shipment is NULL, freed or of another context");
    }
    if (status != HAUL_OK)
        haul__context_leave(context);
    return status;
}

static void end(haul_context *context, const haul_source *source)
{
    if (source->kind == HAUL_SOURCE_DEVICE)
        haul__shipment_leave(source->shipment);
    else
        haul__context_leave(context);
}

static haul_status read_options(haul_context *context, haul_image_write_options *ours,
                                const haul_image_write_options *theirs, size_t bytes)
{
    haul_error *error = &context->error;
    if (haul__read_options(ours, sizeof *ours, theirs, bytes) != HAUL_OK)
        return haul__fail(error, HAUL_ERROR_VERSION, HAUL__NEWER_OPTIONS);
    if (ours->compression < 0 || ours->compression > LEVEL_MOST)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->compression is %d, and levels go from 1 to 19, or 0 for none",
                          ours->compression);
    if (ours->address % HAUL__IMAGE_ADDRESS)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->address is 0x%zx, and no multiple of 65536",
                          (size_t)ours->address);
    if (ours->address && ours->compression)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->address and options->compression: what is compressed is not "
                          "used as it lies");
    return HAUL_OK;
}

static haul_status begin_with(haul_context *context, const haul_source *theirs, size_t bytes,
                              const haul_image_write_options *options, size_t options_bytes,
                              haul_source *source, haul_image_write_options *how)
{
    haul_status status = begin(context, theirs, bytes, source);
    if (status != HAUL_OK)
        return status;
    status = read_options(context, how, options, options_bytes);
    if (status != HAUL_OK)
        end(context, source);
    return status;
}

haul_status haul_image_write_sized(haul_context *context, const haul_source *source,
                                   size_t source_bytes, const haul_image_write_options *options,
                                   size_t options_bytes, const haul_file *file)
{
    haul_image_write_options how;
    haul_source from;
    haul_status status =
        begin_with(context, source, source_bytes, options, options_bytes, &from, &how);
    if (status != HAUL_OK)
        return status;
    status = file && file->write ? write_image(context, &from, &how, file)
                                 : haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                                              "the file is NULL, or has no function that writes");
    end(context, &from);
    return status;
}

haul_status haul_image_save_sized(haul_context *context, const haul_source *source,
                                  size_t source_bytes, const haul_image_write_options *options,
                                  size_t options_bytes, const char *path)
{
    haul_image_write_options how;
    haul__new_file file;
    haul_source from;
    haul_status status =
        begin_with(context, source, source_bytes, options, options_bytes, &from, &how);
    if (status != HAUL_OK)
        return status;
    status = path ? haul__new_file_begin(&file, &context->allocator, path, &context->error)
                  : haul__fail(&context->error, HAUL_ERROR_ARGUMENT, "the file's name is NULL");
    if (status == HAUL_OK) {
        status = write_image(context, &from, &how, &file.file);
        status = haul__new_file_end(&file, &context->allocator, status, &context->error);
    }
    end(context, &from);
    return status;
}
