/* The forms of std::pair, std::tuple, std::optional and std::variant. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_CHOICES_HPP
#define HAUL_DESCRIBE_CHOICES_HPP

#include <tuple>
#include <utility>

#include "haul/describe/nodes.hpp"

#if __cplusplus >= 201703L
#include <optional>
#include <variant>
#endif

namespace haul
{
namespace detail
{

template <bool...> struct flags {
};
template <bool... Each> struct all : std::is_same<flags<true, Each...>, flags<Each..., true>> {
};

/* ---- Several at once. */

template <class T, class... Parts> struct parts_form : own_type<T> {
    static constexpr bool plain = all<is_plain<Parts>::value...>::value;
    static_assert(all<!std::is_reference<Parts>::value...>::value,
                  "a reference does not say how it is used: keep a pointer");

    template <std::size_t... I> static void put_parts(rows &r, std::index_sequence<I...>)
    {
        static typename std::aligned_storage<sizeof(T), alignof(T)>::type room;
        T &object = *reinterpret_cast<T *>(&room); /* no T is made: addresses are worked out */
        const int in_order[] = { 0, (detail::put<Parts>(r, "get<" + std::to_string(I) + ">",
                                                        distance(&room, &std::get<I>(object))),
                                     0)... };
        (void)in_order;
        (void)object;
    }
    static void put_own(rows &r)
    {
        put_parts(r, std::index_sequence_for<Parts...>());
    }
    static void reach_own(session &s)
    {
        const int in_order[] = { 0, (reach_from<Parts>(s), 0)... };
        (void)in_order;
        (void)s;
    }
};
template <class A, class B> struct form<std::pair<A, B>, void> : parts_form<std::pair<A, B>, A, B> {
};
template <class... E> struct form<std::tuple<E...>, void> : parts_form<std::tuple<E...>, E...> {
};

#if __cplusplus >= 201703L

/* ---- One of several, by an integer behind them. */

/* A row for a T at the beginning that counts while the integer has a value. */
template <class T>
void put_arm(rows &r, const std::string &name, std::size_t integer, int bytes, std::size_t value)
{
    haul_field &row =
        r.add(is_plain<T>::value ? HAUL_FIELD_RAW : HAUL_FIELD_EMBED, name, 0, sizeof(T));
    if (!is_plain<T>::value)
        row.target = &handle_of<typename std::remove_cv<T>::type>::get();
    row.when.kind = HAUL_WHEN_KIND_FIELD;
    row.when.field.offset = integer;
    row.when.field.bytes = static_cast<std::uint8_t>(bytes);
    row.when.mask = -1;
    row.when.low = row.when.high = static_cast<std::int64_t>(value);
}

/*  std::optional  | value | is there one? |  */
template <class E> struct form<std::optional<E>, void> : own_type<std::optional<E>> {
    typedef std::optional<E> optional;
    static constexpr bool plain = is_plain<E>::value;

    static bool is_as_expected()
    {
        typedef stand_in<E> value;
        std::optional<value> one(std::in_place, '7');
        bool engaged;
        if (sizeof(optional) != sizeof one || sizeof one <= sizeof(E))
            return false;
        std::memcpy(&engaged, reinterpret_cast<const char *>(&one) + sizeof(E), 1);
        if (!engaged || address(&*one) != address(&one))
            return false;
        one.reset();
        std::memcpy(&engaged, reinterpret_cast<const char *>(&one) + sizeof(E), 1);
        return !engaged;
    }
    static void put_own(rows &r)
    {
        if (is_as_expected())
            put_arm<E>(r, "value()", sizeof(E), 1, 1);
        else
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<optional>() + " is not a value and a bool here");
    }
    static void reach_own(session &s)
    {
        detail::reach<E>(s);
    }
};

template <class T> constexpr T largest(std::initializer_list<T> all)
{
    T found = T();
    for (T each : all)
        found = each > found ? each : found;
    return found;
}

/*  std::variant  | the value | its index |  */
template <class... E> struct form<std::variant<E...>, void> : own_type<std::variant<E...>> {
    typedef std::variant<E...> variant;
    static constexpr bool plain = all<is_plain<E>::value...>::value;
#ifdef _LIBCPP_VERSION
    typedef unsigned index_type;
#else
    typedef typename std::conditional<(sizeof...(E) < 256), unsigned char, unsigned short>::type
        index_type;
#endif
    /* behind the largest value, at the next place where the alignment allows it */
    static constexpr std::size_t index_at()
    {
        constexpr std::size_t align = largest({ alignof(stand_in<E>)... });
        constexpr std::size_t bytes = (largest({ sizeof(E)... }) + align - 1) / align * align;
        return (bytes + alignof(index_type) - 1) / alignof(index_type) * alignof(index_type);
    }

    template <std::size_t I, class P> static bool holds(P &one)
    {
        index_type index;
        one.template emplace<I>('1');
        std::memcpy(&index, reinterpret_cast<const char *>(&one) + index_at(), sizeof index);
        return index == I && address(&std::get<I>(one)) == address(&one);
    }
    template <std::size_t... I> static bool is_as_expected(std::index_sequence<I...>)
    {
        std::variant<stand_in<E>...> one(std::in_place_index<0>, '0');
        return sizeof one == sizeof(variant) && sizeof one >= index_at() + sizeof(index_type) &&
               (holds<I>(one) && ...);
    }
    template <std::size_t... I> static void put_arms(rows &r, std::index_sequence<I...>)
    {
        (put_arm<E>(r, "get<" + std::to_string(I) + ">", index_at(), sizeof(index_type), I), ...);
    }
    static void put_own(rows &r)
    {
        if (is_as_expected(std::index_sequence_for<E...>()))
            put_arms(r, std::index_sequence_for<E...>());
        else
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<variant>() + " is not a value and its index here");
    }
    static void reach_own(session &s)
    {
        (detail::reach<E>(s), ...);
    }
};

#endif

} // namespace detail
} // namespace haul

#endif
