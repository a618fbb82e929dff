/* Types: descriptions of C objects, made once, immutable after commit. describe.h makes them from
 * static tables; this is for types that are made at run time, and for containers and queries.
 *
 * A type is made from a context, which gives the memory and holds the record of failures
 * (haul_context_error). Calls that make, change or commit a type answer HAUL_ERROR_BUSY while
 * another call is under way on its context. A type keeps its context alive.
 *
 * Types are reference-counted, as MPI's are: freeing a type that a plan, a shipment or another
 * committed type uses is safe. Types are used by one thread until they are committed; afterwards
 * any number of threads and contexts may share them.
 */
#ifndef HAUL_TYPE_H
#define HAUL_TYPE_H

#include "haul/context.h"
#include "haul/field.h"
#include "haul/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Life
 */

#define HAUL_TYPE_BYTES_MAX (SIZE_MAX / 4) /* the largest object that can be described */
#define HAUL_ALIGNMENT_MAX 4096u
#define HAUL_NAME_BYTES_MAX 256u /* of type and field names, terminator included */
#define HAUL_EMBED_DEPTH_MAX 64u /* types within types */

/* The distance from an address to its block is at most this (.base). */
#define HAUL_OUTSIDE_MAX ((size_t)1 << 20)

/* The bits that a process's addresses leave free, for .tag_bits: the top 16 (the top one if
 * pointers have 4 bytes, in processes below 2 GiB). The host works out pointers with high tag bits,
 * from the arena's address on the device, whenever it packs and when an arena is copied to another
 * device; haul_plan_relocate leaves them alone. If the device address has a bit of the tag, that is
 * HAUL_ERROR_LIMIT, with the path; a pointer to no elements becomes the tag alone. An update of the
 * host with `.pointers` brings back both the tag and the address that the device has. Numbers in
 * the same word are excluded by .integers_below and .integers_from, or by a .when with .else_raw.
 * For a NaN-boxed number, the condition is a function that reads here->place. */
#define HAUL_HIGH_TAGS (~(((uintptr_t)1 << (sizeof(void *) > 4 ? 48 : 31)) - 1))

/* Makes an open type from the description, which is copied, names too; what->type is not used. It
 * stays open for haul_type_add until it is committed. The commit finds and reports mistakes in the
 * description, names included. HAUL_ERROR_ARGUMENT: NULL; fields that are NULL.
 * HAUL_ERROR_VERSION: a member that this library lacks. HAUL_ERROR_BUSY. HAUL_ERROR_MEMORY. On
 * failure *type is NULL. */
HAUL_API haul_status haul_type_create_sized(haul_context *context, const haul_struct *what,
                                            size_t what_bytes, haul_type **type);
static inline haul_status haul_type_create(haul_context *context, const haul_struct *what,
                                           haul_type **type)
{
    return haul_type_create_sized(context, what, sizeof *what, type);
}

/* Adds fields to a type that is not committed. HAUL_ERROR_STATE after commit. HAUL_ERROR_ARGUMENT:
 * NULL; a field without a name. HAUL_ERROR_VERSION, HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY. On failure
 * the type is as before. */
HAUL_API haul_status haul_type_add_sized(haul_type *type, const haul_field *fields, size_t count,
                                         size_t field_bytes);
static inline haul_status haul_type_add(haul_type *type, const haul_field *fields, size_t count)
{
    return haul_type_add_sized(type, fields, count, sizeof *fields);
}

/* Checks the type and every open type that it reaches, works out how they are walked, and commits
 * them all. On failure none is committed, the record says which field of which type is wrong, and
 * the call can be repeated after a repair. A type that is already committed stays as it is
 * (HAUL_OK). HAUL_ERROR_TYPE: a name (of a type or of a field) that is NULL or empty, is no UTF-8,
 * or has no terminator within HAUL_NAME_BYTES_MAX; size 0 or above HAUL_TYPE_BYTES_MAX; alignment;
 * a field outside its struct; fields that overlap; a pointer field off the pointer grid that is not
 * declared packed; a count that is not an integer of 1, 2, 4 or 8 bytes, lies outside the struct,
 * or lies in a pointer field; an end that is not a pointer field; a target whose handle is NULL; an
 * element size that is not the target's; a struct that embeds itself; a NULL function; two
 * different open types of one name among those reached; an optional member that contradicts its
 * form or another member; an ancestor whose handle is NULL, or that is already committed; a
 * direction that forbids reading bytes that must be read. HAUL_ERROR_LIMIT: embedding deeper than
 * HAUL_EMBED_DEPTH_MAX. HAUL_ERROR_MEMORY. */
HAUL_API haul_status haul_type_commit(haul_type *type);

/* Drops the caller's hold and sets *type to NULL. A type that is in use lives on. NULL and a NULL
 * handle are allowed. This never waits and is done at once. A committed type may be freed in any
 * thread and inside any callback, even while calls with it are under way; its memory goes back to
 * the context's allocator in that thread. */
HAUL_API void haul_type_free(haul_type **type);

/* -------------------------------------------------------------------------------------------------
 * Containers. A list, a table or a set does not know the type of its elements; the struct that
 * points to it does. A container is described once, with a parameter in place of the element type,
 * and has an instance for each element type:
 *
 *     static const haul_field list_fields[] = { HAUL_ADDRESS(list, data, .target = &element),
 *                                               HAUL_OBJECT (list, next, &list_type) };
 *     static const haul_struct a_list = HAUL_STRUCT(list, &list_type, list_fields);
 *
 *     haul_type_parameter(context, "element", &element);
 *     haul_type_create(context, &a_list, &list_type);
 *     haul_type_instance(list_type, 1, &element, &mesh_type, &list_of_meshes); named list<mesh>
 *
 * In a list of meshes, a field that leads to `list` leads to a list of meshes. If a container leads
 * to another one with the same parameter (a table to its entries), its instance leads to that
 * container's instance, which is made automatically. One set of arguments has one instance. If the
 * elements of one container differ in type, describe them by a type switch without a parameter.
 */
