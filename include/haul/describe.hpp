/* Types of C++ that describe themselves: std::vector, std::string, std::unique_ptr, std::array,
 * arrays, pointers, and structs of these whose members are listed. For C++14 and libstdc++;
 * haul.hpp includes it.
 *
 *     struct mesh {
 *         std::string name;
 *         std::vector<double> xyz;
 *         std::vector<std::unique_ptr<mesh>> children;
 *         int material;                     // bytes travel as they are: no need to list it
 *     };
 *
 *     template <> struct haul::members_of<mesh> {
 *         static auto list()
 *         {
 *             return haul::members("mesh", haul::field("name", &mesh::name),
 *                                  haul::field("xyz", &mesh::xyz),
 *                                  haul::field("children", &mesh::children));
 *         }
 *     };
 *
 *     haul::shipment shipment;
 *     haul_status status = shipment.ship(device, &root); // makes the type on first use
 *
 * What travels is what the containers hold: a vector's elements, not its capacity (on the device
 * capacity() has no meaning); a string's characters, in its inline buffer or elsewhere. On the
 * device containers are for reading and for changing elements in place: size(), operator[], begin()
 * and end(), c_str(), operator->. Growing or destroying one there is an error that nobody sees.
 *
 * A container's layout is the library's own business. Here it is known for libstdc++, and looked at
 * before it is relied on: each container type is probed once, on a live object. One that is laid
 * out differently (another standard library, _GLIBCXX_DEBUG, the string before C++11, an allocator
 * or a deleter that takes room) gives HAUL_ERROR_UNSUPPORTED, with a sentence. Types with virtual
 * functions, std::vector<bool>, and types that are neither listed nor trivially copyable do not
 * compile.
 *
 * The list names members that hold pointers, in whatever depth; a member that is forgotten travels
 * as bytes, its pointers with it, and a kernel that follows one leaves the device's memory.
 * haul_audit finds pointers that lead into the graph; a strict launch on the host device finds all
 * that a kernel follows (host.h).
 */
#ifndef HAUL_DESCRIBE_HPP
#define HAUL_DESCRIBE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "haul.h"

