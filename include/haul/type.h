/* Types: descriptions of C objects, made once, immutable after commit.
 *
 *     typedef struct mesh { int nv, dim; double *xyz; struct mesh *next; char *name; } mesh;
 *
 *     static haul_type *mesh_type;
 *     static const haul_ref mesh_refs[] = {
 *         HAUL_ARRAY (mesh, xyz, HAUL_N2(mesh, nv, dim)),
 *         HAUL_OBJECT(mesh, next, &mesh_type),
 *         HAUL_STRING(mesh, name),
 *     };
 *     haul_type_create("mesh", sizeof(mesh), mesh_refs, 3, &mesh_type);
 *     haul_type_commit(mesh_type);
 *
 * Bytes travel by default; only pointers, and bytes that must not travel, need rows. A row names
 * its target by the address of the handle variable. So tables can be static, and recursive types
 * need no special care: create all, then commit one; the commit includes every type that it
 * reaches.
 *
 * Types are reference-counted, as MPI's are: freeing a type that a plan, a shipment or another
 * committed type uses is safe. Types are used by one thread until they are committed; afterwards
 * any number of threads may share them.
 *
 * A shape (shape.h) is the number of elements that a pointer leads to. A rule (rule.h) holds the
 * conditions, modes and directions of a row.
 *
 * The constructors and queries at the end bear MPI's names and argument order (MPI-5.0, chapter 5),
 * with size_t throughout.
 */
#ifndef HAUL_TYPE_H
#define HAUL_TYPE_H

#include "haul/file.h"
#include "haul/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Rows
 */

typedef enum haul_ref_kind {
    HAUL_REF_POINTER = 1, /* one pointer, or an array of pointers in the struct itself */
    HAUL_REF_EMBED = 2,   /* a struct, or an array of structs, that has rows of its own */
    HAUL_REF_SKIP = 3,    /* bytes that do not travel: zero on the device, unchanged on the host */
    /* bytes that travel as they are: for the dump, as documentation, and with a rule for unions */
    HAUL_REF_DATA = 4,
    HAUL_REF_TAIL = 5 /* the array that ends an object: see HAUL_TAIL */
} haul_ref_kind;

typedef struct haul_ref {
    const char *name; /* of the field; copied */
    haul_ref_kind kind;
    size_t offset;      /* of the field in the struct, bytes */
    size_t field_bytes; /* of the whole field */
    /* sizeof of the last level's target; 0: that of the target type */
    size_t element_bytes;
    haul_type *const *target; /* address of the handle; NULL: plain bytes */
    unsigned levels;          /* 1: T *, 2: T **, 3: T *** */
    /* shape[0] of the first array, shape[levels - 1] of the last. Each reads the fields of the
     * struct that holds the row; callbacks get the pointer's place as index */
    haul_shape shape[HAUL_LEVELS];
    int unaligned;         /* 1: the field may lie off the pointer grid (packed structs) */
    const haul_rule *rule; /* NULL: none; copied */
} haul_ref;

#define HAUL__ROW(S, m, kind, check, element, target, levels, s0, s1, s2)                          \
    {                                                                                              \
#m, kind, offsetof(S, m) + (check), sizeof HAUL__AT(S, m), element, target, levels,        \
            { s0, s1, s2 }, 0, NULL                                                                \
    }
#define HAUL__EACH(S, m)                                                                           \
    (HAUL__CHECK(sizeof HAUL__AT(S, m) % sizeof(void *) == 0) + 0u * sizeof(*HAUL__AT(S, m)[0]))
#define HAUL__PASS(...) __VA_ARGS__

/* Rows. S is the struct's name, m the field, T the address of the target's handle (&node_type). */

/* T *m: one object, or NULL. HAUL_OBJECT_AS for a field of another pointer type (void *m). */
#define HAUL_OBJECT(S, m, T)                                                                       \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__POINTER(S, m), sizeof(*HAUL__AT(S, m)), T, 1,          \
              HAUL_ONE, HAUL_ONE, HAUL_ONE)
#define HAUL_OBJECT_AS(S, m, T)                                                                    \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__CHECK(sizeof HAUL__AT(S, m) == sizeof(void *)), 0, T,  \
              1, HAUL_ONE, HAUL_ONE, HAUL_ONE)
