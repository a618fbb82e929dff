/* Haul for C++11: handles that free themselves, typed pointers, and nothing that the C headers do
 * not do. From C++14 on also types that describe themselves, standard containers among them:
 * haul/describe.hpp.
 *
 *     struct node { node *next; double value; };
 *
 *     static haul::type node_type;
 *     static const haul_field node_fields[] = { HAUL_OBJECT(node, next, node_type.address()) };
 *
 *     haul::context context;
 *     haul::device device;
 *     haul::shipment shipment;
 *     haul_status status = context.create();
 *     if (status == HAUL_OK)
 *         status = device.open_host(context);
 *     if (status == HAUL_OK)
 *         status = node_type.create<node>(context.get(), "node", node_fields);
 *     if (status == HAUL_OK)
 *         status = node_type.commit();
 *     if (status == HAUL_OK)
 *         status = shipment.ship(device, root, node_type);
 *
 * No method throws. haul::check makes exceptions: haul::check(device.open_host(context),
 * context.error()). A handle can be moved, not copied; get() is the C handle, for every function
 * that has no method here. Handles may be destroyed in any order, any thread and any callback,
 * whatever is under way (context.h).
 */
#ifndef HAUL_HPP
#define HAUL_HPP

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "haul.h"

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#include <stdexcept>
#include <string>
#if defined(__has_include) && __cplusplus >= 201703L
#if __has_include(<memory_resource>)
#include <memory_resource>
#define HAUL_HAS_MEMORY_RESOURCE 1
#endif
#endif
#endif

#if __cplusplus >= 201402L
#include "haul/describe.hpp" /* types that describe themselves */
#endif

