/* Types from static tables.
 *
 *     typedef struct mesh { int nv, dim; double *xyz; struct mesh *next; char *name; } mesh;
 *
 *     static haul_type *mesh_type;
 *     static const haul_field mesh_fields[] = {
 *         HAUL_ARRAY (mesh, xyz, HAUL_COUNT(mesh, nv, dim)),
 *         HAUL_OBJECT(mesh, next, &mesh_type),
 *         HAUL_STRING(mesh, name),
 *     };
 *     static const haul_struct structs[] = { HAUL_STRUCT(mesh, &mesh_type, mesh_fields) };
 *
 *     haul_status status = HAUL_DESCRIBE(context, structs);
 *
 * Bytes travel by default; only pointers, and bytes that must not travel, need fields. A field
 * names its target by the address of the handle. So tables are static, and recursive types need no
 * special care. A struct without pointers is HAUL_PLAIN.
 *
 * Optional members describe everything that is not plain (field.h). They follow a form's arguments,
 * in any order. Shared members become a macro:
 *
 *     #define SHARED .when = HAUL_ANY_BIT(node, flags, IS_REFERENCE), .ownership = HAUL_BORROWED
 *
 *     HAUL_OBJECT (node, child, &node_type, .when = HAUL_EQUALS(node, kind, BRANCH)),
 *     HAUL_OBJECT (node, other, &node_type, SHARED),
 *     HAUL_ADDRESS(node, up, .target = &node_type, .tag_bits = 1),
 *     HAUL_ARRAY  (node, matrix, HAUL_COUNT(node, n, n), .transfer = HAUL_COPYIN),
 *
 * Members are evaluated for each object; types without them, or with directions (.transfer) alone,
 * pay nothing.
 *
 * A function may need a struct far above its object: `.ancestor` names the type of that struct, and
 * here->ancestor is the nearest one; none is HAUL_ERROR_GRAPH. HAUL_PARENT in place of a type: the
 * struct whose pointer led to self, or in which self lies; NULL for roots. All ancestors that lead
 * to one object must give the same answer. Both types stand in one table (docs/describing.md: "How
 * many?").
 *
 * In C++ the tables are the same, with at most 12 optional members in a field. They are filled
 * before main, so types must not be made in constructors of other files' globals.
 */
#ifndef HAUL_DESCRIBE_H
#define HAUL_DESCRIBE_H

#include "haul/context.h"
#include "haul/describe/entries.h"
#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Defines a function from an expression over `self` and `here`, at file scope: HAUL_FUNCTION(area,
 * image, self->w * self->h), then HAUL_COUNT_FN(area) in the field. S is void for functions that do
 * not look at self. */
#define HAUL_FUNCTION(name, S, expression)                                                         \
    static int64_t name(const haul_here *here)                                                     \
    {                                                                                              \
        const S *self = (const S *)here->self;                                                     \
        (void)self;                                                                                \
        return (int64_t)(expression);                                                              \
    }

/* -------------------------------------------------------------------------------------------------
 * Forms. S is the struct's name, m its field, T the address of a type's handle (&node_type), n a
 * count, and "..." optional members. Macros whose members may be missing pass an empty argument
 * behind them, because C99 wants one argument for "...".
 */

#define HAUL__POINTER_FORM(S, m, check, ...)                                                       \
    HAUL__FORM(#m, HAUL_FIELD_POINTER, offsetof(S, m) + (check), sizeof HAUL__AT(S, m), __VA_ARGS__)

/* T *m: one object, or NULL. */
#define HAUL_OBJECT(S, m, ...) HAUL__OBJECT(S, m, __VA_ARGS__, )
#define HAUL__OBJECT(S, m, T, ...)                                                                 \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER(S, m) + HAUL__HANDLE(T),                                \
                       .element_bytes = sizeof(*HAUL__AT(S, m)), .target = T, __VA_ARGS__)
/* T *m: an array of objects. */
#define HAUL_OBJECTS(S, m, T, ...)                                                                 \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER(S, m) + HAUL__HANDLE(T),                                \
                       .element_bytes = sizeof(*HAUL__AT(S, m)), .target = T,                      \
                       .count = __VA_ARGS__, )
/* E *m: an array of elements without pointers. */
#define HAUL_ARRAY(S, m, ...)                                                                      \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER(S, m), .element_bytes = sizeof(*HAUL__AT(S, m)),        \
                       .count = __VA_ARGS__, )
