/* Images: a graph as bytes, for files and messages.
 *
 *     haul_image_save(context, haul_from_object(mesh, mesh_type), "mesh.haul");
 *     ...
 *     haul_image_load(context, "mesh.haul", &mesh_type, 1, NULL, &image);
 *     mesh *m = haul_image_roots(image, NULL)[0].address;
 *     ...
 *     haul_image_free(&image);
 *
 * An image has a head, the types as text, the roots, the graph in the order of discovery, and the
 * places of its pointers, each with a checksum (docs/image-format.md). The same graph makes the
 * same bytes in any process. Loading takes one block of memory and copies the graph into it;
 * pointers then lead into the block.
 *
 * Images may come from strangers. Loading copies and checks the copy: the graph is discovered again
 * within the block, and must be what the types say, to the last bit. So the program can read
 * and write the result through its types, pack it again and free it, whatever the bytes were.
 * docs/image-format.md lists what the checks leave out.
 *
 * An image holds the described bytes of the graph as they are: the padding of structs too, with
 * whatever the program left there. HAUL_SKIP leaves bytes out. Bytes that a direction does not send
 * are zeros: an array that ends with a terminator must be sent, or it has another end in the image.
 */
#ifndef HAUL_IMAGE_H
#define HAUL_IMAGE_H

#include "haul/device.h"
#include "haul/file.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_image haul_image;

/* ---- Writing. */

/* Writes everything that a source of objects or the root of an arena reaches, the graph of an
 * ordered plan, or that of a shipment as the device has it (haul_from_device), with `file->write`,
 * front to back. The source is not written. Working memory: the plan's, and the size of the graph;
 * of a shipment, once more that of its arena. The context keeps up to 128 MiB of it for the next
 * image, until haul_context_trim. HAUL_ERROR_ARGUMENT: an arena without a root
 * (haul_from_arena_root names it), a compacted plan, a file that cannot be written.
 * HAUL_ERROR_UNSUPPORTED, with the type and the field: a type with HAUL_EXTERNAL or .maybe_static
 * fields, whose words mean something in this process alone, with sections, or with contents that
 * must be rebuilt; a root of which no byte travels. HAUL_ERROR_FILE: the file refuses; what it has
 * is no image. Others as haul_plan_create and haul_plan_pack. */
static inline haul_status haul_image_write(haul_context *context, haul_source source,
                                           const haul_file *file);
/* The same to a file of this name, which then has either the whole image or the contents that it
 * had before, also if the process or the machine stops meanwhile. The image is written beside it,
 * to `path` with ".new" and a number behind it, and takes its name when it is on the disk. (A
 * process that is killed can leave that file; remove it.) HAUL_ERROR_FILE: the system refuses; the
 * record's text has the call and errno. */
static inline haul_status haul_image_save(haul_context *context, haul_source source,
                                          const char *path);

/* A zeroed struct means the defaults. */
typedef struct haul_image_write_options {
    /* Not 0: the graph's bytes are compressed by zstd, at this level of 1 to 19 (3 is a good one).
     * Reading decompresses them, so such an image cannot be mapped in place. The working memory
     * grows by the graph's size, and libzstd takes some from malloc. The bytes then depend on
     * libzstd's version, too. HAUL_ERROR_UNSUPPORTED: the library was built without zstd.
     * HAUL_ERROR_ARGUMENT: there is no such level. */
    int compression;
    /* 1, for haul_from_arena_root: all of the arena is written as it lies. Nothing is discovered or
     * packed, so it takes little more than one copy. The arena's own bits tell its pointers: it
     * must be filled by haul_arena_new, haul_arena_new_tail, haul_arena_new_pointers and images,
     * and haul_arena_bytes has plain bytes alone. Skipped fields are zeros. The bytes depend on the
     * order of allocation, not on the graph alone. What has been allocated and the root does not
     * reach is written too, and readers that do not trust the image refuse it, unless it is zeros:
     * HAUL_ERROR_FORMAT. (Released memory is zeros.) HAUL_ERROR_ARGUMENT: another source; an empty
     * arena; the root lies elsewhere or is several elements, or the arena has not noted its
     * pointers. HAUL_ERROR_UNSUPPORTED: nurseries, pointers off the grid of words, or fields that
     * travel one way. HAUL_ERROR_GRAPH, with the place: a pointer leads out of the arena, or plain
     * bytes of a `checked` one hold such an address. */
    int as_it_lies;
    /* Not 0: the address at which the image can be mapped with its pointers as they are
     * (haul_image_map_shared). From there on each process that maps it needs as much free address
     * space as the image has bytes: choose an address far from those that the system gives, such as
     * 0x200000000000 on a 64-bit system. All other calls read such an image, too, wherever they put
     * it. HAUL_ERROR_ARGUMENT: the address is no multiple of 65536, the image would end behind the
     * last address, or it is compressed. HAUL_ERROR_UNSUPPORTED: an arena below 4096 bytes with an
     * alignment above 64. HAUL_ERROR_LIMIT, with the path: the address has bits of a tag. */
    uintptr_t address;
} haul_image_write_options;
/* haul_image_write and haul_image_save with options, which may be NULL. */
static inline haul_status haul_image_write_as(haul_context *context, haul_source source,
                                              const haul_image_write_options *options,
                                              const haul_file *file);
