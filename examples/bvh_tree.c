/* The tree of boxes, built from the top down: the triangles of a box are sorted along its longest
 * side, and each child gets half of them.
 */
#include "bvh_tree.h"

#include <math.h>

#include "common.h"

/* Around the triangles; the axis is that of the longest side. */
static void set_box(node *box, const triangle *triangles, long count)
{
    vec low = { INFINITY, INFINITY, INFINITY }, high = { -INFINITY, -INFINITY, -INFINITY }, side;
    for (long i = 0; i < 3 * count; i++) {
        low = lower(low, triangles[i / 3].corner[i % 3]);
        high = higher(high, triangles[i / 3].corner[i % 3]);
    }
    side = minus(high, low);
    box->low = low;
    box->high = high;
    box->axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
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

node *make_tree(triangle *triangles, long count)
{
    node *made = allocate(sizeof(node));
    memset(made, 0, sizeof(node));
    set_box(made, triangles, count);
    if (count <= LEAF_TRIANGLES) {
        made->count = (int)count;
        made->triangles = allocate((size_t)count * sizeof(triangle));
        memcpy(made->triangles, triangles, (size_t)count * sizeof(triangle));
    } else {
        qsort(triangles, (size_t)count, sizeof(triangle), order_along[made->axis]);
        made->child[0] = make_tree(triangles, count / 2);
        made->child[1] = make_tree(triangles + count / 2, count - count / 2);
    }
    return made;
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