/* void *m: an array of bytes. */
#define HAUL_BYTES(S, m, ...)                                                                      \
    HAUL__POINTER_FORM(S, m, HAUL__ONE_WORD(S, m), .element_bytes = 1, .count = __VA_ARGS__, )
/* void *m, or a pointer to plain elements: the memory of an allocator of the program's own, n
 * bytes. Other fields lead to objects in it; all other bytes, free ones too, travel as they are. */
#define HAUL_POOL(S, m, ...)                                                                       \
    HAUL__POINTER_FORM(S, m, HAUL__ONE_WORD(S, m), .element_bytes = 1, .pool = 1,                  \
                       .count = __VA_ARGS__, )
/* E *m: elements in several dimensions, with gaps between them. `dimensions` is an array of
 * haul_dimension (field.h). For rows of `columns` doubles that begin `ld` doubles apart:
 *
 *     static const haul_dimension of_rows[] = {
 *         HAUL_DIMENSION(HAUL_COUNT(matrix, columns), HAUL_FIXED(1)),
 *         HAUL_DIMENSION(HAUL_COUNT(matrix, rows), HAUL_COUNT(matrix, ld)),
 *     };
 *     HAUL_SECTION(matrix, a, of_rows),
 *
 * For a void *m: HAUL_ADDRESS(S, m, .element_bytes = n, .section = HAUL_DIMENSIONS(of_rows)). */
#define HAUL_SECTION(S, m, ...) HAUL__SECTION(S, m, __VA_ARGS__, )
#define HAUL__SECTION(S, m, dimensions, ...)                                                       \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER(S, m), .element_bytes = sizeof(*HAUL__AT(S, m)),        \
                       .section = HAUL_DIMENSIONS(dimensions), __VA_ARGS__)
/* char *m, or wchar_t *m: a string, terminator included. */
#define HAUL_STRING(S, ...) HAUL__STRING(S, __VA_ARGS__, )
#define HAUL__STRING(S, m, ...)                                                                    \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER(S, m), .element_bytes = sizeof(*HAUL__AT(S, m)),        \
                       .count = HAUL_TERMINATED, __VA_ARGS__)
/* T **m: an array of pointers, each NULL or to one object. */
#define HAUL_POINTERS(S, m, T, ...)                                                                \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER2(S, m) + HAUL__HANDLE(T), .levels = 2,                  \
                       .element_bytes = sizeof(**HAUL__AT(S, m)), .target = T,                     \
                       .count = __VA_ARGS__, )
/* char **m: an array of pointers, each NULL or to a string. */
#define HAUL_STRINGS(S, m, ...)                                                                    \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER2(S, m), .levels = 2,                                    \
                       .element_bytes = sizeof(**HAUL__AT(S, m)), .count2 = HAUL_TERMINATED,       \
                       .count = __VA_ARGS__, )
/* E **m: an array of n pointers, each NULL or to an array; its count n2 follows. For double **a:
 * HAUL_ARRAYS(matrix, a, HAUL_COUNT(matrix, rows), HAUL_COUNT(matrix, columns)). */
#define HAUL_ARRAYS(S, m, n, ...)                                                                  \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER2(S, m), .levels = 2,                                    \
                       .element_bytes = sizeof(**HAUL__AT(S, m)), .count = n,                      \
                       .count2 = __VA_ARGS__, )
/* E *m[k]: an array of pointers in the struct itself, each NULL or to one element; the members tell
 * what else (.count, .target). */
#define HAUL_EACH(S, ...) HAUL__EACH(S, __VA_ARGS__, )
#define HAUL__EACH(S, m, ...)                                                                      \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER_ARRAY(S, m),                                            \
                       .element_bytes = sizeof(*HAUL__AT(S, m)[0]), __VA_ARGS__)
/* A pointer of any kind, an integer that holds one, or an array of these. Its C type does not tell
 * what it leads to: the members do (.target, .type_switch or .element_bytes; .levels, .count). */
#define HAUL_ADDRESS(S, ...) HAUL__ADDRESS(S, __VA_ARGS__, )
#define HAUL__ADDRESS(S, m, ...) HAUL__POINTER_FORM(S, m, HAUL__MANY_WORDS(S, m), __VA_ARGS__)
/* The members of each pointer in an array, for .each_pointer. In C it is a compound literal, so it
 * cannot stand in a static table inside a function: there, name a static const haul_field. */
