/* Writing an image: the graph is packed once, with offsets in place of pointers, and each part is
 * hashed and written.
 *
 * The arena is that of an ordered plan, so the bytes depend on the graph alone. Most graphs are
 * packed straight from the source (packing.c), the others by an ordered plan.
 */
#include "haul/image.h"

#include "base/file.h"
#include "base/sized.h"
#include "base/sort.h"
#include "context/context.h"
#include "image/compression.h"
#include "image/format.h"
#include "image/packing.h"
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
    const haul_file *file; /* to write to; NULL: `memory` */
    unsigned char *memory;
    size_t memory_bytes, done; /* done: bytes of the image that are there */
    haul__snapshot snapshot;   /* of a shipment; context NULL: the source is none */
    haul_plan *plan;
    int owns_plan;
    haul__straight straight; /* of 0 bytes: the plan is an ordered one */
    haul__packing packing;
    haul__type_text text;
    haul_type **types; /* of the roots */
    size_t root_count, arena_bytes, bitmap_bytes, word_count, word_room;
    haul__image_root *roots;
    haul__image_word *words;
    uint64_t *bitmap;
    void *arena;       /* new memory, or NULL */
    uintptr_t address; /* of the image's first byte; 0: any */
    int compression;
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

static haul_status too_small(const writer *w)
{
    return haul__fail(&w->context->error, HAUL_ERROR_ARGUMENT,
                      "the memory has %zu bytes, and the image needs %zu", w->memory_bytes,
                      (size_t)w->head.bytes);
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
    if (source->kind == HAUL_SOURCE_CHAINS) {
        status = haul__plan_from(w->context, source, 1, &w->plan);
    } else {
        const haul_root *roots = &source->root;
        size_t count = 1;
        status = source->kind == HAUL_SOURCE_ARENA_ROOT
                     ? HAUL_OK
                     : haul__source_roots(source, &roots, &count, error);
        if (status == HAUL_OK)
            status = haul__plan_straight(w->context, roots, count, &w->straight, &w->plan);
    }
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

static int is_straight(const writer *w)
{
    return w->straight.bytes > 0;
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
        root->count = roots[i].count;
        root->type = haul__type_text_number(&w->text, roots[i].type);
    }
    return HAUL_OK;
}

/* The first byte of a root that travels, if any does. */
static uintptr_t address_of_root(const haul_root *root)
{
    return (uintptr_t)root->address + haul__type_walk(root->type)->true_lower;
}

static haul_status place_roots(writer *w)
{
    const haul_root *roots = haul__plan_roots(w->plan, &w->root_count);
    size_t i;
    for (i = 0; i < w->root_count; i++)
        if (!haul__offset_of(w->plan, address_of_root(&roots[i]), &w->roots[i].offset))
            return haul__fail(&w->context->error, HAUL_ERROR_UNSUPPORTED,
                              "no byte of root %zu travels: an image has nothing of it", i);
    return HAUL_OK;
}