/* T *m: an array of objects; the last argument is its shape. HAUL_OBJECTS_AS for void *m. */
#define HAUL_OBJECTS(S, m, T, ...)                                                                 \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__POINTER(S, m), sizeof(*HAUL__AT(S, m)), T, 1,          \
              HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
#define HAUL_OBJECTS_AS(S, m, T, ...)                                                              \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__CHECK(sizeof HAUL__AT(S, m) == sizeof(void *)), 0, T,  \
              1, HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
/* E *m: an array of elements without pointers (double *m; struct point *m). */
#define HAUL_ARRAY(S, m, ...)                                                                      \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__POINTER(S, m), sizeof(*HAUL__AT(S, m)), NULL, 1,       \
              HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
/* void *m: an array of bytes; the last argument is its shape. */
#define HAUL_BYTES(S, m, ...)                                                                      \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__CHECK(sizeof HAUL__AT(S, m) == sizeof(void *)), 1,     \
              NULL, 1, HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
/* char *m (or wchar_t *m): a string, terminator included. */
#define HAUL_STRING(S, m) HAUL_ARRAY(S, m, HAUL_NULL_TERMINATED)
/* T **m: an array of pointers, each NULL or to one object. */
#define HAUL_POINTERS(S, m, T, ...)                                                                \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__POINTER2(S, m), sizeof(**HAUL__AT(S, m)), T, 2,        \
              HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
/* char **m: an array of pointers, each NULL or to a string. */
#define HAUL_STRINGS(S, m, ...)                                                                    \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__POINTER2(S, m), sizeof(**HAUL__AT(S, m)), NULL, 2,     \
              HAUL__PASS(__VA_ARGS__), HAUL_NULL_TERMINATED, HAUL_ONE)
/* Pointers to pointers: a row of 2 or 3 levels with a shape for each level. For double **a:
 * HAUL_ROWS(matrix, a, NULL, HAUL_N(matrix, n), HAUL_N(matrix, m)). */
#define HAUL_ROWS(S, m, T, ...)                                                                    \
    {                                                                                              \
#m, HAUL_REF_POINTER, offsetof(S, m) + HAUL__POINTER2(S, m), sizeof HAUL__AT(S, m),        \
            sizeof(**HAUL__AT(S, m)), T, 2, { __VA_ARGS__ }, 0, NULL                               \
    }
#define HAUL_ROWS3(S, m, T, ...)                                                                   \
    {                                                                                              \
#m, HAUL_REF_POINTER,                                                                      \
            offsetof(S, m) + HAUL__POINTER2(S, m) + 0u * sizeof(***HAUL__AT(S, m)),                \
            sizeof HAUL__AT(S, m), sizeof(***HAUL__AT(S, m)), T, 3, { __VA_ARGS__ }, 0, NULL       \
    }
/* T *m[k]: an array of pointers that lies in the struct itself, each NULL or to one object, an
 * array, a string. */
#define HAUL_OBJECT_EACH(S, m, T)                                                                  \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__EACH(S, m), sizeof(*HAUL__AT(S, m)[0]), T, 1,          \
              HAUL_ONE, HAUL_ONE, HAUL_ONE)
#define HAUL_ARRAY_EACH(S, m, ...)                                                                 \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__EACH(S, m), sizeof(*HAUL__AT(S, m)[0]), NULL, 1,       \
              HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
#define HAUL_STRING_EACH(S, m) HAUL_ARRAY_EACH(S, m, HAUL_NULL_TERMINATED)
/* T *m[k]: each NULL or to an array of objects. */
#define HAUL_OBJECTS_EACH(S, m, T, ...)                                                            \
    HAUL__ROW(S, m, HAUL_REF_POINTER, HAUL__EACH(S, m), sizeof(*HAUL__AT(S, m)[0]), T, 1,          \
              HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE)
/* T m, or T m[k]: structs that lie in the struct and have rows of their own. */
#define HAUL_EMBED(S, m, T)                                                                        \
    HAUL__ROW(S, m, HAUL_REF_EMBED, 0u, 0, T, 0, HAUL_ONE, HAUL_ONE, HAUL_ONE)
/* A field that does not travel: zero on the device; the host's is neither read nor written. For
 * caches, locks and pointers that mean nothing on a device. */
