/* What finds things in space: tinybvh's BVH (CNT, EXPR, PARR, SHARE, COND, FUNC), shapelib's
 * SHPTree with its shapes (CNT, PARR, COND, FUNC); and who acts on whom: the forces of a GROMACS
 * topology (CNT, EXPR, FAR, PARA, PARR, ROWS, SHARE, PP, UNI; its atoms and names are in
 * test_structures_scene.c).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"

/* ---- tinybvh. A tree over triangles, or one over instances of other trees, which many instances
 * share; vertices are a slice of the user's, of his stride, perhaps with indices; fragments are
 * there while the tree is built. */

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
    base_type = YARD_TYPE(BVHBase, base_fields);
    bvh_type = YARD_TYPE(BVH, fields);
    yard_commit(bvh_type);
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
    b->bvhNode = yard_take(b->base.allocatedNodes, sizeof *b->bvhNode);
    b->primIdx = yard_take(primitives, sizeof *b->primIdx);
    for (i = 0; i < primitives; i++)
        b->primIdx[i] = i * 11 % primitives;
    b->base.usedNodes = nodes_make(b, 0, 2, 0, primitives);
}

static BVH *tree_make(int n)
{
    BVH *b = yard_take(1, sizeof *b);
    float *vertices;
    uint32_t *indices, i;
    bvh_build(b, TRIANGLES + (uint32_t)n); /* no multiple of 11 */
    b->verts.count = n % 2 ? 100 : b->base.triCount * 3;
    b->verts.stride = STRIDE;
    b->verts.data = vertices = yard_take(b->verts.count, STRIDE * sizeof *vertices);
    for (i = 0; i < b->verts.count; i++)
        vertices[i * STRIDE] = (float)yard_int(0, 99);
    if (n % 2) {
        b->vertIdx = indices = yard_take(b->base.triCount, 3 * sizeof *indices);
        for (i = 0; i < b->base.triCount * 3; i++)
            indices[i] = (uint32_t)yard_int(0, 99);
    } else {
        b->fragment = yard_take(b->base.idxCount, sizeof *b->fragment);
        b->customIntersect = hits_all;
    }
    return b;
}