#define HAUL_MEMBERS(...) HAUL__MEMBERS(__VA_ARGS__)
/* The distance from the field to its target: signed, 4 or 8 bytes, 0 for null. The copy holds the
 * distance in the copy. The first pack answers HAUL_ERROR_LIMIT if that distance does not fit, or
 * is 0 with a base; a distance to no elements may be 0. Such a word never comes back. */
#define HAUL_RELATIVE(S, ...) HAUL__RELATIVE(S, __VA_ARGS__, )
#define HAUL__RELATIVE(S, m, ...)                                                                  \
    HAUL__FORM(#m, HAUL_FIELD_RELATIVE, offsetof(S, m) + HAUL__DISTANCE_FIELD(S, m),               \
               sizeof HAUL__AT(S, m), __VA_ARGS__)
/* T m, or T m[k]: structs that lie in the struct and have fields of their own. Of the members only
 * .when, .else_raw and .transfer count. */
#define HAUL_EMBED(S, m, ...) HAUL__EMBED(S, m, __VA_ARGS__, )
#define HAUL__EMBED(S, m, T, ...)                                                                  \
    HAUL__FORM(#m, HAUL_FIELD_EMBED, offsetof(S, m) + HAUL__HANDLE(T), sizeof HAUL__AT(S, m),      \
               .target = T, __VA_ARGS__)
/* E m[], or E m[1] with more elements than one: the array that ends an object. The object is then
 * as long as offsetof(S, m) and its elements, whatever its sizeof; size_fn in haul_struct states
 * the limits of such types. .target: elements with fields of their own. Of the other members only
 * .transfer and .ancestor count. */
#define HAUL_TAIL(S, m, ...)                                                                       \
    HAUL__FORM(#m, HAUL_FIELD_TAIL, offsetof(S, m), 0, .element_bytes = sizeof(HAUL__AT(S, m)[0]), \
               .count = __VA_ARGS__, )
/* E *m: the end of the room behind the pointer b, as the third pointer of a std::vector. In the
 * copy it is the end of those elements of b that travel, or null as b is; but an arena (arena.h) is
 * sent as it lies, with the end of the room. The host's pointer may be anything, and is never
 * written. The field of b owns its elements and counts them (HAUL_COUNT, HAUL_UNTIL,
 * HAUL_COUNT_FN); if it has a .when, m needs the same one. */
#define HAUL_END_OF(S, ...) HAUL__END_OF(S, __VA_ARGS__, )
#define HAUL__END_OF(S, m, b, ...)                                                                 \
    HAUL__POINTER_FORM(S, m, HAUL__POINTER(S, m), .element_bytes = sizeof(*HAUL__AT(S, m)),        \
                       .end_of = HAUL__END_AT(S, b), __VA_ARGS__)
/* Bytes that travel as they are, never followed, never patched: an arm of a union, bytes with a
 * .transfer, or a pointer or handle that means something elsewhere. */