static inline haul_status haul_image_save_as(haul_context *context, haul_source source,
                                             const haul_image_write_options *options,
                                             const char *path);
/* The same to `memory_bytes` bytes of memory of the caller's: faster than haul_image_write with a
 * function that copies, since most graphs are packed there. *bytes: the size of the image.
 * HAUL_ERROR_ARGUMENT: the memory has fewer bytes, and *bytes says how many it takes; or another
 * argument is wrong, and *bytes is 0. In the first case the memory may hold anything. `memory`
 * NULL, with `memory_bytes` 0, asks for the size: it takes an ordered plan, and as long as a whole
 * save if the image is compressed. After any other failure *bytes means nothing. `options` may be
 * NULL. */
static inline haul_status haul_image_to_bytes(haul_context *context, haul_source source,
                                              const haul_image_write_options *options, void *memory,
                                              size_t memory_bytes, size_t *bytes);

/* ---- Reading. */

/* A name in the image that has become another one in the program. */
typedef struct haul_image_rename {
    const char *stored; /* there: of a type, "mesh"; or of a field, behind its type: "mesh.xyz" */
    const char *now;    /* here: of the type, "grid"; or of the field alone: "points" */
} haul_image_rename;

/* A struct that has got new fields behind the others since an image was written. */
typedef struct haul_image_growth {
    const char *type;    /* its name in this program */
    size_t stored_bytes; /* its size in the image */
    size_t added_at;     /* the offset of the first new field in this program (offsetof) */
} haul_image_growth;

/* A zeroed struct means the defaults. */
typedef struct haul_image_options {
    /* 1: the bytes come from a program that you trust. Checksums, types, sizes and the targets of
     * pointers are checked, the graph is not. */
    int is_trusted;
    /* 1: functions in the types (counts, conditions, bases, switches, sizes) are called with
     * structs of the image. They must expect any bytes: the struct itself can be read, its
     * pointers lead into the block, but the targets are not checked yet. 0: an image that is not
     * trusted, of types with functions, is HAUL_ERROR_UNSUPPORTED. */
    int calls_functions;
    /* Not NULL: the graph is put here, and not into new memory. The buffer stays the caller's, and
     * so does the graph when the image has been freed. Until the call returns, nobody else may
     * write it. After a failure it may hold anything. HAUL_ERROR_ARGUMENT: it has too few bytes, or
     * does not begin at the alignment of the graph (at most 4096); the record's text has both. */
    void *buffer;
    size_t buffer_bytes;
    /* Not NULL: the graph becomes one allocation of this arena, which knows its pointers. It can be
     * shipped as it lies, with whatever the arena has beside it (haul_from_arena). It stays when
     * the image is freed, and goes with the arena: the image's roots and memory are then no longer
     * valid. After a failure the arena has released the allocation. HAUL_ERROR_ARGUMENT: a freed
     * arena, or `buffer` too. HAUL_ERROR_UNSUPPORTED, with the type: haul_arena_new refuses it, or
     * it has pointers that do not lie at multiples of their size, or fields that are skipped or
     * travel one way. Others as haul_arena_bytes. */
    haul_arena *arena;
    /* `rename_count` names that types and fields had when older images were written. Names that an
     * image does not have are passed over, so one table serves images of any age. All else must be
     * as the program describes it. HAUL_ERROR_ARGUMENT: NULL, or an image without types given. */
    const haul_image_rename *renames;
    size_t rename_count;
    /* `growth_count` structs that had fewer fields when older images were written. An image in
     * which one of them has a stored size is converted: new fields are zeros, and the result is
     * checked, also if the image is trusted. That takes memory for the graph once more, and for a
     * walk. All else must be as the program describes it. HAUL_ERROR_UNSUPPORTED: the image cannot
     * be converted; the record has the type and the field, or the path (docs/image-format.md).
     * HAUL_ERROR_ARGUMENT: the list or a name in it is NULL, a stored size is 0, or the image is
     * loaded without types. */
    const haul_image_growth *growths;
    size_t growth_count;
    /* Not 0: the graph goes straight to `device_count` devices of the context; shipments[i] is its
     * shipment to devices[i] (ship.h). It is read and checked once, and crosses as it lies, in one
     * copy; devices of one kind take it from the first one. Types that no arena takes (see .arena)
     * are packed. The image is the host's copy: a root's device address is
     * haul_device_pointer(shipments[i], root->address), and haul_update_host brings results back
     * into it. Free the shipments before the image. After a failure they are NULL, no device holds
     * anything, and *image is NULL, too.
     * HAUL_ERROR_ARGUMENT: a list is NULL; a device is NULL, or of another context; `buffer` or
     * `arena`, too. Others as haul_ship_from. */
    haul_device *const *devices;
    size_t device_count;
    haul_shipment **shipments;
} haul_image_options;

