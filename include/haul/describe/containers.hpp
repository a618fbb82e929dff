/* The forms of std::unique_ptr, std::vector and std::string. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_CONTAINERS_HPP
#define HAUL_DESCRIBE_CONTAINERS_HPP

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "haul/describe/structs.hpp"

namespace haul
{
namespace detail
{

/*  std::unique_ptr  | pointer |  */
template <class E, class D> struct form<std::unique_ptr<E, D>, void> {
    static_assert(!std::is_array<E>::value, "say how many: haul::array");
    static constexpr bool plain = false;
    static constexpr const char *inside = "get()";
    static bool is_as_expected()
    {
        return sizeof(std::unique_ptr<E, D>) == sizeof(void *);
    }
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        if (!is_as_expected())
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<std::unique_ptr<E, D>>() + " is more than a pointer here");
        r.add_pointer<typename std::remove_cv<E>::type>(name, offset);
    }
    static void reach(session &s)
    {
        detail::reach<typename std::remove_cv<E>::type>(s);
    }
};

/*  std::shared_ptr  | pointer | its counts, which stay behind |
 *
 * So a copy on the device counts nothing and destroys nothing. */
template <class E> struct form<std::shared_ptr<E>, void> {
    static_assert(!std::is_array<E>::value, "say how many: haul::array");
    static_assert(!std::is_void<E>::value, "what does this pointer lead to?");
    typedef std::shared_ptr<E> pointer;
    static constexpr bool plain = false;
    static constexpr const char *inside = "get()";
    static bool is_as_expected()
    {
        int here = 0;
        const std::shared_ptr<int> none, some(none, &here); /* it owns nothing */
        return sizeof(pointer) == 2 * sizeof(void *) && words_of<2>(some)[0] == address(&here) &&
               words_of<2>(some)[1] == 0;
    }
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        if (!is_as_expected())
            r.of().fail(HAUL_ERROR_UNSUPPORTED, name_of<pointer>() + " is not two pointers here");
        r.add_pointer<E>(name, offset);
        r.add(HAUL_FIELD_SKIP, name + " counts", offset + sizeof(void *), sizeof(void *));
    }
    static void reach(session &s)
    {
        detail::reach<E>(s);
    }
};
template <class E> struct form<std::weak_ptr<E>, void> {
    static_assert(always_false<E>::value,
                  "a std::weak_ptr counts, and its counts stay behind: keep a T * beside it and "
                  "list that");
};

/*  std::vector  | begin | end | end of storage |  */
template <class E, class A> struct form<std::vector<E, A>, void> {
    static_assert(!std::is_same<E, bool>::value, "std::vector<bool> is none of bools");
    typedef std::vector<E, A> vector;
    static constexpr bool plain = false;
    static constexpr const char *inside = "data()";

    /* Of any elements, without making one: the ends of what is reserved. */
    static bool is_as_expected(const vector &v)
    {
        const std::array<std::uintptr_t, 3> words = words_of<3>(v);
        return words[0] == address(v.data()) && words[1] == words[0] + v.size() * sizeof(E) &&
               words[2] == words[0] + v.capacity() * sizeof(E);
    }
    template <class V> static bool probe(std::true_type)
    {
        V v;
        v.reserve(3);
        return is_as_expected(v);
    }
    template <class V> static bool probe(std::false_type)
    {
        return true;
    }
    static bool is_as_expected()
    {
        const std::vector<int> some = { 1, 2, 3 };
        return sizeof(vector) == 3 * sizeof(void *) &&
               form<std::vector<int>>::is_as_expected(some) &&
               probe<vector>(
                   std::integral_constant < bool,
                   std::is_move_constructible<E>::value &&std::is_default_constructible<A>::value >
                       ());
    }
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        if (!is_as_expected()) {
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<vector>() +
                            " is not three pointers here: begin, end, end of storage");
            return;
        }
        r.add_pointer<E>(name, offset).count =
            count_of(HAUL_COUNT_KIND_UNTIL, offset + sizeof(void *), sizeof(void *), false);
        r.add_end_of<E>(name + " capacity", offset + 2 * sizeof(void *), offset);
    }
    static void reach(session &s)
    {
        detail::reach<E>(s);
    }
};

/*  std::string  | pointer | length | 16 bytes: the characters, or their capacity |
 *
 * In libc++  | capacity, and bit 0 is set | length | pointer |  or, if bit 0 is not set, the
 * characters in place.
 */
template <class C, class R, class A> struct form<std::basic_string<C, R, A>, void> {
    typedef std::basic_string<C, R, A> string;
    static constexpr bool plain = false;
    static constexpr const char *inside = "data()";
#ifdef _LIBCPP_VERSION
    static constexpr std::size_t size_in_words = 3, data = 2;
#else
    static constexpr std::size_t size_in_words = 2 + 16 / sizeof(void *), data = 0;
#endif

    static bool is_inside(const string &s)
    {
        return address(s.data()) - address(&s) < sizeof s;
    }
    static bool is_as_expected(const string &s, bool in_place)
    {
        const std::array<std::uintptr_t, 3> w = words_of<3>(s);
        const bool by_words = w[data] == address(s.data()) && w[1] == s.size();
#ifdef _LIBCPP_VERSION
        unsigned char flags;
        std::memcpy(&flags, static_cast<const void *>(&s), 1);
        return is_inside(s) == in_place && (flags & 1) == !in_place && (in_place || by_words);
#else
        return is_inside(s) == in_place && by_words && s.data()[s.size()] == C();
#endif
    }
    template <class S> static bool probe(std::true_type)
    {
        const S none, little(2, C('x')), much(100, C('y'));
        return is_as_expected(none, true) && is_as_expected(little, true) &&
               is_as_expected(much, false);
    }
    template <class S> static bool probe(std::false_type)
    {
        return false;
    }
    static bool is_as_expected()
    {
        return probe<string>(
            std::integral_constant<bool, sizeof(string) == size_in_words * sizeof(void *)>());
    }
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        if (!is_as_expected()) {
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<string>() + " is not a pointer, a length and room in place here");
            return;
        }
        haul_count count =
            count_of(HAUL_COUNT_KIND_PRODUCT, offset + sizeof(void *), sizeof(std::size_t), false);
        count.plus = 1; /* the terminator */
        haul_field &row = r.add_pointer<C>(name, offset + data * sizeof(void *));
        row.count = count;
#ifdef _LIBCPP_VERSION
        row.when.kind = HAUL_WHEN_KIND_FIELD;
        row.when.field.offset = offset;
        row.when.field.bytes = 1;
        row.when.mask = row.when.low = row.when.high = 1;
        row.else_raw = 1;
        r.add(HAUL_FIELD_RAW, name + " length", offset, data * sizeof(void *));
#else
        r.add(HAUL_FIELD_RAW, name + " buffer", offset + 2 * sizeof(void *), 16);
#endif
    }
    static void reach(session &)
    {
    }
};

} // namespace detail
} // namespace haul

#endif
