/* A scene made of pointers goes to a device, is traced there, and comes back as a picture.
 *
 *     bvh_picture [mesh [picture.png [width [samples]]]]
 *
 * The defaults are the bunny of Debian's glmark2-data, bvh_picture.png, and 1280 pixels by 720.
 *
 * The host reads a mesh and builds a tree of boxes over its triangles. Each node, and the triangles
 * of each leaf, has a malloc of its own. Seven statues stand on a floor and share the one tree.
 * Three types with six fields describe all of it. haul_ship sends it in one transfer. On the device
 * each pixel's rays go down the tree by its pointers (bvh_trace.h: the same code for a CUDA kernel
 * and for the host device). haul_unmarshal brings the image back.
 *
 * Prints sizes and times, and writes the picture.
 */
#include "bvh_files.h"
#include "bvh_trace.h"
#include "bvh_tree.h"
#include "common.h"

const char *trace_on_gpu(void *scene, long pixels); /* bvh_trace.cu */

static haul_context *haul;
static haul_type *node_type, *statue_type, *scene_type;
static const haul_field node_fields[] = {
    HAUL_EACH(node, child, .target = &node_type),
    HAUL_ARRAY(node, triangles, HAUL_COUNT(node, count)),
};
static const haul_field statue_fields[] = {
    HAUL_OBJECT(statue, tree, &node_type),
    HAUL_OBJECT(statue, next, &statue_type),
};
static const haul_field scene_fields[] = {
    HAUL_OBJECT(scene, statues, &statue_type),
    HAUL_ARRAY(scene, image, HAUL_COUNT(scene, width, height)),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(node, &node_type, node_fields),
    HAUL_STRUCT(statue, &statue_type, statue_fields),
    HAUL_STRUCT(scene, &scene_type, scene_fields),
};

static haul_status trace(haul_device *device, scene *all)
{
    haul_shipment *shipment = NULL;
    haul_shipment_info told;
    const double start = milliseconds();
    double shipped, traced;
    haul_status status = haul_ship(device, all, scene_type, 1, NULL, &shipment);
    shipped = milliseconds();
    if (!status)
        status = launch(device, trace_pixel, ON_GPU(trace_on_gpu),
                        haul_device_pointer(shipment, all), (long)all->width * all->height);
    traced = milliseconds();
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_get_info(shipment, &told);
    printf("Shipped: %lu objects with %lu pointers, one transfer of %.1f MB\n",
           (unsigned long)told.objects, (unsigned long)told.pointers,
           1e-6 * (double)told.arena_bytes);
    printf("Milliseconds: ship %.1f, trace %.1f, unmarshal %.1f\n", shipped - start,
           traced - shipped, milliseconds() - traced);
    haul_shipment_free(&shipment);
    return status;
}

int main(int count, char **given)
{
    const char *mesh = count > 1 ? given[1] : "/usr/share/glmark2/models/bunny.obj";
    const char *path = count > 2 ? given[2] : "bvh_picture.png";
    const int width = count > 3 ? atoi(given[3]) : 1280;
    long triangle_count;
    triangle *triangles = read_mesh(mesh, &triangle_count);
    scene *all = triangles ? make_scene(make_tree(triangles, triangle_count), width) : NULL;
    haul_device *device = NULL;
    int written;
    haul_status status;
    if (!all)
        return 1;
    status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("opening the device", status, haul_context_error(haul));
    all->samples = count > 4 ? atoi(given[4]) : 0;
    if (all->samples < 1)
        all->samples = is_host(device) ? 8 : 256;
    printf("Picture: %d x %d, %d samples a pixel\n", all->width, all->height, all->samples);
    status = trace(device, all);
    if (status)
        return failed("tracing on the device", status, haul_context_error(haul));
    written = write_png(path, all->image, all->width, all->height);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    free_scene(all);
    free(triangles);
    return written ? 0 : 1;
}