#define HAUL_SKIP(S, m) HAUL__ROW(S, m, HAUL_REF_SKIP, 0u, 0, NULL, 0, HAUL_ONE, HAUL_ONE, HAUL_ONE)
/* A pointer or handle that travels as plain bytes, never followed, never patched. */
#define HAUL_OPAQUE(S, m)                                                                          \
    HAUL__ROW(S, m, HAUL_REF_DATA, 0u, 0, NULL, 0, HAUL_ONE, HAUL_ONE, HAUL_ONE)
/* A member of a packed struct (a compiler's extension): as HAUL_OBJECT and HAUL_ARRAY, but at any
 * offset. */
#define HAUL_OBJECT_PACKED(S, m, T)                                                                \
    {                                                                                              \
#m, HAUL_REF_POINTER, offsetof(S, m) + HAUL__POINTER(S, m), sizeof HAUL__AT(S, m),         \
            sizeof(*HAUL__AT(S, m)), T, 1, { HAUL_ONE, HAUL_ONE, HAUL_ONE }, 1, NULL               \
    }
#define HAUL_ARRAY_PACKED(S, m, ...)                                                               \
    {                                                                                              \
#m, HAUL_REF_POINTER, offsetof(S, m) + HAUL__POINTER(S, m), sizeof HAUL__AT(S, m),         \
            sizeof(*HAUL__AT(S, m)), NULL, 1,                                                      \
            { HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE }, 1, NULL                               \
    }

/* The same rows with a rule (the address of a haul_rule, or HAUL_RULE(...)). Rows with rules may
 * overlap, as the arms of a union do, if each has a `when`. Only rows that hold count; two that
 * hold at once and overlap are HAUL_ERROR_GRAPH. If no row holds for a byte of such arms, it is
 * zero in the copy, or plain data if one of the rows says HAUL_ELSE_RAW. Every form takes a field
 * of any C type that has a pointer's size. */
#define HAUL__RULED(S, m, kind, check, element, target, levels, s0, s1, rule)                      \
    {                                                                                              \
#m, kind, offsetof(S, m) + (check), sizeof HAUL__AT(S, m), element, target, levels,        \
            { s0, s1, HAUL_ONE }, 0, rule                                                          \
    }
#define HAUL__WORD_FIELD(S, m) HAUL__CHECK(sizeof HAUL__AT(S, m) == sizeof(void *))
#define HAUL__WORD_FIELDS(S, m) HAUL__CHECK(sizeof HAUL__AT(S, m) % sizeof(void *) == 0)
#define HAUL_OBJECT_BY(S, m, T, rule)                                                              \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__WORD_FIELD(S, m), 0, T, 1, HAUL_ONE, HAUL_ONE, rule)
#define HAUL_OBJECTS_BY(S, m, T, rule, ...)                                                        \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__WORD_FIELD(S, m), 0, T, 1, HAUL__PASS(__VA_ARGS__),  \
                HAUL_ONE, rule)
#define HAUL_ARRAY_BY(S, m, rule, ...)                                                             \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__POINTER(S, m), sizeof(*HAUL__AT(S, m)), NULL, 1,     \
                HAUL__PASS(__VA_ARGS__), HAUL_ONE, rule)
#define HAUL_BYTES_BY(S, m, rule, ...)                                                             \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__WORD_FIELD(S, m), 1, NULL, 1,                        \
                HAUL__PASS(__VA_ARGS__), HAUL_ONE, rule)
#define HAUL_STRING_BY(S, m, rule) HAUL_ARRAY_BY(S, m, rule, HAUL_NULL_TERMINATED)
#define HAUL_POINTERS_BY(S, m, T, rule, ...)                                                       \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__WORD_FIELD(S, m), 0, T, 2, HAUL__PASS(__VA_ARGS__),  \
                HAUL_ONE, rule)
#define HAUL_ROWS_BY(S, m, T, rule, ...)                                                           \
    {                                                                                              \
#m, HAUL_REF_POINTER, offsetof(S, m) + HAUL__POINTER2(S, m), sizeof HAUL__AT(S, m),        \
            sizeof(**HAUL__AT(S, m)), T, 2, { __VA_ARGS__ }, 0, rule                               \
    }
#define HAUL_ROWS3_BY(S, m, T, rule, ...)                                                          \
    {                                                                                              \
#m, HAUL_REF_POINTER,                                                                      \
            offsetof(S, m) + HAUL__POINTER2(S, m) + 0u * sizeof(***HAUL__AT(S, m)),                \
            sizeof HAUL__AT(S, m), sizeof(***HAUL__AT(S, m)), T, 3, { __VA_ARGS__ }, 0, rule       \
    }
