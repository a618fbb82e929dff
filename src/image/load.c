/* The calls that load an image, from memory, a file or its pages: they check their arguments. And
 * the queries of a loaded image.
 */
#include "haul/image.h"

#include "arena/allocate.h"
#include "arena/arena.h"
#include "base/file.h"
#include "base/sized.h"
#include "base/status.h"
#include "image/on_devices.h"
#include "image/read.h"

#define OPEN_IMAGE_MAGIC 0x696d6167u

/* ---- Arguments. */

static haul_status check_types(const haul__reader *r)
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

static haul_status check_renames(const haul__reader *r)
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

static haul_status check_growths(const haul__reader *r)
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

/* Enters the context, and reads the arguments that all calls have in common. */
static haul_status begin(haul__reader *r, haul_context *context, haul_type *const *types,
                         size_t count, const haul_image_options *options, size_t options_bytes,
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

/* ---- The calls. */

static haul_status read_image(haul__reader *r, haul_image **image)
{
    haul_status status = check_types(r);
    if (status == HAUL_OK)
        status = check_renames(r);
    if (status == HAUL_OK)
        status = check_growths(r);
    if (status == HAUL_OK)
        status = haul__read_image(r);
    if (status == HAUL_OK) {
        haul__image_block_leave(&r->image->block, r->contents[HAUL__SECTION_BITS]);
        r->image->magic = OPEN_IMAGE_MAGIC;
        *image = r->image;
    } else if (r->image) {
        haul__drop_image(r->image);
    }
    haul__close_reader(r);
    return status;
}

/* What an image is read from: memory, a file, or the file of a name. */
typedef struct given {
    haul_status (*read)(haul__reader *r, const struct given *from, haul_image **image);
    const void *bytes;
    size_t byte_count;
    const haul_file *file;
    const char *path;
    haul_type *const *types;
    size_t count;
} given;

static haul_status read_bytes(haul__reader *r, const given *from, haul_image **image)
{
    r->input.bytes = from->bytes;
    r->input.left = from->byte_count;
    return from->bytes
               ? read_image(r, image)
               : haul__fail(r->error, HAUL_ERROR_ARGUMENT, "the bytes of the image are NULL");
}

static haul_status read_file(haul__reader *r, const given *from, haul_image **image)
{
    r->input.file = from->file;
    return from->file && from->file->read
               ? read_image(r, image)
               : haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                            "the file is NULL, or has no function that reads");
}

static haul_status read_path(haul__reader *r, const given *from, haul_image **image)
{
    haul__old_file file;
    haul_status status = from->path
                             ? haul__old_file_begin(&file, from->path, r->error)
                             : haul__fail(r->error, HAUL_ERROR_ARGUMENT, "the file's name is NULL");
    if (status != HAUL_OK)
        return status;
    r->input.file = &file.file;
    r->input.left = file.bytes;
    return haul__old_file_end(&file, read_image(r, image), r->error);
}

/* `arena`: for types that arenas take; NULL: as the options say. */
static haul_status read_from(haul_context *context, const given *from,
                             const haul_image_options *options, size_t options_bytes,
                             haul_arena *arena, haul_image **image)
{
    haul__reader r;
    haul_status status =
        begin(&r, context, from->types, from->count, options, options_bytes, image);
    if (status != HAUL_OK)
        return status;
    if (arena) {
        r.options.arena = r.block.arena = arena;
        r.may_leave_arena = 1;
    }
    status = from->read(&r, from, image);
    haul__context_leave(context);
    return status;
}

static haul_status load(haul_context *context, const given *from, const haul_image_options *options,
                        size_t options_bytes, haul_image **image)
{
    haul__on_devices on;
    haul_status status = haul__on_devices_begin(context, options, options_bytes, &on);
    if (image)
        *image = NULL;
    if (status == HAUL_OK)
        status = read_from(context, from, options, options_bytes, on.arena, image);
    if (status != HAUL_OK || on.count == 0) {
        haul_arena_free(&on.arena);
        return status;
    }
    if ((*image)->block.arena) {
        (*image)->arena = on.arena;
        haul__arena_hold(on.arena);
    }
    status =
        haul__on_devices_end(&on, (*image)->arena != NULL, (*image)->roots, (*image)->root_count);
    if (status != HAUL_OK)
        haul_image_free(image);
    haul_arena_free(&on.arena);
    return status;
}

haul_status haul_image_from_bytes_sized(haul_context *context, const void *bytes, size_t byte_count,
                                        haul_type *const *types, size_t count,
                                        const haul_image_options *options, size_t options_bytes,
                                        haul_image **image)
{
    const given from = { read_bytes, bytes, byte_count, NULL, NULL, types, count };
    return load(context, &from, options, options_bytes, image);
}

haul_status haul_image_read_sized(haul_context *context, const haul_file *file,
                                  haul_type *const *types, size_t count,
                                  const haul_image_options *options, size_t options_bytes,
                                  haul_image **image)
{
    const given from = { read_file, NULL, 0, file, NULL, types, count };
    return load(context, &from, options, options_bytes, image);
}

haul_status haul_image_load_sized(haul_context *context, const char *path, haul_type *const *types,
                                  size_t count, const haul_image_options *options,
                                  size_t options_bytes, haul_image **image)
{
    const given from = { read_path, NULL, 0, NULL, path, types, count };
    return load(context, &from, options, options_bytes, image);
}

/* The head says where the pages should lie. */
static haul_status map_file(haul__reader *r, const haul__old_file *file, int is_shared)
{
    haul__input mapped = r->input;
    haul_status status = check_types(r);
    if (status == HAUL_OK && file->bytes == SIZE_MAX)
        status = haul__fail(r->error, HAUL_ERROR_FILE,
                            "%.300s is empty or no file: it is not mapped", file->path);
    r->input.file = &file->file;
    r->input.left = file->bytes;
    if (status == HAUL_OK)
        status = haul__image_read_head(&r->input, &r->head, r->sections);
    if (status == HAUL_OK && is_shared && !r->head.address)
        status = haul__fail(r->error, HAUL_ERROR_ARGUMENT,
                            "the image has no address of its own (haul_image_write_options)");
    if (status == HAUL_OK)
        status = haul__file_map(file, (uintptr_t)r->head.address, is_shared, &r->block.mapping,
                                r->error);
    r->input = mapped;
    r->input.bytes = r->block.mapping.at;
    r->input.left = file->bytes;
    return status;
}

static haul_status map_image(haul_context *context, const char *path, haul_type *const *types,
                             size_t count, int is_shared, haul_image **image)
{
    haul__reader r;
    haul__old_file file;
    haul_status status = begin(&r, context, types, count, NULL, 0, image);
    if (status != HAUL_OK)
        return status;
    r.options.is_trusted = 1;
    status = path ? haul__old_file_begin(&file, path, r.error)
                  : haul__fail(r.error, HAUL_ERROR_ARGUMENT, "the file's name is NULL");
    if (status == HAUL_OK)
        status = haul__old_file_end(&file, map_file(&r, &file, is_shared), r.error);
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

/* ---- What they answer. */

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
        haul__free(&freed->freed, freed->context, haul__drop_image, freed);
}
