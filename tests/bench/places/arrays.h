/* What host and GPU share: a workload is a table of arrays, and kernels find them through it. */
#ifndef PLACES_ARRAYS_H
#define PLACES_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct places_array {
    unsigned char *at;
    int64_t bytes;
} places_array;

/* kernels.cu. `arrays` is a table that the GPU reads. All run on the legacy default stream. */

/* Breadth first: offsets (u64), targets (u32), levels (u32). The targets that are there begin with
 * edge number `edge`. *grown, on the GPU, becomes 1 if a vertex gets the next level. */
enum { BFS_OFFSETS, BFS_TARGETS, BFS_LEVELS, BFS_ARRAYS };
#define BFS_UNREACHED UINT32_MAX
void places_bfs_start(const places_array *arrays, uint64_t vertices, uint64_t source);
void places_bfs_step(const places_array *arrays, uint64_t first, uint64_t end, uint64_t edge,
                     uint32_t level, uint32_t *grown);
/* waiting[i] becomes 1 if a vertex of [starts[i], starts[i + 1]) has this level. */
void places_bfs_find(const places_array *arrays, const uint64_t *starts, uint32_t count,
                     uint32_t level, uint32_t *waiting);

/* SRAD (Yu and Acton, 2002): the image, its working copy, and of each pixel the coefficient and the
 * differences to its four neighbours; all floats. */
enum {
    SRAD_IMAGE,
    SRAD_COPY,
    SRAD_COEFFICIENT,
    SRAD_NORTH,
    SRAD_SOUTH,
    SRAD_WEST,
    SRAD_EAST,
    SRAD_ARRAYS
};
/* Rows [first, end) of an image; the arrays that are there begin with row `origin`. */
typedef struct srad_rows {
    uint64_t first, end, origin, rows, columns;
} srad_rows;
void places_srad_start(const places_array *arrays, srad_rows all);
/* sums, on the GPU: of the pixels in the first side x side, and of their squares. */
void places_srad_sum(const places_array *arrays, uint64_t columns, uint64_t side, double *sums);
void places_srad_coefficients(const places_array *arrays, srad_rows part, float speckle);
void places_srad_update(const places_array *arrays, srad_rows part, float lambda);

/* CFD: of each element of a mesh its four neighbours (u32), the normals of the faces to them, with
 * their areas as lengths (3 floats each), density, momentum (3) and energy; what crosses its faces
 * (5), and the time step by the volume; all floats. */
enum {
    CFD_NEIGHBOURS,
    CFD_NORMALS,
    CFD_DENSITY,
    CFD_MOMENTUM,
    CFD_ENERGY,
    CFD_FLUXES,
    CFD_STEPS,
    CFD_ARRAYS
};
#define CFD_FACES 4
#define CFD_WALL (UINT32_MAX - 1) /* in place of a neighbour */
#define CFD_FAR UINT32_MAX
/* Density, momentum, energy: a stream of Mach 1.2, with pressure and speed of sound 1. */
#define CFD_FAR_FIELD                                                                              \
    {                                                                                              \
        1.4f, 1.68f, 0, 0, 3.508f                                                                  \
    }
#define CFD_START_DENSITY(element)                                                                 \
    (1.4f + (float)((uint32_t)(element)*2654435761u >> 24) / 1024) /* no two neighbours alike */
void places_cfd_start(const places_array *arrays, uint64_t elements);
/* Of elements [first, end); neighbours and normals that are there begin with element `origin`. */
void places_cfd_fluxes(const places_array *arrays, uint64_t first, uint64_t end, uint64_t origin,
                       float courant);
void places_cfd_update(const places_array *arrays, uint64_t elements);

/* How many bytes of each array all kernels have used so far. 0: only a profile build counts. */
enum { PLACES_COUNTERS = 8 };
int places_count_uses(uint64_t *uses);

#ifdef __cplusplus
}
#endif
#endif
