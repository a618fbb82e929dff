/* Views: types that are refused, because they lead to memory of others. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_VIEWS_HPP
#define HAUL_DESCRIBE_VIEWS_HPP

#include <functional>
#include <initializer_list>

#include "haul/describe/structs.hpp"

#if __cplusplus >= 201703L
#include <string_view>
#endif
#ifdef __cpp_lib_span
#include <span>
#elif __cplusplus >= 202002L && defined(__has_include)
#if __has_include(<span>)
#include <span>
#endif
#endif

namespace haul
{
namespace detail
{

template <class E> struct form<std::initializer_list<E>, void> {
    static_assert(always_false<E>::value,
                  "a std::initializer_list does not own its elements: keep a std::vector");
};
template <class E> struct form<std::reference_wrapper<E>, void> {
    static_assert(always_false<E>::value,
                  "a std::reference_wrapper does not say how it is used: keep a T *");
};
#if __cplusplus >= 201703L
template <class C, class R> struct form<std::basic_string_view<C, R>, void> {
    static_assert(always_false<C>::value,
                  "a std::string_view does not own its characters: keep a std::string, or a "
                  "pointer and its length, listed by haul::array");
};
#endif
#ifdef __cpp_lib_span
template <class E, std::size_t Extent> struct form<std::span<E, Extent>, void> {
    static_assert(always_false<E>::value,
                  "a std::span does not own its elements: keep a std::vector, or a pointer and "
                  "its length, listed by haul::array");
};
#endif

} // namespace detail
} // namespace haul

#endif