namespace haul
{

/* Specialise it for a struct of yours, with a static function list() that returns
 * haul::members(...). */
template <class T> struct members_of;

/* How a member is described. `name` is for paths and must be a literal. */
template <class M, class C> struct member_field {
    const char *name;
    M C::*at;
};
template <class M, class C, class N, class D> struct member_array {
    const char *name;
    M C::*at;
    N D::*count;
};
template <class M, class C> struct member_text {
    const char *name;
    M C::*at;
};

/* A member of any type that this page knows. A T * leads to one T, or is null. */
template <class M, class C> constexpr member_field<M, C> field(const char *name, M C::*at)
{
    return { name, at };
}
/* A T * or std::unique_ptr<T[]> that leads to as many T as the integer member `count` says. */
template <class M, class C, class N, class D>
constexpr member_array<M, C, N, D> array(const char *name, M C::*at, N D::*count)
{
    return { name, at, count };
}
/* A char * (or of another character type) that leads to a terminated string, or is null. */
template <class M, class C> constexpr member_text<M, C> text(const char *name, M C::*at)
{
    return { name, at };
}

template <class... Fields> struct member_list {
    const char *name;
    std::tuple<Fields...> fields;
};
/* A struct's name and its members. */
template <class... Fields>
constexpr member_list<Fields...> members(const char *name, Fields... fields)
{
    return { name, std::tuple<Fields...>(fields...) };
}

/* What there is to know of a described type. `type` is committed and lives as long as the program;
 * null when `status` is not HAUL_OK, and `error` then says why. */
struct described {
    const haul_type *type;
    haul_status status;
    haul_error error;
};

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

/* Every C++ type has one handle, open while it is being described, then committed. */
template <class T> struct handle_of {
    static haul_type *&get()
    {
        static haul_type *handle = nullptr;
        return handle;
    }
};

/* The name of a type, all of it and different from any other's: what the compiler prints in its own
 * function names. */
template <class T> std::string name_of()
{
    const std::string whole = __PRETTY_FUNCTION__;
    const std::size_t begin = whole.find("T = ") + 4;
    std::string name = whole.substr(begin, whole.find_first_of(";]", begin) - begin);
    if (name.size() < HAUL_NAME_BYTES_MAX)
        return name;
    std::uint64_t hash = 14695981039346656037u; /* FNV-1a of what is cut off and of the rest */
    for (char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return name.substr(0, HAUL_NAME_BYTES_MAX - 32) + "... " + std::to_string(hash);
}

/* The context of all these types. It is made with the first of them, and lives as long as they do:
 * as the program. NULL: no memory. */
inline haul_context *context_of_types()
{
    static haul_context *context = nullptr;
    if (!context)
        haul_context_create(nullptr, &context);
    return context;
}

/* The types that one call describes: made, and given back all of them unless they are committed in
 * the end. */
class session
{
  public:
    session() : status_(HAUL_OK), error_()
    {
    }
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    ~session()
    {
        for (haul_type **handle : made_)
            haul_type_free(handle);
    }

    haul_status status() const
    {
        return status_;
    }
    const haul_error &error() const
    {
        return error_;
    }

    void fail(haul_status status, const std::string &text)
    {
        if (status_ != HAUL_OK)
            return;
        status_ = error_.status = status;
        error_.text[text.copy(error_.text, sizeof error_.text - 1)] = '\0';
    }
    void fail_as(const haul_error *error)
    {
        status_ = error->status;
        error_ = *error;
    }

    /* Makes a type and answers whether it could. */
    bool make(const std::string &name, std::size_t bytes, std::size_t alignment,
              const std::vector<haul_field> &rows, haul_type **handle)
    {
        haul_struct what = haul_struct();
        what.name = name.c_str();
        what.bytes = bytes;
        what.fields = rows.data();
        what.field_count = rows.size();
        what.field_bytes = sizeof(haul_field);
        what.alignment = alignment > 2 * sizeof(void *) ? alignment : 0;
        made_.push_back(handle);
        const haul_status status = haul_type_create(context_of_types(), &what, handle);
        if (status != HAUL_OK)
            fail(status, "the type " + name + " could not be made");
        return status == HAUL_OK;
    }
    void keep()
    {
        made_.clear();
    }

  private:
    haul_status status_;
    haul_error error_;
    std::vector<haul_type **> made_;
};

/* The rows of one struct, as they come together. Names are kept until the rows have been copied. */
class rows
{
  public:
    explicit rows(session &s) : session_(s)
    {
    }

    haul_field &add(haul_field_kind kind, const std::string &name, std::size_t offset,
                    std::size_t bytes)
    {
        haul_field row = haul_field();
        names_.push_back(name);
        row.name = names_.back().c_str();
        row.kind = kind;
        row.offset = offset;
        row.bytes = bytes;
        rows_.push_back(row);
        return rows_.back();
    }
    /* A pointer to elements of type T; their number is left at one. */
    template <class T> haul_field &add_pointer(const std::string &name, std::size_t offset);

    session &of()
    {
        return session_;
    }
    const std::vector<haul_field> &all() const
    {
        return rows_;
    }

  private:
    session &session_;
    std::list<std::string> names_;
    std::vector<haul_field> rows_;
};

/* How a type is described. Each form has
 *     plain         bytes without pointers: nothing to say
 *     inside        what the rows of a T are called where it is no member but an element
 *     put(r, n, o)  adds the rows of a T at offset o, called n
 *     reach(s)      describes what those rows lead to
 * and first makes sure that T is laid out as it says. */
template <class T, class = void> struct form;

template <class T> struct is_plain : std::integral_constant<bool, form<T>::plain> {
};

template <class T> void describe_in(session &s);

/* A target needs a description only if it is not plain. */
template <class T> void reach_target(session &s, std::true_type)
{
    (void)s;
}
template <class T> void reach_target(session &s, std::false_type)
{
    describe_in<T>(s);
}
template <class T> void reach(session &s)
{
    reach_target<T>(s, is_plain<T>());
}

template <class T> haul_field &rows::add_pointer(const std::string &name, std::size_t offset)
{
    haul_field &row = add(HAUL_FIELD_POINTER, name, offset, sizeof(void *));
    row.element_bytes = sizeof(T);
    if (!is_plain<T>::value)
        row.target = &handle_of<T>::get();
    return row;
}

inline haul_count count_of(haul_count_kind kind)
{
    haul_count count = haul_count();
    count.kind = kind;
    count.times = 1;
    return count;
}

/* By an integer, or up to a pointer. */
inline haul_count count_of(haul_count_kind kind, std::size_t offset, std::size_t bytes,
                           bool is_signed)
{
    haul_count count = count_of(kind);
    count.fields = 1;
    count.field[0].offset = offset;
    count.field[0].bytes = static_cast<std::uint8_t>(bytes);
    count.field[0].sign = is_signed;
    return count;
}

/* The words of an object. */
template <std::size_t Count, class T> std::array<std::uintptr_t, Count> words_of(const T &object)
{
    static_assert(sizeof(T) >= Count * sizeof(std::uintptr_t), "an object of so many words");
    std::array<std::uintptr_t, Count> words;
    std::memcpy(words.data(), static_cast<const void *>(std::addressof(object)), sizeof words);
    return words;
}

template <class T> std::uintptr_t address(T *pointer)
{
    return reinterpret_cast<std::uintptr_t>(pointer);
}

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

/* ---- Containers. */

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
        r.add(HAUL_FIELD_SKIP, name + " capacity", offset + 2 * sizeof(void *), sizeof(void *));
    }
    static void reach(session &s)
    {
        detail::reach<E>(s);
    }
};

