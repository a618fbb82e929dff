/* The forms of the map's blocks: objects of one type, short and long, and all marks that turn a
 * block into another form.
 *
 * The lab (core_graphs.h) checks every byte and pointer; the tests here check where marks stand.
 * Links stand anywhere in a node, because starts must tell them across the ends of cells and
 * blocks.
 *
 * Faults by number (docs/testing.md): G8, G9, G10, G13, G22.
 */
#define _DEFAULT_SOURCE
#include "node_kinds.h"

enum { CELL = 32 * GRANULE };

/* Up to a cell, a page and more, and a granule longer or shorter; links side by side, and as far
 * apart as they can be. */
static node_kind kinds[] = {
    { 4, 0, 1, NULL },
    { 8, 3, 7, NULL },
    { 64, 0, 63, NULL },
    { 66, 1, 62, NULL },
    { 128, 62, 63, NULL },
    { 190, 0, 31, NULL },
    { PAGE / WORD, 5, 63, NULL },
    { PAGE / WORD + 2, 0, 63, NULL },
    { 66, 0, 64, NULL },
    { 128, 1, 127, NULL },
    { 190, 64, 189, NULL },
    { PAGE / WORD, 5, 511, NULL },
};

static void kinds_start(void)
{
    lab_start();
    node_kinds_open(kinds, COUNT_OF(kinds));
}

static void kinds_end(void)
{
    node_kinds_close(kinds, COUNT_OF(kinds));
    lab_end();
}

/* Nodes side by side with a gap between them, each linked to the next one and to one of chance. */
static void row_of(const node_kind *kind, size_t begin, size_t gap)
{
    unsigned char *node[40];
    random_source random = random_from(bytes_of(kind) + begin * 31 + gap);
    size_t i, count = 0;
    for (i = begin; count < 40 && i + bytes_of(kind) <= LAB_BYTES; i += bytes_of(kind) + gap)
        node[count++] = node_at(i, kind);
    for (i = 0; i < count; i++) {
        link_at(node[i], kind->first, i + 1 < count ? node[i + 1] : NULL);
        link_at(node[i], kind->second,
                random_below(&random, 3) ? node[random_below(&random, count)] : NULL);
    }
    lab_pack(node[0], kind->type, 1);
}

TEST(block_forms, nodes_of_one_kind_are_told_by_their_starts_wherever_cells_and_blocks_end_G13)
{
    size_t i, gap, shift;
    for (i = 0; i < COUNT_OF(kinds); i++)
        for (gap = 0; gap <= 2 * GRANULE; gap += GRANULE)
            for (shift = gap; shift <= CELL; shift += 11 * GRANULE * STEP) {
                kinds_start();
                row_of(&kinds[i], BLOCK - 3 * bytes_of(&kinds[i]) - shift, gap);
                kinds_end();
            }
}

TEST(block_forms, nodes_that_end_where_a_block_ends_need_no_next_one)
{
    size_t i;
    for (i = 0; i < COUNT_OF(kinds); i++) {
        unsigned char *node;
        kinds_start();
        node = node_at(BLOCK - bytes_of(&kinds[i]), &kinds[i]);
        link_at(node, kinds[i].first, node);
        lab_pack(node, kinds[i].type, 1);
        kinds_end();
    }
}

/* Two kinds, by turns, so that each block is of the one first and mixed then, in either order. */
TEST(block_forms, two_kinds_in_one_block_keep_their_slots_in_any_order)
{
    size_t a, b, i;
    for (a = 0; a < COUNT_OF(kinds); a++)
        for (b = a % STEP; b < COUNT_OF(kinds); b += STEP) {
            unsigned char *node[12];
            haul_root roots[12];
            size_t at = BLOCK - 4 * (bytes_of(&kinds[a]) + bytes_of(&kinds[b])) - 5 * GRANULE;
            kinds_start();
            for (i = 0; i < 12; i++) {
                const node_kind *kind = i % 2 ? &kinds[b] : &kinds[a];
                node[i] = node_at(at, kind);
                at += bytes_of(kind) + (i % 3) * GRANULE;
                roots[i].address = node[i];
                roots[i].type = kind->type;
                roots[i].count = 1;
            }
            for (i = 2; i < 12; i++)
                link_at(node[i - 2], (i % 2 ? kinds[b] : kinds[a]).second, node[i]);
            lab_pack_roots(roots, 12);
            kinds_end();
        }
}

/* Bytes and a node, of which the one or the other is found first. */
typedef struct bytes_first {
    unsigned char *bytes;
    void *node;
    size_t n;
} bytes_first;

typedef struct node_first {
    void *node;
    unsigned char *bytes;
    size_t n;
} node_first;

static haul_type *of_node;
static const haul_field bytes_first_fields[] = {
    HAUL_ARRAY(bytes_first, bytes, HAUL_COUNT(bytes_first, n)),
    HAUL_ADDRESS(bytes_first, node, .target = &of_node)
};
static const haul_field node_first_fields[] = {
    HAUL_ARRAY(node_first, bytes, HAUL_COUNT(node_first, n)),
    HAUL_ADDRESS(node_first, node, .target = &of_node)
};