/* The same for a field whose C type does not name the element: `element` bytes each, for T NULL; 0
 * if the rule chooses the type. */
#define HAUL_ROWS_AS_BY(S, m, T, element, rule, ...)                                               \
    {                                                                                              \
#m, HAUL_REF_POINTER, offsetof(S, m) + HAUL__WORD_FIELD(S, m), sizeof HAUL__AT(S, m),      \
            element, T, 2, { __VA_ARGS__ }, 0, rule                                                \
    }
#define HAUL_OBJECT_EACH_BY(S, m, T, rule)                                                         \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__WORD_FIELDS(S, m), 0, T, 1, HAUL_ONE, HAUL_ONE, rule)
#define HAUL_ARRAY_EACH_BY(S, m, rule, ...)                                                        \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__EACH(S, m), sizeof(*HAUL__AT(S, m)[0]), NULL, 1,     \
                HAUL__PASS(__VA_ARGS__), HAUL_ONE, rule)
/* A pointer without a target type: the rule chooses one, or the pointer is not followed. */
#define HAUL_CHOICE(S, m, rule) HAUL_OBJECT_BY(S, m, NULL, rule)
#define HAUL_CHOICES(S, m, rule, ...) HAUL_OBJECTS_BY(S, m, NULL, rule, HAUL__PASS(__VA_ARGS__))
#define HAUL_WORD_BY(S, m, rule)                                                                   \
    HAUL__RULED(S, m, HAUL_REF_POINTER, HAUL__WORD_FIELDS(S, m), 1, NULL, 1, HAUL_ONE, HAUL_ONE,   \
                rule)
/* A distance of 4 or 8 bytes that leads to objects; the rule says HAUL_RELATIVE. T NULL: plain
 * elements of `element` bytes. */
#define HAUL_DISTANCE(S, m, T, element, rule, ...)                                                 \
    HAUL__RULED(S, m, HAUL_REF_POINTER,                                                            \
                HAUL__CHECK(sizeof HAUL__AT(S, m) == 4 || sizeof HAUL__AT(S, m) == 8), element, T, \
                1, HAUL__PASS(__VA_ARGS__), HAUL_ONE, rule)
/* An embedded struct, or bytes: an arm of a union, or a field with a direction. Only `when`,
 * `otherwise` and `direction` of the rule count. */
#define HAUL_EMBED_BY(S, m, T, rule)                                                               \
    HAUL__RULED(S, m, HAUL_REF_EMBED, 0u, 0, T, 0, HAUL_ONE, HAUL_ONE, rule)
#define HAUL_DATA_BY(S, m, rule)                                                                   \
    HAUL__RULED(S, m, HAUL_REF_DATA, 0u, 0, NULL, 0, HAUL_ONE, HAUL_ONE, rule)
/* E m[], or E m[1] with more elements than one: the array that ends an object. The object is then
 * as long as offsetof(S, m) and its elements, whatever its sizeof; haul_type_set_size states the
 * limits of such types. HAUL_TAIL_OF: elements with rows of their own. */
#define HAUL_TAIL(S, m, ...)                                                                       \
    {                                                                                              \
#m, HAUL_REF_TAIL, offsetof(S, m), 0, sizeof(HAUL__AT(S, m)[0]), NULL, 1,                  \
            { HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE }, 0, NULL                               \
    }
#define HAUL_TAIL_OF(S, m, T, ...)                                                                 \
    {                                                                                              \
#m, HAUL_REF_TAIL, offsetof(S, m), 0, sizeof(HAUL__AT(S, m)[0]), T, 1,                     \
            { HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE }, 0, NULL                               \
    }
/* Only `direction` of the rule counts, and `with_parent` and `holder` for the tail's count. */
#define HAUL_TAIL_BY(S, m, rule, ...)                                                              \
    {                                                                                              \
#m, HAUL_REF_TAIL, offsetof(S, m), 0, sizeof(HAUL__AT(S, m)[0]), NULL, 1,                  \
            { HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE }, 0, rule                               \
    }
#define HAUL_TAIL_OF_BY(S, m, T, rule, ...)                                                        \
    {                                                                                              \
#m, HAUL_REF_TAIL, offsetof(S, m), 0, sizeof(HAUL__AT(S, m)[0]), T, 1,                     \
            { HAUL__PASS(__VA_ARGS__), HAUL_ONE, HAUL_ONE }, 0, rule                               \
    }

