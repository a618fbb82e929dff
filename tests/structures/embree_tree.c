/* Embree's tree. A reference is the address of a node or of a row of leaf blocks, whose
 * 16-byte alignment leaves room for the kind of the node or the number of blocks; nodes stand on
 * cache lines, for loads that want it.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    NODE = 0,
    NODE_MB = 1,
    LEAF = 8,
    KIND_MASK = 15,
    BLOCKS_MAX = 7,
    LEAVES = 700,
    LINE = 64,
    NODE_BYTES = 4 * LINE
};

static double random_value(void)
{
    return (double)random_below(&the.random, 1000000) / 64;
}

static void fill_values(double *values, int count, uint64_t *seen)
{
    int i;
    for (i = 0; i < count; i++)
        see_real(seen, values[i] = random_value());
}

static void meet_value(double *value, uint64_t *seen)
{
    see_real(seen, *value);
    *value += 1;
}

typedef struct NodeRef {
    uintptr_t ptr;
} NodeRef;

typedef struct AABBNode4 {
    NodeRef children[4];
    float lower_x[4], upper_x[4], lower_y[4], upper_y[4], lower_z[4], upper_z[4];
    char padding[NODE_BYTES - 4 * sizeof(NodeRef) - 24 * sizeof(float)];
} AABBNode4;

typedef struct AABBNodeMB4 {
    AABBNode4 base;
    float lower_dx[4], upper_dx[4], lower_dy[4], upper_dy[4], lower_dz[4], upper_dz[4];
    char padding[NODE_BYTES - 24 * sizeof(float)];
} AABBNodeMB4;

typedef struct Triangle4 {
    float v0[3][4], e1[3][4], e2[3][4];
    unsigned geomIDs[4], primIDs[4];
} Triangle4;

typedef struct BVH4 {
    NodeRef root;
    size_t numPrimitives;
} BVH4;

static haul_type *NodeRef_type, *AABBNode4_type, *AABBNodeMB4_type, *Triangle4_type, *BVH4_type;

static int64_t kind_of(const haul_here *here)
{
    uintptr_t kind = *(const uintptr_t *)here->place & KIND_MASK;
    return kind > LEAF ? LEAF : (int64_t)kind;
}

static int64_t blocks_of(const haul_here *here)
{
    uintptr_t kind = *(const uintptr_t *)here->place & KIND_MASK;
    return kind > LEAF ? (int64_t)kind - LEAF : 1;
}

static void bvh_open(uintptr_t tag_bits, size_t alignment)
{
    static const haul_case kinds[] = { { NODE, &AABBNode4_type, 0 },
                                       { NODE_MB, &AABBNodeMB4_type, 0 },
                                       { LEAF, &Triangle4_type, 0 } };
    const haul_field reference_fields[] = { HAUL_ADDRESS(
        NodeRef, ptr, .count = HAUL_COUNT_FN(blocks_of), .tag_bits = tag_bits,
        .type_switch = HAUL_SWITCH_FN(kind_of, kinds)) };
    static const haul_field node_fields[] = { HAUL_EMBED(AABBNode4, children, &NodeRef_type) };
    static const haul_field moving_fields[] = { HAUL_EMBED(AABBNodeMB4, base, &AABBNode4_type) };
    static const haul_field bvh_fields[] = { HAUL_EMBED(BVH4, root, &NodeRef_type) };
    NodeRef_type = OPEN(NodeRef, reference_fields);
    AABBNode4_type = OPEN(AABBNode4, node_fields, .alignment = alignment);
    AABBNodeMB4_type = OPEN(AABBNodeMB4, moving_fields, .alignment = alignment);
    Triangle4_type = type_new(&(const haul_struct)HAUL_PLAIN(Triangle4, NULL, .alignment = 16));
    BVH4_type = OPEN(BVH4, bvh_fields);
}

static void bvh_close(void)
{
    haul_type_free(&BVH4_type);
    haul_type_free(&AABBNode4_type);
    haul_type_free(&AABBNodeMB4_type);
    haul_type_free(&Triangle4_type);
    haul_type_free(&NodeRef_type);
}

static uintptr_t leaf_make(uint64_t *seen)
{
    size_t blocks = random_between(&the.random, 0, BLOCKS_MAX), i, lane;
    Triangle4 *t = blocks ? put(blocks * sizeof *t, 16) : NULL;
    for (i = 0; i < blocks; i++)
        for (lane = 0; lane < 4; lane++) {
            t[i].v0[0][lane] = (float)random_below(&the.random, 4096) / 8;
            t[i].primIDs[lane] = (unsigned)random_below(&the.random, 100000);
            see_real(seen, (double)t[i].v0[0][lane]);
            see(seen, t[i].primIDs[lane]);
        }
    return (uintptr_t)t | (uintptr_t)(LEAF + blocks); /* without blocks: the constant emptyNode */
}

