/* The form of std::deque. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_DEQUES_HPP
#define HAUL_DESCRIBE_DEQUES_HPP

#include <deque>

#include "haul/describe/nodes.hpp"

namespace haul
{
namespace detail
{

/* Room for one element of a deque D: rows hold where the element exists. */
template <class D> struct slot_of;
template <class D> struct extent<slot_of<D>> : extent<typename D::value_type> {
};
template <class D> struct form<slot_of<D>, void> : own_type<slot_of<D>> {
    typedef typename D::value_type value;
    static std::int64_t exists(const haul_here *here)
    {
        return form<D>::exists(*static_cast<const D *>(here->ancestor), address(here->self));
    }
    static void put_own(rows &r)
    {
        haul_field &row = r.add(is_plain<value>::value ? HAUL_FIELD_RAW : HAUL_FIELD_EMBED, "value",
                                0, sizeof(value));
        if (!is_plain<value>::value)
            row.target = &handle_of<value>::get();
        row.when.kind = HAUL_WHEN_KIND_FUNCTION;
        row.when.function = exists;
        row.ancestor = &handle_of<D>::get();
    }
    static void reach_own(session &s)
    {
        detail::reach<value>(s);
    }
};

/*  std::deque  | map | its length | begin | end |
 *  begin, end  | element | its block | behind the block | place in the map |
 *
 * The map leads to the blocks from begin's to end's; the rest of it is not set. All blocks have
 * the same number of elements; in the first and the last one, a part of them exists. These blocks
 * travel whole, so that behind the last element there is room in the copy, too: the end of a deque
 * must be different from its begin.
 *
 * In libc++  | room | map | its end | end of room | place of the first element | size |
 * where the place is counted from the begin of the map's first block.
 */