/*  std::string  | pointer | length | 16 bytes: the characters, or their capacity |  */
template <class C, class R, class A> struct form<std::basic_string<C, R, A>, void> {
    typedef std::basic_string<C, R, A> string;
    static constexpr bool plain = false;
    static constexpr const char *inside = "data()";

    static bool is_as_expected(const string &s)
    {
        const std::array<std::uintptr_t, 2> words = words_of<2>(s);
        return words[0] == address(s.data()) && words[1] == s.size() && s.data()[s.size()] == C();
    }
    static bool is_inside(const string &s)
    {
        return address(s.data()) - address(&s) < sizeof s;
    }
    template <class S> static bool probe(std::true_type)
    {
        const S none, little(2, C('x')), much(100, C('y'));
        return is_as_expected(none) && is_as_expected(little) && is_as_expected(much) &&
               is_inside(none) && is_inside(little) && !is_inside(much);
    }
    template <class S> static bool probe(std::false_type)
    {
        return false;
    }
    static bool is_as_expected()
    {
        return probe<string>(
            std::integral_constant<bool, sizeof(string) == 2 * sizeof(void *) + 16>());
    }
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        if (!is_as_expected()) {
            r.of().fail(HAUL_ERROR_UNSUPPORTED,
                        name_of<string>() +
                            " is not a pointer, a length and 16 bytes of room here");
            return;
        }
        haul_count count =
            count_of(HAUL_COUNT_KIND_PRODUCT, offset + sizeof(void *), sizeof(std::size_t), false);
        count.plus = 1; /* the terminator */
        r.add_pointer<C>(name, offset).count = count;
        r.add(HAUL_FIELD_RAW, name + " buffer", offset + 2 * sizeof(void *), 16);
    }
    static void reach(session &)
    {
    }
};

/* ---- Making types. */

template <class T> void put_own(rows &r, std::true_type)
{
    form<T>::put_own(r);
}
template <class T> void put_own(rows &r, std::false_type)
{
    form<T>::put(r, form<T>::inside, 0);
}
template <class T> void reach_own(session &s, std::true_type)
{
    form<T>::reach_own(s);
}
template <class T> void reach_own(session &s, std::false_type)
{
    form<T>::reach(s);
}

template <class T> std::string own_name(std::true_type)
{
    return members_of<T>::list().name;
}
template <class T> std::string own_name(std::false_type)
{
    return name_of<T>();
}

/* The handle is set before its targets are looked at: that is where recursion ends. */
template <class T> void describe_in(session &s)
{
    if (s.status() != HAUL_OK || handle_of<T>::get())
        return;
    rows r(s);
    put_own<T>(r, is_listed<T>());
    if (s.status() == HAUL_OK &&
        s.make(own_name<T>(is_listed<T>()), sizeof(T), alignof(T), r.all(), &handle_of<T>::get()))
        reach_own<T>(s, is_listed<T>());
}

/* One at a time: types that share parts are described by whoever comes first. */
inline std::mutex &turn()
{
    static std::mutex mutex;
    return mutex;
}

template <class T> described describe_now()
{
    const std::lock_guard<std::mutex> lock(turn());
    session s;
    described result = described();
    describe_in<T>(s);
    if (s.status() == HAUL_OK && haul_type_commit(handle_of<T>::get()) != HAUL_OK)
        s.fail_as(haul_context_error(context_of_types()));
    result.status = s.status();
    result.error = s.error();
    if (result.status == HAUL_OK) {
        result.type = handle_of<T>::get();
        s.keep();
    }
    return result;
}

} // namespace detail

/* The description of T: made on first use, by whichever thread comes first, and the same from then
 * on, a refusal included. Throws what the allocation of a few rows throws. */
template <class T> const described &describe()
{
    static const described result = detail::describe_now<typename std::remove_cv<T>::type>();
    return result;
}

} // namespace haul

#endif
