/* shapelib. Of a node's four places for others, those behind nSubNodes hold what was there
 * before. Shapes of a tree may be in memory, or numbers in a file.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { PLACES = 4, SHAPES = 300 };

typedef struct SHPObject {
    int nSHPType, nShapeId, nParts, *panPartStart, *panPartType, nVertices;
    double *padfX, *padfY, *padfZ, *padfM;
    double bounds[8];
    int bMeasureIsUsed, bFastModeReadObject;
} SHPObject;

typedef struct SHPTreeNode {
    double adfBoundsMin[4], adfBoundsMax[4];
    int nShapeCount, *panShapeIds;
    SHPObject **papsShapeObj;
    int nSubNodes;
    struct SHPTreeNode *apsSubNode[PLACES];
} SHPTreeNode;

typedef struct SHPTree {
    void *hSHP; /* an open file */
    int nMaxDepth, nDimension, nTotalCount;
    SHPTreeNode *psRoot;
} SHPTree;

static haul_type *shape_type, *shape_node_type, *tree_type;

HAUL_FUNCTION(is_sub_node, SHPTreeNode, (int)here->index < self->nSubNodes)
HAUL_FUNCTION(node_shapes, SHPTreeNode, self->nShapeCount)
HAUL_FUNCTION(shape_vertices, SHPObject, self->nVertices)

static void shapes_open(const haul_field *places)
{
    static const haul_field shape_fields[] = {
        HAUL_ARRAY(SHPObject, panPartStart, HAUL_COUNT(SHPObject, nParts)),
        HAUL_ARRAY(SHPObject, panPartType, HAUL_COUNT(SHPObject, nParts)),
        HAUL_ARRAY(SHPObject, padfX, HAUL_COUNT(SHPObject, nVertices)),
        HAUL_ARRAY(SHPObject, padfY, HAUL_COUNT(SHPObject, nVertices)),
        HAUL_ARRAY(SHPObject, padfZ, HAUL_COUNT_FN(shape_vertices)),
        HAUL_ARRAY(SHPObject, padfM, HAUL_COUNT_FN(shape_vertices)),
    };
    const haul_field node_fields[] = {
        HAUL_ARRAY(SHPTreeNode, panShapeIds, HAUL_COUNT(SHPTreeNode, nShapeCount)),
        HAUL_POINTERS(SHPTreeNode, papsShapeObj, &shape_type, HAUL_COUNT_FN(node_shapes)),
        *places,
    };
    static const haul_field tree_fields[] = { HAUL_ADDRESS(SHPTree, hSHP,
                                                           .ownership = HAUL_EXTERNAL),
                                              HAUL_OBJECT(SHPTree, psRoot, &shape_node_type) };
    shape_type = OPEN(SHPObject, shape_fields);
    shape_node_type = OPEN(SHPTreeNode, node_fields);
    tree_type = OPEN(SHPTree, tree_fields);
    type_close(tree_type);
}

static SHPObject *shape_make(int id)
{
    SHPObject *s = put_elements(1, sizeof *s);
    size_t n = (size_t)chance(2, 30);
    int i;
    s->nShapeId = id;
    s->nParts = 2;
    s->panPartStart = put_elements(2, sizeof(int));
    s->panPartStart[1] = (int)n / 2;
    s->panPartType = put_elements(2, sizeof(int));
    s->nVertices = (int)n;
    s->padfX = put_elements(n, sizeof(double));
    s->padfY = put_elements(n, sizeof(double));
    s->padfZ = id % 2 ? put_elements(n, sizeof(double)) : NULL;
    s->padfM = id % 3 ? NULL : put_elements(n, sizeof(double));
    s->bMeasureIsUsed = s->padfM != NULL;
    for (i = 0; i < s->nVertices; i++) {
        s->padfX[i] = chance(0, 99);
        the.told += (int64_t)s->padfX[i];
    }
    return s;
}

static SHPTree *shapes_make(void)
{
    SHPTree *t = put_elements(1, sizeof *t);
    SHPTreeNode *all[SHAPES];
    int i;
    t->hSHP = t;
    t->nTotalCount = SHAPES;
    for (i = 0; i < SHAPES; i++) {
        SHPTreeNode *n = all[i] = put_room(sizeof *n);
        n->nShapeCount = 1;
        n->nSubNodes = 0;
        n->panShapeIds = put_elements(1, sizeof(int));
        n->panShapeIds[0] = i;
        n->papsShapeObj = i % 4 ? put_elements(1, sizeof *n->papsShapeObj) : NULL;
        if (n->papsShapeObj)
            n->papsShapeObj[0] = shape_make(i);
        the.told += i;
        if (i > 0)
            all[(i - 1) / 3]->apsSubNode[all[(i - 1) / 3]->nSubNodes++] = n;
    }
    t->psRoot = all[0];
    return t;
}

static int64_t shape_node_see(SHPTreeNode *n)
{
    int64_t sum = n->panShapeIds[0];
    int i;
    for (i = 0; n->papsShapeObj && i < n->papsShapeObj[0]->nVertices; i++) {
        const SHPObject *s = n->papsShapeObj[0];
        sum += (int64_t)s->padfX[i];
        s->padfY[i] = s->padfX[i];
        if (s->padfM)
            s->padfM[i] = i;
    }
    for (i = 0; i < n->nSubNodes; i++)
        sum += shape_node_see(n->apsSubNode[i]);
    return sum;
}

static int64_t shapes_walk(void *root, size_t count)
{
    (void)count;
    return shape_node_see(((SHPTree *)root)->psRoot);
}

TEST(structures_shapelib, shapelib_trees_of_which_a_node_uses_the_first_of_its_places)
{
    const haul_field places = HAUL_EACH(SHPTreeNode, apsSubNode, .target = &shape_node_type,
                                        .when = HAUL_WHEN_FN(is_sub_node));
    site_start(161);
    shapes_open(&places);
    travel_and_sum(shapes_make(), tree_type, 1, shapes_walk);
    SITE_END(&shape_type, &shape_node_type, &tree_type);
}

TEST(structures_shapelib, shapelib_a_place_that_is_not_used_is_refused_when_it_is_followed)
{
    const haul_field places = HAUL_EACH(SHPTreeNode, apsSubNode, .target = &shape_node_type);
    site_start(162);
    shapes_open(&places);
    refuse_ship(shapes_make(), tree_type, 1, HAUL_ERROR_GRAPH, "root.psRoot.apsSubNode[3]",
                "outside any process's address range");
    SITE_END(&shape_type, &shape_node_type, &tree_type);
}