/* Reads an image from `bytes` bytes of memory, which may change or go when the call has returned.
 * types[i], i < count, is the committed type of root i. `types` NULL with a count of 0: the types
 * are made from the image's own text; haul_image_roots gives them, and they belong to the image.
 * That is for programs that know nothing of it, such as haul(1): types with functions cannot be
 * made, and docs/image-format.md lists what else. The context's limits hold: max_bytes for the
 * graph, and, unless it is trusted, max_objects, max_array_elements and max_scan_bytes (context.h
 * has their defaults). `options` may be NULL.
 * The context's threads take part. No function is called with the graph before its checksum fits.
 * On failure *image is NULL.
 * HAUL_ERROR_ARGUMENT: NULL; a count of 0 with types. HAUL_ERROR_STATE: a type that is not
 * committed.
 * HAUL_ERROR_FORMAT: no image, a part of one, or a damaged one; or, not trusted, a word, a gap or a
 * bit that is not as the types imply. HAUL_ERROR_VERSION: another version, word size or byte order,
 * or an unknown part that must be understood. HAUL_ERROR_TYPE, with the type and the field: the
 * image has other types, or its own are no types. HAUL_ERROR_UNSUPPORTED, with the type and the
 * field: a function (see the options; or without types), or words that no image can hold.
 * HAUL_ERROR_UNSUPPORTED too: it is compressed, and the library was built without zstd.
 * HAUL_ERROR_GRAPH, with the path: as haul_plan_create. HAUL_ERROR_LIMIT.
 * HAUL_ERROR_MEMORY. Does not recurse. */
static inline haul_status haul_image_from_bytes(haul_context *context, const void *bytes,
                                                size_t byte_count, haul_type *const *types,
                                                size_t count, const haul_image_options *options,
                                                haul_image **image);
/* The same from `file->read`, by the calling thread, which may give any number of bytes at a time.
 * No byte behind the image is read. HAUL_ERROR_FILE: the file refuses. */
static inline haul_status haul_image_read(haul_context *context, const haul_file *file,
                                          haul_type *const *types, size_t count,
                                          const haul_image_options *options, haul_image **image);
/* The same from the file of this name. HAUL_ERROR_FILE: the system refuses; the record's text has
 * the call and errno. */
static inline haul_status haul_image_load(haul_context *context, const char *path,
                                          haul_type *const *types, size_t count,
                                          const haul_image_options *options, haul_image **image);

/* Maps the file of this name, of a program that you trust: the graph lies in pages of the file,
 * which are read when they are touched. Pages with pointers become this process's own at once. They
 * do not if the image has an address of its own, and that is free: it is mapped there. The program
 * may write to the graph; the file stays as it is. The checks are those of .is_trusted, without the
 * checksum of the graph. Nobody may write or cut the file until the image is freed; haul_image_save
 * may replace it. A small graph, or one of a large alignment, may be copied. HAUL_ERROR_FILE: the
 * system refuses; it maps no pipe. Others as haul_image_load. */
HAUL_API haul_status haul_image_map(haul_context *context, const char *path,
                                    haul_type *const *types, size_t count, haul_image **image);
/* The same at the address that the image was written for (haul_image_write_options.address): all
 * processes that map it share its pages, and its pointers have the same values in all. The graph
 * can be read and shipped, but not written: a write ends the process. Only the types and the roots
 * are read and checked, so the call takes the same time whatever the size. HAUL_ERROR_ARGUMENT: the
 * image has no address. HAUL_ERROR_FILE: the process has other memory there. Others as
 * haul_image_map. */
