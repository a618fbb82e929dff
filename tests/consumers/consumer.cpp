/* A C++ project that uses the installed Haul through haul.hpp. */
#include <cstdio>
#include <type_traits>
#include <utility>
#include <haul.hpp>

struct node {
    node *next;
    double *values;
    unsigned count;
};

static void double_all(void *argument)
{
    for (node *at = static_cast<node *>(argument); at; at = at->next)
        for (unsigned i = 0; i < at->count; i++)
            at->values[i] *= 2;
}

/* Moves, release and put do what they say: no handle is freed twice, none is lost. */
static bool handles_move(haul::device &device)
{
    static_assert(!std::is_copy_constructible<haul::device>::value, "a handle has one owner");
    static_assert(std::is_nothrow_move_constructible<haul::shipment>::value, "moves do not throw");
    haul_device *held = device.get();
    haul::device other(std::move(device));
    const bool emptied = !device && other.get() == held;
    device = std::move(other);
    haul::device third(device.release());
    device.reset(third.release());
    return emptied && !other && !third && device.get() == held;
}

/* What a kernel takes of the last node. */
struct last_values {
    double *values;
    unsigned count;
};

static void add_one(void *argument)
{
    const last_values *last = static_cast<const last_values *>(argument);
    for (unsigned i = 0; i < last->count; i++)
        last->values[i] += 1;
}

/* Ships the values of the second node alone. */
static haul_status add_to_last(const haul::context &context, const haul::device &device,
                               const haul::type &node_type, node *root)
{
    haul::chain chain;
    haul::shipment shipment;
    last_values last;
    haul_status status = chain.create(context, node_type, HAUL_CHAIN(root, ->next->values));
    haul_chain *const chains[] = { chain.get() };
    if (status == HAUL_OK)
        status = shipment.ship_from(device, haul_from_chains(root, chains, 1));
    const haul_argument list[] = { HAUL_ARGUMENT_COUNTED(last_values, values, count, chain.get()) };
    if (status == HAUL_OK)
        status = shipment.arguments(root, list, &last);
    if (status == HAUL_OK && shipment.device_pointer(&root->values[1]))
        status = HAUL_ERROR_GRAPH; /* a value of the first node has crossed, too */
    if (status == HAUL_OK)
        status = haul_host_launch(device.get(), add_one, &last);
    return status == HAUL_OK ? shipment.unmarshal() : status;
}

/* A region brings its results back when its scope ends, and nothing if it is told so. */
static haul_status double_in_regions(const haul::device &device, const haul::type &node_type,
                                     node *root)
{
    static_assert(!std::is_copy_constructible<haul::region>::value, "a region has one end");
    const double before = root->values[0];
    haul::environment environment;
    haul_status status = environment.create(device);
    for (int i = 0; i < 2 && status == HAUL_OK; i++) {
        haul::region first, region;
        status = first.begin(environment, root, node_type);
        region = std::move(first);
        if (status == HAUL_OK)
            status = haul_host_launch(device.get(), double_all, environment.device_pointer(root));
        if (i == 0 && status == HAUL_OK)
            status = region.end(false);
        if (first || static_cast<bool>(region) != (i == 1) || root->values[0] != before)
            status = HAUL_ERROR_STATE;
    }
    if (environment.presence(root, sizeof *root) != HAUL_ABSENT || root->values[0] != 2 * before)
        status = HAUL_ERROR_STATE;
    for (node *at = root; at; at = at->next)
        for (unsigned i = 0; i < at->count; i++)
            at->values[i] /= 2;
    return status;
}

static haul_status run(node *root, haul::device &device)
{
    haul::context context;
    static haul::type node_type;
    static const haul_field fields[] = {
        HAUL_OBJECT(node, next, node_type.address()),
        HAUL_ARRAY(node, values, HAUL_COUNT(node, count)),
    };
    haul_status status = context.create();
    if (status == HAUL_OK)
        status = node_type.create<node>(context.get(), "node", fields);
    if (status == HAUL_OK)
        status = node_type.commit();
    if (status == HAUL_OK)
        status = device.open_host(context);
    if (status != HAUL_OK)
        return status;
    if (!handles_move(device))
        return HAUL_ERROR_STATE;

    haul::shipment shipment;
    status = shipment.ship(device, root, node_type);
    if (status == HAUL_OK)
        status = haul_host_launch(device.get(), double_all, shipment.device_pointer(root));
    if (status == HAUL_OK)
        status = shipment.unmarshal();
    if (status == HAUL_OK)
        status = double_in_regions(device, node_type, root);
    return status == HAUL_OK ? add_to_last(context, device, node_type, root) : status;
}

struct number {
    int value;
};

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
static bool check_throws()
{
    haul::check(HAUL_OK);
    try {
        haul::context context;
        haul::type bad;
        haul::check(context.create());
        haul::check(bad.create<number>(context.get(), ""));
        haul::check(bad.commit());
    } catch (const std::runtime_error &failure) {
        return std::string(failure.what()).find("HAUL_ERROR_TYPE") == 0;
    }
    return false;
}
#else
static bool check_throws()
{
    return true;
}
#endif

int main()
{
    double a[] = { 1, 2, 3 }, b[] = { 4 };
    node last = { nullptr, b, 1 }, first = { &last, a, 3 };
    haul::device device;
    const haul_status status = run(&first, device);
    std::printf("C++: %s, %g %g, %d GPUs\n", haul_status_name(status), a[2], b[0],
                haul_cuda_count());
    return !(status == HAUL_OK && a[0] == 2 && a[2] == 6 && b[0] == 9 && first.next == &last &&
             check_throws());
}
