/* The parts of describe.h's forms: checks at compile time, and the entries of tables.
 * Programs use describe.h alone.
 */
#ifndef HAUL_DESCRIBE_ENTRIES_H
#define HAUL_DESCRIBE_ENTRIES_H

#include "haul/field.h"

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Checks at compile time: each is the constant 0u, or does not compile. sizeof evaluates nothing.
 */

#define HAUL__AT(S, m) (((S *)0)->m)

/* The compiler's error is a sentence, except in C99. */
#define HAUL__WANTS_POINTER                                                                        \
    "Haul: the form wants one pointer, and this field has another size (arrays: HAUL_EACH)"
#define HAUL__WANTS_POINTERS "Haul: the form wants pointers, and this field is no number of them"
#define HAUL__WANTS_DISTANCE "Haul: a distance is an integer of 4 or 8 bytes"
#define HAUL__WANTS_TABLE "Haul: pass the table itself, an array of the right struct"
#define HAUL__WANTS_DATA                                                                           \
    "Haul: a class with virtual functions cannot travel, for its table of functions is the host's"
#if defined(__cplusplus)
} /* extern "C" */
template <bool Holds> struct haul__is_pointer {
    static_assert(Holds, HAUL__WANTS_POINTER);
};
template <bool Holds> struct haul__is_pointers {
    static_assert(Holds, HAUL__WANTS_POINTERS);
};
template <bool Holds> struct haul__is_distance {
    static_assert(Holds, HAUL__WANTS_DISTANCE);
};
template <bool Holds> struct haul__is_table {
    static_assert(Holds, HAUL__WANTS_TABLE);
};
template <bool Holds> struct haul__is_data {
    static_assert(Holds, HAUL__WANTS_DATA);
};
extern "C" {
#define HAUL__CHECK(name, condition, sentence) (0u * sizeof(name<(condition)>))
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define HAUL__CHECK(name, condition, sentence)                                                     \
    (0u * sizeof(struct {                                                                          \
         _Static_assert(condition, sentence);                                                      \
         char haul__unused;                                                                        \
     }))
#else
#define HAUL__CHECK(name, condition, sentence) (0u * sizeof(char[(condition) ? 1 : -1]))
#endif

#define HAUL__ONE_WORD(S, m)                                                                       \
    HAUL__CHECK(haul__is_pointer, sizeof HAUL__AT(S, m) == sizeof(void *), HAUL__WANTS_POINTER)
#define HAUL__MANY_WORDS(S, m)                                                                     \
    HAUL__CHECK(haul__is_pointers, sizeof HAUL__AT(S, m) % sizeof(void *) == 0,                    \
                HAUL__WANTS_POINTERS)
#define HAUL__POINTER(S, m) (HAUL__ONE_WORD(S, m) + 0u * sizeof(*HAUL__AT(S, m)))
#define HAUL__ADDRESS_FIELD(S, m) (HAUL__ONE_WORD(S, m) + 0u * sizeof(HAUL__AT(S, m) == (void *)0))
#define HAUL__POINTER2(S, m) (HAUL__POINTER(S, m) + 0u * sizeof(**HAUL__AT(S, m)))
#define HAUL__POINTER_ARRAY(S, m) (HAUL__MANY_WORDS(S, m) + 0u * sizeof(*HAUL__AT(S, m)[0]))
#define HAUL__DISTANCE_FIELD(S, m)                                                                 \
    HAUL__CHECK(haul__is_distance, sizeof HAUL__AT(S, m) == 4 || sizeof HAUL__AT(S, m) == 8,       \
                HAUL__WANTS_DISTANCE)
#define HAUL__INTEGER(S, m) (0u * sizeof(1 % HAUL__AT(S, m)))
#define HAUL__HANDLE(T) (0u * sizeof(*(T))) /* haul_type has no size, a pointer to it has */
#define HAUL__TABLE(table, element)                                                                \
    HAUL__CHECK(haul__is_table,                                                                    \
                sizeof(table) % sizeof(element) == 0 && sizeof *(table) == sizeof(element),        \
                HAUL__WANTS_TABLE)

#ifdef __cplusplus
#define HAUL__SIZE(S)                                                                              \
    (sizeof(S) + HAUL__CHECK(haul__is_data, !std::is_polymorphic<S>::value, HAUL__WANTS_DATA))
#else
#define HAUL__SIZE(S) sizeof(S)
#endif

/* Is an integer signed? C11 and C++ know; gcc and clang tell in C99, too. Elsewhere a field counts
 * as signed, and a value with its top bit set is refused. */
#if defined(__cplusplus)
} /* extern "C" */
template <class T, bool Enumeration> struct haul__signed {
    enum { value = T(-1) < T(0) ? 1 : 0 };
};
template <class T> struct haul__signed<T, true> {
    enum { value = haul__signed<typename std::underlying_type<T>::type, false>::value };
};
template <class T> struct haul__sign_of {
    typedef typename std::remove_cv<typename std::remove_reference<T>::type>::type type;
    enum { value = haul__signed<type, std::is_enum<type>::value>::value };
};
#define HAUL__SIGN(S, m) (uint8_t(haul__sign_of<decltype(((S *)0)->m)>::value))
extern "C" {
#elif defined(__GNUC__) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L)
#if defined(__GNUC__)
#define HAUL__GENERIC __extension__ _Generic
#else
#define HAUL__GENERIC _Generic
#endif
#define HAUL__SIGN(S, m)                                                                           \
    ((uint8_t)(HAUL__GENERIC(HAUL__AT(S, m), unsigned char : 0, unsigned short : 0, unsigned : 0,  \
                             unsigned long : 0, unsigned long long : 0, _Bool : 0, default : 1)))
#else
#define HAUL__SIGN(S, m) ((uint8_t)1)
#endif
/* a field that is compared with c is read as c is */
#define HAUL__SIGN_LIKE(c) ((uint8_t)((int64_t)(c) < 0))

/* -------------------------------------------------------------------------------------------------
 * Entries of tables: in C initializers; in C++, where designators are missing or must stand in
 * order, calls and assignments.
 */
#if defined(__cplusplus)
} /* extern "C" */
inline haul_integer haul__integer(size_t offset, size_t bytes, uint8_t sign)
{
    haul_integer i = haul_integer();
    i.offset = offset;
    i.bytes = static_cast<uint8_t>(bytes);
    i.sign = sign;
    return i;
}
inline haul_count haul__count(int kind, unsigned fields, haul_integer a, haul_integer b,
                              haul_integer c, int64_t times, int64_t plus, haul_function *function)
{
    haul_count n = haul_count();
    n.kind = kind;
    n.fields = fields;
    n.field[0] = a;
    n.field[1] = b;
    n.field[2] = c;
    n.times = times;
    n.plus = plus;
    n.function = function;
    return n;
}
inline haul_when haul__when(int kind, haul_integer field, int64_t mask, int64_t low, int64_t high,
                            haul_function *function)
{
    haul_when w = haul_when();
    w.kind = kind;
    w.field = field;
    w.mask = mask;
    w.low = low;
    w.high = high;
    w.function = function;
    return w;
}
inline haul_switch haul__switch(int kind, haul_integer field, haul_function *function,
                                const haul_case *cases, size_t count)
{
    haul_switch s = haul_switch();
    s.kind = kind;
    s.field = field;
    s.function = function;
    s.cases = cases;
    s.case_count = count;
    s.case_bytes = sizeof(haul_case);
    return s;
}
inline haul_dimension haul__dimension(haul_count extent, haul_count stride, size_t unit)
{
    haul_dimension d = haul_dimension();
    d.extent = extent;
    d.stride = stride;
    d.unit = unit;
    return d;
}
inline haul_section haul__section(const haul_dimension *dimensions, size_t rank)
{
    haul_section s = haul_section();
    s.dimensions = dimensions;
    s.rank = rank;
    s.dimension_bytes = sizeof(haul_dimension);
    return s;
}
extern "C" {
#define HAUL__NOTHING haul_integer()
#define HAUL__INTEGER_AT(S, n, sign)                                                               \
    haul__integer(offsetof(S, n) + HAUL__INTEGER(S, n), sizeof HAUL__AT(S, n), sign)
#define HAUL__END_AT(S, e)                                                                         \
    haul__integer(offsetof(S, e) + HAUL__ADDRESS_FIELD(S, e), sizeof(void *), 0)
#define HAUL__COUNTED(kind, fields, a, b, c, times, plus, function)                                \
    haul__count(kind, fields, a, b, c, times, plus, function)
#define HAUL__WHEN(kind, field, mask, low, high, function)                                         \
    haul__when(kind, field, mask, low, high, function)
#define HAUL__SWITCHED(kind, field, function, cases)                                               \
    haul__switch(kind, field, function, cases,                                                     \
                 sizeof(cases) / sizeof *(cases) + HAUL__TABLE(cases, haul_case))
#define HAUL__DIMENSION(extent, stride, unit) haul__dimension(extent, stride, unit)
#define HAUL__DIMENSIONS(table)                                                                    \
    haul__section(table, sizeof(table) / sizeof *(table) + HAUL__TABLE(table, haul_dimension))
#else
#define HAUL__NOTHING                                                                              \
    {                                                                                              \
        0, 0, 0,                                                                                   \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }
#define HAUL__INTEGER_AT(S, n, sign)                                                               \
    {                                                                                              \
        offsetof(S, n) + HAUL__INTEGER(S, n), (uint8_t)sizeof HAUL__AT(S, n), sign,                \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }
#define HAUL__END_AT(S, e)                                                                         \
    {                                                                                              \
        offsetof(S, e) + HAUL__ADDRESS_FIELD(S, e), (uint8_t)sizeof(void *), 0,                    \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }
#define HAUL__COUNTED(kind, fields, a, b, c, times, plus, function)                                \
    {                                                                                              \
        function, kind, fields, { a, b, c }, times, plus                                           \
    }
#define HAUL__WHEN(kind, field, mask, low, high, function)                                         \
    {                                                                                              \
        kind, 0, field, mask, low, high, function                                                  \
    }
#define HAUL__SWITCHED(kind, field, function, cases)                                               \
    {                                                                                              \
        kind, 0, field, function, cases,                                                           \
            sizeof(cases) / sizeof *(cases) + HAUL__TABLE(cases, haul_case), sizeof(haul_case)     \
    }
#define HAUL__DIMENSION(...)                                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define HAUL__DIMENSIONS(table)                                                                    \
    {                                                                                              \
        table, sizeof(table) / sizeof *(table) + HAUL__TABLE(table, haul_dimension),               \
            sizeof(haul_dimension)                                                                 \
    }
#endif

#if defined(__cplusplus)
#define HAUL__SET_0(f, ...)
#define HAUL__SET_1(f, a, ...) f a;
#define HAUL__SET_2(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_1(f, __VA_ARGS__)
#define HAUL__SET_3(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_2(f, __VA_ARGS__)
#define HAUL__SET_4(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_3(f, __VA_ARGS__)
#define HAUL__SET_5(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_4(f, __VA_ARGS__)
#define HAUL__SET_6(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_5(f, __VA_ARGS__)
#define HAUL__SET_7(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_6(f, __VA_ARGS__)
#define HAUL__SET_8(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_7(f, __VA_ARGS__)
#define HAUL__SET_9(f, a, ...)                                                                     \
    f a;                                                                                           \
    HAUL__SET_8(f, __VA_ARGS__)
#define HAUL__SET_10(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_9(f, __VA_ARGS__)
#define HAUL__SET_11(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_10(f, __VA_ARGS__)
#define HAUL__SET_12(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_11(f, __VA_ARGS__)
#define HAUL__SET_13(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_12(f, __VA_ARGS__)
#define HAUL__SET_14(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_13(f, __VA_ARGS__)
#define HAUL__SET_15(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_14(f, __VA_ARGS__)
#define HAUL__SET_16(f, a, ...)                                                                    \
    f a;                                                                                           \
    HAUL__SET_15(f, __VA_ARGS__)
#define HAUL__SET_N(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, set, ...) set
#define HAUL__SET_ALL(...)                                                                         \
    HAUL__SET_N(__VA_ARGS__, HAUL__SET_16, HAUL__SET_15, HAUL__SET_14, HAUL__SET_13, HAUL__SET_12, \
                HAUL__SET_11, HAUL__SET_10, HAUL__SET_9, HAUL__SET_8, HAUL__SET_7, HAUL__SET_6,    \
                HAUL__SET_5, HAUL__SET_4, HAUL__SET_3, HAUL__SET_2, HAUL__SET_1, HAUL__SET_0, )
#define HAUL__SET(f, ...) HAUL__SET_ALL(__VA_ARGS__)(f, __VA_ARGS__)
#define HAUL__FORM(text, form, at, size, ...)                                                      \
    ([]() -> haul_field {                                                                          \
        haul_field haul__f = haul_field();                                                         \
        haul__f.name = text;                                                                       \
        haul__f.kind = form;                                                                       \
        haul__f.offset = at;                                                                       \
        haul__f.bytes = size;                                                                      \
        HAUL__SET(haul__f, __VA_ARGS__) return haul__f;                                            \
    }())
#define HAUL__STRUCT_OF(text, size, handle, ...)                                                   \
    ([]() -> haul_struct {                                                                         \
        haul_struct haul__s = haul_struct();                                                       \
        haul__s.name = text;                                                                       \
        haul__s.bytes = size;                                                                      \
        haul__s.type = handle;                                                                     \
        haul__s.field_bytes = sizeof(haul_field);                                                  \
        HAUL__SET(haul__s, __VA_ARGS__) return haul__s;                                            \
    }())
#define HAUL__MEMBERS(...)                                                                         \
    ([]() -> const haul_field * {                                                                  \
        static haul_field haul__e = haul_field();                                                  \
        HAUL__SET(haul__e, __VA_ARGS__, ) return &haul__e;                                         \
    }())
#else
#define HAUL__FORM(text, form, at, size, ...)                                                      \
    {                                                                                              \
        .name = text, .kind = form, .offset = at, .bytes = size, __VA_ARGS__                       \
    }
#define HAUL__STRUCT_OF(text, size, handle, ...)                                                   \
    {                                                                                              \
        .name = text, .bytes = size, .type = handle, .field_bytes = sizeof(haul_field),            \
        __VA_ARGS__                                                                                \
    }
#define HAUL__MEMBERS(...) (&(const haul_field){ __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
