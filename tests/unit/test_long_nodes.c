/* Nodes longer than a cell of the map, with pointers at both ends and in the middle.
 *
 * Such a node is known by its start, as a short one is, although its last pointer may stand cells
 * or a block behind it. In mixed blocks it is marked in line too. The lab checks every byte and
 * pointer; the tests here check where marks stand and what is counted.
 *
 * Faults by number (docs/testing.md): G8, G9, G10, G13, G22, H1.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"

enum { CELL = 32 * GRANULE, LINKS = 3, MOST = 40 };

typedef struct link {
    void *to;
} link;

/* 528, 1024, 2064 and 4096 bytes, where pointers have 8. */
static const size_t sizes[] = { CELL + GRANULE, 2 * CELL, 4 * CELL + GRANULE, PAGE };

/* What a node's links lead to is the type of whoever opens it: other nodes, pairs, slabs. */
static size_t node_bytes;
static haul_type *node_type, *pair_type, *slab_type;

/* Where a node's links stand. */
static size_t link_of(size_t i)
{
    return i == 0 ? 0 : i == 1 ? node_bytes / WORD / 2 * WORD : node_bytes - WORD;
}

static haul_field link_at(const char *name, size_t offset, haul_type **target)
{
    haul_field row = HAUL_ADDRESS(link, to);
    row.name = name;
    row.offset = offset;
    row.target = target;
    return row;
}

/* Nodes whose first and last links lead to nodes, and the one in the middle to `middle`. */
static void open_nodes(size_t bytes, haul_type **middle)
{
    static const char *const names[LINKS] = { "left", "middle", "right" };
    haul_field fields[LINKS];
    size_t i;
    node_bytes = bytes;
    for (i = 0; i < LINKS; i++) {
        fields[i] = link_at(names[i], link_of(i), i == 1 ? middle : &node_type);
    }
    node_type = type_open("node", bytes, fields, LINKS);
}

static void start(size_t bytes)
{
    lab_start();
    check_note("%zu bytes", bytes);
    open_nodes(bytes, &node_type);
    type_commit(node_type);
}

static void end(void)
{
    haul_type_free(&node_type);
    lab_end();
}

static void lead(void *node, size_t i, void *to)
{
    memcpy((unsigned char *)node + link_of(i), &to, sizeof to);
}

static unsigned char *node_at(size_t at)
{
    unsigned char *node = take_at(at, node_bytes);
    size_t i;
    fill(node, node_bytes);
    for (i = 0; i < LINKS; i++) {
        lead(node, i, NULL);
        points(node + link_of(i));
    }
    return node;
}

/* Nodes in a row with gaps between them, as a tree with a third link to one of chance. */
static size_t row_of(unsigned char **node, size_t begin, size_t gap, size_t most)
{
    random_source random = random_from(node_bytes + begin * 31 + gap);
    size_t i, count = 0;
    for (i = begin; count < most && i + node_bytes <= LAB_BYTES; i += node_bytes + gap)
        node[count++] = node_at(i);
    for (i = 0; i < count; i++) {
        lead(node[i], 0, 2 * i + 1 < count ? node[2 * i + 1] : NULL);
        lead(node[i], 2, 2 * i + 2 < count ? node[2 * i + 2] : NULL);
        lead(node[i], 1, random_below(&random, 3) ? node[random_below(&random, count)] : NULL);
    }
    return count;
}

TEST(long_nodes, keep_pointers_at_both_ends_and_in_the_middle_wherever_cells_and_blocks_end_G13)
{
    unsigned char *node[MOST];
    size_t i, gap, shift, count;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (gap = 0; gap <= GRANULE; gap += GRANULE)
            for (shift = gap; shift <= CELL; shift += 5 * GRANULE) {
                start(sizes[i]);
                count = row_of(node, BLOCK - 3 * sizes[i] - shift, gap, MOST / 4);
                lab_pack(node[0], node_type, 1);
                CHECK_EQ(the.statistics.objects, count);
                CHECK_EQ(the.statistics.pointers, LINKS * count);
                CHECK_EQ(the.statistics.graph_bytes, count * node_bytes);
                end();
            }
}