/* Each row of nodes holds four of those below in order; the last children of the last node are
 * empty. */
static uintptr_t nodes_make(uintptr_t *fields, size_t count)
{
    while (count > 1) {
        size_t nodes = (count + 3) / 4, i, c;
        for (i = 0; i < nodes; i++) {
            uintptr_t kind = random_one_in(&the.random, 5) ? NODE_MB : NODE;
            AABBNode4 *n = put(kind ? sizeof(AABBNodeMB4) : sizeof *n, LINE);
            for (c = 0; c < 4; c++)
                n->children[c].ptr = 4 * i + c < count ? fields[4 * i + c] : LEAF;
            n->lower_x[0] = (float)i;
            fields[i] = (uintptr_t)n | kind;
        }
        count = nodes;
    }
    return fields[0];
}

static BVH4 *bvh_make(uint64_t *seen)
{
    uintptr_t fields[LEAVES];
    BVH4 *bvh = PUT(BVH4);
    size_t i;
    for (i = 0; i < LEAVES; i++)
        fields[i] = leaf_make(seen);
    bvh->root.ptr = nodes_make(fields, LEAVES);
    return bvh;
}

static void meet_blocks(uintptr_t reference, uint64_t *seen)
{
    Triangle4 *t = (Triangle4 *)(reference & ~(uintptr_t)KIND_MASK);
    uintptr_t blocks = (reference & KIND_MASK) - LEAF;
    int lane;
    for (; blocks > 0; blocks--, t++)
        for (lane = 0; lane < 4; lane++) {
            see_real(seen, (double)t->v0[0][lane]);
            see(seen, t->primIDs[lane]);
            t->v0[0][lane] += 0.5f;
        }
}

/* A node that is off its line is seen. */
static void bvh_walk(void *argument)
{
    visit *v = argument;
    BVH4 *bvh = v->root;
    uintptr_t stack[64], reference;
    size_t depth = 0;
    int c;
    stack[depth++] = bvh->root.ptr;
    while (depth > 0) {
        reference = stack[--depth];
        if ((reference & KIND_MASK) >= LEAF) {
            meet_blocks(reference, &v->seen);
        } else {
            AABBNode4 *node = (AABBNode4 *)(reference & ~(uintptr_t)KIND_MASK);
            if ((uintptr_t)node % LINE != 0)
                see(&v->seen, (uintptr_t)node);
            node->upper_x[0] = node->lower_x[0] + 1;
            for (c = 3; c >= 0; c--)
                stack[depth++] = node->children[c].ptr;
        }
    }
}

TEST(structures_embree,
     nodes_on_cache_lines_stay_there_and_their_references_keep_kinds_and_numbers_of_blocks)
{
    journey j = { .walk = bvh_walk };
    site_start(28);
    bvh_open(KIND_MASK, LINE);
    type_close(BVH4_type);
    j.root = bvh_make(&j.seen);
    j.type = BVH4_type;
    travel(&j);
    bvh_close();
    site_end();
}

TEST(structures_embree,
     an_alignment_that_nodes_do_not_have_is_refused_and_so_are_tags_that_it_has_no_room_for)
{
    uint64_t seen = 0;
    BVH4 *bvh;
    AABBNode4 *node;
    site_start(28);
    bvh = bvh_make(&seen);
    node = put(LINE + sizeof *node, 2 * LINE);
    bvh->root.ptr = (uintptr_t)node + LINE;
    bvh_open(KIND_MASK, 2 * LINE);
    type_close(BVH4_type);
    refuse_graph(bvh, BVH4_type, HAUL_ERROR_GRAPH, "root.root.ptr", "",
                 "a misaligned pointer: its address modulo 128 is 64");
    bvh_close();
    bvh_open(2 * LINE - 1, LINE);
    refuse_type(BVH4_type, "NodeRef.ptr",
                "Tag bits up to 127 want a target that is aligned above them");
    bvh_close();
    site_end();
}

