/* The forms of std::list and std::forward_list. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_LISTS_HPP
#define HAUL_DESCRIBE_LISTS_HPP

#include <forward_list>
#include <list>

#include "haul/describe/nodes.hpp"

namespace haul
{
namespace detail
{

/*  std::list  | next | previous | size |   node  | next | previous | value |
 *
 * libc++ has previous before next. The list itself takes the place of the node before the first one
 * and behind the last one. */
template <class E, class A> struct form<std::list<E, A>, void> : nodes_form<std::list<E, A>> {
    typedef std::list<E, A> list;
#ifdef _LIBCPP_VERSION
    static constexpr std::size_t next = 1, previous = 0;
#else
    static constexpr std::size_t next = 0, previous = 1;
#endif

    static node_layout measure()
    {
        typedef std::list<stand_in<E>, measuring<stand_in<E>>> probe;
        node_layout layout = { 0, 0 };
        probe some;
        const std::uintptr_t self = address(&some);
        if (sizeof(list) != 3 * sizeof(void *) || sizeof(probe) != sizeof(list))
            return layout;
        some.emplace_back('1');
        some.emplace_back('2');
        const std::array<std::uintptr_t, 3> head = words_at<3>(self);
        const std::array<std::uintptr_t, 2> first = words_at<2>(head[next]);
        const std::array<std::uintptr_t, 2> last = words_at<2>(first[next]);
        if (head[previous] == first[next] && first[previous] == self && last[next] == self &&
            last[previous] == head[next] && head[2] == 2) {
            layout.value = address(&some.front()) - head[next];
            layout.bytes = measured_bytes();
        }
        return layout;
    }

    /* The next one is the list itself, behind the last node. */
    static std::int64_t is_list(const haul_here *here)
    {
        return here->target == here->ancestor;
    }
    static void put_links(rows &r)
    {
        static const haul_case ends[] = { { 0, &handle_of<node_of<list>>::get(), 0 },
                                          { 1, &handle_of<list>::get(), 0 } };
        haul_field &row = r.add(HAUL_FIELD_POINTER, "next", next * sizeof(void *), sizeof(void *));
        row.type_switch.kind = HAUL_SWITCH_KIND_FUNCTION;
        row.type_switch.function = is_list;
        row.type_switch.cases = ends;
        row.type_switch.case_count = 2;
        row.type_switch.case_bytes = sizeof(haul_case);
        row.ancestor = &handle_of<list>::get();
        r.add_borrowed("previous", previous * sizeof(void *));
    }
    static void put_own(rows &r)
    {
        if (form::is_known(r))
            put_links(r);
    }
};

/*  std::forward_list  | first |   node  | next | value |  */
template <class E, class A>
struct form<std::forward_list<E, A>, void> : nodes_form<std::forward_list<E, A>> {
    typedef std::forward_list<E, A> list;

    static node_layout measure()
    {
        typedef std::forward_list<stand_in<E>, measuring<stand_in<E>>> probe;
        node_layout layout = { 0, 0 };
        probe some;
        if (sizeof(list) != sizeof(void *) || sizeof(probe) != sizeof(list))
            return layout;
        some.emplace_front('2');
        some.emplace_front('1');
        const std::uintptr_t first = words_of<1>(some)[0], last = words_at<1>(first)[0];
        const stand_in<E> &front = some.front(), &back = *std::next(some.begin());
        if (words_at<1>(last)[0] == 0 && address(&back) - last == address(&front) - first) {
            layout.value = address(&front) - first;
            layout.bytes = measured_bytes();
        }
        return layout;
    }
    static void put_links(rows &r)
    {
        r.template add_pointer<node_of<list>>("next", 0);
    }
    static void put_own(rows &r)
    {
        if (form::is_known(r))
            r.template add_pointer<node_of<list>>("first", 0);
    }
};

} // namespace detail
} // namespace haul

#endif