/* One node over a block's end, which leads to itself. */
TEST(long_nodes, reach_into_a_block_where_nothing_starts)
{
    size_t i, inside;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (inside = GRANULE; inside < sizes[i];
             inside += inside < CELL ? 7 * GRANULE : 11 * GRANULE) {
            unsigned char *node;
            start(sizes[i]);
            node = node_at(2 * BLOCK - inside);
            lead(node, inside / GRANULE % 2 ? 0 : 2, node);
            lab_pack(node, node_type, 1);
            CHECK_EQ(the.statistics.objects, 1);
            CHECK_EQ(the.statistics.pointers, LINKS);
            end();
        }
}

/* ---- Neighbours. */

typedef struct pair {
    void *node;
    char *name;
    struct pair *next;
    void *slab;
} pair;

/* A long object without pointers, and short ones with several, of which all blocks have some. */
static void open_neighbours(size_t bytes)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(pair, node, .target = &node_type),
        HAUL_STRING(pair, name),
        HAUL_OBJECT(pair, next, &pair_type),
        HAUL_ADDRESS(pair, slab, .target = &slab_type),
    };
    lab_start();
    check_note("%zu bytes", bytes);
    open_nodes(bytes, &pair_type);
    pair_type = TYPE_OPEN(pair, fields);
    slab_type = type_open("slab", 2 * CELL + GRANULE, NULL, 0);
    type_commit(node_type);
}

static void close_neighbours(void)
{
    haul_type_free(&node_type);
    haul_type_free(&pair_type);
    haul_type_free(&slab_type);
    lab_end();
}

static pair *pair_at(size_t at)
{
    pair *p = take_at(at, sizeof *p);
    points(&p->node);
    points(&p->name);
    points(&p->next);
    points(&p->slab);
    return p;
}

typedef struct crowd {
    unsigned char *node[MOST], *slab[MOST];
    pair *pair[MOST];
    size_t count;
} crowd;

/* By turns in memory, each some granules behind the last one; each found in one way and met again
 * in another. */
static void make_crowd(crowd *c, size_t begin, size_t count, int has_names)
{
    random_source random = random_from(begin + node_bytes);
    size_t i, at = begin;
    c->count = count;
    for (i = 0; i < count; i++) {
        c->node[i] = node_at(at);
        at += node_bytes + i % 3 * GRANULE;
        c->pair[i] = pair_at(at);
        at += sizeof(pair);
        c->slab[i] = take_at(at, 2 * CELL + GRANULE);
        fill(c->slab[i], 2 * CELL + GRANULE);
        at += 2 * CELL + GRANULE;
        if (has_names) {
            c->pair[i]->name = memcpy(take_at(at, 6), "named", 6);
            at += GRANULE;
        }
    }
    for (i = 0; i < count; i++) {
        lead(c->node[i], 0, 2 * i + 1 < count ? c->node[2 * i + 1] : NULL);
        lead(c->node[i], 2, 2 * i + 2 < count ? c->node[2 * i + 2] : NULL);
        lead(c->node[i], 1, c->pair[random_below(&random, count)]);
        c->pair[i]->next = c->pair[(i + 1) % count];
        c->pair[i]->node = c->node[i];
        c->pair[i]->slab = c->slab[i % 2 ? i : count - 2 - i];
    }
}

TEST(long_nodes, live_beside_other_types_in_the_same_blocks_G13)
{
    size_t i, shift;
    int has_names;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (shift = 0; shift <= CELL; shift += 9 * GRANULE)
            for (has_names = 0; has_names < 2; has_names++) {
                crowd c;
                open_neighbours(sizes[i]);
                make_crowd(&c, BLOCK - 2 * sizes[i] - shift, 8, has_names);
                lab_pack(c.node[0], node_type, 1);
                CHECK_EQ(the.statistics.objects, (has_names ? 4 : 3) * c.count);
                CHECK_EQ(the.statistics.pointers, (LINKS + 4) * c.count);
                lab_pack(c.pair[3], pair_type, 1);
                CHECK_EQ(the.statistics.objects, (has_names ? 4 : 3) * c.count);
                close_neighbours();
            }
}

/* ---- What was there before, in a block that has other things too. */

/* What is found one after the other: roots. */
typedef struct finds {
    haul_root root[6];
    size_t count;
} finds;

static void find(finds *f, void *address, const haul_type *type)
{
    f->root[f->count].address = address;
    f->root[f->count].type = type;
    f->root[f->count++].count = 1;
}

