/* Types of C++ that describe themselves: the standard containers, smart pointers, pairs, tuples,
 * optionals and variants, arrays, pointers, and structs of these whose members are listed. For
 * C++14 and later, with libstdc++ or libc++; haul.hpp includes it.
 *
 *     struct mesh {
 *         std::string name;
 *         std::vector<double> xyz;
 *         std::map<int, std::unique_ptr<mesh>> children;
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
 * Elements travel, reserved room does not: on the device the capacity() of a std::vector is its
 * size(), and that of other containers has no meaning. On the device containers are for reading,
 * searching, and changing elements in place: size(), operator[], begin() and end(), find(),
 * c_str(), operator->, std::get. Growing, copying or destroying one there is an error that nobody
 * sees. The counts of a std::shared_ptr stay on the host: use_count() is 0 there.
 *
 * A container's layout is the library's own business. Each container type is probed once, with
 * elements that stand for its own. One that is laid out differently (another standard library,
 * _GLIBCXX_DEBUG, the string before C++11, an allocator or a deleter that takes room) gives
 * HAUL_ERROR_UNSUPPORTED, with a sentence.
 *
 * These do not compile, and the message says what to write: classes with virtual functions;
 * std::string_view, std::span and other views; std::weak_ptr; std::vector<bool>; references;
 * pointers to void, to functions, to characters of unknown number. So does an order or a std::hash
 * of addresses (std::set<T *>), as addresses are others on the device; a function of yours that
 * looks at addresses is not noticed. A struct must be listed if it holds pointers, views or unions;
 * a class, if it has constructors or private members: an empty list says that it holds no pointers.
 * The compiler looks into structs that are not listed (look.hpp says how far).
 *
 * A list names the members that hold pointers, in whatever depth. A member that is forgotten there
 * travels as bytes, its pointers with it, and a kernel that follows one leaves the device's memory.
 * haul_audit finds such pointers in the data (audit.h), a strict launch on the host device those
 * that a kernel follows (host.h).
 */
#ifndef HAUL_DESCRIBE_HPP
#define HAUL_DESCRIBE_HPP

#include <mutex>
#include <string>
#include <type_traits>

#include "haul/describe/choices.hpp"
#include "haul/describe/containers.hpp"
#include "haul/describe/deques.hpp"
#include "haul/describe/hashes.hpp"
#include "haul/describe/lists.hpp"
#include "haul/describe/trees.hpp"
#include "haul/describe/views.hpp"

namespace haul
{

namespace detail
{

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
    put_own<T>(r, has_own<T>());
    if (s.status() == HAUL_OK && s.make(own_name<T>(is_listed<T>()), extent<T>::bytes(),
                                        extent<T>::alignment(), r.all(), &handle_of<T>::get()))
        reach_own<T>(s, has_own<T>());
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