static haul_status place_roots_straight(writer *w, int *is_crooked)
{
    const haul_root *roots = haul__plan_roots(w->plan, &w->root_count);
    size_t i;
    if (w->root_count > 1 && !haul__straight_index(&w->straight))
        return short_of_memory(w);
    for (i = 0; i < w->root_count; i++) {
        w->roots[i].offset = haul__straight_find(&w->straight, address_of_root(&roots[i]));
        *is_crooked |= !w->roots[i].offset; /* it is no range */
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

/* What an offset in the arena is added to: pointers become offsets, or addresses in an image with
 * an address of its own. */
static haul_status find_base(writer *w, size_t alignment, uint64_t *base)
{
    const uint64_t offset = arena_offset(w);
    haul_error *error = &w->context->error;
    *base = 0;
    if (!w->address)
        return HAUL_OK;
    if (offset + w->arena_bytes > UINTPTR_MAX - w->address)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->address is 0x%zx, and the image does not fit behind it",
                          (size_t)w->address);
    if (offset % alignment)
        return haul__fail(
            error, HAUL_ERROR_UNSUPPORTED,
            "an arena of %zu bytes with an alignment of %zu has no address of its own",
            w->arena_bytes, alignment);
    *base = w->address + offset;
    return HAUL_OK;
}

/* Memory for the arena, and for its bits. */
static int take_memory(writer *w, size_t bytes, size_t alignment)
{
    w->arena_bytes = bytes;
    w->bitmap_bytes = (((bytes >> HAUL__WORD_SHIFT) + 63) / 64) * sizeof *w->bitmap;
    w->head.alignment = alignment;
    w->bitmap = haul__allocate(&w->context->allocator, w->bitmap_bytes, sizeof *w->bitmap);
    return w->bitmap != NULL;
}

/* The caller's memory is too small for the image, whose sections are known. */
static int exceeds_memory(writer *w)
{
    w->head.bytes = arena_offset(w) + w->arena_bytes;
    return w->memory && !w->compression && w->head.bytes > w->memory_bytes;
}

/* In the caller's memory the arena is packed where it belongs; for a file only what is not written
 * from the source needs memory. */
static haul_status find_arena(writer *w, unsigned char **arena)
{
    if (w->memory && !w->compression) {
        *arena = w->memory + arena_offset(w);
        return HAUL_OK;
    }
    if (!w->compression)
        return HAUL_OK;
    w->arena = haul__allocate(&w->context->allocator, w->arena_bytes, (size_t)w->head.alignment);
    *arena = w->arena;
    return w->arena ? HAUL_OK : short_of_memory(w);
}

static void release_arena(writer *w)
{
    const haul_allocator *allocator = &w->context->allocator;
    haul__release(allocator, w->arena, w->arena_bytes);
    haul__release(allocator, w->bitmap, w->bitmap_bytes);
    w->arena = NULL;
    w->bitmap = NULL;
    haul__packing_close(&w->packing, allocator);
}

static haul_status pack_straight(writer *w, int *is_crooked)
{
    haul__packing *p = &w->packing;
    haul_status status = place_roots_straight(w, is_crooked);
    if (status != HAUL_OK || *is_crooked)
        return status;
    if (!take_memory(w, (size_t)w->straight.bytes, w->straight.alignment))
        return short_of_memory(w);
    p->context = w->context;
    p->straight = &w->straight;
    p->bitmap = w->bitmap;
    p->is_hashed = !w->compression;
    if (exceeds_memory(w)) {
        *is_crooked = 1; /* it may be: the size that the caller is told must be right */
        return HAUL_OK;
    }
    status = find_base(w, w->straight.alignment, &p->base);
    if (status == HAUL_OK)
        status = find_arena(w, &p->arena);
    return status == HAUL_OK ? haul__pack_straight(p, is_crooked) : status;
}

static haul_status pack_ordered(writer *w)
{
    const haul_allocator *allocator = &w->context->allocator;
    const size_t alignment = haul__plan_alignment(w->plan);
    uint64_t base;
    haul_status status = place_roots(w);
    if (status != HAUL_OK)
        return status;
    w->word_room =
        haul__plan_found(w->plan)->special_count + haul__plan_explicit_count(w->plan) + 1;
    w->words = haul__allocate_zeroed(allocator, w->word_room * sizeof *w->words);
    if (!w->words || !take_memory(w, haul__plan_bytes(w->plan), alignment))
        return short_of_memory(w);
    w->arena = haul__allocate(allocator, w->arena_bytes, alignment);
    if (!w->arena)
        return short_of_memory(w);
    haul__plan_bitmap(w->plan, 0, w->bitmap_bytes / sizeof *w->bitmap, w->bitmap);
    add_words(w);
    if (exceeds_memory(w))
        return too_small(w);
    status = find_base(w, alignment, &base);
    return status == HAUL_OK ? haul__gather(w->plan, w->arena, base,
                                            w->address ? base : HAUL__IMAGE_BELOW, 0, NULL)
                             : status;
}

static haul_status pack(writer *w)
{
    int is_crooked = 0;
    haul_status status = list_roots(w);
    if (status == HAUL_OK && is_straight(w)) {
        status = pack_straight(w, &is_crooked);
        if (status != HAUL_OK || !is_crooked)
            return status;
        release_arena(w);
        status = haul__plan_order(w->plan, &w->straight);
    }
    return status == HAUL_OK ? pack_ordered(w) : status;
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

/* The hash of what was packed straight is known. */
static void add_arena(writer *w)
{
    haul__image_section *section = &w->sections[w->head.section_count];
    if (!w->packing.pieces) {
        add_section(w, HAUL__SECTION_ARENA, w->arena, w->arena_bytes);
        return;
    }
    section->kind = HAUL__SECTION_ARENA;
    section->bytes = w->arena_bytes;
    section->hash = w->packing.hash;
    w->contents[w->head.section_count++] = NULL;
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
        add_arena(w);
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

/* An arena that was packed where it belongs is there. */
static haul_status put(writer *w, const void *bytes, size_t count)
{
    if (w->memory) {
        if (bytes != w->memory + w->done)
            memcpy(w->memory + w->done, bytes, count);
        w->done += count;
        return HAUL_OK;
    }
    if (count == 0 || w->file->write(w->file->user, bytes, count) == HAUL_OK)
        return HAUL_OK;
    return haul__fail(&w->context->error, HAUL_ERROR_FILE, "the file refuses bytes of the image");
}

/* Pieces that lie side by side are put together. */
static haul_status put_pieces(writer *w)
{
    const haul__packing *p = &w->packing;
    haul_status status = HAUL_OK;
    size_t number, end, last;
    for (number = 0; number < p->count && status == HAUL_OK; number = end) {
        for (end = number + 1;
             end < p->count && p->pieces[end].at == p->pieces[end - 1].at + HAUL__IMAGE_PIECE;)
            end++;
        last = end < p->count ? end * HAUL__IMAGE_PIECE : w->arena_bytes;
        status = put(w, p->pieces[number].at, last - number * HAUL__IMAGE_PIECE);
    }
    return status;
}

static haul_status put_all(writer *w)
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
            status = w->contents[i] ? put(w, w->contents[i], (size_t)w->sections[i].bytes)
                                    : put_pieces(w);
        end = w->sections[i].offset + w->sections[i].bytes;
    }
    return status;
}

/* To w->file or to w->memory. w->head.bytes: the size of the image, if it became known; else 0. */
static haul_status write_image(writer *w, haul_context *context, const haul_source *source,
                               const haul_image_write_options *options)
{
    const haul_allocator *allocator = &context->allocator;
    haul_status status;
    w->context = context;
    w->address = options->address;
    w->compression = options->compression;
    status = source->kind == HAUL_SOURCE_DEVICE ? plan_snapshot(w, source) : plan_source(w, source);
    if (status == HAUL_OK)
        status = pack(w);
    if (status == HAUL_OK && w->compression)
        status = haul__compress(context, w->compression, w->arena, w->arena_bytes, &w->compressed);
    if (status == HAUL_OK) {
        fill_head(w);
        status = w->memory && w->head.bytes > w->memory_bytes ? too_small(w) : put_all(w);
    }
    release_arena(w);
    haul__release(allocator, w->compressed.at, w->compressed.room);
    haul__release(allocator, w->roots, w->root_count * sizeof *w->roots);
    haul__release(allocator, w->words, w->word_room * sizeof *w->words);
    haul__release(allocator, w->types, w->root_count * sizeof *w->types);
    if (w->text.allocator)
        haul__type_text_close(&w->text);
    haul__straight_close(&w->straight, context);
    if (w->owns_plan)
        haul__plan_drop(w->plan);
    if (w->snapshot.context)
        haul__snapshot_drop(&w->snapshot);
    return status;
}

static haul_status write_to_file(haul_context *context, const haul_source *source,
                                 const haul_image_write_options *options, const haul_file *file)
{
    writer w;
    memset(&w, 0, sizeof w);
    w.file = file;
    return write_image(&w, context, source, options);
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
    status = file && file->write ? write_to_file(context, &from, &how, file)
                                 : haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                                              "the file is NULL, or has no function that writes");
    end(context, &from);
    return status;
}

haul_status haul_image_to_bytes_sized(haul_context *context, const haul_source *source,
                                      size_t source_bytes, const haul_image_write_options *options,
                                      size_t options_bytes, void *memory, size_t memory_bytes,
                                      size_t *bytes)
{
    haul_image_write_options how;
    haul_source from;
    haul_status status;
    unsigned char none;
    writer w;
    if (bytes)
        *bytes = 0;
    status = begin_with(context, source, source_bytes, options, options_bytes, &from, &how);
    if (status != HAUL_OK)
        return status;
    if (!bytes || (!memory && memory_bytes)) {
        status = haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                            "the memory, or the address of the image's size, is NULL");
    } else {
        memset(&w, 0, sizeof w);
        w.memory = memory ? memory : &none;
        w.memory_bytes = memory_bytes;
        status = write_image(&w, context, &from, &how);
        *bytes = (size_t)w.head.bytes;
    }
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
        status = write_to_file(context, &from, &how, &file.file);
        status = haul__new_file_end(&file, &context->allocator, status, &context->error);
    }
    end(context, &from);
    return status;
}