/* The node is reached by a pointer, and not an array of its own as a root is. */
static void find_by_pointer(finds *f, unsigned char *node)
{
    pair *by = pair_at(0);
    by->node = node;
    find(f, by, pair_type);
}

/* The node's block has a pair and bytes that are no whole granules: it is mixed. */
static unsigned char *node_among_others(finds *f, char *name)
{
    unsigned char *node = node_at(BLOCK + 9 * GRANULE);
    pair *p = pair_at(BLOCK + GRANULE);
    p->name = name ? name : memcpy(take_at(2 * BLOCK - GRANULE, 4), "abc", 4);
    find(f, p, pair_type);
    return node;
}

TEST(long_nodes, take_up_a_string_that_was_found_in_them_before_G9)
{
    size_t i, at;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (at = 0; at < 3; at++) { /* bytes from a granule's first one on, or not */
            finds f;
            unsigned char *node;
            char *name;
            memset(&f, 0, sizeof f);
            open_neighbours(sizes[i]);
            name = (char *)the.memory + BLOCK + (9 + 3) * GRANULE + at;
            node = node_among_others(&f, name);
            name[2] = 0;
            find_by_pointer(&f, node);
            lab_pack_roots(f.root, f.count);
            close_neighbours();
        }
}

TEST(long_nodes, are_refused_where_all_of_them_was_found_as_bytes_before_G8)
{
    size_t i;
    for (i = 0; i < COUNT_OF(sizes); i++) {
        haul_type *block_of_bytes;
        finds f;
        unsigned char *node;
        int variant;
        memset(&f, 0, sizeof f);
        open_neighbours(sizes[i]);
        block_of_bytes = type_open("bytes", sizes[i] + GRANULE, NULL, 0);
        type_commit(block_of_bytes);
        node = node_among_others(&f, NULL);
        find(&f, take_at(BLOCK + 8 * GRANULE, GRANULE), block_of_bytes);
        find_by_pointer(&f, node);
        for (variant = 0; variant < VARIANTS; variant++)
            refuse_variant(f.root, f.count, variant, HAUL_ERROR_GRAPH, "roots[2].node", "pointer");
        lab_drop();
        haul_type_free(&block_of_bytes);
        close_neighbours();
    }
}

/* Each of its pointers was found as one of a short object; the rest of it is new. */
TEST(long_nodes, take_up_short_objects_that_had_their_pointers_before_G9)
{
    size_t i, k;
    for (i = 0; i < COUNT_OF(sizes); i++) {
        static const char *const names[LINKS] = { "first", "second", "third" };
        haul_type *shorts[LINKS];
        finds f;
        unsigned char *node;
        memset(&f, 0, sizeof f);
        open_neighbours(sizes[i]);
        node = node_among_others(&f, NULL);
        /* so that the first one begins elsewhere than the node */
        take_at(BLOCK + 8 * GRANULE, GRANULE);
        for (k = 0; k < LINKS; k++) {
            const size_t offset = k == 0 ? GRANULE : link_of(k) % GRANULE;
            const haul_field row = link_at("to", offset, k == 1 ? &pair_type : &node_type);
            shorts[k] = type_open(names[k], k == 0 ? 2 * GRANULE : GRANULE, &row, 1);
            type_commit(shorts[k]);
            find(&f, node + link_of(k) - offset, shorts[k]);
        }
        find_by_pointer(&f, node);
        lab_pack_roots(f.root, f.count);
        for (k = 0; k < LINKS; k++)
            haul_type_free(&shorts[k]);
        close_neighbours();
    }
}

/* An alignment above two pointers: what stands on its pages is laid out in units. */
TEST(long_nodes, keep_their_pointers_where_a_neighbour_asks_for_an_alignment_G10)
{
    size_t i;
    for (i = 0; i < COUNT_OF(sizes); i++) {
        unsigned char *node[MOST];
        haul_type *wide;
        haul_root roots[2];
        size_t count;
        start(sizes[i]);
        wide = type_new(
            &(const haul_struct){ .name = "wide", .bytes = 8 * GRANULE, .alignment = 8 * GRANULE });
        type_commit(wide);
        count = row_of(node, BLOCK - 2 * sizes[i] - GRANULE, 8 * GRANULE, 6);
        memset(roots, 0, sizeof roots);
        roots[0].address = node[0];
        roots[0].type = node_type;
        roots[1].address = take((size_t)8 * GRANULE, (size_t)8 * GRANULE);
        roots[1].type = wide;
        roots[0].count = roots[1].count = 1;
        lab_pack_roots(roots, 2);
        CHECK_EQ(the.statistics.pointers, LINKS * count);
        haul_type_free(&wide);
        end();
    }
}