/* -------------------------------------------------------------------------------------------------
 * Life
 */

#define HAUL_TYPE_BYTES_MAX (SIZE_MAX / 4) /* the largest object that can be described */
#define HAUL_ALIGNMENT_MAX 4096u
#define HAUL_NAME_BYTES_MAX 256u /* of type and field names, terminator included */
#define HAUL_EMBED_DEPTH_MAX 64u /* types within types */

/* Makes a type of `bytes` bytes (sizeof, never less) with `count` rows, which are copied, names
 * too. It stays open for haul_type_add until it is committed. `refs` may be NULL if `count` is 0: a
 * struct without pointers. The commit finds and reports mistakes in the description, names
 * included, because only a type that exists can hold the record. HAUL_ERROR_ARGUMENT: a NULL
 * result, an incomplete allocator, NULL rows. HAUL_ERROR_MEMORY. On failure *type is NULL. */
HAUL_API haul_status haul_type_create(const char *name, size_t bytes, const haul_ref *refs,
                                      size_t count, haul_type **type);
/* The same with an allocator (NULL: malloc), which must outlive the type and everything that uses
 * it. */
HAUL_API haul_status haul_type_create_in(const haul_allocator *allocator, const char *name,
                                         size_t bytes, const haul_ref *refs, size_t count,
                                         haul_type **type);

/* Adds rows to a type that is not committed. HAUL_ERROR_STATE after commit. HAUL_ERROR_ARGUMENT:
 * NULL; a row without a name. On failure the type is as before, and haul_type_error says why. */
HAUL_API haul_status haul_type_add(haul_type *type, const haul_ref *refs, size_t count);

/* Declares that objects of this type stand at multiples of `alignment` (a power of two up to
 * HAUL_ALIGNMENT_MAX). A pointer to an address that does not is an error, and the copy has the
 * alignment, too. Without this call, the copy keeps addresses modulo two pointers, and a pointer's
 * target needs only the alignment of the type's own pointer fields. HAUL_ERROR_ARGUMENT: NULL.
 * HAUL_ERROR_STATE after commit. Commit reports an alignment that is no such power of two. */
HAUL_API haul_status haul_type_set_alignment(haul_type *type, size_t alignment);

/* Declares that the callback `bytes` gives each object's size (here->self is the object): shorter
 * than sizeof, as some allocators of variants make it, or longer. An answer below 1 refuses the
 * object. Rows beyond the end do not apply (the end pointer of a pair goes with its begin); bytes
 * behind the sizeof travel as they are. Objects of such a type, and of one with a HAUL_TAIL, have
 * no common size that an array could step by. So a pointer leads to one of them, a root is one of
 * them, and no struct and no constructor can hold them. HAUL_ERROR_ARGUMENT: NULL. HAUL_ERROR_STATE
 * after commit, and for a constructor's type. */
HAUL_API haul_status haul_type_set_size(haul_type *type, haul_function *bytes);

/* Checks the type and every open type that it reaches, works out how they are walked, and commits
 * them all. On failure none is committed, haul_type_error says which field of which type is wrong,
 * and the call can be repeated after a repair. A type that is already committed stays as it is
 * (HAUL_OK). HAUL_ERROR_TYPE: a name (of a type or of a row) that is NULL or empty, is no UTF-8, or
 * has no terminator within HAUL_NAME_BYTES_MAX; size 0 or above HAUL_TYPE_BYTES_MAX; alignment; a
 * field outside its struct; fields that overlap; a pointer field off the pointer grid that is not
 * declared packed; a count field that is not an integer of 1, 2, 4 or 8 bytes, lies outside the
 * struct, or lies in a pointer field; an end that is not a pointer field; a target whose handle is
 * NULL; an element size that is not the target's; a struct that embeds itself; a NULL callback; two
 * different open types of one name among those reached; a rule that contradicts itself, its row or
 * another rule; a holder whose handle is NULL, or that is already committed; a direction that
 * forbids reading bytes that must be read. HAUL_ERROR_LIMIT: embedding deeper than
 * HAUL_EMBED_DEPTH_MAX. HAUL_ERROR_MEMORY. */
HAUL_API haul_status haul_type_commit(haul_type *type);

/* The last failure of any call on this type; status HAUL_OK when there was none, and after a commit
 * that succeeded. Never NULL: for a NULL type, a record that says so. The record is valid until the
 * next call on this type, which may overwrite, replace or free it: ask again after each call.
 */
