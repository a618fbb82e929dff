/* A scene made of pointers is saved by one process and traced by another, which needs no mesh.
 *
 *     bvh_in_file save scene.haul [mesh [width]]
 *     bvh_in_file trace scene.haul [picture.png [samples]]
 *
 * The mesh and the width are those of bvh_picture, by default, and so is the picture.
 *
 * The image holds each node once, although seven statues share the tree, and the pixels, all black.
 * The second process checks every node, since a file may come from a stranger: a pointer that leads
 * astray, or a leaf that claims more triangles than it has, is an error that names it. The loaded
 * scene is traced as bvh_picture traces its own.
 *
 * Prints sizes and times.
 */
#include "bvh_files.h"
#include "bvh_request.h"
#include "bvh_tree.h"
#include "bvh_types.h"
#include "common.h"

static haul_context *haul;

static haul_status save(const char *path, const char *mesh, int width)
{
    long count;
    triangle *triangles = read_mesh(mesh, &count);
    scene *all = triangles ? make_scene(make_tree(triangles, count), width) : NULL;
    const double start = milliseconds();
    haul_status status = HAUL_ERROR_FILE;
    if (all) {
        status = haul_image_save(haul, haul_from_object(all, scene_type), path);
        if (!status)
            printf("Saved: %s, in %.1f ms\n", path, milliseconds() - start);
        free_scene(all);
    }
    free(triangles);
    return status;
}

static haul_status load_and_trace(haul_device *device, const char *path, const char *picture,
                                  int samples)
{
    haul_image *image = NULL;
    const double start = milliseconds();
    haul_status status = haul_image_load(haul, path, &scene_type, 1, NULL, &image);
    if (!status) {
        scene *all = haul_image_roots(image, NULL)->address;
        printf("Loaded and checked: %s, in %.1f ms\n", path, milliseconds() - start);
        all->samples = samples > 0 ? samples : is_host(device) ? 8 : 256;
        status = trace(device, scene_type, all);
        if (!status && !write_png(picture, all->image, all->width, all->height))
            status = HAUL_ERROR_FILE;
    }
    haul_image_free(&image);
    return status;
}

int main(int count, char **given)
{
    haul_device *device = NULL;
    const int saves = count > 2 && strcmp(given[1], "save") == 0;
    haul_status status;
    if (!saves && (count < 3 || strcmp(given[1], "trace") != 0)) {
        fprintf(stderr, "usage: bvh_in_file save scene.haul [mesh [width]]\n"
                        "       bvh_in_file trace scene.haul [picture.png [samples]]\n");
        return 2;
    }
    status = saves ? haul_context_create(NULL, &haul) : open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status && saves)
        status = save(given[2], count > 3 ? given[3] : "/usr/share/glmark2/models/bunny.obj",
                      count > 4 ? atoi(given[4]) : 1280);
    else if (!status)
        status = load_and_trace(device, given[2], count > 3 ? given[3] : "bvh_picture.png",
                                count > 4 ? atoi(given[4]) : 0);
    if (status)
        failed(given[2], status, haul_context_error(haul));
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return status ? 1 : 0;
}