/* ---- Arrays, and pointers into the middle. */

typedef struct shelf {
    void *nodes;
    void *one;
    unsigned char *bytes;
    size_t n, byte_count;
} shelf;

static const haul_field shelf_fields[] = {
    HAUL_ADDRESS(shelf, nodes, .target = &node_type, .count = HAUL_COUNT(shelf, n)),
    HAUL_ADDRESS(shelf, one, .target = &node_type),
    HAUL_ARRAY(shelf, bytes, HAUL_COUNT(shelf, byte_count)),
};

static shelf *shelf_make(haul_type **type)
{
    shelf *s = take_at(0, sizeof *s);
    points(&s->nodes);
    points(&s->one);
    points(&s->bytes);
    *type = TYPE_OPEN(shelf, shelf_fields);
    type_commit(*type);
    return s;
}

TEST(long_nodes, stand_in_arrays_and_are_pointed_at_one_by_one_G13)
{
    size_t i, at;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (at = 0; at < 4; at++) {
            unsigned char *node[MOST];
            haul_type *type;
            haul_root roots[2];
            shelf *s;
            size_t count;
            start(sizes[i]);
            s = shelf_make(&type);
            count = row_of(node, BLOCK - 2 * sizes[i] - at * 13 * GRANULE, 0, 9);
            s->nodes = node[2];
            s->n = count - 4;
            s->one = node[count - 1];
            memset(roots, 0, sizeof roots);
            roots[at % 2].address = s;
            roots[at % 2].type = type;
            roots[1 - at % 2].address = node[0];
            roots[1 - at % 2].type = node_type;
            roots[0].count = roots[1].count = 1;
            lab_pack_roots(roots, 2);
            CHECK_EQ(the.statistics.pointers, LINKS * (count + 1));
            haul_type_free(&type);
            end();
        }
}

/* Bytes between two links are data for both. */
TEST(long_nodes, can_be_pointed_into_between_their_pointers_G9)
{
    size_t i, from;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (from = 0; from + 1 < LINKS; from++) {
            unsigned char *node[MOST];
            haul_type *type;
            shelf *s;
            start(sizes[i]);
            s = shelf_make(&type);
            row_of(node, BLOCK - sizes[i] - 3 * GRANULE, GRANULE, 4);
            s->one = node[0];
            s->bytes = node[1] + link_of(from) + WORD;
            s->byte_count = link_of(from + 1) - link_of(from) - WORD;
            lab_pack(s, type, 1);
            haul_type_free(&type);
            end();
        }
}

/* One byte more, and it is the first of a pointer. */
TEST(long_nodes, are_refused_where_bytes_cover_one_of_their_pointers_G8)
{
    size_t i, to;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (to = 1; to < LINKS; to++) {
            unsigned char *node[MOST];
            haul_type *type;
            shelf *s;
            start(sizes[i]);
            s = shelf_make(&type);
            row_of(node, BLOCK - sizes[i] - 3 * GRANULE, GRANULE, 4);
            s->one = node[1];
            s->bytes = node[1] + link_of(to) - GRANULE;
            s->byte_count = GRANULE + 1;
            lab_refuse(s, type, HAUL_ERROR_GRAPH, "root.bytes", "pointer");
            haul_type_free(&type);
            end();
        }
}

/* One that begins some granules further on, inside another one. */
TEST(long_nodes, are_refused_where_they_overlap_in_one_kind_of_block_and_in_another_G8)
{
    size_t i;
    for (i = 0; i < COUNT_OF(sizes); i++) {
        unsigned char *node;
        crowd c;
        start(sizes[i]);
        node = node_at(BLOCK - 2 * GRANULE);
        take_at(BLOCK - 2 * GRANULE + node_bytes, 5 * GRANULE);
        lead(node, 2, node + 5 * GRANULE);
        lab_refuse(node, node_type, HAUL_ERROR_GRAPH, "root.right", "pointer");
        end();
        open_neighbours(sizes[i]);
        make_crowd(&c, BLOCK - sizes[i] - GRANULE, 2, 0);
        lead(c.node[1], 2, c.node[1] + GRANULE);
        lab_refuse(c.node[1], node_type, HAUL_ERROR_GRAPH, "root.right", "pointer");
        close_neighbours();
    }
}