/* A shelf; `n` bytes from `at` on; and a node at `place`. */
static haul_type *shelf_with(unsigned char *bytes, size_t n, unsigned char *node, int is_node_first,
                             void **shelf)
{
    haul_type *type;
    if (is_node_first) {
        node_first *s = take_at(0, sizeof *s);
        s->node = node;
        s->bytes = bytes;
        s->n = n;
        points(&s->node);
        points(&s->bytes);
        *shelf = s;
        CHECK_STATUS(type_make("shelf", sizeof *s, node_first_fields, 2, &type), HAUL_OK);
    } else {
        bytes_first *s = take_at(0, sizeof *s);
        s->bytes = bytes;
        s->node = node;
        s->n = n;
        points(&s->bytes);
        points(&s->node);
        *shelf = s;
        CHECK_STATUS(type_make("shelf", sizeof *s, bytes_first_fields, 2, &type), HAUL_OK);
    }
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

TEST(block_forms, plain_bytes_of_any_size_live_beside_nodes_whichever_is_found_first)
{
    static const size_t sizes[] = { 1,        GRANULE - 1, GRANULE,      CELL,
                                    CELL + 1, 2 * BLOCK,   2 * BLOCK + 5 };
    size_t i, k;
    int is_node_first;
    for (i = 0; i < COUNT_OF(sizes); i++)
        for (k = i % STEP; k < COUNT_OF(kinds); k += STEP)
            for (is_node_first = 0; is_node_first < 2; is_node_first++) {
                unsigned char *bytes, *node;
                haul_type *type;
                void *shelf;
                kinds_start();
                of_node = kinds[k].type;
                node = node_at(2 * BLOCK - bytes_of(&kinds[k]) - GRANULE, &kinds[k]);
                bytes = take_at(2 * BLOCK - GRANULE, sizes[i]);
                fill(bytes, sizes[i]);
                link_at(node, kinds[k].second, node);
                type = shelf_with(bytes, sizes[i], node, is_node_first, &shelf);
                lab_pack(shelf, type, 1);
                haul_type_free(&type);
                kinds_end();
            }
}

/* Bytes over a node: its pointers would be data. */
TEST(block_forms, bytes_over_the_pointers_of_a_node_are_refused_and_over_its_data_allowed_G8_G9)
{
    size_t k;
    int is_node_first;
    for (k = 0; k < COUNT_OF(kinds); k++)
        for (is_node_first = 0; is_node_first < 2; is_node_first++) {
            const node_kind *kind = &kinds[k];
            size_t at = BLOCK - bytes_of(kind) / 2 / GRANULE * GRANULE,
                   behind = (kind->second + 1) * WORD;
            unsigned char *node;
            haul_type *type;
            void *shelf;
            kinds_start();
            of_node = kind->type;
            node = node_at(at, kind);
            type = shelf_with(node, bytes_of(kind), node, is_node_first, &shelf);
            lab_refuse(shelf, type, HAUL_ERROR_GRAPH, is_node_first ? "root.bytes" : "root.node",
                       "pointer");
            haul_type_free(&type);
            if (behind < bytes_of(kind)) {
                type =
                    shelf_with(node + behind, bytes_of(kind) - behind, node, is_node_first, &shelf);
                lab_pack(shelf, type, 1);
                haul_type_free(&type);
            }
            kinds_end();
        }
}

/* A node that begins inside another one, a granule further on, has pointers where the other has
 * data. */
TEST(block_forms, nodes_that_overlap_are_refused_where_their_pointers_differ_G8)
{
    size_t k;
    for (k = 0; k < COUNT_OF(kinds); k++) {
        const node_kind *kind = &kinds[k];
        unsigned char *node;
        if (bytes_of(kind) <= 2 * GRANULE)
            continue;
        kinds_start();
        node = node_at(BLOCK - GRANULE, kind);
        take_at(BLOCK - GRANULE + bytes_of(kind), GRANULE);
        link_at(node, kind->first, node + GRANULE);
        lab_refuse(node, kind->type, HAUL_ERROR_GRAPH, "root.first", "pointer");
        kinds_end();
    }
}

/* Structs of pointers alone, each of which begins within the one before it: their pointers agree.
 */
enum { STRIPS = 40 };

#define STRIP(n)                                                                                   \
    typedef struct strip##n {                                                                      \
        struct strip##n *word[n];                                                                  \
    } strip##n;                                                                                    \
    typedef struct strips##n {                                                                     \
        strip##n *all[STRIPS];                                                                     \
    } strips##n
STRIP(2);
STRIP(3);
STRIP(4);
STRIP(5);
STRIP(9);
STRIP(40);
STRIP(70);

