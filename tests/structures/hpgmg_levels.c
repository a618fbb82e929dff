/* HPGMG's levels of a multigrid solver (CNT EXPR CAP PARA PARR ROWS SHARE COND FUNC ALGN): boxes
 * whose vectors lie in one block of the level's, and communicators with three lists of blocks to be
 * copied.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    LEVELS = 3,
    VECTORS = 4,
    GHOSTS = 1,
    BOXES_I = 2,
    DIM = 4,
    RANKS = 2,
    SHAPES = 2,
    PHASE = 32,
    LISTS = 3
};
enum { PACK = 0, LOCAL = 1, UNPACK = 2 };

typedef struct triple {
    int i, j, k;
} triple;

typedef struct block_end {
    int box;     /* which of the level's own; below 0: none, but a buffer */
    double *ptr; /* into a buffer; else left from before */
    int i, j, k, jStride, kStride;
} block_end;

typedef struct blockCopy_type {
    int subtype;
    triple dim;
    block_end read, write;
} blockCopy_type;

typedef struct communicator_type {
    int num_recvs, num_sends;
    int *recv_ranks, *send_ranks, *recv_sizes, *send_sizes;
    double **recv_buffers, **send_buffers; /* each in one block */
    int num_blocks[LISTS], allocated_blocks[LISTS];
    blockCopy_type *blocks[LISTS];
    void **requests; /* handles of the message passing library's */
    void *status;
} communicator_type;

typedef struct box_type {
    int global_box_id, dim, ghosts, jStride, kStride, volume, numVectors;
    triple low;
    double **vectors;
} box_type;

typedef struct level_type {
    double h;
    int active, num_ranks, my_rank;
    int box_dim, box_ghosts, box_jStride, box_kStride, box_volume, numVectors;
    triple boxes_in;
    int *rank_of_box, num_my_boxes;
    box_type *my_boxes;
    /* the first value inside of the first box is at a multiple of 32 bytes */
    double **vectors, *vectors_base;
    int num_my_blocks, allocated_blocks;
    blockCopy_type *my_blocks;
    communicator_type exchange_ghosts[SHAPES], interpolation;
    double *RedBlack_FP, *RedBlack_base; /* and so here */
} level_type;

typedef struct mg_type {
    int num_ranks, my_rank, num_levels;
    level_type **levels;
} mg_type;

typedef struct vector_register {
    double lane[PHASE / sizeof(double)];
} vector_register;

static haul_type *vector_register_type, *block_end_type, *blockCopy_type_type,
    *communicator_type_type, *box_type_type, *level_type_type, *mg_type_type;

static int64_t to_phase(const haul_here *here)
{
    return (int64_t)(-(uintptr_t)here->target % PHASE);
}

/* Whole registers from the first multiple of 32 bytes on. */
static int64_t registers_in(const void *at, int64_t doubles)
{
    return (doubles * (int64_t)sizeof(double) - (int64_t)(-(uintptr_t)at % PHASE)) / PHASE;
}

HAUL_FUNCTION(recv_size, communicator_type, self->recv_sizes[here->index])
HAUL_FUNCTION(send_size, communicator_type, self->send_sizes[here->index])
HAUL_FUNCTION(blocks_of_list, communicator_type, self->num_blocks[here->index])
HAUL_FUNCTION(messages, communicator_type, self->num_recvs + self->num_sends)
HAUL_FUNCTION(level_volume, level_type, (int64_t)self->num_my_boxes * self->box_volume)
HAUL_FUNCTION(vector_registers, level_type,
              registers_in(self->vectors[0],
                           (int64_t)self->numVectors * self->num_my_boxes * self->box_volume))
HAUL_FUNCTION(colour_registers, level_type,
              registers_in(self->RedBlack_FP, 2 * (int64_t)self->box_kStride))
HAUL_FUNCTION(colour_room, level_type, 2 * (int64_t)self->box_kStride + PHASE / 8)
HAUL_FUNCTION(always, block_end, 1)