HAUL_API const haul_error *haul_type_error(const haul_type *type);

/* Drops the caller's hold and sets *type to NULL. A type that is in use lives on. NULL and a NULL
 * handle are allowed. Types belong to no context, so this never waits and is done at once. A
 * committed type may be freed in any thread and inside any callback, even while calls with it are
 * under way. */
HAUL_API void haul_type_free(haul_type **type);

/* -------------------------------------------------------------------------------------------------
 * MPI's constructors. Each makes a new open type over `oldtype`, open or committed, which it holds.
 * `stride` and `displacements` count extents of oldtype; in the h-forms and in create_struct they
 * count bytes. Old types may have rows. Bytes between the blocks are no part of the type: they are
 * neither read nor written, and are zeros in the copy, so that distances stay. An extent is not
 * rounded up to an alignment, as MPI's is for create_struct: set it with resized.
 * HAUL_ERROR_ARGUMENT for NULL pointers; HAUL_ERROR_TYPE at once when a size overflows;
 * HAUL_ERROR_MEMORY. On failure *newtype is NULL, and haul_type_error of the old type has the
 * record (create_struct: of the type at fault, or the first). A committed old type may be shared,
 * so its record has no numbers. Types whose size is 0 can be made and committed; a pointer to one
 * is refused.
 */
HAUL_API haul_status haul_type_contiguous(size_t count, haul_type *oldtype, haul_type **newtype);
HAUL_API haul_status haul_type_vector(size_t count, size_t blocklength, size_t stride,
                                      haul_type *oldtype, haul_type **newtype);
HAUL_API haul_status haul_type_create_hvector(size_t count, size_t blocklength, size_t stride_bytes,
                                              haul_type *oldtype, haul_type **newtype);
HAUL_API haul_status haul_type_indexed(size_t count, const size_t *blocklengths,
                                       const size_t *displacements, haul_type *oldtype,
                                       haul_type **newtype);
HAUL_API haul_status haul_type_create_hindexed(size_t count, const size_t *blocklengths,
                                               const size_t *displacements, haul_type *oldtype,
                                               haul_type **newtype);
HAUL_API haul_status haul_type_create_indexed_block(size_t count, size_t blocklength,
                                                    const size_t *displacements, haul_type *oldtype,
                                                    haul_type **newtype);
HAUL_API haul_status haul_type_create_struct(size_t count, const size_t *blocklengths,
                                             const size_t *displacements, haul_type *const *types,
                                             haul_type **newtype);
typedef enum haul_order { HAUL_ORDER_C = 0, HAUL_ORDER_FORTRAN = 1 } haul_order;
HAUL_API haul_status haul_type_create_subarray(size_t ndims, const size_t *sizes,
                                               const size_t *subsizes, const size_t *starts,
                                               haul_order order, haul_type *oldtype,
                                               haul_type **newtype);
/* Lower bound and extent in bytes; the extent may be smaller than the type (interleaved columns),
 * not 0. */
HAUL_API haul_status haul_type_create_resized(haul_type *oldtype, size_t lower_bound, size_t extent,
                                              haul_type **newtype);
HAUL_API haul_status haul_type_dup(haul_type *oldtype, haul_type **newtype);
/* Not MPI's: pointers to pointers to any depth. The new type is one pointer, to `shape` elements of
 * `target` (NULL: plain elements of `element_bytes` bytes). Commit refuses a shape that reads
 * fields, because there are none. */
HAUL_API haul_status haul_type_pointer(const char *name, haul_type *const *target,
                                       size_t element_bytes, haul_shape shape, haul_type **newtype);
/* A named element of `bytes` bytes without pointers, for the constructors above (MPI's basic
 * types). */
HAUL_API haul_status haul_type_bytes(const char *name, size_t bytes, haul_type **newtype);

/* -------------------------------------------------------------------------------------------------
 * Containers. A list, a table or a set does not know the type of its elements; the struct that
 * points to it does. A container is described once, with a parameter in place of the element type,
 * and has an instance for each element type:
 *
 *     haul_type_parameter("element", &element);
 *     static const haul_ref list_refs[] = { HAUL_OBJECT_AS(list, data, &element),
 *                                           HAUL_OBJECT(list, next, &list_type) };
 *     haul_type_create("list", sizeof(list), list_refs, 2, &list_type);
 *     haul_type_instance(list_type, 1, &element, &mesh_type, &list_of_meshes); named list<mesh>
 *
 * In a list of meshes, a row that leads to `list` leads to a list of meshes. If a container leads
 * to another one with the same parameter (a table to its entries), its instance leads to that
 * container's instance, which is made automatically. One set of arguments has one instance. If the
 * elements of one container differ in type, describe them by a choice (rule.h) without a parameter.
 */