static BVH *top_make(void)
{
    BVH *b = yard_take(1, sizeof *b);
    uint32_t i, k;
    int64_t sum[TREES];
    bvh_build(b, INSTANCES);
    b->blasCount = TREES;
    b->blasList = yard_take(TREES, sizeof *b->blasList);
    b->instList = yard_take(INSTANCES, sizeof *b->instList);
    b->verts.data = (const float *)(const void *)b->bvhNode; /* left from before */
    for (i = 0; i < TREES; i++) {
        const BVH *t = b->blasList[i] = tree_make((int)i);
        for (k = 0, sum[i] = 0; k < t->base.triCount * 3; k++)
            sum[i] += (int64_t)t->verts.data[(t->vertIdx ? t->vertIdx[k] : k) * STRIDE];
    }
    for (i = 0; i < INSTANCES; i++) {
        b->instList[i].blasIdx = i * 3 % TREES;
        yard.told += sum[b->instList[i].blasIdx];
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

TEST(structures, tinybvh_trees_over_triangles_and_one_over_instances_that_share_them)
{
    yard_open(1 << 20, 160);
    bvh_open();
    yard_prove(top_make(), bvh_type, 1, bvh_walk);
    YARD_END(&base_type, &bvh_type);
}

/* ---- shapelib. Of a node's four places for others, those behind nSubNodes hold what was there
 * before. Shapes of a tree may be in memory, or numbers in a file. */

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
    shape_type = YARD_TYPE(SHPObject, shape_fields);
    shape_node_type = YARD_TYPE(SHPTreeNode, node_fields);
    tree_type = YARD_TYPE(SHPTree, tree_fields);
    yard_commit(tree_type);
}

static SHPObject *shape_make(int id)
{
    SHPObject *s = yard_take(1, sizeof *s);
    size_t n = (size_t)yard_int(2, 30);
    int i;
    s->nShapeId = id;
    s->nParts = 2;
    s->panPartStart = yard_take(2, sizeof(int));
    s->panPartStart[1] = (int)n / 2;
    s->panPartType = yard_take(2, sizeof(int));
    s->nVertices = (int)n;
    s->padfX = yard_take(n, sizeof(double));
    s->padfY = yard_take(n, sizeof(double));
    s->padfZ = id % 2 ? yard_take(n, sizeof(double)) : NULL;
    s->padfM = id % 3 ? NULL : yard_take(n, sizeof(double));
    s->bMeasureIsUsed = s->padfM != NULL;
    for (i = 0; i < s->nVertices; i++) {
        s->padfX[i] = yard_int(0, 99);
        yard.told += (int64_t)s->padfX[i];
    }
    return s;
}

static SHPTree *shapes_make(void)
{
    SHPTree *t = yard_take(1, sizeof *t);
    SHPTreeNode *all[SHAPES];
    int i;
    t->hSHP = t;
    t->nTotalCount = SHAPES;
    for (i = 0; i < SHAPES; i++) {
        SHPTreeNode *n = all[i] = yard_raw(sizeof *n);
        n->nShapeCount = 1;
        n->nSubNodes = 0;
        n->panShapeIds = yard_take(1, sizeof(int));
        n->panShapeIds[0] = i;
        n->papsShapeObj = i % 4 ? yard_take(1, sizeof *n->papsShapeObj) : NULL;
        if (n->papsShapeObj)
            n->papsShapeObj[0] = shape_make(i);
        yard.told += i;
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

TEST(structures, shapelib_trees_of_which_a_node_uses_the_first_of_its_places)
{
    const haul_field places = HAUL_EACH(SHPTreeNode, apsSubNode, .target = &shape_node_type,
                                        .when = HAUL_WHEN_FN(is_sub_node));
    yard_open(1 << 20, 161);
    shapes_open(&places);
    yard_prove(shapes_make(), tree_type, 1, shapes_walk);
    YARD_END(&shape_type, &shape_node_type, &tree_type);
}

TEST(structures, shapelib_a_place_that_is_not_used_is_refused_when_it_is_followed)
{
    const haul_field places = HAUL_EACH(SHPTreeNode, apsSubNode, .target = &shape_node_type);
    yard_open(1 << 20, 162);
    shapes_open(&places);
    yard_refuse(shapes_make(), tree_type, 1, HAUL_ERROR_GRAPH, "root.psRoot.apsSubNode[3]",
                "outside any process's address range");
    YARD_END(&shape_type, &shape_node_type, &tree_type);
}

/* ---- GROMACS. functype[i] says which arm of iparams[i] there is; an arm has no pointers, so that
 * the union is bytes. A correction map has as many values as its holder's spacing says. Groups are
 * ranges in one array. */

enum {
    F_BONDS,
    F_ANGLES,
    F_LJ,
    F_NRE,
    TYPES = 30,
    ATOMS = 400,
    SPACING = 6,
    MAPS = 3,
    SYMBOLS = 5
};

typedef union t_iparams {
    struct {
        float rA, krA, rB, krB;
    } harmonic;
    struct {
        float c6, c12;
    } lj;
} t_iparams;

typedef struct t_ilist {
    int nr, nr_nonperturbed, *iatoms, nalloc;
} t_ilist;

typedef struct gmx_cmapdata_t {
    float *cmap;
} gmx_cmapdata_t;

typedef struct gmx_cmap_t {
    int ngrid, grid_spacing;
    gmx_cmapdata_t *cmapdata;
} gmx_cmap_t;

typedef struct t_idef {
    int ntypes, atnr, *functype;
    t_iparams *iparams;
    float fudgeQQ;
    gmx_cmap_t *cmap_grid;
    t_iparams *iparams_posres;
    t_ilist il[F_NRE];
} t_idef;

typedef struct t_block {
    int nr, *index, nalloc_index;
} t_block;

typedef struct t_blocka {
    int nr, *index, nra, *a, nalloc_index, nalloc_a;
} t_blocka;

typedef struct t_topology {
    char **name;
    t_idef idef;
    int natoms;
    char ***atomname;
    t_block mols;
    t_blocka excls;
    char **symbols;
} t_topology;

static haul_type *cmap_type, *cmapdata_type, *ilist_type, *idef_type, *topology_type;

HAUL_FUNCTION(map_values, gmx_cmapdata_t,
              here->ancestor ? 4 * ((const gmx_cmap_t *)here->ancestor)
                                       ->grid_spacing *((const gmx_cmap_t *)here->ancestor)
                                       ->grid_spacing
                             : -1)

static void topology_open(void)
{
    static const haul_field cmapdata_fields[] = { HAUL_ARRAY(
        gmx_cmapdata_t, cmap, HAUL_COUNT_FN(map_values), .ancestor = HAUL_PARENT) };
    static const haul_field cmap_fields[] = { HAUL_OBJECTS(gmx_cmap_t, cmapdata, &cmapdata_type,
                                                           HAUL_COUNT(gmx_cmap_t, ngrid)) };
    static const haul_field ilist_fields[] = { HAUL_ARRAY(t_ilist, iatoms,
                                                          HAUL_COUNT(t_ilist, nalloc)) };
    static const haul_field idef_fields[] = {
        HAUL_ARRAY(t_idef, functype, HAUL_COUNT(t_idef, ntypes)),
        HAUL_ARRAY(t_idef, iparams, HAUL_COUNT(t_idef, ntypes)),
        HAUL_OBJECT(t_idef, cmap_grid, &cmap_type), HAUL_EMBED(t_idef, il, &ilist_type)
    };
    static const haul_field fields[] = {
        HAUL_STRINGS(t_topology, name, HAUL_ONE),
        HAUL_EMBED(t_topology, idef, &idef_type),
        HAUL_ADDRESS(t_topology, atomname, .levels = 3,
                     .element_bytes = sizeof(***((t_topology *)0)->atomname),
                     .count = HAUL_COUNT(t_topology, natoms), .count2 = HAUL_ONE,
                     .count3 = HAUL_TERMINATED),
        HAUL_ARRAY(t_topology, mols.index, HAUL_COUNT_PLUS(t_topology, mols.nr, 1)),
        HAUL_ARRAY(t_topology, excls.index, HAUL_COUNT_PLUS(t_topology, excls.nr, 1)),
        HAUL_ARRAY(t_topology, excls.a, HAUL_COUNT(t_topology, excls.nra)),
        HAUL_STRINGS(t_topology, symbols, HAUL_FIXED(SYMBOLS)),
    };
    cmapdata_type = YARD_TYPE(gmx_cmapdata_t, cmapdata_fields);
    cmap_type = YARD_TYPE(gmx_cmap_t, cmap_fields);
    ilist_type = YARD_TYPE(t_ilist, ilist_fields);
    idef_type = YARD_TYPE(t_idef, idef_fields);
    topology_type = YARD_TYPE(t_topology, fields);
    yard_commit(topology_type);
}

static int arity(int f)
{
    return f == F_BONDS ? 2 : f == F_ANGLES ? 3 : 2;
}

static double parameter_of(const t_idef *d, int type)
{
    return d->functype[type] == F_LJ ? d->iparams[type].lj.c12 : d->iparams[type].harmonic.krA;
}

static void idef_make(t_idef *d)
{
    int i, k, f;
    d->ntypes = TYPES;
    d->functype = yard_take(TYPES, sizeof *d->functype);
    d->iparams = yard_take(TYPES, sizeof *d->iparams);
    for (i = 0; i < TYPES; i++) {
        d->functype[i] = i % F_NRE;
        if (i % F_NRE == F_LJ)
            d->iparams[i].lj.c12 = (float)i;
        else
            d->iparams[i].harmonic.krA = (float)(2 * i);
    }
    for (f = 0; f < F_NRE; f++) {
        t_ilist *l = &d->il[f];
        l->nr = 50 * (arity(f) + 1);
        l->nalloc = l->nr + 20;
        l->iatoms = yard_take((size_t)l->nalloc, sizeof *l->iatoms);
        for (i = 0; i < l->nr; i += arity(f) + 1) {
            l->iatoms[i] = f + F_NRE * yard_int(0, TYPES / F_NRE - 1);
            yard.told += (int64_t)parameter_of(d, l->iatoms[i]);
            for (k = 1; k <= arity(f); k++) {
                l->iatoms[i + k] = yard_int(0, ATOMS - 1);
                yard.told += l->iatoms[i + k];
            }
        }
    }
    d->cmap_grid = yard_take(1, sizeof *d->cmap_grid);
    d->cmap_grid->ngrid = MAPS;
    d->cmap_grid->grid_spacing = SPACING;
    d->cmap_grid->cmapdata = yard_take(MAPS, sizeof *d->cmap_grid->cmapdata);
    for (i = 0; i < MAPS; i++)
        d->cmap_grid->cmapdata[i].cmap = yard_take(4 * SPACING * SPACING, sizeof(float));
}

static t_topology *topology_make(void)
{
    static const char *const names[SYMBOLS] = { "water", "OW", "HW1", "HW2", "NA" };
    t_topology *t = yard_take(1, sizeof *t);
    int i;
    idef_make(&t->idef);
    t->symbols = yard_take(SYMBOLS, sizeof *t->symbols);
    for (i = 0; i < SYMBOLS; i++)
        t->symbols[i] = yard_text(names[i]);
    t->name = &t->symbols[0];
    t->natoms = ATOMS;
    t->atomname = yard_take(ATOMS, sizeof *t->atomname);
    t->mols.nr = ATOMS / 4;
    t->mols.index = yard_take(ATOMS / 4 + 1, sizeof(int));
    t->excls.nr = ATOMS;
    t->excls.nra = 2 * ATOMS;
    t->excls.index = yard_take(ATOMS + 1, sizeof(int));
    t->excls.a = yard_take(2 * ATOMS, sizeof(int));
    for (i = 0; i < ATOMS; i++) {
        t->atomname[i] = &t->symbols[1 + i % 4];
        t->excls.index[i + 1] = 2 * (i + 1);
        t->excls.a[2 * i] = i;
        t->excls.a[2 * i + 1] = (i + 1) % ATOMS;
        t->mols.index[i / 4 + 1] = (i / 4 + 1) * 4;
        yard.told += (int64_t)strlen(*t->atomname[i]) + (i + 1) % ATOMS;
    }
    return t;
}

static int64_t topology_walk(void *root, size_t count)
{
    t_topology *t = root;
    int64_t sum = 0;
    int f, i, k;
    (void)count;
    for (f = 0; f < F_NRE; f++)
        for (i = 0; i < t->idef.il[f].nr; i += arity(f) + 1)
            for (k = 0; k <= arity(f); k++) {
                const int number = t->idef.il[f].iatoms[i + k];
                sum += k == 0 ? (int64_t)parameter_of(&t->idef, number) : number;
            }
    for (i = 0; i < t->natoms; i++) {
        sum += (int64_t)strlen(*t->atomname[i]) + t->excls.a[t->excls.index[i + 1] - 1];
        if (t->atomname[i] != &t->symbols[1 + i % 4])
            return -1;
    }
    for (i = 0; i < t->idef.cmap_grid->ngrid; i++)
        t->idef.cmap_grid->cmapdata[i].cmap[4 * SPACING * SPACING - 1] = (float)i + 1;
    t->idef.il[F_BONDS].iatoms[t->idef.il[F_BONDS].nr++] = 1;
    return sum;
}

TEST(structures,
     GROMACS_forces_whose_kinds_stand_in_a_parallel_array_and_maps_that_their_holder_measures)
{
    yard_open(1 << 20, 163);
    topology_open();
    yard_prove(topology_make(), topology_type, 1, topology_walk);
    YARD_END(&topology_type, &idef_type, &ilist_type, &cmap_type, &cmapdata_type);
}
