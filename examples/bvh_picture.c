/* A scene made of pointers goes to a device, is traced there, and comes back as a picture.
 *
 *     bvh_picture [--size WIDTH HEIGHT] [--samples N] [mesh [picture.png]]
 *     The defaults are the bunny of Debian's glmark2-data and bvh_picture.png.
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

static void report(haul_shipment *shipment, double ship, double trace, double unmarshal)
{
    haul_shipment_info numbers;
    haul_shipment_get_info(shipment, &numbers);
    printf("Shipped: %lu objects with %lu pointers, one transfer of %.1f MB\n",
           (unsigned long)numbers.objects, (unsigned long)numbers.pointers,
           1e-6 * (double)numbers.arena_bytes);
    printf("Milliseconds: ship %.1f, trace %.1f, unmarshal %.1f\n", ship, trace, unmarshal);
}

/* Ship, trace, unmarshal. */
static int travel(scene *all, int samples)
{
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    double start, shipped, traced;
    haul_status status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("opening the device", status, haul_context_error(haul));
    all->samples = samples ? samples : is_host(device) ? 8 : 256;
    printf("Picture: %d x %d, %d samples a pixel\n", all->width, all->height, all->samples);
    start = milliseconds();
    status = haul_ship(device, all, scene_type, 1, NULL, &shipment);
    shipped = milliseconds();
    if (!status)
        status = launch(device, trace_pixel, ON_GPU(trace_on_gpu),
                        haul_device_pointer(shipment, all), (long)all->width * all->height);
    traced = milliseconds();
    if (!status)
        status = haul_unmarshal(shipment);
    if (!status)
        report(shipment, shipped - start, traced - shipped, milliseconds() - traced);
    else
        failed("tracing on the device", status, haul_context_error(haul));
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return status ? 1 : 0;
}

static int picture(const char *mesh, const char *path, int width, int height, int samples)
{
    scene all = { NULL, NULL, 0, 0, 0, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } };
    statue statues[STATUES];
    long count;
    int result;
    double start;
    node *tree;
    triangle *triangles = read_mesh(mesh, &count);
    if (!triangles)
        return 1;
    start = milliseconds();
    tree = make_tree(triangles, count);
    printf("Mesh: %ld triangles of %s; tree made in %.0f ms\n", count, mesh,
           milliseconds() - start);
    free(triangles);
    all.width = width;
    all.height = height;
    all.image = allocate((size_t)width * (size_t)height * sizeof(pixel));
    memset(all.image, 0, (size_t)width * (size_t)height * sizeof(pixel));
    set_up_scene(&all, statues, tree);
    result = travel(&all, samples) || !write_png(path, all.image, width, height);
    if (!result)
        printf("Written: %s\n", path);
    free(all.image);
    free_tree(tree);
    return result;
}

int main(int argument_count, char **arguments)
{
    const char *names[2] = { "/usr/share/glmark2/models/bunny.obj", "bvh_picture.png" };
    int width = 1280, height = 720, samples = 0, given = 0;
    for (int i = 1; i < argument_count; i++)
        if (strcmp(arguments[i], "--size") == 0 && i + 2 < argument_count) {
            width = atoi(arguments[++i]);
            height = atoi(arguments[++i]);
        } else if (strcmp(arguments[i], "--samples") == 0 && i + 1 < argument_count) {
            samples = atoi(arguments[++i]);
        } else if (given < 2) {
            names[given++] = arguments[i];
        }
    if (width < 1 || height < 1 || width > 16384 || height > 16384 || samples < 0) {
        fprintf(stderr, "bvh_picture [--size WIDTH HEIGHT] [--samples N] [mesh [picture.png]]\n");
        return 2;
    }
    return picture(names[0], names[1], width, height, samples);
}