typedef struct strip_kind {
    size_t words;
    haul_field strip, strips;
} strip_kind;

static haul_type *strip_type;
static const strip_kind strip_kinds[] = {
    { 2, HAUL_EACH(strip2, word, .target = &strip_type),
      HAUL_EACH(strips2, all, .target = &strip_type) },
    { 3, HAUL_EACH(strip3, word, .target = &strip_type),
      HAUL_EACH(strips3, all, .target = &strip_type) },
    { 4, HAUL_EACH(strip4, word, .target = &strip_type),
      HAUL_EACH(strips4, all, .target = &strip_type) },
    { 5, HAUL_EACH(strip5, word, .target = &strip_type),
      HAUL_EACH(strips5, all, .target = &strip_type) },
    { 9, HAUL_EACH(strip9, word, .target = &strip_type),
      HAUL_EACH(strips9, all, .target = &strip_type) },
    { 40, HAUL_EACH(strip40, word, .target = &strip_type),
      HAUL_EACH(strips40, all, .target = &strip_type) },
    { 70, HAUL_EACH(strip70, word, .target = &strip_type),
      HAUL_EACH(strips70, all, .target = &strip_type) },
};

static void pack_overlapping(const strip_kind *kind, size_t step, size_t first)
{
    const size_t words = (STRIPS - 1) * step + kind->words;
    haul_type *type;
    void **all, **memory;
    size_t i;
    lab_start();
    strip_type = type_open("strip", kind->words * sizeof(void *), &kind->strip, 1);
    type = type_open("strips", STRIPS * sizeof(void *), &kind->strips, 1);
    type_commit(type);
    all = take(STRIPS * sizeof *all, sizeof *all);
    memory = take_at(BLOCK + first * sizeof(void *), words * sizeof(void *));
    for (i = 0; i < STRIPS; i++) {
        points(&all[i]);
        all[i] = memory + (i * 7 % STRIPS) * step;
    }
    for (i = 0; i < words; i++) {
        points(&memory[i]);
        memory[i] = i % 3 ? memory + (i * 11 % STRIPS) * step : NULL;
    }
    check_note("%zu words, %zu apart, from word %zu on", kind->words, step, first);
    lab_pack(all, type, 1);
    check_note(NULL);
    haul_type_free(&type);
    haul_type_free(&strip_type);
    lab_end();
}

/* The same at the end of a list, when all other structs of the block lie side by side. */
static void pack_list_with_overlap(const strip_kind *kind, size_t step)
{
    enum { NODES = 60 };
    const size_t apart = (kind->words + 2) * sizeof(void *);
    haul_type *type;
    void **node[NODES], **all;
    size_t i, k;
    lab_start();
    strip_type = type_open("strip", kind->words * sizeof(void *), &kind->strip, 1);
    type = type_open("strips", STRIPS * sizeof(void *), &kind->strips, 1);
    type_commit(type);
    all = take(STRIPS * sizeof *all, sizeof *all);
    for (i = 0; i < NODES; i++) {
        node[i] = take_at(BLOCK + i * apart, kind->words * sizeof(void *) + (i == 7) * step * WORD);
        for (k = 0; k < kind->words + (i == 7) * step; k++) {
            points(&node[i][k]);
            node[i][k] = NULL;
        }
    }
    for (i = 0; i < NODES; i++)
        node[i][0] = i + 1 < NODES ? node[i + 1] : node[7] + step;
    for (i = 0; i < STRIPS; i++) {
        points(&all[i]);
        all[i] = i == 0 ? node[0] : NULL;
    }
    check_note("%zu words, overlap %zu apart", kind->words, step);
    lab_pack(all, type, 1);
    check_note(NULL);
    haul_type_free(&type);
    haul_type_free(&strip_type);
    lab_end();
}

TEST(block_forms, structs_of_pointers_that_overlap_become_one_G10)
{
    size_t i, step;
    for (i = 0; i < COUNT_OF(strip_kinds); i++)
        for (step = 1; step <= 2; step++) {
            pack_overlapping(&strip_kinds[i], step, 0);
            pack_overlapping(&strip_kinds[i], step, 1);
            pack_list_with_overlap(&strip_kinds[i], step);
        }
}

/* A large array of plain bytes is one block after another without a cell. */
TEST(block_forms, a_large_array_costs_next_to_nothing_and_its_pages_can_be_pointed_into)
{
    unsigned char *node, *bytes;
    haul_type *type;
    void *shelf;
    kinds_start();
    of_node = kinds[1].type;
    bytes = take_at(BLOCK, 6 * BLOCK);
    fill(bytes, 6 * BLOCK);
    node = node_at(7 * BLOCK, &kinds[1]);
    type = shelf_with(bytes, 6 * BLOCK, node, 0, &shelf);
    lab_pack(shelf, type, 1);
    CHECK(the.statistics.bookkeeping_bytes < 6 * BLOCK / 20);
    haul_type_free(&type);
    kinds_end();
}
