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
#include "bvh_request.h"
#include "bvh_tree.h"
#include "bvh_types.h"
#include "common.h"

static haul_context *haul;

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
    status = trace(device, scene_type, all);
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