/* ---- After the first pack. */

static haul_status pack_again(void)
{
    return haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap);
}

static void check_stale(unsigned char *node, size_t i, void *other)
{
    uintptr_t was = word_at(node + link_of(i));
    CHECK(was != (uintptr_t)other);
    lead(node, i, other);
    CHECK_STATUS(pack_again(), HAUL_ERROR_STALE);
    CHECK_HAS(haul_context_error(the.context)->path, "root");
    lead(node, i, (void *)was);
    CHECK_STATUS(pack_again(), HAUL_OK);
}

TEST(long_nodes, make_a_plan_stale_whichever_of_their_pointers_changes_G22)
{
    size_t i, k, n;
    for (i = 0; i < COUNT_OF(sizes); i++) {
        unsigned char *node[MOST];
        crowd c;
        size_t count;
        start(sizes[i]);
        count = row_of(node, BLOCK - 3 * sizes[i] - CELL / 2, GRANULE, 8);
        lab_pack(node[0], node_type, 1);
        for (n = 0; n < count; n++)
            for (k = 0; k < LINKS; k++)
                check_stale(node[n], k,
                            word_at(node[n] + link_of(k)) == (uintptr_t)node[n] ? NULL : node[n]);
        end();
        open_neighbours(sizes[i]);
        make_crowd(&c, BLOCK - 2 * sizes[i], 4, 1);
        lab_pack(c.node[0], node_type, 1);
        for (n = 0; n < c.count; n++)
            for (k = 0; k < LINKS; k += 2)
                check_stale(c.node[n], k, c.node[n]);
        close_neighbours();
    }
}

TEST(long_nodes, cost_no_more_memory_for_a_pointer_at_the_end_than_for_one_at_the_front)
{
    size_t bytes[2], far;
    for (far = 0; far < 2; far++) {
        haul_field fields[2];
        size_t i, count = 6 * BLOCK / (2 * CELL);
        lab_start();
        node_bytes = 2 * CELL;
        fields[0] = link_at("left", 0, &node_type);
        fields[1] = link_at("right", far ? node_bytes - WORD : WORD, &node_type);
        node_type = type_open("node", node_bytes, fields, 2);
        type_commit(node_type);
        for (i = 0; i < count; i++) {
            void *next = the.memory + BLOCK + (i + 1) * node_bytes;
            unsigned char *node = take_at(BLOCK + i * node_bytes, node_bytes);
            points(node);
            points(node + fields[1].offset);
            if (i + 1 < count)
                memcpy(node + fields[1].offset, &next, sizeof next);
        }
        lab_pack(the.memory + BLOCK, node_type, 1);
        bytes[far] = the.statistics.bookkeeping_bytes;
        end();
    }
    CHECK(bytes[1] < bytes[0] + BLOCK / 32);
}

/* ---- Many pointers, many types. */

/* A page with a pointer in every so many words, and one more. */
static void pack_comb(size_t teeth, int has_one_more)
{
    static char names[MOST * 2][8];
    haul_field fields[MOST * 2];
    haul_type *comb;
    const size_t step = PAGE / teeth, count = teeth + (has_one_more ? 1 : 0);
    unsigned char *first, *second;
    size_t i;
    lab_start();
    for (i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        fields[i] = link_at(names[i], i < teeth ? i * step + WORD : PAGE - 2 * WORD, &comb);
    }
    comb = type_open("comb", PAGE, fields, count);
    type_commit(comb);
    first = take_at(BLOCK - PAGE / 2 - GRANULE, PAGE);
    second = take_at(BLOCK + PAGE, PAGE);
    fill(first, PAGE);
    fill(second, PAGE);
    for (i = 0; i < count; i++) {
        void *there = i % 3 ? second : first, *back = i % 2 ? first : NULL;
        memcpy(first + fields[i].offset, &there, sizeof there);
        memcpy(second + fields[i].offset, &back, sizeof back);
        points(first + fields[i].offset);
        points(second + fields[i].offset);
    }
    lab_pack(first, comb, 1);
    CHECK_EQ(the.statistics.pointers, 2 * count);
    haul_type_free(&comb);
    lab_end();
}

