/* The forms of types that are no containers: plain types, pointers, structs whose members are
 * listed, and arrays in place. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_STRUCTS_HPP
#define HAUL_DESCRIBE_STRUCTS_HPP

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "haul/describe/look.hpp"
#include "haul/describe/rows.hpp"

namespace haul
{
namespace detail
{

/* ---- Types that are no containers. */

template <class T, class> struct form {
    static_assert(!std::is_polymorphic<T>::value,
                  "a class with virtual functions cannot travel, for its table of functions is the "
                  "host's: put the data into a struct, or the kinds into a std::variant");
    static_assert(!std::is_reference<T>::value,
                  "a reference does not say how it is used: keep a pointer");
    static_assert(std::is_trivially_copyable<T>::value,
                  "list the members of this type: specialise haul::members_of for it");
    static_assert(!may_hide<T>::value,
                  "a class with constructors or private members, or a union, may hide a pointer: "
                  "specialise haul::members_of for it; an empty list says that there is none");
    static_assert(!holds_hidden<T>::value,
                  "this struct holds a pointer, a view, a union or a class that may hide one: "
                  "specialise haul::members_of for it");
    static constexpr bool plain = alignof(T) <= 2 * sizeof(void *);
    static constexpr const char *inside = "";
    /* aligned bytes: a type without rows */
    static void put(rows &, const std::string &, std::size_t)
    {
    }
    static void reach(session &)
    {
    }
};

template <class T> struct form<T *, void> {
    static_assert(!std::is_void<T>::value && !std::is_function<T>::value,
                  "what does this pointer lead to?");
    static_assert(!std::is_same<typename std::remove_cv<T>::type, char>::value,
                  "say how many: haul::text or haul::array");
    typedef typename std::remove_cv<T>::type target;
    static constexpr bool plain = false;
    static constexpr const char *inside = "pointee";
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        r.add_pointer<target>(name, offset);
    }
    static void reach(session &s)
    {
        detail::reach<target>(s);
    }
};

/* ---- Structs whose members are listed. */

/* Where a member lies. No object is made: only an address is worked out, in room that a T would fit
 * in. */
template <class T, class M, class C> std::size_t offset_of(M C::*at)
{
    static typename std::aligned_storage<sizeof(T), alignof(T)>::type room;
    T *const object = reinterpret_cast<T *>(&room);
    return static_cast<std::size_t>(reinterpret_cast<char *>(std::addressof(object->*at)) -
                                    reinterpret_cast<char *>(object));
}

template <class T> struct pointee;
template <class T> struct pointee<T *> {
    typedef typename std::remove_cv<T>::type type;
};
template <class T, class D> struct pointee<std::unique_ptr<T[], D>> {
    typedef T type;
};
template <class T> struct pointee<std::shared_ptr<T[]>> {
    typedef T type;
};

template <class M> struct is_shared : std::false_type {
};
template <class T> struct is_shared<std::shared_ptr<T>> : std::true_type {
};

template <class T>
struct form<T, typename std::enable_if<is_listed<T>::value>::type> : own_type<T> {
    static_assert(!std::is_polymorphic<T>::value,
                  "a class with virtual functions cannot travel, for its table of functions is the "
                  "host's: put the data into a struct, or the kinds into a std::variant");
    static constexpr bool plain = is_listed_plain<T>::value && alignof(T) <= 2 * sizeof(void *);

    struct putter {
        rows &r;
        template <class M, class C> void operator()(const member_field<M, C> &f) const
        {
            detail::put<M>(r, f.name, offset_of<T>(f.at));
        }
        template <class M, class C, class N, class D>
        void operator()(const member_array<M, C, N, D> &f) const
        {
            static_assert(std::is_integral<N>::value, "the count must be an integer");
            static_assert(sizeof(M) == sizeof(void *) || is_shared<M>::value,
                          "a pointer, or a std::unique_ptr whose deleter takes no room");
            if (is_shared<M>::value)
                r.add(HAUL_FIELD_SKIP, f.name + std::string(" counts"),
                      offset_of<T>(f.at) + sizeof(void *), sizeof(void *));
            r.add_pointer<typename pointee<M>::type>(f.name, offset_of<T>(f.at)).count =
                count_of(HAUL_COUNT_KIND_PRODUCT, offset_of<T>(f.count), sizeof(N),
                         std::is_signed<N>::value);
        }
        template <class M, class C> void operator()(const member_text<M, C> &f) const
        {
            typedef typename pointee<M>::type character;
            static_assert(std::is_integral<character>::value, "a pointer to characters");
            r.add_pointer<character>(f.name, offset_of<T>(f.at)).count =
                count_of(HAUL_COUNT_KIND_TERMINATED);
        }
    };
    struct reacher {
        session &s;
        template <class M, class C> void operator()(const member_field<M, C> &) const
        {
            reach_from<M>(s);
        }
        template <class M, class C, class N, class D>
        void operator()(const member_array<M, C, N, D> &) const
        {
            detail::reach<typename pointee<M>::type>(s);
        }
        template <class M, class C> void operator()(const member_text<M, C> &) const
        {
        }
    };

    template <class F, class L, std::size_t... I>
    static void each(const F &f, const L &list, std::index_sequence<I...>)
    {
        const int in_order[] = { 0, (f(std::get<I>(list.fields)), 0)... };
        (void)in_order;
    }
    template <class F, class... Fields>
    static void each(const F &f, const member_list<Fields...> &list)
    {
        each(f, list, std::index_sequence_for<Fields...>());
    }
    static void put_own(rows &r)
    {
        each(putter{ r }, members_of<T>::list());
    }
    static void reach_own(session &s)
    {
        each(reacher{ s }, members_of<T>::list());
    }
};

/* ---- Arrays in place. */

template <class E, std::size_t Count, class A> struct array_form {
    static constexpr bool plain = is_plain<E>::value;
    static constexpr const char *inside = "elements";
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        static_assert(Count > 0 && sizeof(A) == Count * sizeof(E), "elements in a row");
        r.add(HAUL_FIELD_EMBED, name, offset, sizeof(A)).target = &handle_of<E>::get();
    }
    static void reach(session &s)
    {
        detail::reach<E>(s);
    }
};
template <class E, std::size_t Count>
struct form<std::array<E, Count>, void> : array_form<E, Count, std::array<E, Count>> {
};
template <class E, std::size_t Count> struct form<E[Count], void> : array_form<E, Count, E[Count]> {
};
template <class E> struct form<std::array<E, 0>, void> {
    static constexpr bool plain = true;
    static constexpr const char *inside = "";
    static void put(rows &, const std::string &, std::size_t)
    {
    }
    static void reach(session &)
    {
    }
};

} // namespace detail
} // namespace haul

#endif
