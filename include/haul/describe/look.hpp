/* Which types the compiler can see to be plain, and which may hide a pointer. For describe.hpp.
 *
 * C++ does not name the members of a struct, but it tells whether a value can initialise the member
 * at a place. So one value is tried at each place of an aggregate: it converts to pointers, unions
 * and classes of unknown content, and to nothing else. The places are the first 24 members, and the
 * first 16 places of a member that is an array or an aggregate itself. Three things are not seen:
 * later places; structs with a member that {} does not initialise; and, by gcc in C++14, unions
 * without a name.
 */
#ifndef HAUL_DESCRIBE_LOOK_HPP
#define HAUL_DESCRIBE_LOOK_HPP

#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "haul/describe/members.hpp"

namespace haul
{
namespace detail
{

template <class T> struct always_false : std::false_type {
};
template <class...> struct make_void {
    typedef void type;
};

template <class T, class = void> struct is_listed : std::false_type {
};
template <class T>
struct is_listed<T, typename make_void<decltype(members_of<T>::list())>::type> : std::true_type {
};

/* A listed type may have no rows. */
template <class T, bool Listed = is_listed<T>::value> struct is_listed_plain : std::false_type {
};
template <class T>
struct is_listed_plain<T, true>
    : std::integral_constant<bool,
                             std::tuple_size<decltype(members_of<T>::list().fields)>::value == 0> {
};

/* Classes with constructors that hold numbers alone. */
template <class T> struct is_number : std::is_empty<T> {
};
template <class T> struct is_number<std::complex<T>> : std::is_arithmetic<T> {
};
template <class R, class P> struct is_number<std::chrono::duration<R, P>> : std::is_arithmetic<R> {
};
template <class C, class D> struct is_number<std::chrono::time_point<C, D>> : is_number<D> {
};
template <class T> struct is_number<std::atomic<T>> : std::is_arithmetic<T> {
};
template <std::size_t Count> struct is_number<std::bitset<Count>> : std::true_type {
};

/* Is it a class whose members cannot be looked at? A listed one says itself. */
template <class T>
struct may_hide : std::integral_constant<bool, (std::is_union<T>::value ||
                                                (std::is_class<T>::value && !__is_aggregate(T))) &&
                                                   !is_number<T>::value && !is_listed<T>::value> {
};

/* What must not be in a struct whose members are not listed. */
template <class T>
struct is_hidden
    : std::integral_constant<bool, std::is_pointer<T>::value || may_hide<T>::value ||
                                       (is_listed<T>::value && !is_listed_plain<T>::value)> {
};

struct hidden_value {
    template <class T, class = typename std::enable_if<is_hidden<T>::value>::type>
    operator T() const;
};
/* Any other value that takes one place, not several. */
struct seen_value {
    template <class T,
              class = typename std::enable_if<!is_hidden<T>::value &&
                                              (!__is_aggregate(T) || is_listed<T>::value)>::type>
    operator T() const;
};

/* Behind so many {}: can a T be made of a value for the next member, or of values within it? */
template <std::size_t Member> struct member_at;
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-braces"
#pragma clang diagnostic ignored "-Wmissing-field-initializers"
#endif
#define HAUL__LOOK(number, ...)                                                                    \
    template <> struct member_at<number> {                                                         \
        template <class T, class... Value>                                                         \
        static auto takes(int)                                                                     \
            -> decltype(T{ __VA_ARGS__ std::declval<Value>()... }, std::true_type());              \
        template <class T, class... Value> static std::false_type takes(...);                      \
        template <class T, class... Values>                                                        \
        static auto holds(int)                                                                     \
            -> decltype(T{ __VA_ARGS__{ std::declval<Values>()... } }, std::true_type());          \
        template <class T, class... Values> static std::false_type holds(...);                     \
    };
#define HAUL__EMPTY4 {}, {}, {}, {},
HAUL__LOOK(0, )
HAUL__LOOK(1, {}, )
HAUL__LOOK(2, {}, {}, )
HAUL__LOOK(3, {}, {}, {}, )
HAUL__LOOK(4, HAUL__EMPTY4)
HAUL__LOOK(5, HAUL__EMPTY4{}, )
HAUL__LOOK(6, HAUL__EMPTY4{}, {}, )
HAUL__LOOK(7, HAUL__EMPTY4{}, {}, {}, )
HAUL__LOOK(8, HAUL__EMPTY4 HAUL__EMPTY4)
HAUL__LOOK(9, HAUL__EMPTY4 HAUL__EMPTY4{}, )
HAUL__LOOK(10, HAUL__EMPTY4 HAUL__EMPTY4{}, {}, )
HAUL__LOOK(11, HAUL__EMPTY4 HAUL__EMPTY4{}, {}, {}, )
HAUL__LOOK(12, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4)
HAUL__LOOK(13, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, )
HAUL__LOOK(14, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, {}, )
HAUL__LOOK(15, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, {}, {}, )
HAUL__LOOK(16, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4)
HAUL__LOOK(17, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, )
HAUL__LOOK(18, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, {}, )
HAUL__LOOK(19, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, {}, {}, )
HAUL__LOOK(20, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4)
HAUL__LOOK(21, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, )
HAUL__LOOK(22, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, {}, )
HAUL__LOOK(23, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4{}, {}, {}, )
HAUL__LOOK(24, HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4 HAUL__EMPTY4)
#undef HAUL__EMPTY4
#undef HAUL__LOOK
#ifdef __clang__
#pragma clang diagnostic pop
#endif

template <class T, std::size_t Member, class... Value> constexpr bool takes()
{
    return decltype(member_at<Member>::template takes<T, Value...>(0))::value;
}
template <class T, std::size_t Member, class... Values> constexpr bool holds()
{
    return decltype(member_at<Member>::template holds<T, Values...>(0))::value;
}

/* Within a member, behind some places that are seen. */
template <class T, std::size_t Member, bool Seen, class... Places>
struct hidden_within : std::false_type {
};
template <class T, std::size_t Member, class... Places>
struct hidden_within<T, Member, true, Places...>
    : std::conditional<
          holds<T, Member, Places..., hidden_value>(), std::true_type,
          hidden_within<T, Member,
                        (sizeof...(Places) < 15) && holds<T, Member, Places..., seen_value>(),
                        Places..., seen_value>>::type {
};

/* From a member on. */
template <class T, std::size_t Member, bool Exists> struct hidden_from : std::false_type {
};
template <class T, std::size_t Member>
struct hidden_from<T, Member, true>
    : std::conditional<
          takes<T, Member, hidden_value>() ||
              hidden_within<T, Member, holds<T, Member, seen_value>(), seen_value>::value,
          std::true_type,
          hidden_from<T, Member + 1, (Member < 23) && takes<T, Member + 2>()>>::type {
};

template <class T, bool Looked> struct holds_hidden_in : std::false_type {
};
template <class T> struct holds_hidden_in<T, true> : hidden_from<T, 0, takes<T, 1>()> {
};
/* Is there something hidden in an aggregate, as far as can be seen? */
template <class T>
struct holds_hidden
    : holds_hidden_in<T, std::is_class<T>::value &&__is_aggregate(T) && !std::is_empty<T>::value> {
};

} // namespace detail
} // namespace haul

#endif
