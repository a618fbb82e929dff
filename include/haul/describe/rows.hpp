/* How the rows of a described type come together: the types that one call makes, their rows, and
 * the contract of the forms that write rows. For describe.hpp alone. */
#ifndef HAUL_DESCRIBE_ROWS_HPP
#define HAUL_DESCRIBE_ROWS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "haul/describe/look.hpp"

namespace haul
{
namespace detail
{

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
    /* A pointer to bytes that other rows lead to. */
    haul_field &add_borrowed(const std::string &name, std::size_t offset)
    {
        haul_field &row = add(HAUL_FIELD_POINTER, name, offset, sizeof(void *));
        row.element_bytes = 1;
        row.ownership = HAUL_BORROWED;
        return row;
    }
    /* The end of the room behind the pointer at `begin`: in the copy, the end of its elements. */
    template <class T>
    haul_field &add_end_of(const std::string &name, std::size_t offset, std::size_t begin)
    {
        haul_field &row = add(HAUL_FIELD_POINTER, name, offset, sizeof(void *));
        row.element_bytes = sizeof(T);
        row.end_of.offset = begin;
        row.end_of.bytes = sizeof(void *);
        return row;
    }

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
 * and first makes sure that T is laid out as it says. A form that is an own_type has put_own(r) and
 * reach_own(s) in their place: the rows of a T as a type. */
template <class T, class = void> struct form;

template <class T>
struct is_plain : std::integral_constant<bool, form<typename std::remove_cv<T>::type>::plain> {
};

template <class T> void describe_in(session &s);

/* Wherever a T lies, it lies as one row, so that it keeps its type. */
template <class T> struct own_type {
    static constexpr bool plain = false;
    static void put(rows &r, const std::string &name, std::size_t offset)
    {
        r.add(HAUL_FIELD_EMBED, name, offset, sizeof(T)).target = &handle_of<T>::get();
    }
    static void reach(session &s)
    {
        describe_in<T>(s);
    }
};
template <class T> struct has_own : std::is_base_of<own_type<T>, form<T>> {
};

/* How large an object is, and how it is aligned. */
template <class T> struct extent {
    static std::size_t bytes()
    {
        return sizeof(T);
    }
    static std::size_t alignment()
    {
        return alignof(T);
    }
};

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
    reach_target<typename std::remove_cv<T>::type>(s, is_plain<T>());
}

/* The rows of a T that lies at an offset, if it has any. */
template <class T> void put_at(rows &, const std::string &, std::size_t, std::true_type)
{
}
template <class T>
void put_at(rows &r, const std::string &name, std::size_t offset, std::false_type)
{
    form<T>::put(r, name, offset);
}
template <class T> void put(rows &r, const std::string &name, std::size_t offset)
{
    put_at<typename std::remove_cv<T>::type>(r, name, offset,
                                             std::integral_constant<bool, is_plain<T>::value>());
}

/* Describes what the rows of a T lead to, if it has any. */
template <class T> void reach_from_rows(session &, std::true_type)
{
}
template <class T> void reach_from_rows(session &s, std::false_type)
{
    form<T>::reach(s);
}
template <class T> void reach_from(session &s)
{
    reach_from_rows<typename std::remove_cv<T>::type>(
        s, std::integral_constant<bool, is_plain<T>::value>());
}

template <class T> haul_field &rows::add_pointer(const std::string &name, std::size_t offset)
{
    haul_field &row = add(HAUL_FIELD_POINTER, name, offset, sizeof(void *));
    row.element_bytes = extent<T>::bytes();
    if (!is_plain<T>::value)
        row.target = &handle_of<typename std::remove_cv<T>::type>::get();
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

} // namespace detail
} // namespace haul

#endif
