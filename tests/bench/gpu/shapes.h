/* The structures of the workloads, as the host builds them and as the kernels walk them, and the
 * kernels' doors.
 *
 * All data are words of 64 bits. A piece is one run of such words, in a node or behind a pointer.
 * The kernels work in two steps that are the same for every technique and start from the root's
 * device address alone: `find` follows the device's pointers and notes every piece; `touch` reads
 * each word into a weighted sum and then adds 1 to it.
 */
#ifndef GPU_SHAPES_H
#define GPU_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "bench/discovery_shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpu_piece {
    uint64_t *data;
    uint64_t words;
} gpu_piece;

/* The weight of a word in the sum: odd, and different for each place, so that nothing can be
 * missing, doubled or in another's place. `piece` counts as `find` numbers them. */
#define GPU_WEIGHT(piece, word)                                                                    \
    (2 * ((uint64_t)(piece)*UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(word)) + 1)

enum { GPU_ZONE_ARRAYS = 11, GPU_ZONE_USED = 9 };

/* An array that stands with its count, as a Fortran pointer's descriptor has it. */
typedef struct gpu_span {
    uint64_t *data;
    int64_t count;
} gpu_span;

/* A zone of the transport code: four sizes, two numbers, eleven arrays. The last two exist in two
 * dimensions only. */
typedef struct gpu_zone {
    int32_t corners, faces, first_corner, faces_in_all;
    uint64_t volume, energy;
    gpu_span array[GPU_ZONE_ARRAYS];
} gpu_zone;

typedef struct gpu_zones {
    gpu_zone *zone;
    int64_t count;
} gpu_zones;

/* A level of Linear and Dense: an array, and one node (Linear) or `next_count` nodes (Dense) of the
 * next level. */
typedef struct gpu_level {
    uint64_t *a;
    int64_t a_count;
    struct gpu_level *next;
    int64_t next_count;
} gpu_level;

/* The leaf of Dense. */
typedef struct gpu_leaf {
    uint64_t *a;
    int64_t a_count;
} gpu_leaf;

typedef enum gpu_form {
    GPU_LIST,
    GPU_TREE,
    GPU_ZONES,
    GPU_LINEAR,
    GPU_DENSE,
    /* of haul_bench's workload "discovery": pieces are an entry's data by its number (`opaque`);
     * the particles of each leaf; each vertex's position. An edge's length is the number of its
     * first vertex. */
    GPU_TABLE,
    GPU_OCTREE,
    GPU_MESH
} gpu_form;

/* What a kernel must know beside the root. */
typedef struct gpu_layout {
    gpu_form form;
    uint64_t nodes;    /* list, tree, zones, table, octree, mesh; of Linear the depth, of Dense q */
    uint64_t next_at;  /* list: of the pointer. tree: of the left one */
    uint64_t right_at; /* tree */
    unsigned parts;    /* list, tree: pieces of a node */
    uint64_t part_at[2], part_words[2];
    int last_only;       /* Linear, Dense: the last array alone */
    uint64_t first_leaf; /* octree */
} gpu_layout;

/* Start work on the default stream. `found` has room for all pieces; `sum` is a zeroed
 * word. What does not end where it should makes a sum that cannot be right. */
cudaError_t gpu_find(const gpu_layout *layout, const void *root, gpu_piece *found);
cudaError_t gpu_touch(const gpu_piece *pieces, size_t count, size_t longest_words, uint64_t *sum);

#ifdef __cplusplus
}
#endif
#endif