#define HAUL_RAW(S, ...) HAUL__RAW(S, __VA_ARGS__, )
#define HAUL__RAW(S, m, ...)                                                                       \
    HAUL__FORM(#m, HAUL_FIELD_RAW, offsetof(S, m), sizeof HAUL__AT(S, m), __VA_ARGS__)
/* Bytes that do not travel, such as caches and locks: zero on the device; the host's are neither
 * read nor written. With a .when: while the condition holds. */
#define HAUL_SKIP(S, ...) HAUL__SKIP(S, __VA_ARGS__, )
#define HAUL__SKIP(S, m, ...)                                                                      \
    HAUL__FORM(#m, HAUL_FIELD_SKIP, offsetof(S, m), sizeof HAUL__AT(S, m), __VA_ARGS__)

/* Counts. a, b, c are integers of S, of 1, 2, 4 or 8 bytes. HAUL_COUNT(S, a),
 * (S, a, b) and (S, a, b, c) are products. HAUL_UNTIL(S, e): from the field up to the pointer e,
 * which has the field's C type; e travels as a pointer, too, and needs no field. HAUL_TERMINATED:
 * up to and with the first NUL or null pointer. */
#define HAUL__COUNTED0(kind, plus)                                                                 \
    HAUL__COUNTED(kind, 0, HAUL__NOTHING, HAUL__NOTHING, HAUL__NOTHING, 1, plus, NULL)
#define HAUL__FACTOR(S, a) HAUL__INTEGER_AT(S, a, HAUL__SIGN(S, a))
#define HAUL__COUNT1(S, a)                                                                         \
    HAUL__COUNTED(HAUL_COUNT_KIND_PRODUCT, 1, HAUL__FACTOR(S, a), HAUL__NOTHING, HAUL__NOTHING, 1, \
                  0, NULL)
#define HAUL__COUNT2(S, a, b)                                                                      \
    HAUL__COUNTED(HAUL_COUNT_KIND_PRODUCT, 2, HAUL__FACTOR(S, a), HAUL__FACTOR(S, b),              \
                  HAUL__NOTHING, 1, 0, NULL)
#define HAUL__COUNT3(S, a, b, c)                                                                   \
    HAUL__COUNTED(HAUL_COUNT_KIND_PRODUCT, 3, HAUL__FACTOR(S, a), HAUL__FACTOR(S, b),              \
                  HAUL__FACTOR(S, c), 1, 0, NULL)
#define HAUL__COUNT_N(a, b, c, count, ...) count
#define HAUL__COUNT_OF(...) HAUL__COUNT_N(__VA_ARGS__, HAUL__COUNT3, HAUL__COUNT2, HAUL__COUNT1, )
#define HAUL_COUNT(S, ...) HAUL__COUNT_OF(__VA_ARGS__)(S, __VA_ARGS__)
#define HAUL_COUNT_PLUS(S, a, constant)                                                            \
    HAUL__COUNTED(HAUL_COUNT_KIND_PRODUCT, 1, HAUL__FACTOR(S, a), HAUL__NOTHING, HAUL__NOTHING, 1, \
                  constant, NULL)
#define HAUL_COUNT_TIMES(S, a, constant)                                                           \
    HAUL__COUNTED(HAUL_COUNT_KIND_PRODUCT, 1, HAUL__FACTOR(S, a), HAUL__NOTHING, HAUL__NOTHING,    \
                  constant, 0, NULL)
#define HAUL_COUNT_FN(function)                                                                    \
    HAUL__COUNTED(HAUL_COUNT_KIND_FUNCTION, 0, HAUL__NOTHING, HAUL__NOTHING, HAUL__NOTHING, 1, 0,  \
                  function)
#define HAUL_FIXED(constant) HAUL__COUNTED0(HAUL_COUNT_KIND_PRODUCT, constant)
#define HAUL_ONE HAUL__COUNTED0(HAUL_COUNT_KIND_ONE, 1)
#define HAUL_UNTIL(S, e)                                                                           \
    HAUL__COUNTED(HAUL_COUNT_KIND_UNTIL, 1, HAUL__END_AT(S, e), HAUL__NOTHING, HAUL__NOTHING, 1,   \
                  0, NULL)
#define HAUL_TERMINATED HAUL__COUNTED0(HAUL_COUNT_KIND_TERMINATED, 0)
#define HAUL_TERMINATED_BY(value) HAUL__COUNTED0(HAUL_COUNT_KIND_TERMINATED, value)

/* Dimensions of a section: an extent and a stride, both counts (HAUL_COUNT, HAUL_COUNT_TIMES,
 * HAUL_FIXED, HAUL_COUNT_FN). Strides count elements, or bytes. */
#define HAUL_DIMENSION(extent, stride) HAUL__DIMENSION(extent, stride, 0)
#define HAUL_DIMENSION_BYTES(extent, stride) HAUL__DIMENSION(extent, stride, 1)
/* The .section of a field. */
#define HAUL_DIMENSIONS(table) HAUL__DIMENSIONS(table)

/* Conditions. a is an integer of S, the rest are constants. Values above 2^63 are in no range. */
#define HAUL_BETWEEN(S, a, low, high)                                                              \
    HAUL__WHEN(HAUL_WHEN_KIND_FIELD, HAUL__INTEGER_AT(S, a, HAUL__SIGN_LIKE(low)), -1, low, high,  \
               NULL)
#define HAUL_EQUALS(S, a, value)                                                                   \
    HAUL__WHEN(HAUL_WHEN_KIND_FIELD, HAUL__INTEGER_AT(S, a, HAUL__SIGN_LIKE(value)), -1, value,    \
               value, NULL)
#define HAUL_DIFFERS(S, a, value)                                                                  \
    HAUL__WHEN(HAUL_WHEN_KIND_NOT, HAUL__INTEGER_AT(S, a, HAUL__SIGN_LIKE(value)), -1, value,      \
               value, NULL)
#define HAUL_ANY_BIT(S, a, mask)                                                                   \
    HAUL__WHEN(HAUL_WHEN_KIND_NOT, HAUL__INTEGER_AT(S, a, 1), mask, 0, 0, NULL)
#define HAUL_NO_BIT(S, a, mask)                                                                    \
    HAUL__WHEN(HAUL_WHEN_KIND_FIELD, HAUL__INTEGER_AT(S, a, 1), mask, 0, 0, NULL)
#define HAUL_WHEN_FN(function) HAUL__WHEN(HAUL_WHEN_KIND_FUNCTION, HAUL__NOTHING, 0, 0, 0, function)

/* Type switches. `cases` is an array of haul_case. */
#define HAUL_SWITCH(S, a, cases)                                                                   \
    HAUL__SWITCHED(HAUL_SWITCH_KIND_SELF, HAUL__INTEGER_AT(S, a, 1), NULL, cases)
#define HAUL_SWITCH_TARGET(T, tag, cases)                                                          \
    HAUL__SWITCHED(HAUL_SWITCH_KIND_TARGET, HAUL__INTEGER_AT(T, tag, 1), NULL, cases)
#define HAUL_SWITCH_FN(function, cases)                                                            \
    HAUL__SWITCHED(HAUL_SWITCH_KIND_FUNCTION, HAUL__NOTHING, function, cases)
/* The .base of a pointer to the member m of S. */
#define HAUL_CONTAINER_OF(S, m) (-(int64_t)offsetof(S, m))

/* -------------------------------------------------------------------------------------------------
 * Structs and tables
 */

/* In C++, a class with virtual functions does not compile here. */
#define HAUL_STRUCT(S, handle, ...) HAUL__STRUCT(S, handle, __VA_ARGS__, )
#define HAUL__STRUCT(S, handle, table, ...)                                                        \
    HAUL__STRUCT_OF(#S, HAUL__SIZE(S), handle, .fields = table,                                    \
                    .field_count =                                                                 \
                        sizeof(table) / sizeof *(table) + HAUL__TABLE(table, haul_field),          \
                    __VA_ARGS__)
/* A struct, or another type, without pointers. */
#define HAUL_PLAIN(S, ...) HAUL__PLAIN_STRUCT(S, __VA_ARGS__, )
#define HAUL__PLAIN_STRUCT(S, handle, ...) HAUL__STRUCT_OF(#S, HAUL__SIZE(S), handle, __VA_ARGS__)

/* Creates and commits all types of a table, an array of haul_struct; or none. The handles must be
 * NULL, and become the types; after a failure they are NULL. Types keep the context alive; when
 * they are committed, any context and any thread can use them. They may lead to types of other
 * tables that exist, committed or open: open ones are committed, too.
 * HAUL_ERROR_STATE: a handle that is not NULL, so that the table is described already.
 * HAUL_ERROR_VERSION: an entry or a field has a member that this library lacks. HAUL_ERROR_BUSY: a
 * call is under way on the context. Others as haul_type_create and haul_type_commit (type.h). */
#define HAUL_DESCRIBE(context, structs)                                                            \
    haul_describe_sized(context, structs,                                                          \
                        sizeof(structs) / sizeof *(structs) + HAUL__TABLE(structs, haul_struct),   \
                        sizeof(haul_struct))
/* Drops the caller's hold of each type, as haul_type_free. Handles become NULL. */
#define HAUL_FORGET(structs)                                                                       \
    haul_forget_sized(structs, sizeof(structs) / sizeof *(structs), sizeof(haul_struct))

HAUL_API haul_status haul_describe_sized(haul_context *context, const haul_struct *structs,
                                         size_t count, size_t struct_bytes);
HAUL_API void haul_forget_sized(const haul_struct *structs, size_t count, size_t struct_bytes);
static inline haul_status haul_describe(haul_context *context, const haul_struct *structs,
                                        size_t count)
{
    return haul_describe_sized(context, structs, count, sizeof *structs);
}
static inline void haul_forget(const haul_struct *structs, size_t count)
{
    haul_forget_sized(structs, count, sizeof *structs);
}

#ifdef __cplusplus
}
#endif
#endif