namespace haul
{

/* What can be shipped at all. */
template <class S> struct can_travel : std::true_type {
    static_assert(!std::is_polymorphic<S>::value,
                  "a class with virtual functions cannot travel, because its table of functions is "
                  "the host's: put the data into a struct");
};

/* The owner of one C handle. */
template <class T, void (*Free)(T **)> class handle
{
  public:
    handle() noexcept : handle_(nullptr)
    {
    }
    explicit handle(T *owned) noexcept : handle_(owned)
    {
    }
    handle(handle &&other) noexcept : handle_(other.release())
    {
    }
    handle &operator=(handle &&other) noexcept
    {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle()
    {
        reset();
    }

    T *get() const noexcept
    {
        return handle_;
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

    /* Gives the handle up: the caller frees it. */
    T *release() noexcept
    {
        T *owned = handle_;
        handle_ = nullptr;
        return owned;
    }
    void reset(T *owned = nullptr) noexcept
    {
        if (handle_)
            Free(&handle_);
        handle_ = owned;
    }
    /* Frees what is held; the address for a C function's result. */
    T **put() noexcept
    {
        reset();
        return &handle_;
    }

  protected:
    T *handle_;
};

class context : public handle<haul_context, haul_context_free>
{
  public:
    using handle::handle;
    haul_status create(const haul_context_options *options = nullptr)
    {
        return haul_context_create(options, put());
    }
    const haul_error *error() const
    {
        return haul_context_error(get());
    }
    haul_status add_static(const void *address, std::size_t bytes,
                           haul_static_policy policy = HAUL_STATIC_KEEP)
    {
        return haul_context_add_static(get(), address, bytes, policy);
    }
};

class type : public handle<haul_type, haul_type_free>
{
  public:
    using handle::handle;

    /* Where fields find this handle as a target. In C++ a field can name a static one only. The
     * object must not be moved until commit. */
    haul_type *const *address() const noexcept
    {
        return &handle_;
    }

    template <class S, std::size_t Count>
    haul_status create(haul_context *context, const char *name, const haul_field (&fields)[Count])
    {
        static_assert(can_travel<S>::value, "");
        return create(context, name, sizeof(S), fields, Count);
    }
    /* A struct without pointers. */
    template <class S> haul_status create(haul_context *context, const char *name)
    {
        static_assert(can_travel<S>::value, "");
        static_assert(std::is_trivially_copyable<S>::value && !std::is_pointer<S>::value,
                      "this type has pointers: give its fields");
#if __cplusplus >= 201402L
        static_assert(sizeof(detail::form<S>) != 0, "the compiler looks for pointers");
#endif
        return create(context, name, sizeof(S), nullptr, 0);
    }
    haul_status commit()
    {
        return haul_type_commit(get());
    }

  private:
    haul_status create(haul_context *context, const char *name, std::size_t bytes,
                       const haul_field *fields, std::size_t count)
    {
        haul_struct what = haul_struct();
        what.name = name;
        what.bytes = bytes;
        what.fields = fields;
        what.field_count = count;
        what.field_bytes = sizeof(haul_field);
        return haul_type_create(context, &what, put());
    }
};

class device : public handle<haul_device, haul_device_close>
{
  public:
    using handle::handle;
    haul_status open_host(const haul::context &context)
    {
        return haul_host_open(context.get(), nullptr, put());
    }
    haul_status open_cuda(const haul::context &context, const haul_cuda_options *options = nullptr)
    {
        return haul_cuda_open(context.get(), options, put());
    }
    haul_status open(const haul::context &context, const haul_device_table *table,
                     const void *settings = nullptr)
    {
        return haul_device_open(context.get(), table, settings, put());
    }
    /* The last failure of any call on this device, its plans and shipments. */
    const haul_error *error() const
    {
        return haul_context_error(haul_device_context(get()));
    }
};

class plan : public handle<haul_plan, haul_plan_free>
{
  public:
    using handle::handle;
    haul_status create(const haul::context &context, haul_source source,
                       const haul_plan_options *options = nullptr)
    {
        return haul_plan_create(context.get(), source, options, put());
    }
};

/* A path from an object to the data that a kernel needs (haul/chain.h). Source:
 * haul_from_chains. */
class chain : public handle<haul_chain, haul_chain_free>
{
  public:
    using handle::handle;
    /* For HAUL_CHAIN(root, ->steps), too, which the compiler checks. */
    haul_status create(const haul::context &context, const haul::type &type, const char *path,
                       std::size_t root_bytes = 0, std::size_t bytes = 0)
    {
        return haul_chain_create_checked(context.get(), type.get(), path, root_bytes, bytes, put());
    }
    haul_status resolve(void *root, haul_root *targets, std::size_t capacity,
                        std::size_t *count) const
    {
        return haul_chain_resolve(get(), root, targets, capacity, count);
    }
};

class shipment : public handle<haul_shipment, haul_shipment_free>
{
  public:
    using handle::handle;

    /* `count` objects in a row. They travel as bytes, so they must be trivially copyable; haul_ship
     * does not ask. */
    template <class S>
    haul_status ship(const haul::device &device, S *root, const haul::type &type,
                     std::size_t count = 1, const haul_ship_options *options = nullptr)
    {
        static_assert(can_travel<S>::value, "");
        static_assert(std::is_trivially_copyable<S>::value, "objects are shipped as bytes");
        return haul_ship(device.get(), root, type.get(), count, options, put());
    }
#if __cplusplus >= 201402L
    /* Objects of a type that describes itself. If it cannot, haul::describe<S>().error says why. */
    template <class S>
    haul_status ship(const haul::device &device, S *root, std::size_t count = 1,
                     const haul_ship_options *options = nullptr)
    {
        const described &d = describe<S>();
        return d.type ? haul_ship(device.get(), root, d.type, count, options, put()) : d.status;
    }
#endif
    /* Any source, such as haul_from_plan(plan.get()). */
    haul_status ship_from(const haul::device &device, haul_source source,
                          const haul_ship_options *options = nullptr,
                          const haul_async *async = nullptr)
    {
        return haul_ship_from(device.get(), source, options, async, put());
    }
    /* A shipment of its own, on another device of the same context. */
    haul_status copy_of(const shipment &other, const haul::device &device)
    {
        return haul_shipment_copy(other.get(), device.get(), put());
    }

    template <class S> S *device_pointer(S *host) const
    {
        return static_cast<S *>(haul_device_pointer(get(), host));
    }
    /* Calls `visit(range)` for each haul_shipped_range; an answer except 0 ends the walk. */
    template <class Visit> haul_status ranges(Visit visit) const
    {
        return haul_shipment_ranges(
            get(),
            [](void *user, const haul_shipped_range *range) -> int {
                return (*static_cast<Visit *>(user))(*range);
            },
            &visit);
    }
    haul_status write_table(const haul_file &file) const
    {
        return haul_shipment_write_table(get(), &file);
    }
    haul_status write_places(const haul_file &file) const
    {
        return haul_shipment_write_places(get(), &file);
    }
    /* Fills a struct of kernel arguments by a list of HAUL_ARGUMENT. */
    template <class Arguments, std::size_t Count>
    haul_status arguments(void *root, const haul_argument (&list)[Count], Arguments *into) const
    {
        static_assert(std::is_trivially_copyable<Arguments>::value, "kernels take bytes");
        return haul_chain_arguments(get(), root, list, Count, into);
    }
    haul_status update_device(const haul_update_options *options = nullptr,
                              const haul_async *async = nullptr)
    {
        return haul_update_device(get(), options, async);
    }
    haul_status update_host(const haul_update_options *options = nullptr,
                            const haul_async *async = nullptr)
    {
        return haul_update_host(get(), options, async);
    }
    haul_status unmarshal()
    {
        return haul_unmarshal(get());
    }
    haul_status reship(const haul_async *async = nullptr)
    {
        return haul_reship(get(), async);
    }
    haul_status wait()
    {
        return haul_wait(get());
    }
    haul_status poll()
    {
        return haul_poll(get());
    }
};

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)

/* Throws std::runtime_error, with the record's words and path where there is one, unless `status`
 * is HAUL_OK. */
inline void check(haul_status status, const haul_error *error = nullptr)
{
    if (status == HAUL_OK)
        return;
    std::string text = haul_status_name(status);
    /* After BUSY another thread may be writing the record. */
    if (status != HAUL_ERROR_BUSY && error && error->status == status) {
        text += std::string(": ") + error->text;
        if (error->path[0] != '\0')
            text += std::string(" (") + error->path + ")";
    } else {
        text += std::string(": ") + haul_status_text(status);
    }
    throw std::runtime_error(text);
}

#endif

/* ---- Arenas. */

/* Graphs that stay on a device (haul/environment.h). */
class environment : public handle<haul_environment, haul_environment_free>
{
  public:
    using handle::handle;
    haul_status create(const device &device)
    {
        return haul_environment_create(device.get(), put());
    }
    template <class S>
    haul_status enter(S *root, const haul::type &type, std::size_t count = 1,
                      const haul_enter_options *options = nullptr,
                      const haul_async *async = nullptr)
    {
        static_assert(std::is_trivially_copyable<S>::value, "objects are shipped as bytes");
        return haul_environment_enter(get(), root, type.get(), count, options, async);
    }
    haul_status exit(const void *root, const haul_exit_options *options = nullptr,
                     const haul_async *async = nullptr)
    {
        return haul_environment_exit(get(), root, options, async);
    }
    template <class S> S *device_pointer(S *host) const
    {
        return static_cast<S *>(haul_environment_device_pointer(get(), host));
    }
    haul_presence presence(const void *host, std::size_t bytes) const
    {
        return haul_environment_presence(get(), host, bytes);
    }
    template <class S> haul_status attach(S *const *pointer)
    {
        return haul_environment_attach(get(), pointer);
    }
    template <class S> haul_status detach(S *const *pointer)
    {
        return haul_environment_detach(get(), pointer);
    }
    haul_status track_writes(bool on)
    {
        return haul_environment_track_writes(get(), on);
    }
    haul_status set_detached(haul_detached form)
    {
        return haul_environment_set_detached(get(), form);
    }
    haul_status update_device(const void *host, std::size_t bytes,
                              const haul_async *async = nullptr)
    {
        return haul_environment_update_device(get(), host, bytes, async);
    }
    haul_status update_host(const void *host, std::size_t bytes, const haul_async *async = nullptr)
    {
        return haul_environment_update_host(get(), host, bytes, async);
    }
    haul_status dump(const haul_file &file, std::size_t ranges = 0)
    {
        return haul_environment_dump(get(), &file, ranges);
    }
    haul_status sync(const void *host = nullptr)
    {
        return haul_environment_sync(get(), host);
    }
    haul_status update(const haul_update_part *parts, std::size_t count, haul_direction direction,
                       const haul_async *async = nullptr)
    {
        return haul_environment_update(get(), parts, count, direction, async);
    }
    haul_status wait()
    {
        return haul_environment_wait(get());
    }
    haul_status poll()
    {
        return haul_environment_poll(get());
    }
};

/* A structured region: what it has entered is present until its scope ends, and comes back then.
 * Only a call of end() tells that the end has failed: the destructor and an assignment leave the
 * root entered then. The environment, whose handle may move, outlives the region, and so does the
 * root. Each call waits for the device. */
class region
{
  public:
    region() noexcept : environment_(nullptr), root_(nullptr)
    {
    }
    region(region &&other) noexcept : environment_(other.environment_), root_(other.root_)
    {
        other.root_ = nullptr;
    }
    region &operator=(region &&other) noexcept
    {
        if (this != &other) {
            end();
            environment_ = other.environment_;
            root_ = other.root_;
            other.root_ = nullptr;
        }
        return *this;
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;
    ~region()
    {
        end();
    }

    /* Ends the region that it was before. If that fails, the earlier root stays entered; after any
     * other failure nothing is entered. */
    template <class S>
    haul_status begin(const haul::environment &environment, S *root, const haul::type &type,
                      std::size_t count = 1, bool let_counts_change = false)
    {
        static_assert(std::is_trivially_copyable<S>::value, "objects are shipped as bytes");
        haul_enter_options how = haul_enter_options();
        how.structured = 1;
        how.let_counts_change = let_counts_change;
        haul_status status = end();
        if (status == HAUL_OK)
            status =
                haul_environment_enter(environment.get(), root, type.get(), count, &how, nullptr);
        if (status == HAUL_OK) {
            environment_ = environment.get();
            root_ = root;
        }
        return status;
    }
    /* HAUL_OK if nothing is entered. After a failure it can be called again. */
    haul_status end(bool copyout = true) noexcept
    {
        haul_exit_options how = haul_exit_options();
        how.structured = 1;
        how.copyout = copyout;
        const haul_status status =
            root_ ? haul_environment_exit(environment_, root_, &how, nullptr) : HAUL_OK;
        if (status == HAUL_OK)
            root_ = nullptr;
        return status;
    }
    /* Is something entered? */
    explicit operator bool() const noexcept
    {
        return root_ != nullptr;
    }

  private:
    haul_environment *environment_;
    const void *root_;
};

class arena : public handle<haul_arena, haul_arena_free>
{
  public:
    using handle::handle;
    haul_status create(const haul::context &context, const haul_arena_options *options = nullptr)
    {
        return haul_arena_create(context.get(), options, put());
    }
    haul_status create(const haul::device &device, const haul_arena_options *options = nullptr)
    {
        haul_arena_options chosen = options ? *options : haul_arena_options();
        chosen.device = device.get();
        return haul_arena_create(haul_device_context(device.get()), &chosen, put());
    }
    haul_status ship(const haul::device &device, haul::shipment &shipment,
                     const haul_ship_options *options = nullptr) const
    {
        return haul_ship_from(device.get(), haul_from_arena(get()), options, nullptr,
                              shipment.put());
    }
    const haul_error *error() const
    {
        return haul_arena_error(get());
    }
};

/* A T in an arena, made from `arguments`; nullptr: haul_arena_error says why. Shipments patch its
 * pointers. */
template <class T, class... Arguments>
T *make(const arena &arena, const type &type, Arguments &&...arguments)
{
    static_assert(can_travel<T>::value, "");
    static_assert(std::is_trivially_copyable<T>::value, "objects are shipped as bytes");
    static_assert(std::is_trivially_destructible<T>::value, "an arena runs no destructors");
    void *memory = haul_arena_new(arena.get(), type.get(), 1);
    return memory ? ::new (memory) T{ std::forward<Arguments>(arguments)... } : nullptr;
}

/* `count` of them in a row, zeroed. */
template <class T> T *make_array(const arena &arena, const type &type, std::size_t count)
{
    static_assert(can_travel<T>::value, "");
    static_assert(std::is_trivially_copyable<T>::value, "objects are shipped as bytes");
    return static_cast<T *>(haul_arena_new(arena.get(), type.get(), count));
}

#ifdef HAUL_HAS_MEMORY_RESOURCE

/* The memory of std::pmr containers. It throws std::bad_alloc when the arena is full. The arena
 * must outlive it. What is deallocated is used again where the arena was made with reuse. */
class arena_resource : public std::pmr::memory_resource
{
  public:
    explicit arena_resource(const arena &arena) noexcept : arena_(arena.get())
    {
    }
    haul_arena *get() const noexcept
    {
        return arena_;
    }

  private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        void *memory = haul_arena_bytes(arena_, bytes ? bytes : 1, alignment);
        if (!memory)
            throw std::bad_alloc();
        return memory;
    }
    void do_deallocate(void *memory, std::size_t bytes, std::size_t) override
    {
        haul_arena_release(arena_, memory, bytes ? bytes : 1);
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        return this == &other;
    }

    haul_arena *arena_;
};

#endif

} // namespace haul

#endif