#define HAUL_PARAMETERS_MAX 8u

/* Makes a parameter: a name in place of a type, for targets of rows, cases and embedded elements.
 * It cannot be committed, shipped or given to a constructor. Errors are those of
 * haul_type_create. */
HAUL_API haul_status haul_type_parameter(const char *name, haul_type **parameter);

/* Makes an instance: `container` with arguments[i] in place of parameters[i], i < count <=
 * HAUL_PARAMETERS_MAX. The result is a new open type, or the instance made before, held once more.
 * The container must be complete: its rows, alignment, size and rebuild function are set, and
 * adding to it is HAUL_ERROR_STATE from now on. It is a struct or comes from haul_type_pointer, and
 * must live until its instances are committed. A container is never committed itself: that is
 * HAUL_ERROR_TYPE, and names the row that leads to a parameter. Arguments are types that exist,
 * open or committed; the instance holds them. In a recursion create the argument first and add its
 * rows later. The instance's commit refuses a parameter that no row of the container reaches, and a
 * type in between that depends on a parameter but is no container, such as a contiguous one.
 * HAUL_ERROR_ARGUMENT: NULL; a count of 0 or too large; a parameter given twice, or that is not a
 * parameter; an argument that is a parameter. HAUL_ERROR_STATE: the container is committed, is an
 * instance, or comes from another constructor. HAUL_ERROR_LIMIT: a name longer than
 * HAUL_NAME_BYTES_MAX. HAUL_ERROR_MEMORY. The container has the record. */
HAUL_API haul_status haul_type_instance(haul_type *container, size_t count,
                                        haul_type *const *parameters, haul_type *const *arguments,
                                        haul_type **instance);

/* -------------------------------------------------------------------------------------------------
 * Queries. They work on open and committed types; HAUL_ERROR_ARGUMENT for NULL, HAUL_ERROR_TYPE
 * when the type is open and embeds one whose handle is still NULL.
 */

/* The bytes of one element that travel: its size without holes and skipped fields. Targets of
 * pointers are not counted, and directions do not matter. For a type with rules, the most that can
 * travel; for a type with a tail, the bytes before the tail. */
HAUL_API haul_status haul_type_size(const haul_type *type, size_t *bytes);
/* The offset at which an element begins, and the distance to the next element. For a struct: 0 and
 * its sizeof. */
HAUL_API haul_status haul_type_get_extent(const haul_type *type, size_t *lower_bound,
                                          size_t *extent);
/* The offset of the first byte that travels, and the distance from it to behind the last one. */
HAUL_API haul_status haul_type_get_true_extent(const haul_type *type, size_t *true_lower_bound,
                                               size_t *true_extent);
HAUL_API const char *haul_type_name(const haul_type *type);
HAUL_API int haul_type_committed(const haul_type *type);

/* The constructor that made a type (MPI's combiner). */
typedef enum haul_combiner {
    HAUL_COMBINER_STRUCT_REFS = 1, /* haul_type_create */
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
HAUL_API haul_combiner haul_type_combiner(const haul_type *type);

/* Iteration, in place of MPI's envelope and contents: the fields of a struct in the order of their
 * offsets, or the blocks of a constructor in the order given. */
typedef struct haul_field_info {
    const char *name;     /* of the field; "" for a block. Lives as long as the type. */
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
HAUL_API size_t haul_type_field_count(const haul_type *type);
/* HAUL_ERROR_ARGUMENT when index is not below haul_type_field_count. */
HAUL_API haul_status haul_type_get_field(const haul_type *type, size_t index,
                                         haul_field_info *field);

/* Prints the type as a table: offset, size, field, target and shape of each row, "(bytes)" for
 * bytes without a row, and totals; for a constructor, the first 32 blocks. HAUL_ERROR_FILE: the
 * file refuses. */
HAUL_API haul_status haul_type_dump(const haul_type *type, const haul_file *file);

#ifdef __cplusplus
}
#endif
#endif
