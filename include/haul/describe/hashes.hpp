/* The forms of std::unordered_map, std::unordered_multimap, std::unordered_set and
 * std::unordered_multiset. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_HASHES_HPP
#define HAUL_DESCRIBE_HASHES_HPP

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "haul/describe/trees.hpp"

namespace haul
{
namespace detail
{

/* Do nodes of libstdc++ keep the hash behind their value? Its iterators tell. */
template <class I> struct keeps_hash : std::true_type {
};
template <template <class, bool, bool> class I, class V, bool Constant, bool Kept>
struct keeps_hash<I<V, Constant, Kept>> : std::integral_constant<bool, Kept> {
};

/* Hashes of stand-ins. libstdc++ keeps those that may throw. */
template <bool Kept> struct stand_in_hash {
    template <class T> std::size_t operator()(const T &value) const noexcept(!Kept)
    {
        return value.bytes[0];
    }
};

/*  table  | buckets | their number | first node | size | load | next size | one bucket |
 *  node   | next | value, and perhaps the hash |
 *
 * A bucket leads to the node before its first one; to the table's third word if there is none. A
 * table of one bucket has it inside. libc++ ends with the load, and keeps the hash before the
 * value. */
template <class C> struct hash_form : nodes_form<C> {
    static_assert(std::is_empty<typename C::hasher>::value &&
                      std::is_empty<typename C::key_equal>::value,
                  "a hash or a comparison with members cannot travel: write a struct without any");
    static_assert(!is_address<typename C::key_type>::value ||
                      !std::is_same<typename C::hasher, std::hash<typename C::key_type>>::value,
                  "the hash of an address is another on the device: hash what it leads to, or keep "
                  "a std::vector");
#ifdef _LIBCPP_VERSION
    static constexpr std::size_t words = 5;
#else
    static constexpr std::size_t words = 7;
#endif

    static node_layout measure()
    {
        typedef stand_in<typename C::value_type> value;
        typedef std::unordered_set<value, stand_in_hash<keeps_hash<typename C::iterator>::value>,
                                   std::equal_to<value>, measuring<value>>
            probe;
        node_layout layout = { 0, 0 };
        probe some(7);
        if (sizeof(C) != words * sizeof(void *) || sizeof(probe) != sizeof(C) ||
            keeps_hash<typename probe::iterator>::value != keeps_hash<typename C::iterator>::value)
            return layout;
        some.emplace('1');
        some.emplace('2');
        const std::array<std::uintptr_t, words> table = words_of<words>(some);
        const std::uintptr_t before = address(&some) + 2 * sizeof(void *);
        const value &first = *some.begin(), &last = *std::next(some.begin());
        const std::uintptr_t second = words_at<1>(table[2])[0];
        const std::uintptr_t bucket = table[0] + some.bucket(first) * sizeof(void *);
        const std::uintptr_t other = table[0] + some.bucket(last) * sizeof(void *);
        if (table[1] == some.bucket_count() && table[3] == 2 && words_at<1>(second)[0] == 0 &&
            words_at<1>(bucket)[0] == before && words_at<1>(other)[0] == table[2] &&
            address(&first) - table[2] == address(&last) - second) {
            layout.value = address(&first) - table[2];
            layout.bytes = measured_bytes();
        }
        return layout;
    }
    static void put_links(rows &r)
    {
        r.template add_pointer<node_of<C>>("next", 0);
    }
    static void put_own(rows &r)
    {
        static haul_field bucket; /* zeros, except its ownership */
        if (!hash_form::is_known(r))
            return;
        bucket.ownership = HAUL_BORROWED;
        haul_field &buckets = r.add(HAUL_FIELD_POINTER, "buckets", 0, sizeof(void *));
        buckets.levels = 2;
        buckets.element_bytes = 1;
        buckets.count =
            count_of(HAUL_COUNT_KIND_PRODUCT, sizeof(void *), sizeof(std::size_t), false);
        buckets.each_pointer = &bucket;
        r.template add_pointer<node_of<C>>("first", 2 * sizeof(void *));
#ifndef _LIBCPP_VERSION
        /* where it counts, the row of the buckets describes it */
        r.add(HAUL_FIELD_SKIP, "one bucket", 6 * sizeof(void *), sizeof(void *));
#endif
    }
};

template <class K, class V, class H, class E, class A>
struct form<std::unordered_map<K, V, H, E, A>, void>
    : hash_form<std::unordered_map<K, V, H, E, A>> {
};
template <class K, class V, class H, class E, class A>
struct form<std::unordered_multimap<K, V, H, E, A>, void>
    : hash_form<std::unordered_multimap<K, V, H, E, A>> {
};
template <class K, class H, class E, class A>
struct form<std::unordered_set<K, H, E, A>, void> : hash_form<std::unordered_set<K, H, E, A>> {
};
template <class K, class H, class E, class A>
struct form<std::unordered_multiset<K, H, E, A>, void>
    : hash_form<std::unordered_multiset<K, H, E, A>> {
};

} // namespace detail
} // namespace haul

#endif
