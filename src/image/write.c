/* Writing an image: the graph is packed once, with offsets in place of pointers, and each part is
 * hashed and written.
 *
 * The arena is that of an ordered plan, so the bytes depend on the graph alone. Most graphs are
 * packed straight from the source (packing.c), the others by an ordered plan.
 */
#include "haul/image.h"

#include "base/file.h"
#include "base/sized.h"
#include "context/context.h"
#include "image/writer.h"
#include "pack/plan.h"
#include "pack/source.h"
#include "ship/pending.h"
#include "walk/discover.h"
#include "walk/roots.h"

#define LEVEL_MOST 19 /* of compression: higher ones take much memory */

/* ---- The parts. */

static haul_status find_plan(haul__writer *w, const haul_source *source)
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
        status = haul__plan_from(w->context, source, 1, NULL, &w->plan);
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

static haul_status describe_types(haul__writer *w, const haul_root *roots, size_t count)
{
    haul_error *error = &w->context->error;
    size_t i;
    w->root_count = count;
    w->types =
        haul__allocate(&w->context->allocator, w->root_count * sizeof *w->types, sizeof(void *));
    if (!w->types)
        return haul__writer_lacks_memory(w);
    for (i = 0; i < w->root_count; i++)
        w->types[i] = (haul_type *)(uintptr_t)roots[i].type;
    if (haul__type_text_open(&w->text, &w->context->allocator, w->types, w->root_count, NULL) !=
        HAUL_OK)
        return haul__writer_lacks_memory(w);
    return haul__type_text_admits(&w->text, 1, error);
}

/* The types come first: what no image can hold has other words on a device. */
static haul_status plan_snapshot(haul__writer *w, const haul_source *source)
{
    haul_status status = haul__snapshot_take(source->shipment, &source->root, &w->snapshot);
    if (status == HAUL_OK)
        status = describe_types(w, w->snapshot.roots, w->snapshot.root_count);
    if (status == HAUL_OK)
        status = haul__snapshot_plan(&w->snapshot, &w->plan);
    w->owns_plan = status == HAUL_OK;
    return status;
}

/* No plan: the arena's own bits tell its pointers. */
static haul_status open_lying(haul__writer *w, const haul_source *source)
{
    haul_error *error = &w->context->error;
    haul_status status = haul__check_roots(w->context, &source->root, 1);
    w->lying_root = source->root;
    if (status == HAUL_OK)
        status = describe_types(w, &source->root, 1);
    return status == HAUL_OK ? haul__lying_open(&w->lying, source->arena, &source->root, error)
                             : status;
}

static haul_status plan_source(haul__writer *w, const haul_source *source)
{
    const haul_status status = find_plan(w, source);
    const haul_root *roots;
    size_t count;
    if (status != HAUL_OK)
        return status;
    roots = haul__plan_roots(w->plan, &count);
    return describe_types(w, roots, count);
}

/* ---- The bytes. */

static void add_section(haul__writer *w, uint32_t kind, const void *bytes, size_t count)
{
    haul__image_section *section = &w->sections[w->head.section_count];
    section->kind = kind;
    section->bytes = count;
    section->hash = haul__image_hash(bytes, count);
    w->contents[w->head.section_count++] = bytes;
}

/* The hash of what was packed straight is known. */
static void add_arena(haul__writer *w)
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

static void fill_head(haul__writer *w)
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
static haul_status put(haul__writer *w, const void *bytes, size_t count)
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
static haul_status put_pieces(haul__writer *w)
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

static haul_status put_all(haul__writer *w)
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
static haul_status write_image(haul__writer *w, haul_context *context, const haul_source *source,
                               const haul_image_write_options *options)
{
    const haul_allocator *allocator = &context->allocator;
    haul_status status;
    w->context = context;
    w->address = options->address;
    w->compression = options->compression;
    status = options->as_it_lies                  ? open_lying(w, source)
             : source->kind == HAUL_SOURCE_DEVICE ? plan_snapshot(w, source)
                                                  : plan_source(w, source);
    if (status == HAUL_OK)
        status = haul__writer_pack(w);
    if (status == HAUL_OK && w->compression)
        status = haul__compress(context, w->compression, w->arena, w->arena_bytes, &w->compressed);
    if (status == HAUL_OK) {
        fill_head(w);
        status =
            w->memory && w->head.bytes > w->memory_bytes ? haul__writer_lacks_room(w) : put_all(w);
    }
    haul__writer_release_arena(w);
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
    haul__lying_close(&w->lying);
    return status;
}

static haul_status write_to_file(haul_context *context, const haul_source *source,
                                 const haul_image_write_options *options, const haul_file *file)
{
    haul__writer w;
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

static haul_status read_options(haul_context *context, int kind, haul_image_write_options *ours,
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
    if (ours->as_it_lies && kind != HAUL_SOURCE_ARENA_ROOT)
        return haul__fail(error, HAUL_ERROR_ARGUMENT,
                          "options->as_it_lies is for haul_from_arena_root: others are packed");
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
    status = read_options(context, source->kind, how, options, options_bytes);
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
    haul__writer w;
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
