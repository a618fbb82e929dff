/* The forms of containers of nodes share this: the layout of a node, which is measured on a
 * container of stand-ins. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_NODES_HPP
#define HAUL_DESCRIBE_NODES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "haul/describe/structs.hpp"

namespace haul
{
namespace detail
{

/* As large as a T and aligned as a member T, but easily made; compared by its first byte. */
template <class T> struct stand_in {
    union member {
        T it;
        member();
        ~member();
    };
    struct behind_one {
        char one;
        member it;
    };
    alignas(sizeof(behind_one) - sizeof(member)) unsigned char bytes[sizeof(T)];

    explicit stand_in(char first)
    {
        std::memset(bytes, 0, sizeof bytes);
        bytes[0] = static_cast<unsigned char>(first);
    }
    bool operator<(const stand_in &other) const
    {
        return bytes[0] < other.bytes[0];
    }
    bool operator==(const stand_in &other) const
    {
        return bytes[0] == other.bytes[0];
    }
};

/* How many bytes the last allocation of a measured container took. */
inline std::size_t &measured_bytes()
{
    static std::size_t bytes = 0; /* used in turns, as all descriptions are made */
    return bytes;
}
template <class T> struct measuring {
    typedef T value_type;
    measuring() = default;
    template <class U> measuring(const measuring<U> &)
    {
    }
    T *allocate(std::size_t count)
    {
        measured_bytes() = count * sizeof(T);
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T *memory, std::size_t count)
    {
        std::allocator<T>().deallocate(memory, count);
    }
    template <class U> bool operator==(const measuring<U> &) const
    {
        return true;
    }
    template <class U> bool operator!=(const measuring<U> &) const
    {
        return false;
    }
};

/* Of a container's nodes; no bytes if the container is not laid out as its form says. */
struct node_layout {
    std::size_t bytes, value;
};

/* The type of a container's nodes. form<C> measures them. */
template <class C> struct node_of {
    static const node_layout &layout()
    {
        static const node_layout measured = form<C>::measure();
        return measured;
    }
};
template <class C> struct extent<node_of<C>> {
    static std::size_t bytes()
    {
        return node_of<C>::layout().bytes;
    }
    static std::size_t alignment()
    {
        return alignof(typename C::value_type) > alignof(void *) ? alignof(typename C::value_type)
                                                                 : alignof(void *);
    }
};

/* A form of containers of nodes. */
template <class C> struct nodes_form : own_type<C> {
    typedef typename C::value_type value;

    /* Is the container laid out as its form says? Otherwise the description fails. */
    static bool is_known(rows &r)
    {
        if (node_of<C>::layout().bytes == 0)
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<C>() + " is not laid out here as the forms know it");
        return node_of<C>::layout().bytes != 0;
    }
    static void reach_own(session &s)
    {
        describe_in<node_of<C>>(s);
    }
};

/* A form of their nodes: put_links(r) adds the rows of the pointers among nodes. */
template <class C> struct form<node_of<C>, void> : own_type<node_of<C>> {
    static void put_own(rows &r)
    {
        form<C>::put_links(r);
        detail::put<typename C::value_type>(r, "value", node_of<C>::layout().value);
    }
    static void reach_own(session &s)
    {
        reach_from<typename C::value_type>(s);
    }
};

template <class T, class U> std::size_t distance(const T *from, const U *to)
{
    return static_cast<std::size_t>(address(to) - address(from));
}

template <std::size_t Count> std::array<std::uintptr_t, Count> words_at(std::uintptr_t place)
{
    std::array<std::uintptr_t, Count> words;
    std::memcpy(words.data(), reinterpret_cast<const void *>(place), sizeof words);
    return words;
}

} // namespace detail
} // namespace haul

#endif
