/* A smaller step in C++ than chain_in_simulation.c: the kernel needs two arrays of a simulation.
 *
 *     c++ -std=c++17 chain_in_simulation.cpp $(pkg-config --cflags --libs haul)
 *
 * The simulation keeps its arrays in std::vectors, and has plain pointers to them, as kernels do.
 * A chain names an array as the program does, and the compiler checks it. Only these arrays are
 * shipped. Prints how many bytes have crossed, with the arena's alignment.
 */
#include <cstdio>
#include <exception>
#include <vector>

#include <haul.hpp>

struct vector {
    double x, y, z;
};

struct atoms {
    int count;
    vector *positions, *momenta, *forces;
};

struct simulation {
    atoms *all;
    double step;
};

struct arguments {
    vector *positions, *momenta;
    int count;
};

/* Runs on the device. */
static void move(void *argument)
{
    const arguments *a = static_cast<arguments *>(argument);
    for (int i = 0; i < a->count; i++) {
        a->positions[i].x += a->momenta[i].x;
        a->positions[i].y += a->momenta[i].y;
        a->positions[i].z += a->momenta[i].z;
    }
}

static bool run()
{
    haul::context context;
    haul::device device;
    static haul::type atoms_type, simulation_type;
    static const haul_field atoms_fields[] = {
        HAUL_ARRAY(atoms, positions, HAUL_COUNT(atoms, count)),
        HAUL_ARRAY(atoms, momenta, HAUL_COUNT(atoms, count)),
        HAUL_ARRAY(atoms, forces, HAUL_COUNT(atoms, count)),
    };
    static const haul_field simulation_fields[] = { HAUL_OBJECT(simulation, all,
                                                                atoms_type.address()) };
    haul::check(context.create());
    haul::check(atoms_type.create<atoms>(context.get(), "atoms", atoms_fields));
    haul::check(simulation_type.create<simulation>(context.get(), "simulation", simulation_fields));
    haul::check(simulation_type.commit(), context.error());
    haul::check(device.open_host(context), context.error());

    std::vector<vector> r(1000), p(1000), f(1000);
    for (std::size_t i = 0; i < p.size(); i++)
        p[i] = { 1, 2, double(i) };
    atoms all = { int(r.size()), r.data(), p.data(), f.data() };
    simulation sim = { &all, 0.1 };

    haul::chain positions, momenta;
    haul::shipment shipment;
    arguments a;
    haul::check(positions.create(context, simulation_type, HAUL_CHAIN(&sim, ->all->positions)),
                context.error());
    haul::check(momenta.create(context, simulation_type, HAUL_CHAIN(&sim, ->all->momenta)),
                context.error());
    haul_chain *const chains[] = { positions.get(), momenta.get() };
    const haul_argument list[] = { HAUL_ARGUMENT_COUNTED(arguments, positions, count, chains[0]),
                                   HAUL_ARGUMENT(arguments, momenta, chains[1]) };
    haul::check(shipment.ship_from(device, haul_from_chains(&sim, chains, 2)), device.error());
    haul::check(shipment.arguments(&sim, list, &a), device.error());
    haul::check(haul_host_launch(device.get(), move, &a));
    haul::check(shipment.unmarshal(), device.error());

    haul_shipment_info info = {};
    haul_shipment_get_info(shipment.get(), &info);
    std::printf("%lu bytes have crossed, and %lu have come back; atom 7 is at %g, %g, %g\n",
                static_cast<unsigned long>(info.bytes_to),
                static_cast<unsigned long>(info.bytes_from), r[7].x, r[7].y, r[7].z);
    return r[7].z == 7 && f[7].z == 0 && info.graph_bytes == 2 * r.size() * sizeof r[0];
}

int main()
{
    try {
        return run() ? 0 : 1;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
