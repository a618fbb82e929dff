/* The forms of what is not a container: plain types, pointers, structs whose members are listed,
 * and arrays in place. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_STRUCTS_HPP
#define HAUL_DESCRIBE_STRUCTS_HPP

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "haul/describe/rows.hpp"

namespace haul
{
namespace detail
{

/* ---- What is not a container. */

template <class T, class> struct form {
    static_assert(!std::is_polymorphic<T>::value, "its vtable's address means nothing on a device");
    static_assert(std::is_trivially_copyable<T>::value,
                  "list the members of this type: specialise haul::members_of for it");
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

template <class T> struct form<T, typename std::enable_if<is_listed<T>::value>::type> {
    static_assert(!std::is_polymorphic<T>::value, "its vtable's address means nothing on a device");
    static constexpr bool plain = false;

    struct putter {
        rows &r;
        const std::string prefix;
        const std::size_t base;
        template <class M, class C> void operator()(const member_field<M, C> &f) const
        {
            put_member<M>(f, std::integral_constant<bool, is_plain<M>::value>());
        }
        template <class M, class C, class N, class D>
        void operator()(const member_array<M, C, N, D> &f) const
        {
            static_assert(std::is_integral<N>::value, "the count must be an integer");
            static_assert(sizeof(M) == sizeof(void *),
                          "a pointer, or a std::unique_ptr whose deleter takes no room");
            r.add_pointer<typename pointee<M>::type>(prefix + f.name, base + offset_of<T>(f.at))
                .count = count_of(HAUL_COUNT_KIND_PRODUCT, base + offset_of<T>(f.count), sizeof(N),
                                  std::is_signed<N>::value);
        }
        template <class M, class C> void operator()(const member_text<M, C> &f) const
        {
            typedef typename pointee<M>::type character;
            static_assert(std::is_integral<character>::value, "a pointer to characters");
            r.add_pointer<character>(prefix + f.name, base + offset_of<T>(f.at)).count =
                count_of(HAUL_COUNT_KIND_TERMINATED);
        }
        template <class M, class F> void put_member(const F &, std::true_type) const
        {
        }
        template <class M, class F> void put_member(const F &f, std::false_type) const
        {
            form<M>::put(r, prefix + f.name, base + offset_of<T>(f.at));
        }
    };
    struct reacher {
        session &s;
        template <class M, class C> void operator()(const member_field<M, C> &) const
        {
            if (!is_plain<M>::value)
                form<M>::reach(s);
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
    /* In the struct itself: the members' own rows. In another: one row, so that the struct keeps
     * its type. */
    static void put_own(rows &r)
    {
        each(putter{ r, "", 0 }, members_of<T>::list());
    }
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        r.add(HAUL_FIELD_EMBED, name, offset, sizeof(T)).target = &handle_of<T>::get();
    }
    static void reach_own(session &s)
    {
        each(reacher{ s }, members_of<T>::list());
    }
    static void reach(session &s)
    {
        describe_in<T>(s);
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
