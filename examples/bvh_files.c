/* Mesh in, picture out: the part of bvh_picture that has nothing to do with Haul. */
#include "bvh_files.h"

#include <math.h>
#include <stdio.h>

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <png.h>

#include "common.h"

static vec to_vec(struct aiVector3D from)
{
    vec v = { from.x, from.y, from.z };
    return v;
}

static void copy_mesh(const struct aiMesh *mesh, triangle *to)
{
    for (unsigned face = 0; face < mesh->mNumFaces; face++)
        for (int i = 0; i < 3; i++) {
            const unsigned index = mesh->mFaces[face].mIndices[i];
            to[face].corner[i] = to_vec(mesh->mVertices[index]);
            to[face].normal[i] = to_vec(mesh->mNormals[index]);
        }
}

static void stand_on_floor(triangle *triangles, long count)
{
    vec low = { INFINITY, INFINITY, INFINITY }, high = { -INFINITY, -INFINITY, -INFINITY };
    for (long i = 0; i < 3 * count; i++) {
        low = lower(low, triangles[i / 3].corner[i % 3]);
        high = higher(high, triangles[i / 3].corner[i % 3]);
    }
    for (long i = 0; i < 3 * count; i++) {
        const float height = fmaxf(high.y - low.y, 1e-6f);
        vec *at = &triangles[i / 3].corner[i % 3];
        at->x = (at->x - (low.x + high.x) / 2) / height;
        at->y = (at->y - low.y) / height;
        at->z = (at->z - (low.z + high.z) / 2) / height;
    }
}

triangle *read_mesh(const char *path, long *count)
{
    const struct aiScene *file = aiImportFile(
        path, aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_GenSmoothNormals |
                  aiProcess_PreTransformVertices | aiProcess_SortByPType);
    triangle *triangles = NULL;
    *count = 0;
    for (unsigned m = 0; file && m < file->mNumMeshes; m++)
        if (file->mMeshes[m]->mPrimitiveTypes & aiPrimitiveType_TRIANGLE)
            *count += (long)file->mMeshes[m]->mNumFaces;
    if (*count > 0 && *count <= TRIANGLES_MAX) {
        triangle *to = triangles = allocate((size_t)*count * sizeof(triangle));
        for (unsigned m = 0; m < file->mNumMeshes; m++)
            if (file->mMeshes[m]->mPrimitiveTypes & aiPrimitiveType_TRIANGLE) {
                copy_mesh(file->mMeshes[m], to);
                to += file->mMeshes[m]->mNumFaces;
            }
        stand_on_floor(triangles, *count);
        printf("Mesh: %ld triangles of %s\n", *count, path);
    } else {
        fprintf(stderr, "%s: %s\n", path,
                file ? "no triangles, or far too many" : aiGetErrorString());
    }
    aiReleaseImport(file);
    return triangles;
}

int write_png(const char *path, const pixel *image, int width, int height)
{
    png_image png;
    memset(&png, 0, sizeof(png));
    png.version = PNG_IMAGE_VERSION;
    png.width = (png_uint_32)width;
    png.height = (png_uint_32)height;
    png.format = PNG_FORMAT_RGB;
    if (!png_image_write_to_file(&png, path, 0, image, 0, NULL)) {
        fprintf(stderr, "%s: %s\n", path, png.message);
        return 0;
    }
    printf("Written: %s\n", path);
    return 1;
}