static void communicators_open(int is_everything_a_pointer)
{
    static const haul_field buffer =
        HAUL_ADDRESS(block_end, ptr, .when = HAUL_BETWEEN(block_end, box, INT64_MIN, -1),
                     .ownership = HAUL_BORROWED);
    static const haul_field any =
        HAUL_ADDRESS(block_end, ptr, .when = HAUL_WHEN_FN(always), .ownership = HAUL_BORROWED);
    const haul_field end_fields[] = { is_everything_a_pointer ? any : buffer };
    static const haul_field block_fields[] = { HAUL_EMBED(blockCopy_type, read, &block_end_type),
                                               HAUL_EMBED(blockCopy_type, write, &block_end_type) };
    static const haul_field fields[] = {
        HAUL_ARRAY(communicator_type, recv_ranks, HAUL_COUNT(communicator_type, num_recvs)),
        HAUL_ARRAY(communicator_type, send_ranks, HAUL_COUNT(communicator_type, num_sends)),
        HAUL_ARRAY(communicator_type, recv_sizes, HAUL_COUNT(communicator_type, num_recvs)),
        HAUL_ARRAY(communicator_type, send_sizes, HAUL_COUNT(communicator_type, num_sends)),
        HAUL_ARRAYS(communicator_type, recv_buffers, HAUL_COUNT(communicator_type, num_recvs),
                    HAUL_COUNT_FN(recv_size)),
        HAUL_ARRAYS(communicator_type, send_buffers, HAUL_COUNT(communicator_type, num_sends),
                    HAUL_COUNT_FN(send_size)),
        HAUL_EACH(communicator_type, blocks, .target = &blockCopy_type_type,
                  .count = HAUL_COUNT_FN(blocks_of_list)),
        HAUL_ARRAY(communicator_type, requests, HAUL_COUNT_FN(messages)),
        HAUL_SKIP(communicator_type, status),
    };
    block_end_type = OPEN(block_end, end_fields);
    blockCopy_type_type = OPEN(blockCopy_type, block_fields);
    communicator_type_type = OPEN(communicator_type, fields);
}

static void mg_open(int is_everything_a_pointer)
{
    static const haul_field box_fields[] = { HAUL_ARRAYS(
        box_type, vectors, HAUL_COUNT(box_type, numVectors), HAUL_COUNT(box_type, volume)) };
    static const haul_field level_fields[] = {
        HAUL_ARRAY(level_type, rank_of_box,
                   HAUL_COUNT(level_type, boxes_in.i, boxes_in.j, boxes_in.k)),
        HAUL_OBJECTS(level_type, my_boxes, &box_type_type, HAUL_COUNT(level_type, num_my_boxes)),
        HAUL_ARRAYS(level_type, vectors, HAUL_COUNT(level_type, numVectors),
                    HAUL_COUNT_FN(level_volume)),
        HAUL_ADDRESS(level_type, vectors_base, .target = &vector_register_type,
                     .count = HAUL_COUNT_FN(vector_registers), .base_fn = to_phase),
        HAUL_OBJECTS(level_type, my_blocks, &blockCopy_type_type,
                     HAUL_COUNT(level_type, num_my_blocks)),
        HAUL_EMBED(level_type, exchange_ghosts, &communicator_type_type),
        HAUL_EMBED(level_type, interpolation, &communicator_type_type),
        HAUL_ADDRESS(level_type, RedBlack_FP, .target = &vector_register_type,
                     .count = HAUL_COUNT_FN(colour_registers), .base_fn = to_phase),
        HAUL_ARRAY(level_type, RedBlack_base, HAUL_COUNT_FN(colour_room)),
    };
    static const haul_field mg_fields[] = { HAUL_POINTERS(mg_type, levels, &level_type_type,
                                                          HAUL_COUNT(mg_type, num_levels)) };
    vector_register_type = type_new(&(const haul_struct){
        .name = "vector_register", .bytes = sizeof(vector_register), .alignment = PHASE });
    communicators_open(is_everything_a_pointer);
    box_type_type = OPEN(box_type, box_fields);
    level_type_type = OPEN(level_type, level_fields);
    mg_type_type = OPEN(mg_type, mg_fields);
    type_close(mg_type_type);
}