/* HPGMG: the vectors of a box lie in one block, each begun so that its first value that is no ghost
 * stands at a multiple of 32 bytes. The block itself may begin anywhere: what counts is where it
 * stands within 32 bytes. The block's row says so, as one of vector registers from the first such
 * place on; the rows of the vectors describe every value. */

enum {
    BOXES = 48,
    VECTORS = 9,
    GHOSTS = 1,
    BOX_DIM = 8,
    STRIDE = BOX_DIM + 2 * GHOSTS,
    PHASE = 32
};
enum {
    J_STRIDE = STRIDE,
    K_STRIDE = STRIDE * STRIDE,
    VOLUME = (STRIDE * STRIDE * STRIDE + 3) / 4 * 4
};

typedef struct box_type {
    int volume, numVectors;
    double **vectors;
    double *vectors_base;
} box_type;

typedef struct level_type {
    int num_my_boxes;
    box_type *my_boxes;
} level_type;

typedef struct vector_register {
    double lane[PHASE / sizeof(double)];
} vector_register;

static haul_type *register_type, *box_type_type, *level_type_type;

static int64_t to_phase(const haul_here *here)
{
    return (int64_t)(-(uintptr_t)here->target % PHASE);
}

HAUL_FUNCTION(registers, box_type,
              (int64_t)self->volume * self->numVectors * (int64_t)sizeof(double) / PHASE)

static void level_open(void)
{
    static const haul_field box_fields[] = {
        HAUL_ARRAYS(box_type, vectors, HAUL_COUNT(box_type, numVectors),
                    HAUL_COUNT(box_type, volume)),
        HAUL_ADDRESS(box_type, vectors_base, .target = &register_type,
                     .count = HAUL_COUNT_FN(registers), .base_fn = to_phase),
    };
    static const haul_field level_fields[] = { HAUL_OBJECTS(level_type, my_boxes, &box_type_type,
                                                            HAUL_COUNT(level_type, num_my_boxes)) };
    register_type = type_new(&(const haul_struct){
        .name = "vector_register", .bytes = sizeof(vector_register), .alignment = PHASE });
    box_type_type = OPEN(box_type, box_fields);
    level_type_type = OPEN(level_type, level_fields);
    type_close(level_type_type);
}

static void level_close(void)
{
    haul_type_free(&level_type_type);
    haul_type_free(&box_type_type);
    haul_type_free(&register_type);
}

static double *first_inside(double *vector)
{
    return vector + GHOSTS * (1 + J_STRIDE + K_STRIDE);
}

static level_type *level_make(uint64_t *seen)
{
    level_type *level = PUT(level_type);
    int b, c;
    level->num_my_boxes = BOXES;
    level->my_boxes = PUT_ARRAY(box_type, BOXES);
    for (b = 0; b < BOXES; b++) {
        box_type *box = &level->my_boxes[b];
        double *base =
            put((VECTORS * VOLUME + PHASE / sizeof(double)) * sizeof(double), sizeof(double));
        box->volume = VOLUME;
        box->numVectors = VECTORS;
        box->vectors_base = base;
        box->vectors = PUT_ARRAY(double *, VECTORS);
        while ((uintptr_t)first_inside(base) % PHASE != 0)
            base++;
        for (c = 0; c < VECTORS; c++) {
            box->vectors[c] = base + c * VOLUME;
            fill_values(box->vectors[c], VOLUME, seen);
        }
    }
    return level;
}

static void level_walk(void *argument)
{
    visit *v = argument;
    level_type *level = v->root;
    int b, c, i;
    for (b = 0; b < level->num_my_boxes; b++)
        for (c = 0; c < level->my_boxes[b].numVectors; c++) {
            double *vector = level->my_boxes[b].vectors[c];
            if ((uintptr_t)first_inside(vector) % PHASE != 0)
                see(&v->seen, 0);
            for (i = 0; i < level->my_boxes[b].volume; i++)
                meet_value(&vector[i], &v->seen);
        }
}

TEST(structures_embree, values_that_vector_loads_begin_at_keep_their_place_within_32_bytes)
{
    journey j = { .walk = level_walk };
    site_start(282);
    level_open();
    put(8, 8); /* so that not all is even */
    j.root = level_make(&j.seen);
    j.type = level_type_type;
    travel(&j);
    level_close();
    site_end();
}
