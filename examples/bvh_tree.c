/* The tree of boxes, built from the top down: the triangles are sorted along the longest side of
 * their box and split where a ray is expected to meet the least work, the sum over both sides of
 * surface times triangles.
 */
#include "bvh_tree.h"

#include <math.h>

#include "common.h"

typedef struct box {
    vec low, high;
} box;

static const box nothing = { { INFINITY, INFINITY, INFINITY },
                             { -INFINITY, -INFINITY, -INFINITY } };

static box with(box b, const triangle *t)
{
    for (int i = 0; i < 3; i++) {
        const vec at = t->corner[i];
        b.low.x = fminf(b.low.x, at.x), b.low.y = fminf(b.low.y, at.y),
        b.low.z = fminf(b.low.z, at.z);
        b.high.x = fmaxf(b.high.x, at.x), b.high.y = fmaxf(b.high.y, at.y),
        b.high.z = fmaxf(b.high.z, at.z);
    }
    return b;
}

static float surface(box b)
{
    const float x = b.high.x - b.low.x, y = b.high.y - b.low.y, z = b.high.z - b.low.z;
    return x * y + y * z + z * x;
}

static int longest_side(box b)
{
    const float x = b.high.x - b.low.x, y = b.high.y - b.low.y, z = b.high.z - b.low.z;
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

static int order(float a, float b)
{
    return (a > b) - (a < b);
}
#define ORDER_ALONG(axis)                                                                          \
    static int order_along_##axis(const void *a, const void *b)                                    \
    {                                                                                              \
        const vec *s = ((const triangle *)a)->corner, *t = ((const triangle *)b)->corner;          \
        return order(s[0].axis + s[1].axis + s[2].axis, t[0].axis + t[1].axis + t[2].axis);        \
    }
ORDER_ALONG(x)
ORDER_ALONG(y)
ORDER_ALONG(z)
static int (*const order_along[3])(const void *, const void *) = { order_along_x, order_along_y,
                                                                   order_along_z };

/* How many of the sorted triangles go to the left: at least a quarter, at most three. */
static long best_cut(const triangle *triangles, float *right_cost, long count)
{
    const long least = (count + 3) / 4;
    long best = count / 2;
    float best_cost = INFINITY;
    box left = nothing, right = nothing;
    for (long i = count - 1; i > 0; i--) {
        right = with(right, &triangles[i]);
        right_cost[i] = surface(right) * (float)(count - i);
    }
    for (long i = 1; i <= count - least; i++) {
        left = with(left, &triangles[i - 1]);
        if (i >= least && surface(left) * (float)i + right_cost[i] < best_cost) {
            best = i;
            best_cost = surface(left) * (float)i + right_cost[i];
        }
    }
    return best;
}

static node *subtree(triangle *triangles, float *scratch, long count)
{
    node *made = allocate(sizeof(node));
    box bounds = nothing;
    for (long i = 0; i < count; i++)
        bounds = with(bounds, &triangles[i]);
    memset(made, 0, sizeof(node));
    made->low = bounds.low;
    made->high = bounds.high;
    made->axis = longest_side(bounds);
    if (count <= LEAF_TRIANGLES) {
        made->count = (int)count;
        made->triangles = allocate((size_t)count * sizeof(triangle));
        memcpy(made->triangles, triangles, (size_t)count * sizeof(triangle));
    } else {
        long cut;
        qsort(triangles, (size_t)count, sizeof(triangle), order_along[made->axis]);
        cut = best_cut(triangles, scratch, count);
        made->child[0] = subtree(triangles, scratch, cut);
        made->child[1] = subtree(triangles + cut, scratch, count - cut);
    }
    return made;
}

node *make_tree(triangle *triangles, long count)
{
    float *scratch = allocate((size_t)count * sizeof(float));
    node *tree = subtree(triangles, scratch, count);
    free(scratch);
    return tree;
}

void free_tree(node *tree)
{
    if (!tree)
        return;
    free_tree(tree->child[0]);
    free_tree(tree->child[1]);
    free(tree->triangles);
    free(tree);
}
