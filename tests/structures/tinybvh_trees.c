/* tinybvh. A tree over triangles, or one over instances of other trees, which many instances
 * share; vertices are a slice of the user's, of his stride, perhaps with indices; fragments are
 * there while the tree is built.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { LAYOUT_BVH = 1, TRIANGLES = 200, TREES = 5, INSTANCES = 60, STRIDE = 5 };

typedef struct BVHContext {
    void *(*malloc)(size_t size, void *user);
    void (*free)(void *block, void *user);
    void *userdata;
} BVHContext;

typedef struct BVHBase {
    int layout;
    uint8_t rebuildable, refittable;
    BVHContext context;
    float aabbMin[3], aabbMax[3];
    uint32_t allocatedNodes, usedNodes, triCount, idxCount;
} BVHBase;

typedef struct BVHNode {
    float aabbMin[3];
    uint32_t leftFirst;
    float aabbMax[3];
    uint32_t triCount;
} BVHNode;

typedef struct BLASInstance {
    float transform[16];
    uint32_t blasIdx;
} BLASInstance;

typedef struct slice {
    const float *data;
    uint32_t count, stride; /* in floats here */
} slice;

typedef struct Fragment {
    float bmin[3], bmax[3];
    uint32_t primIdx;
} Fragment;

typedef struct BVH {
    BVHBase base;
    slice verts;
    const uint32_t *vertIdx;
    uint32_t *primIdx;
    BLASInstance *instList;
    struct BVH **blasList;
    uint32_t blasCount;
    BVHNode *bvhNode;
    Fragment *fragment;
    int (*customIntersect)(void *ray, unsigned primitive);
} BVH;

static haul_type *base_type, *bvh_type;

HAUL_FUNCTION(is_over_instances, BVH, self->instList != NULL)
HAUL_FUNCTION(is_over_triangles, BVH, self->instList == NULL)
HAUL_FUNCTION(slice_floats, BVH, (int64_t)self->verts.count * self->verts.stride)
HAUL_FUNCTION(vertex_indices, BVH, (int64_t)self->base.triCount * 3)
HAUL_FUNCTION(instances, BVH, self->base.triCount)
HAUL_FUNCTION(fragments, BVH, self->base.idxCount)

