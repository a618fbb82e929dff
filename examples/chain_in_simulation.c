/* A step of molecular dynamics: the kernel needs three arrays of a larger simulation.
 *
 * Chains name them as the program does: sim->atoms->positions. Only these arrays are shipped, and
 * the kernel gets their addresses in a struct. Prints two claims with yes or NO.
 */
#include "common.h"

enum { PER_BOX = 64, BOXES = 27, SLOTS = PER_BOX * BOXES, CHAINS = 3 };
typedef double vector[3];
typedef struct atoms {
    vector *positions, *momenta, *forces; /* room for 64 atoms in each box */
} atoms;
typedef struct simulation {
    atoms *atoms;
    int *filled; /* atoms in each box */
    int boxes;
} simulation;

static haul_type *atoms_type, *sim_type;
HAUL_FUNCTION(slots, void, PER_BOX *((const simulation *)here->ancestor)->boxes)
#define IN_BOXES HAUL_COUNT_FN(slots), .ancestor = &sim_type
static const haul_field atoms_fields[] = { HAUL_ARRAY(atoms, positions, IN_BOXES),
                                           HAUL_ARRAY(atoms, momenta, IN_BOXES),
                                           HAUL_ARRAY(atoms, forces, IN_BOXES) };
static const haul_field simulation_fields[] = {
    HAUL_OBJECT(simulation, atoms, &atoms_type),
    HAUL_ARRAY(simulation, filled, HAUL_COUNT(simulation, boxes)),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(atoms, &atoms_type, atoms_fields),
    HAUL_STRUCT(simulation, &sim_type, simulation_fields),
};

typedef struct arguments {
    vector *positions, *momenta;
    int *filled, boxes;
} arguments;
static void move(void *argument) /* the kernel */
{
    const arguments *a = argument;
    for (int box = 0; box < a->boxes; box++)
        for (int i = PER_BOX * box; i < PER_BOX * box + a->filled[box]; i++)
            for (int k = 0; k < 3; k++)
                a->positions[i][k] += a->momenta[i][k];
}

static haul_status step(haul_device *device, simulation *sim, haul_chain **c, size_t *bytes)
{
    const haul_argument list[] = { HAUL_ARGUMENT(arguments, positions, c[0]),
                                   HAUL_ARGUMENT(arguments, momenta, c[1]),
                                   HAUL_ARGUMENT_COUNTED(arguments, filled, boxes, c[2]) };
    haul_shipment *shipment = NULL;
    haul_shipment_info info;
    arguments a;
    haul_status status =
        haul_ship_from(device, haul_from_chains(sim, c, CHAINS), NULL, NULL, &shipment);
    status = status ? status : haul_chain_arguments(shipment, sim, list, CHAINS, &a);
    status = status ? status : haul_host_launch(device, move, &a);
    status = status ? status : haul_unmarshal(shipment);
    haul_shipment_get_info(shipment, &info);
    *bytes = info.graph_bytes;
    haul_shipment_free(&shipment);
    return status;
}

int main(void)
{
    static vector r[SLOTS], p[SLOTS], f[SLOTS];
    static int filled[BOXES];
    atoms all = { r, p, f };
    simulation sim = { &all, filled, BOXES };
    haul_context *haul = NULL;
    haul_device *device = NULL;
    haul_chain *c[CHAINS] = { NULL, NULL, NULL };
    int moved = 1;
    size_t bytes = 0;
    for (int i = 0; i < SLOTS; i++)
        p[i][2] = filled[i / PER_BOX] = i / PER_BOX;
    haul_status status = haul_context_create(NULL, &haul);
    status = status ? status : HAUL_DESCRIBE(haul, structs);
    status = status ? status : haul_host_open(haul, NULL, &device);
    status = status ? status : haul_chain_create(haul, sim_type, "atoms.positions", &c[0]);
    status = status ? status : haul_chain_create(haul, sim_type, "atoms.momenta", &c[1]);
    if (!status) /* checked by the compiler, too */
        status = haul_chain_create_checked(haul, sim_type, HAUL_CHAIN(&sim, ->filled), &c[2]);
    status = status ? status : step(device, &sim, c, &bytes);
    if (status)
        return failed("moving the atoms", status, haul_context_error(haul));
    for (int i = 0; i < SLOTS; i++)
        moved &= (int)r[i][2] == (i % PER_BOX < i / PER_BOX ? i / PER_BOX : 0);
    moved = claim("the atoms have moved", moved) &
            claim("only three arrays have crossed", bytes == sizeof r * 2 + sizeof filled);
    for (int i = 0; i < CHAINS; i++)
        haul_chain_free(&c[i]);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return moved ? 0 : 1;
}
