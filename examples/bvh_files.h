/* What bvh_picture reads and writes: a mesh with assimp, a picture with libpng. */
#ifndef EXAMPLES_BVH_FILES_H
#define EXAMPLES_BVH_FILES_H

#include "bvh_scene.h"

/* All triangles of a mesh file, with smooth normals, moved and scaled: one unit high, standing on y
 * = 0 around the y axis. Release with free. NULL, after a message, when it cannot be read. */
triangle *read_mesh(const char *path, long *count);

/* 0, after a message, when it cannot be written. Both print what they have done. */
int write_png(const char *path, const pixel *image, int width, int height);

#endif
