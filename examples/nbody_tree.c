/* A star cluster by Barnes's and Hut's method: the host builds an octree, the device walks it.
 *
 *     nbody_tree [bodies]      default: 10000
 *
 * The host puts the bodies into the octree, each cell by a malloc of its own, and ships cluster,
 * tree and bodies. On the device one call for each body walks the tree by its pointers
 * (nbody_forces.h). haul_unmarshal brings the forces into the bodies, and the host moves them. It
 * then computes the tree's numbers again, and haul_update_device sends them. Every REMAKE steps it
 * builds a new tree, and haul_reship ships that.
 *
 * Prints the milliseconds of a step, then two claims on forces and energy with yes or NO.
 */
#include "common.h"
#include "nbody_cells.h"
#include "nbody_cluster.h"
#include "nbody_proof.h"

const char *pull_on_gpu(void *cluster, long bodies); /* nbody_forces.cu */

enum { STEPS = 16, REMAKE = 8 };
static const double TIME = 0.01; /* of a step */

static haul_context *haul;
static haul_type *cell_type, *cluster_type;
static const haul_field cell_fields[] = {
    HAUL_EACH(cell, child, .target = &cell_type), HAUL_OBJECT(cell, first, &cell_type),
    HAUL_OBJECT(cell, next, &cell_type),
    HAUL_ARRAY(cell, single, HAUL_ONE), /* within the array of bodies: no second copy */
};
static const haul_field cluster_fields[] = {
    HAUL_ARRAY(cluster, bodies, HAUL_COUNT(cluster, count)),
    HAUL_OBJECT(cluster, tree, &cell_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(cell, &cell_type, cell_fields),
    HAUL_STRUCT(cluster, &cluster_type, cluster_fields),
};

/* The forces on the device, into the bodies. */
static haul_status pull(haul_device *device, haul_shipment *shipment, cluster *all)
{
    haul_status status = launch(device, pull_body, ON_GPU(pull_on_gpu),
                                haul_device_pointer(shipment, all), all->count);
    return status ? status : haul_unmarshal(shipment);
}

/* The tree for bodies that have moved, here and on the device. */
static haul_status renew(haul_shipment *shipment, cluster *all, int remake)
{
    if (remake) {
        make_cells(all);
        return haul_reship(shipment, NULL);
    }
    sum_up(all->tree);
    return haul_update_device(shipment, NULL, NULL);
}

static int run(haul_device *device, cluster *all)
{
    haul_shipment *shipment = NULL;
    double start, energy_before;
    haul_status status = haul_ship(device, all, cluster_type, 1, NULL, &shipment);
    if (!status)
        status = pull(device, shipment, all);
    energy_before = energy(all);
    start = milliseconds();
    for (int i = 1; i <= STEPS && !status; i++) {
        kick(all, TIME / 2);
        drift(all, TIME);
        status = renew(shipment, all, i % REMAKE == 0);
        if (!status)
            status = pull(device, shipment, all);
        kick(all, TIME / 2);
    }
    printf("%d steps of %.2f milliseconds each\n", STEPS, (milliseconds() - start) / STEPS);
    haul_shipment_free(&shipment);
    if (status)
        return failed("working on the device", status, haul_context_error(haul));
    return prove(all, energy_before) ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    cluster all;
    int result;
    haul_device *device = NULL;
    haul_status status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    make_cluster(&all, argument_count > 1 ? atol(arguments[1]) : 10000);
    make_cells(&all);
    result =
        status ? failed("opening the device", status, haul_context_error(haul)) : run(device, &all);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    free_cells(all.tree);
    free(all.bodies);
    return result;
}