static void mg_close(void)
{
    haul_type **all[] = { &mg_type_type,           &level_type_type,     &box_type_type,
                          &communicator_type_type, &blockCopy_type_type, &block_end_type,
                          &vector_register_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* ---- Building: a level of 8 boxes, of edge 4, 2, .. and the ghosts round them. */

static double *first_inside(double *vector, const level_type *level)
{
    return vector + GHOSTS * (1 + level->box_jStride + level->box_kStride);
}

static double *with_phase(double *base, const level_type *level)
{
    while ((uintptr_t)first_inside(base, level) % PHASE != 0)
        base++;
    return base;
}

/* Value i of vector c of box b is 1000 c + 100 b + i % 100. */
static void boxes_make(level_type *level)
{
    int volume = level->box_volume, n = level->num_my_boxes, b, c, i;
    double *first;
    level->vectors_base =
        put((size_t)(VECTORS * n * volume + PHASE / 8) * sizeof(double), sizeof(double));
    first = with_phase(level->vectors_base, level);
    level->vectors = PUT_ARRAY(double *, VECTORS);
    level->my_boxes = PUT_ARRAY(box_type, n);
    for (b = 0; b < n; b++) {
        box_type *box = &level->my_boxes[b];
        box->global_box_id = b;
        box->volume = volume;
        box->numVectors = VECTORS;
        box->vectors = PUT_ARRAY(double *, VECTORS);
        for (c = 0; c < VECTORS; c++) {
            level->vectors[c] = first + c * n * volume;
            box->vectors[c] = level->vectors[c] + b * volume;
            for (i = 0; i < volume; i++)
                box->vectors[c][i] = 1000 * c + 100 * b + i % 100;
        }
    }
}

/* From each rank one buffer of 8 values and rank more. */
static double **buffers_make(int **sizes, int **ranks, int is_of_mine)
{
    double **buffers = PUT_ARRAY(double *, RANKS), *all = PUT_ARRAY(double, 17);
    int r;
    *sizes = PUT_ARRAY(int, RANKS);
    *ranks = PUT_ARRAY(int, RANKS);
    for (r = 0; r < RANKS; r++) {
        buffers[r] = all + 8 * r;
        (*sizes)[r] = 8 + r;
        (*ranks)[r] = r + 5;
        if (!is_of_mine)
            buffers[r][0] = buffers[r][8 + r - 1] = 70 + r;
    }
    return buffers;
}

static blockCopy_type *blocks_make(communicator_type *c, int list)
{
    c->num_blocks[list] = 4;
    c->allocated_blocks[list] = 6;
    return c->blocks[list] = PUT_ARRAY(blockCopy_type, 6);
}

/* Buffers are no place where stale pointers lead to: to what was freed before. */
static void end_at_box(block_end *e, int box, int i)
{
    e->box = box;
    e->ptr = (double *)(uintptr_t)17;
    e->i = i;
}

static void end_at_buffer(block_end *e, double *at)
{
    e->box = -1;
    e->ptr = at;
}

static void communicator_make(communicator_type *c)
{
    int n;
    blockCopy_type *pack = blocks_make(c, PACK), *local = blocks_make(c, LOCAL),
                   *unpack = blocks_make(c, UNPACK);
    c->num_recvs = c->num_sends = RANKS;
    c->recv_buffers = buffers_make(&c->recv_sizes, &c->recv_ranks, 0);
    c->send_buffers = buffers_make(&c->send_sizes, &c->send_ranks, 1);
    c->requests = PUT_ARRAY(void *, 2 * RANKS);
    c->requests[3] = (void *)(uintptr_t)3;
    c->status = c->requests; /* anything: it stays here */
    for (n = 0; n < 4; n++) {
        end_at_box(&pack[n].read, n, n);
        end_at_buffer(&pack[n].write, c->send_buffers[n % RANKS] + n);
        end_at_box(&local[n].read, n, 2);
        end_at_box(&local[n].write, n + 1, 0);
        end_at_buffer(&unpack[n].read,
                      c->recv_buffers[n % RANKS] + (n < RANKS ? 0 : c->recv_sizes[n % RANKS] - 1));
        end_at_box(&unpack[n].write, n + 4, 1);
    }
}

static level_type *level_make(int number)
{
    level_type *level = PUT(level_type);
    int i;
    level->active = 1;
    level->box_dim = DIM >> number;
    level->box_jStride = level->box_dim + 2 * GHOSTS;
    level->box_kStride = level->box_jStride * level->box_jStride;
    level->box_volume = (level->box_kStride * level->box_jStride + 3) / 4 * 4;
    level->numVectors = VECTORS;
    level->boxes_in.i = level->boxes_in.j = level->boxes_in.k = BOXES_I;
    level->num_my_boxes = BOXES_I * BOXES_I * BOXES_I;
    level->rank_of_box = PUT_ARRAY(int, level->num_my_boxes);
    boxes_make(level);
    level->num_my_blocks = level->allocated_blocks = level->num_my_boxes;
    level->my_blocks = PUT_ARRAY(blockCopy_type, level->num_my_blocks);
    for (i = 0; i < level->num_my_blocks; i++) {
        end_at_box(&level->my_blocks[i].read, i, i);
        end_at_box(&level->my_blocks[i].write, i, i);
    }
    for (i = 0; i < SHAPES; i++)
        communicator_make(&level->exchange_ghosts[i]);
    communicator_make(&level->interpolation);
    level->RedBlack_base = PUT_ARRAY(double, 2 * level->box_kStride + PHASE / 8);
    level->RedBlack_FP = with_phase(level->RedBlack_base, level);
    for (i = 0; i < 2 * level->box_kStride; i++)
        level->RedBlack_FP[i] = i % 2;
    return level;
}

static mg_type *mg_make(void)
{
    mg_type *mg = PUT(mg_type);
    int l;
    mg->num_levels = LEVELS;
    mg->levels = PUT_ARRAY(level_type *, LEVELS);
    for (l = 0; l < LEVELS; l++)
        mg->levels[l] = level_make(l);
    return mg;
}

/* ---- The exchange, of one vector of all levels. */

static double *end_of(const level_type *level, const block_end *e, int vector)
{
    return e->box < 0 ? e->ptr
                      : first_inside(level->my_boxes[e->box].vectors[vector], level) + e->i;
}

static void copy_blocks(level_type *level, const blockCopy_type *block, int count, int vector,
                        uint64_t *seen)
{
    int n;
    for (n = 0; n < count; n++) {
        double *to = end_of(level, &block[n].write, vector);
        *to = *end_of(level, &block[n].read, vector);
        see(seen, (uint64_t)*to);
    }
}

/* The same by numbers. */
static uint64_t mg_foresee(void)
{
    uint64_t seen = 0;
    int l, shape, vector, n;
    for (l = 0; l < LEVELS; l++) {
        int edge = (DIM >> l) + 2 * GHOSTS, inside = GHOSTS * (1 + edge + edge * edge);
        for (shape = 0; shape <= SHAPES; shape++) {
            vector = shape;
            for (n = 0; n < 4; n++)
                see(&seen, (uint64_t)(1000 * vector + 100 * n + (inside + n) % 100));
            for (n = 0; n < 4; n++)
                see(&seen, (uint64_t)(1000 * vector + 100 * n + (inside + 2) % 100));
            for (n = 0; n < 4; n++)
                see(&seen, (uint64_t)(70 + n % RANKS));
        }
        for (n = 0; n < 2 * edge * edge; n++)
            see(&seen, (uint64_t)(n % 2));
    }
    return seen;
}

static int is_in_phase(double *vector, const level_type *level)
{
    return (uintptr_t)first_inside(vector, level) % PHASE == 0;
}

static void exchange(level_type *level, communicator_type *c, int vector, uint64_t *seen)
{
    int list;
    for (list = PACK; list <= UNPACK; list++)
        copy_blocks(level, c->blocks[list], c->num_blocks[list], vector, seen);
    if (c->requests[3] != (void *)(uintptr_t)3)
        see(seen, 0);
}

static void mg_walk(void *argument)
{
    visit *v = argument;
    mg_type *mg = v->root;
    int l, i;
    for (l = 0; l < mg->num_levels; l++) {
        level_type *level = mg->levels[l];
        for (i = 0; i < SHAPES; i++)
            exchange(level, &level->exchange_ghosts[i], i, &v->seen);
        exchange(level, &level->interpolation, SHAPES, &v->seen);
        for (i = 0; i < 2 * level->box_kStride; i++)
            see(&v->seen, (uint64_t)level->RedBlack_FP[i]);
        if (!is_in_phase(level->vectors[0], level) || !is_in_phase(level->RedBlack_FP, level))
            see(&v->seen, 0);
        for (i = 0; i < level->num_my_blocks; i++)
            *end_of(level, &level->my_blocks[i].write, 3) += level->rank_of_box[i] + 1;
    }
}

TEST(structures_hpgmg, HPGMG_ghosts_are_packed_copied_and_unpacked_there_through_boxes_and_buffers)
{
    journey j = { .walk = mg_walk };
    site_start(75);
    put(8, 8); /* so that not all is even */
    mg_open(0);
    j.root = mg_make();
    j.type = mg_type_type;
    j.seen = mg_foresee();
    travel(&j);
    mg_close();
    site_end();
}

TEST(structures_hpgmg, HPGMG_a_pointer_that_is_left_where_a_box_is_meant_is_refused_as_one)
{
    site_start(75);
    mg_open(1);
    refuse_graph(mg_make(), mg_type_type, HAUL_ERROR_GRAPH, "root.levels[0].my_blocks[0].read.ptr",
                 NULL, "an alias that leads to nothing that another pointer owns");
    mg_close();
    site_end();
}
