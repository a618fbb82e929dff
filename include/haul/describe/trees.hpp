/* The forms of std::map, std::multimap, std::set and std::multiset. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_TREES_HPP
#define HAUL_DESCRIBE_TREES_HPP

#include <functional>
#include <map>
#include <set>

#include "haul/describe/nodes.hpp"

namespace haul
{
namespace detail
{

/* Is a key a pointer, which has another value on the device? */
template <class K> struct is_address : std::is_pointer<K> {
};
template <class E, class D> struct is_address<std::unique_ptr<E, D>> : std::true_type {
};
template <class E> struct is_address<std::shared_ptr<E>> : std::true_type {
};

template <class K, class Compare>
struct orders_addresses
    : std::integral_constant<bool, is_address<K>::value &&
                                       (std::is_same<Compare, std::less<K>>::value ||
                                        std::is_same<Compare, std::greater<K>>::value ||
                                        std::is_same<Compare, std::less<>>::value ||
                                        std::is_same<Compare, std::greater<>>::value)> {
};

/*  tree  | comparison | header | size |
 *  header, and the begin of a node  | colour | parent | left | right |
 *
 * The header's parent is the root; its left and right are the first and the last node, or itself.
 * In libc++
 *  tree  | first | header: root | size |     node  | left | right | parent | colour |
 */
template <class C, class Compare> struct tree_form : nodes_form<C> {
    static_assert(std::is_empty<Compare>::value,
                  "a comparison with members cannot travel: write a struct without any");
    static_assert(!orders_addresses<typename C::key_type, Compare>::value,
                  "the order of addresses is another on the device: compare what they lead to, or "
                  "keep a std::vector");
#ifdef _LIBCPP_VERSION
    enum : std::size_t{ words = 3, header = 1, root = 1, size = 2, left = 0, right, parent };
#else
    enum : std::size_t { words = 6, header = 1, root = 2, size = 5, parent = 1, left, right };
#endif

    static node_layout measure()
    {
        typedef stand_in<typename C::value_type> value;
        typedef std::set<value, std::less<value>, measuring<value>> probe;
        node_layout layout = { 0, 0 };
        probe some;
        if (sizeof(C) != words * sizeof(void *) || sizeof(probe) != sizeof(C))
            return layout;
        for (char which : { '2', '1', '3' })
            some.emplace(which);
        const std::uintptr_t head = address(&some) + header * sizeof(void *);
        const std::array<std::uintptr_t, words> tree = words_of<words>(some);
        const std::array<std::uintptr_t, 4> top = words_at<4>(tree[root]);
        const std::array<std::uintptr_t, 4> first = words_at<4>(top[left]);
        const std::array<std::uintptr_t, 4> last = words_at<4>(top[right]);
        const value &middle = *std::next(some.begin());
#ifdef _LIBCPP_VERSION
        const bool ends = tree[0] == top[left];
#else
        const bool ends = tree[header + left] == top[left] && tree[header + right] == top[right];
#endif
        if (ends && tree[size] == 3 && top[parent] == head && first[parent] == tree[root] &&
            last[parent] == tree[root] && first[left] == 0 && last[right] == 0 &&
            address(&*some.begin()) - top[left] == address(&middle) - tree[root]) {
            layout.value = address(&middle) - tree[root];
            layout.bytes = measured_bytes();
        }
        return layout;
    }
    static void put_links(rows &r)
    {
        r.template add_pointer<node_of<C>>("left", left * sizeof(void *));
        r.template add_pointer<node_of<C>>("right", right * sizeof(void *));
        r.add_borrowed("parent", parent * sizeof(void *));
    }
    static void put_own(rows &r)
    {
        if (!tree_form::is_known(r))
            return;
        r.template add_pointer<node_of<C>>("root", root * sizeof(void *));
#ifdef _LIBCPP_VERSION
        r.add_borrowed("first", 0);
#else
        r.add_borrowed("first", (header + left) * sizeof(void *));
        r.add_borrowed("last", (header + right) * sizeof(void *));
#endif
    }
};

template <class K, class V, class C, class A>
struct form<std::map<K, V, C, A>, void> : tree_form<std::map<K, V, C, A>, C> {
};
template <class K, class V, class C, class A>
struct form<std::multimap<K, V, C, A>, void> : tree_form<std::multimap<K, V, C, A>, C> {
};
template <class K, class C, class A>
struct form<std::set<K, C, A>, void> : tree_form<std::set<K, C, A>, C> {
};
template <class K, class C, class A>
struct form<std::multiset<K, C, A>, void> : tree_form<std::multiset<K, C, A>, C> {
};

} // namespace detail
} // namespace haul

#endif