HAUL_API haul_status haul_image_map_shared(haul_context *context, const char *path,
                                           haul_type *const *types, size_t count,
                                           haul_image **image);

/* The roots, in the order in which they were written; *count: how many (`count` may be NULL). They
 * live as long as the image, and can be given to haul_from_roots. NULL for a NULL image. */
HAUL_API const haul_root *haul_image_roots(const haul_image *image, size_t *count);
/* The block that holds the graph; *bytes: its size (`bytes` may be NULL). NULL for a NULL image. */
HAUL_API void *haul_image_memory(const haul_image *image, size_t *bytes);
/* Releases the block, and with it the graph, unless it lies in the caller's buffer; sets *image to
 * NULL. The image holds the context and the types until then. NULL is allowed. Any thread, inside
 * any callback: see context.h. */
HAUL_API void haul_image_free(haul_image **image);

/* ---- The functions behind the inline forms, which pass the sizes of structs. */

HAUL_API haul_status haul_image_write_sized(haul_context *context, const haul_source *source,
                                            size_t source_bytes,
                                            const haul_image_write_options *options,
                                            size_t options_bytes, const haul_file *file);
HAUL_API haul_status haul_image_save_sized(haul_context *context, const haul_source *source,
                                           size_t source_bytes,
                                           const haul_image_write_options *options,
                                           size_t options_bytes, const char *path);
HAUL_API haul_status haul_image_to_bytes_sized(haul_context *context, const haul_source *source,
                                               size_t source_bytes,
                                               const haul_image_write_options *options,
                                               size_t options_bytes, void *memory,
                                               size_t memory_bytes, size_t *bytes);
HAUL_API haul_status haul_image_from_bytes_sized(haul_context *context, const void *bytes,
                                                 size_t byte_count, haul_type *const *types,
                                                 size_t count, const haul_image_options *options,
                                                 size_t options_bytes, haul_image **image);
HAUL_API haul_status haul_image_read_sized(haul_context *context, const haul_file *file,
                                           haul_type *const *types, size_t count,
                                           const haul_image_options *options, size_t options_bytes,
                                           haul_image **image);
HAUL_API haul_status haul_image_load_sized(haul_context *context, const char *path,
                                           haul_type *const *types, size_t count,
                                           const haul_image_options *options, size_t options_bytes,
                                           haul_image **image);

static inline haul_status haul_image_write_as(haul_context *context, haul_source source,
                                              const haul_image_write_options *options,
                                              const haul_file *file)
{
    return haul_image_write_sized(context, &source, sizeof source, options, sizeof *options, file);
}

static inline haul_status haul_image_save_as(haul_context *context, haul_source source,
                                             const haul_image_write_options *options,
                                             const char *path)
{
    return haul_image_save_sized(context, &source, sizeof source, options, sizeof *options, path);
}

static inline haul_status haul_image_to_bytes(haul_context *context, haul_source source,
                                              const haul_image_write_options *options, void *memory,
                                              size_t memory_bytes, size_t *bytes)
{
    return haul_image_to_bytes_sized(context, &source, sizeof source, options, sizeof *options,
                                     memory, memory_bytes, bytes);
}

static inline haul_status haul_image_write(haul_context *context, haul_source source,
                                           const haul_file *file)
{
    return haul_image_write_as(context, source, NULL, file);
}

static inline haul_status haul_image_save(haul_context *context, haul_source source,
                                          const char *path)
{
    return haul_image_save_as(context, source, NULL, path);
}

static inline haul_status haul_image_from_bytes(haul_context *context, const void *bytes,
                                                size_t byte_count, haul_type *const *types,
                                                size_t count, const haul_image_options *options,
                                                haul_image **image)
{
    return haul_image_from_bytes_sized(context, bytes, byte_count, types, count, options,
                                       sizeof *options, image);
}

static inline haul_status haul_image_read(haul_context *context, const haul_file *file,
                                          haul_type *const *types, size_t count,
                                          const haul_image_options *options, haul_image **image)
{
    return haul_image_read_sized(context, file, types, count, options, sizeof *options, image);
}

static inline haul_status haul_image_load(haul_context *context, const char *path,
                                          haul_type *const *types, size_t count,
                                          const haul_image_options *options, haul_image **image)
{
    return haul_image_load_sized(context, path, types, count, options, sizeof *options, image);
}

#ifdef __cplusplus
}
#endif
#endif
