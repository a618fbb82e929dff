/* A star cluster under its own gravity, by the method of Barnes and Hut: the host builds the tree,
 * the device walks it.
 *
 *     nbody_tree [bodies [steps]]      default: 10000 bodies, 16 steps
 *
 * The host puts the bodies into an octree, each cell by a malloc of its own, and ships cluster,
 * tree and bodies. On the device one call for each body walks the tree by its pointers
 * (nbody_forces.h; in a CUDA kernel on a GPU). haul_unmarshal brings the forces into the bodies,
 * and the host moves them. It then computes the numbers of the tree again, and haul_update_device
 * sends them. Every REMAKE steps it builds a new tree, and haul_reship ships that.
 *
 * Prints the milliseconds of a step and two proofs: the forces agree with the sum over all pairs,
 * and the cluster keeps its energy.
 */
#include "common.h"
#include "nbody_cells.h"
#include "nbody_cluster.h"

const char *pull_on_gpu(void *cluster, long bodies); /* nbody_forces.cu */

enum { REMAKE = 8 };
static const double STEP = 0.01, FORCE_ERROR_MAX = 0.05, ENERGY_DRIFT_MAX = 1e-3;

static haul_context *haul;
static haul_type *cell_type, *cluster_type;
static const haul_field cell_fields[] = {
    HAUL_EACH(cell, child, .target = &cell_type),
    HAUL_OBJECT(cell, first, &cell_type),
    HAUL_OBJECT(cell, next, &cell_type),
    /* into the array of bodies: found once, whichever way leads there */
    HAUL_ARRAY(cell, single, HAUL_ONE),
};
static const haul_field cluster_fields[] = {
    HAUL_ARRAY(cluster, bodies, HAUL_COUNT(cluster, count)),
    HAUL_OBJECT(cluster, tree, &cell_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(cell, &cell_type, cell_fields),
    HAUL_STRUCT(cluster, &cluster_type, cluster_fields),
};

typedef struct times {
    double tree, refresh, replan, pull, unmarshal;
} times;

static double lap(double *since)
{
    const double before = *since;
    *since = milliseconds();
    return *since - before;
}

/* The forces on the device, into the bodies. */
static haul_status pull(haul_device *device, haul_shipment *shipment, cluster *all, times *spent)
{
    double since = milliseconds();
    haul_status status = launch(device, pull_body, ON_GPU(pull_on_gpu),
                                haul_device_pointer(shipment, all), all->count);
    spent->pull += lap(&since);
    if (!status)
        status = haul_unmarshal(shipment);
    spent->unmarshal += lap(&since);
    return status;
}

static haul_status step(haul_device *device, haul_shipment *shipment, cluster *all, int remake,
                        times *spent)
{
    double since;
    haul_status status;
    kick(all, STEP / 2);
    drift(all, STEP);
    since = milliseconds();
    if (remake) {
        free_cells(all->tree);
        all->tree = make_cells(all->bodies, all->count);
    } else {
        sum_up(all->tree);
    }
    spent->tree += lap(&since);
    status = remake ? haul_reship(shipment, NULL) : haul_update_device(shipment, NULL, NULL);
    *(remake ? &spent->replan : &spent->refresh) += lap(&since);
    if (!status)
        status = pull(device, shipment, all, spent);
    if (!status)
        kick(all, STEP / 2);
    return status;
}

static int report(const cluster *all, int steps, double energy_before, const times *spent)
{
    const double error = force_error(all),
                 moved = fabs((energy(all) - energy_before) / energy_before);
    const int remakes = steps / REMAKE, refreshes = steps - remakes;
    int right;
    printf("Milliseconds a step: tree %.2f, %s %.2f, pull %.2f, unmarshal %.2f",
           spent->tree / steps, "refresh", refreshes ? spent->refresh / refreshes : 0.0,
           spent->pull / (steps + 1), spent->unmarshal / (steps + 1));
    printf("; with a new tree reship %.2f\n", remakes ? spent->replan / remakes : 0.0);
    printf("Forces: at most %.2g off the sum over all pairs. Energy: %.6f, then %.6f, drift %.2g\n",
           error, energy_before, energy(all), moved);
    right =
        claim("the forces agree with the sum over all pairs within 5 %", error < FORCE_ERROR_MAX);
    right &= claim("the energy stays within 0.1 %", moved < ENERGY_DRIFT_MAX);
    return right ? 0 : 1;
}

static int run(haul_device *device, cluster *all, int steps)
{
    haul_shipment *shipment = NULL;
    times spent = { 0, 0, 0, 0, 0 };
    double before = 0;
    int result;
    haul_status status = haul_ship(device, all, cluster_type, 1, NULL, &shipment);
    if (!status)
        status = pull(device, shipment, all, &spent);
    before = energy(all);
    for (int i = 1; i <= steps && !status; i++)
        status = step(device, shipment, all, i % REMAKE == 0, &spent);
    result = status ? failed("working on the device", status, haul_context_error(haul))
                    : report(all, steps, before, &spent);
    haul_shipment_free(&shipment);
    return result;
}

int main(int argument_count, char **arguments)
{
    const long count = argument_count > 1 ? atol(arguments[1]) : 10000;
    const int steps = argument_count > 2 ? atoi(arguments[2]) : 16;
    /* an opening below 0.57: no body is pulled by its own cell */
    cluster all = { NULL, NULL, 0, 0.4, 0.05 };
    haul_device *device = NULL;
    haul_status status;
    int result;
    if (count < 1000 || count > 10000000 || steps < 1 || steps > 1000000) {
        fprintf(stderr, "nbody_tree [bodies [steps]], 1000 bodies or more\n");
        return 2;
    }
    make_cluster(&all, count);
    all.tree = make_cells(all.bodies, count);
    status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    printf("Cluster: %ld bodies, %d steps\n", count, steps);
    result = status ? failed("opening the device", status, haul_context_error(haul))
                    : run(device, &all, steps);
    haul_device_close(&device);
    haul_context_free(&haul);
    free_cells(all.tree);
    free(all.bodies);
    HAUL_FORGET(structs);
    return result;
}