template <class E, class A> struct form<std::deque<E, A>, void> : own_type<std::deque<E, A>> {
    typedef std::deque<E, A> deque;
#ifdef _LIBCPP_VERSION
    static constexpr std::size_t words = 6, map = 1;
#else
    static constexpr std::size_t words = 10, map = 0;
#endif

    /* Measured: the length of a block. */
    static std::size_t &block()
    {
        static std::size_t elements = 0;
        return elements;
    }

    /* Which elements exist, counted from the begin of the first block in use; its place in the
     * map, and that behind the last block in use. */
    struct extents {
        std::size_t begin, end, first, last;
    };
    template <class D> static extents extents_of(const D &d)
    {
        const std::array<std::uintptr_t, words> w = words_of<words>(d);
#ifdef _LIBCPP_VERSION
        return { w[4], w[4] + w[5], 0, (w[2] - w[1]) / sizeof(void *) };
#else
        const std::size_t begin = (w[2] - w[3]) / sizeof(E);
        return { begin, begin + d.size(), (w[5] - w[0]) / sizeof(void *),
                 (w[9] - w[0]) / sizeof(void *) + 1 };
#endif
    }
    /* Where a block begins; its number is counted from the first one in use. */
    template <class D> static std::uintptr_t block_at(const D &d, std::size_t number)
    {
        return words_at<1>(words_of<words>(d)[map] +
                           (extents_of(d).first + number) * sizeof(void *))[0];
    }
    /* Is there an element at an address in the first or the last block? */
    static bool exists(const deque &d, std::uintptr_t at)
    {
        const extents all = extents_of(d);
        if (d.empty())
            return false;
        for (std::size_t number : { all.begin / block(), (all.end - 1) / block() }) {
            const std::size_t element = (at - block_at(d, number)) / sizeof(E);
            if (element < block())
                return number * block() + element >= all.begin &&
                       number * block() + element < all.end;
        }
        return false;
    }

    static const deque &self(const haul_here *here)
    {
        return *static_cast<const deque *>(here->self);
    }
    static std::int64_t is_used(const haul_here *here)
    {
        const extents all = extents_of(self(here));
        return here->index >= all.first && here->index < all.last;
    }
    static std::int64_t is_partial(const haul_here *here)
    {
        const extents all = extents_of(self(here));
        const std::size_t from = (here->index - all.first) * block();
        return from < all.begin || from + block() > all.end;
    }
    static std::int64_t blocks(const haul_here *here)
    {
        const extents all = extents_of(self(here));
        return static_cast<std::int64_t>(all.last - all.first);
    }

    /* Fills two blocks and a bit, from both ends, and looks at every element. */
    static bool is_as_expected()
    {
        std::deque<stand_in<E>> some;
        if (sizeof(deque) != words * sizeof(void *) || sizeof some != sizeof(deque))
            return false;
        some.emplace_back('1');
#ifdef _LIBCPP_VERSION
        block() = sizeof(E) < 256 ? 4096 / sizeof(E) : 16;
#else
        block() = (words_of<words>(some)[4] - words_of<words>(some)[3]) / sizeof(E);
#endif
        for (std::size_t i = 0; i < 2 * block(); i++)
            some.emplace_back('1');
        some.emplace_front('1');
        const extents all = extents_of(some);
        bool good = block() > 0 && all.end - all.begin == some.size() &&
                    all.end < (all.last - all.first) * block();
        for (std::size_t i = 0; good && i < some.size(); i++)
            good = address(&some[i]) == block_at(some, (all.begin + i) / block()) +
                                            (all.begin + i) % block() * sizeof(E);
        return good;
    }

    static haul_count count_by(haul_function *function)
    {
        haul_count count = count_of(HAUL_COUNT_KIND_FUNCTION);
        count.function = function;
        return count;
    }
    /* The map, and behind it the blocks. */
    static haul_field &put_blocks(rows &r, const haul_count &count)
    {
        static const haul_case kinds[] = { { 0, &handle_of<E>::get(), 0 },
                                           { 1, &handle_of<slot_of<deque>>::get(), 0 } };
        static haul_field each; /* zeros, except these two */
        each.type_switch.kind = HAUL_SWITCH_KIND_FUNCTION;
        each.type_switch.function = is_partial;
        each.type_switch.cases = kinds;
        each.type_switch.case_count = 2;
        each.type_switch.case_bytes = sizeof(haul_case);
        each.when.kind = HAUL_WHEN_KIND_FUNCTION;
        each.when.function = is_used;
        haul_field &row = r.add(HAUL_FIELD_POINTER, "blocks", map * sizeof(void *), sizeof(void *));
        row.levels = 2;
        row.count = count;
        row.count2 = count_of(HAUL_COUNT_KIND_PRODUCT);
        row.count2.plus = static_cast<std::int64_t>(block());
        row.each_pointer = &each;
        return row;
    }
    static void put_words(rows &r)
    {
#ifdef _LIBCPP_VERSION
        r.add(HAUL_FIELD_SKIP, "room", 0, sizeof(void *));
        haul_field &row = put_blocks(r, count_by(blocks));
        row.when.kind = HAUL_WHEN_KIND_FUNCTION;
        row.when.function = blocks;
        haul_field &end = r.add_borrowed("end of blocks", 2 * sizeof(void *));
        end.when.kind = HAUL_WHEN_KIND_FUNCTION;
        end.when.function = blocks;
        r.add(HAUL_FIELD_SKIP, "end of room", 3 * sizeof(void *), sizeof(void *));
#else
        static const char *const names[] = {
            "begin", "begin's block", "behind begin's block", "begin in map",
            "end",   "end's block",   "behind end's block",   "end in map"
        };
        put_blocks(r,
                   count_of(HAUL_COUNT_KIND_PRODUCT, sizeof(void *), sizeof(std::size_t), false));
        for (std::size_t word = 2; word < words; word++)
            r.add_borrowed(names[word - 2], word * sizeof(void *));
#endif
    }
    static void put_own(rows &r)
    {
        if (is_as_expected())
            put_words(r);
        else
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<deque>() + " is not laid out here as the forms know it");
    }
    static void reach_own(session &s)
    {
        describe_in<E>(s);
        describe_in<slot_of<deque>>(s);
    }
};

} // namespace detail
} // namespace haul

#endif
