/* Shapes: the number of elements that a pointer leads to. A shape is a plain value; the macros
 * below make it, for a row of a type (type.h). A number that no macro expresses comes from a C
 * function.
 */
#ifndef HAUL_SHAPE_H
#define HAUL_SHAPE_H

#include "haul/field.h"
#include "haul/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef haul_function haul_count_function;

typedef enum haul_shape_kind {
    HAUL_SHAPE_ONE = 0,   /* exactly one element */
    HAUL_SHAPE_COUNT = 1, /* multiply * n1 * n2 * n3 + add; no fields: the constant `add` */
    HAUL_SHAPE_END = 2,   /* from the pointer up to the pointer in field[0] */
    /* up to and with the first element equal to `add` (0: NUL, or the null pointer) */
    HAUL_SHAPE_SENTINEL = 3,
    HAUL_SHAPE_FUNCTION = 4 /* the answer of `function` */
} haul_shape_kind;

/* A field of the same struct that a shape reads. is_signed: 1, or 0. */
typedef struct haul_field_place {
    size_t offset;
    uint8_t bytes; /* 1, 2, 4 or 8; sizeof(void *) for HAUL_SHAPE_END */
    uint8_t is_signed;
} haul_field_place;

typedef struct haul_shape {
    haul_shape_kind kind;
    unsigned field_count; /* 0 to 3 */
    haul_field_place field[3];
    int64_t multiply, add;
    haul_count_function *function;
} haul_shape;

/* Compile-time checks in strict C99: each is the constant 0u, or does not compile. sizeof evaluates
 * nothing. */
#define HAUL__AT(S, m) (((S *)0)->m)
#define HAUL__CHECK(condition) (0u * sizeof(char[(condition) ? 1 : -1]))
#define HAUL__POINTER(S, m)                                                                        \
    (HAUL__CHECK(sizeof HAUL__AT(S, m) == sizeof(void *)) + 0u * sizeof(*HAUL__AT(S, m)))
#define HAUL__POINTER2(S, m) (HAUL__POINTER(S, m) + 0u * sizeof(**HAUL__AT(S, m)))
#define HAUL__INTEGER(S, m) (0u * sizeof(1 % HAUL__AT(S, m)))
#define HAUL__SAME(S, a, b) (0u * sizeof(HAUL__AT(S, a) - HAUL__AT(S, b)))

/* Is an integer field signed? C11 and C++ know. C99 cannot tell, and Haul takes fields for signed
 * there: a large unsigned value is refused as negative, with a message that names HAUL_NU. It is
 * never read as a huge count. */