TEST(long_nodes, may_have_as_many_pointers_as_are_taken_one_by_one_or_more)
{
    pack_comb(64, 0);
    pack_comb(64, 1);
    pack_comb(32, 1);
}

/* Of one size and with the same first pointer; the other one stands, counted in words from the end,
 * at 1, 1 and 4. */
TEST(long_nodes, of_types_that_differ_in_their_last_pointer_alone_are_told_apart_G13)
{
    static const char *const names[3] = { "a", "b", "c" };
    static const size_t behind[3] = { WORD, WORD, 4 * WORD };
    haul_type *types[3];
    haul_field fields[2];
    unsigned char *node[12];
    size_t i;
    lab_start();
    node_bytes = 2 * CELL;
    for (i = 0; i < 3; i++) {
        fields[0] = link_at("next", 0, &types[(i + 1) % 3]);
        fields[1] = link_at("far", node_bytes - behind[i], &types[i]);
        types[i] = type_open(names[i], node_bytes, fields, 2);
    }
    type_commit(types[0]);
    for (i = 0; i < COUNT_OF(node); i++) {
        node[i] = take_at(BLOCK / 2 + i * node_bytes, node_bytes);
        fill(node[i], node_bytes);
        points(node[i]);
        points(node[i] + node_bytes - behind[i % 3]);
    }
    for (i = 0; i < COUNT_OF(node); i++) {
        void *next = node[(i + 1) % COUNT_OF(node)], *far = node[(i + 3) % COUNT_OF(node)];
        memcpy(node[i], &next, sizeof next);
        memcpy(node[i] + node_bytes - behind[i % 3], &far, sizeof far);
    }
    lab_pack(node[0], types[0], 1);
    CHECK_EQ(the.statistics.objects, COUNT_OF(node));
    for (i = 0; i < 3; i++)
        haul_type_free(&types[i]);
    lab_end();
}

enum { TYPES = 20 };
static haul_type *ladder[TYPES];

/* More types than a map has forms for; each rung leads to the next type's by its last pointer. */
static unsigned char *make_ladder(void)
{
    size_t i, at = BLOCK - 4 * CELL;
    unsigned char *before = NULL;
    char name[16];
    for (i = 0; i < TYPES; i++) {
        const haul_field next =
            link_at("next", CELL + i * GRANULE + WORD, &ladder[(i + 1) % TYPES]);
        snprintf(name, sizeof name, "rung%zu", i);
        ladder[i] = type_open(name, CELL + (i + 1) * GRANULE, &next, 1);
    }
    type_commit(ladder[0]);
    for (i = 0; i < 3 * TYPES; i++) {
        const size_t bytes = CELL + (i % TYPES + 1) * GRANULE;
        unsigned char *rung = take_at(at, bytes);
        fill(rung, bytes - WORD);
        points(rung + bytes - WORD);
        if (before)
            memcpy(before, &rung, sizeof rung);
        before = rung + bytes - WORD;
        at += bytes;
    }
    return the.memory + BLOCK - 4 * CELL;
}

static void drop_ladder(void)
{
    size_t i;
    for (i = 0; i < TYPES; i++)
        haul_type_free(&ladder[i]);
}

TEST(long_nodes, of_more_types_than_there_are_forms_keep_their_pointers)
{
    unsigned char *first;
    lab_start();
    first = make_ladder();
    lab_pack(first, ladder[0], 1);
    CHECK_EQ(the.statistics.objects, 3 * TYPES);
    CHECK_EQ(the.statistics.pointers, 3 * TYPES);
    drop_ladder();
    lab_end();
}

/* ---- Faults. */

TEST(long_nodes, H1_can_be_planned_with_any_allocation_failing)
{
    unsigned char *first;
    lab_start();
    first = make_ladder();
    CHECK(fault_every_plan(haul_from_object(first, ladder[0]), 0) > 5);
    drop_ladder();
    lab_end();
}