static void bvh_open(void)
{
    static const haul_field base_fields[] = {
        HAUL_ADDRESS(BVHBase, context.malloc, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(BVHBase, context.free, .ownership = HAUL_EXTERNAL),
        HAUL_RAW(BVHBase, context.userdata)
    };
    static const haul_field fields[] = {
        HAUL_EMBED(BVH, base, &base_type),
        HAUL_ARRAY(BVH, verts.data, HAUL_COUNT_FN(slice_floats),
                   .when = HAUL_WHEN_FN(is_over_triangles)),
        HAUL_ARRAY(BVH, vertIdx, HAUL_COUNT_FN(vertex_indices),
                   .when = HAUL_WHEN_FN(is_over_triangles)),
        HAUL_ARRAY(BVH, primIdx, HAUL_COUNT(BVH, base.idxCount)),
        HAUL_ARRAY(BVH, instList, HAUL_COUNT_FN(instances)),
        HAUL_ADDRESS(BVH, blasList, .levels = 2, .target = &bvh_type,
                     .count = HAUL_COUNT(BVH, blasCount), .when = HAUL_WHEN_FN(is_over_instances)),
        HAUL_ARRAY(BVH, bvhNode, HAUL_COUNT(BVH, base.allocatedNodes)),
        HAUL_ARRAY(BVH, fragment, HAUL_COUNT_FN(fragments)),
        HAUL_ADDRESS(BVH, customIntersect, .ownership = HAUL_EXTERNAL),
    };
    base_type = OPEN(BVHBase, base_fields);
    bvh_type = OPEN(BVH, fields);
    type_close(bvh_type);
}

static void *bvh_malloc(size_t size, void *user)
{
    return size ? user : NULL;
}

static void bvh_free(void *block, void *user)
{
    (void)block;
    (void)user;
}

static int hits_all(void *ray, unsigned primitive)
{
    return ray != NULL && primitive < TRIANGLES;
}

/* Splits its primitives in halves; answers the node that is free then. */
static uint32_t nodes_make(BVH *b, uint32_t node, uint32_t free, uint32_t first, uint32_t count)
{
    BVHNode *n = &b->bvhNode[node];
    if (count <= 4) {
        n->leftFirst = first;
        n->triCount = count;
        return free;
    }
    n->leftFirst = free;
    free = nodes_make(b, n->leftFirst, free + 2, first, count / 2);
    return nodes_make(b, n->leftFirst + 1, free, first + count / 2, count - count / 2);
}

static void bvh_build(BVH *b, uint32_t primitives)
{
    uint32_t i;
    b->base.layout = LAYOUT_BVH;
    b->base.context.malloc = bvh_malloc;
    b->base.context.free = bvh_free;
    b->base.context.userdata = b;
    b->base.triCount = b->base.idxCount = primitives;
    b->base.allocatedNodes = primitives * 2;
    b->bvhNode = put_elements(b->base.allocatedNodes, sizeof *b->bvhNode);
    b->primIdx = put_elements(primitives, sizeof *b->primIdx);
    for (i = 0; i < primitives; i++)
        b->primIdx[i] = i * 11 % primitives;
    b->base.usedNodes = nodes_make(b, 0, 2, 0, primitives);
}

static BVH *tree_make(int n)
{
    BVH *b = put_elements(1, sizeof *b);
    float *vertices;
    uint32_t *indices, i;
    bvh_build(b, TRIANGLES + (uint32_t)n); /* no multiple of 11 */
    b->verts.count = n % 2 ? 100 : b->base.triCount * 3;
    b->verts.stride = STRIDE;
    b->verts.data = vertices = put_elements(b->verts.count, STRIDE * sizeof *vertices);
    for (i = 0; i < b->verts.count; i++)
        vertices[i * STRIDE] = (float)chance(0, 99);
    if (n % 2) {
        b->vertIdx = indices = put_elements(b->base.triCount, 3 * sizeof *indices);
        for (i = 0; i < b->base.triCount * 3; i++)
            indices[i] = (uint32_t)chance(0, 99);
    } else {
        b->fragment = put_elements(b->base.idxCount, sizeof *b->fragment);
        b->customIntersect = hits_all;
    }
    return b;
}

static BVH *top_make(void)
{
    BVH *b = put_elements(1, sizeof *b);
    uint32_t i, k;
    int64_t sum[TREES];
    bvh_build(b, INSTANCES);
    b->blasCount = TREES;
    b->blasList = put_elements(TREES, sizeof *b->blasList);
    b->instList = put_elements(INSTANCES, sizeof *b->instList);
    b->verts.data = (const float *)(const void *)b->bvhNode; /* left from before */
    for (i = 0; i < TREES; i++) {
        const BVH *t = b->blasList[i] = tree_make((int)i);
        for (k = 0, sum[i] = 0; k < t->base.triCount * 3; k++)
            sum[i] += (int64_t)t->verts.data[(t->vertIdx ? t->vertIdx[k] : k) * STRIDE];
    }
    for (i = 0; i < INSTANCES; i++) {
        b->instList[i].blasIdx = i * 3 % TREES;
        the.told += sum[b->instList[i].blasIdx];
    }
    return b;
}

static int64_t primitive_see(BVH *b, uint32_t primitive)
{
    int64_t sum = 0;
    uint32_t k;
    for (k = primitive * 3; k < primitive * 3 + 3; k++)
        sum += (int64_t)b->verts.data[(b->vertIdx ? b->vertIdx[k] : k) * b->verts.stride];
    if (b->fragment)
        b->fragment[primitive].primIdx++;
    return b->customIntersect && !b->customIntersect(b, primitive % TRIANGLES) ? -1000000 : sum;
}

/* All leaves of a tree; of the top one with the trees of its instances. */
static int64_t bvh_see(BVH *b)
{
    uint32_t stack[64], top = 1, i;
    int64_t sum = 0;
    for (stack[0] = 0; top > 0;) {
        BVHNode *n = &b->bvhNode[stack[--top]];
        n->aabbMax[0] += 1;
        if (n->triCount == 0) {
            stack[top++] = n->leftFirst;
            stack[top++] = n->leftFirst + 1;
        }
        for (i = n->leftFirst; i < n->leftFirst + n->triCount; i++)
            sum += b->instList ? bvh_see(b->blasList[b->instList[b->primIdx[i]].blasIdx])
                               : primitive_see(b, b->primIdx[i]);
    }
    return sum;
}

static int64_t bvh_walk(void *root, size_t count)
{
    (void)count;
    return bvh_see(root);
}

TEST(structures_tinybvh, tinybvh_trees_over_triangles_and_one_over_instances_that_share_them)
{
    site_start(160);
    bvh_open();
    travel_and_sum(top_make(), bvh_type, 1, bvh_walk);
    SITE_END(&base_type, &bvh_type);
}
