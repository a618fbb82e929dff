/* Lists of a struct's members, and the record of a described type. */
#ifndef HAUL_DESCRIBE_MEMBERS_HPP
#define HAUL_DESCRIBE_MEMBERS_HPP

#include <tuple>

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

/* The record of a described type. `type` is committed and lives as long as the program;
 * null when `status` is not HAUL_OK, and `error` then says why. */
struct described {
    const haul_type *type;
    haul_status status;
    haul_error error;
};

} // namespace haul

#endif