#define HAUL_PARAMETERS_MAX 8u

/* Makes a parameter: a name in place of a type, for targets of fields, cases and embedded elements.
 * It cannot be committed, shipped or given to a constructor. Errors are those of
 * haul_type_create. */
HAUL_API haul_status haul_type_parameter(haul_context *context, const char *name,
                                         haul_type **parameter);

/* Makes an instance: `container` with arguments[i] in place of parameters[i], i < count <=
 * HAUL_PARAMETERS_MAX. The result is a new open type, or the instance made before, held once more.
 * The container must be complete: its fields and its rebuild function are set, and adding to it is
 * HAUL_ERROR_STATE from now on. It is a struct or comes from haul_type_pointer, and must live until
 * its instances are committed. A container is never committed itself: that is HAUL_ERROR_TYPE, and
 * names the field that leads to a parameter. Arguments are types that exist, open or committed; the
 * instance holds them. In a recursion create the argument first and add its fields later. The
 * instance's commit refuses a parameter that no field of the container reaches, and a type in
 * between that depends on a parameter but is no container, such as a contiguous one.
 * HAUL_ERROR_ARGUMENT: NULL; a count of 0 or too large; a parameter given twice, or that is not a
 * parameter; an argument that is a parameter. HAUL_ERROR_STATE: the container is committed, is an
 * instance, or comes from another constructor. HAUL_ERROR_LIMIT: a name longer than
 * HAUL_NAME_BYTES_MAX. HAUL_ERROR_BUSY. HAUL_ERROR_MEMORY. */
HAUL_API haul_status haul_type_instance(haul_type *container, size_t count,
                                        haul_type *const *parameters, haul_type *const *arguments,
                                        haul_type **instance);

/* -------------------------------------------------------------------------------------------------
 * Queries. They work on open and committed types; HAUL_ERROR_ARGUMENT for NULL, HAUL_ERROR_TYPE
 * when the type is open and embeds one whose handle is still NULL.
 */

/* The bytes of one element that travel: its size without holes and skipped fields. Targets of
 * pointers are not counted, and directions do not matter. For a type with conditions, the most that
 * can travel; for a type with a tail, the bytes before the tail. */
HAUL_API haul_status haul_type_size(const haul_type *type, size_t *bytes);
/* The offset at which an element begins, and the distance to the next element. For a struct: 0 and
 * its sizeof. */
HAUL_API haul_status haul_type_get_extent(const haul_type *type, size_t *lower_bound,
                                          size_t *extent);
/* The offset of the first byte that travels, and the distance from it to behind the last one. */
HAUL_API haul_status haul_type_get_true_extent(const haul_type *type, size_t *true_lower_bound,
                                               size_t *true_extent);
/* The type's name, which lives as long as the type; NULL for a NULL or freed type. */
HAUL_API const char *haul_type_name(const haul_type *type);
/* 1: the type is committed. 0: it is open, NULL or freed. */
HAUL_API int haul_type_committed(const haul_type *type);

/* The constructor that made a type (MPI's combiner). */
typedef enum haul_combiner {
    HAUL_COMBINER_STRUCT_FIELDS = 1, /* haul_type_create */
    HAUL_COMBINER_BYTES,
    HAUL_COMBINER_POINTER,
    HAUL_COMBINER_CONTIGUOUS,
    HAUL_COMBINER_VECTOR,
    HAUL_COMBINER_HVECTOR,
    HAUL_COMBINER_INDEXED,
    HAUL_COMBINER_HINDEXED,
    HAUL_COMBINER_INDEXED_BLOCK,
    HAUL_COMBINER_STRUCT,
    HAUL_COMBINER_SUBARRAY,
    HAUL_COMBINER_RESIZED,
    HAUL_COMBINER_DUP,
    HAUL_COMBINER_PARAMETER
} haul_combiner;
/* 0 for a NULL or freed type. */
HAUL_API haul_combiner haul_type_combiner(const haul_type *type);

/* Iteration, in place of MPI's envelope and contents: the fields of a struct in the order of their
 * offsets, or the blocks of a constructor in the order given. */
typedef struct haul_field_info {
    const char *name;     /* of the field; "" for a block; lives as long as the type */
    size_t offset, bytes; /* in the element */
    /* of the pointers, embedded structs or block elements; the stride in bytes */
    size_t count, stride;
    const haul_type *target; /* NULL: plain bytes, or not yet known */
    size_t element_bytes;
    int kind; /* haul_field_kind; HAUL_FIELD_EMBED for a block */
    unsigned levels;
    /* `levels` of them; NULL unless the kind is that of a pointer or a tail */
    const haul_count *counts;
    /* its optional members, except counts; NULL: it has none */
    const haul_field *members;
} haul_field_info;
/* 0 for a NULL or freed type. */
HAUL_API size_t haul_type_field_count(const haul_type *type);
/* Fills *field. HAUL_ERROR_ARGUMENT: NULL, or an index that is not below haul_type_field_count. */
HAUL_API haul_status haul_type_get_field(const haul_type *type, size_t index,
                                         haul_field_info *field);

/* Prints the type as a table: offset, size, field, target, count and members of each field,
 * "(bytes)" for bytes without a field, and totals; for a constructor, the first 32 blocks.
 * HAUL_ERROR_FILE: the file refuses. */
HAUL_API haul_status haul_type_dump(const haul_type *type, const haul_file *file);

#ifdef __cplusplus
}
#endif
#endif