#if defined(__cplusplus)
} /* extern "C" */
template <class T> struct haul__is_signed {
    enum { value = T(-1) < T(0) ? 1 : 0 };
};
template <class T> struct haul__is_signed<T &> : haul__is_signed<T> {
};
#define HAUL__SIGNED(S, m) (uint8_t(haul__is_signed<decltype(((S *)0)->m)>::value))
extern "C" {
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define HAUL__SIGNED(S, m)                                                                         \
    ((uint8_t) _Generic(HAUL__AT(S, m), unsigned char : 0, unsigned short : 0, unsigned : 0,       \
                        unsigned long : 0, unsigned long long : 0, _Bool : 0, default : 1))
#else
#define HAUL__SIGNED(S, m) ((uint8_t)1)
#endif

#define HAUL__PLACE(S, n, is_signed)                                                               \
    {                                                                                              \
        offsetof(S, n) + HAUL__INTEGER(S, n), (uint8_t)sizeof HAUL__AT(S, n), is_signed            \
    }
#define HAUL__NO_PLACE                                                                             \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }
#define HAUL__COUNT1(S, n, is_signed, k, c)                                                        \
    {                                                                                              \
        HAUL_SHAPE_COUNT, 1, { HAUL__PLACE(S, n, is_signed), HAUL__NO_PLACE, HAUL__NO_PLACE }, k,  \
            c, NULL                                                                                \
    }

/* Shapes, for use in a row. S is the struct's name, n, m, l integer fields of it, k, c
 * constants. */
#define HAUL_ONE                                                                                   \
    {                                                                                              \
        HAUL_SHAPE_ONE, 0, { HAUL__NO_PLACE, HAUL__NO_PLACE, HAUL__NO_PLACE }, 1, 1, NULL          \
    }
#define HAUL_FIXED(c)                                                                              \
    {                                                                                              \
        HAUL_SHAPE_COUNT, 0, { HAUL__NO_PLACE, HAUL__NO_PLACE, HAUL__NO_PLACE }, 1, c, NULL        \
    }
#define HAUL_N(S, n) HAUL__COUNT1(S, n, HAUL__SIGNED(S, n), 1, 0)
#define HAUL_NU(S, n) HAUL__COUNT1(S, n, 0, 1, 0) /* n is unsigned */
#define HAUL_NS(S, n) HAUL__COUNT1(S, n, 1, 1, 0) /* n is signed */
#define HAUL_N_PLUS(S, n, c) HAUL__COUNT1(S, n, HAUL__SIGNED(S, n), 1, c)
#define HAUL_N_TIMES(S, n, k) HAUL__COUNT1(S, n, HAUL__SIGNED(S, n), k, 0)
#define HAUL_N2(S, n, m)                                                                           \
    {                                                                                              \
        HAUL_SHAPE_COUNT, 2,                                                                       \
            { HAUL__PLACE(S, n, HAUL__SIGNED(S, n)), HAUL__PLACE(S, m, HAUL__SIGNED(S, m)),        \
              HAUL__NO_PLACE },                                                                    \
            1, 0, NULL                                                                             \
    }
#define HAUL_N3(S, n, m, l)                                                                        \
    {                                                                                              \
        HAUL_SHAPE_COUNT, 3,                                                                       \
            { HAUL__PLACE(S, n, HAUL__SIGNED(S, n)), HAUL__PLACE(S, m, HAUL__SIGNED(S, m)),        \
              HAUL__PLACE(S, l, HAUL__SIGNED(S, l)) },                                             \
            1, 0, NULL                                                                             \
    }
/* The elements from pointer field b to pointer field e, e excluded. Both have the same pointer
 * type. e travels as a pointer, too, and needs no row. For rows of one level. A third pointer, to
 * the end of the capacity, needs HAUL_SKIP. */
#define HAUL_END(S, b, e)                                                                          \
    {                                                                                              \
        HAUL_SHAPE_END, 1,                                                                         \
            { { offsetof(S, e) + HAUL__POINTER(S, e) + HAUL__SAME(S, b, e),                        \
                (uint8_t)sizeof(void *), 0 },                                                      \
              HAUL__NO_PLACE,                                                                      \
              HAUL__NO_PLACE },                                                                    \
            1, 0, NULL                                                                             \
    }
#define HAUL_SENTINEL(c)                                                                           \
    {                                                                                              \
        HAUL_SHAPE_SENTINEL, 0, { HAUL__NO_PLACE, HAUL__NO_PLACE, HAUL__NO_PLACE }, 1, c, NULL     \
    }
#define HAUL_NULL_TERMINATED HAUL_SENTINEL(0)
#define HAUL_FN(function)                                                                          \
    {                                                                                              \
        HAUL_SHAPE_FUNCTION, 0, { HAUL__NO_PLACE, HAUL__NO_PLACE, HAUL__NO_PLACE }, 1, 0, function \
    }
/* Defines a shape callback from an expression over `self` (and `here`): HAUL_COUNT_FUNCTION(area,
 * image, self->w * self->h) at file scope, then HAUL_FN(area) in the row. The compiler is the
 * expression language. */
#define HAUL_COUNT_FUNCTION(function, S, expression)                                               \
    static int64_t function(const haul_here *here)                                                 \
    {                                                                                              \
        const S *self = (const S *)here->self;                                                     \
        (void)self;                                                                                \
        return (int64_t)(expression);                                                              \
    }

#ifdef __cplusplus
}
#endif
#endif
