/* Graphs that do not agree with their description: each is refused with a status, the exact path
 * and a sentence; nothing leaks, nothing is written, and the same call works once the graph is
 * repaired.
 *
 * lab_refuse (core_graphs.h) uses four kinds of contexts: checked or not, with the table or with a
 * hash.
 *
 * Faults by number (docs/testing.md): G1-G8, G12, G19, G21, T16 (a callback that refuses).
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "support/open.h"
#include "support/types.h"

typedef struct atom {
    char *name;
    double *values;
    struct atom *next;
    struct atom **bonds;
    int32_t count;
    int32_t bond_count;
} atom;

static haul_type *atom_type;

static void atom_start(void)
{
    static const haul_field fields[] = {
        HAUL_STRING(atom, name),
        HAUL_ARRAY(atom, values, HAUL_COUNT(atom, count)),
        HAUL_OBJECT(atom, next, &atom_type),
        HAUL_POINTERS(atom, bonds, &atom_type, HAUL_COUNT(atom, bond_count)),
    };
    lab_start();
    atom_type = TYPE_OPEN(atom, fields);
    type_commit(atom_type);
}

static void atom_end(void)
{
    haul_type_free(&atom_type);
    lab_end();
}

static atom *atom_make(void)
{
    atom *a = take(sizeof *a, sizeof(double));
    points(&a->name);
    points(&a->values);
    points(&a->next);
    points(&a->bonds);
    return a;
}

static void bonds_make(atom *a, int32_t count)
{
    int32_t i;
    a->bond_count = count;
    a->bonds = take((size_t)count * sizeof *a->bonds, sizeof *a->bonds);
    for (i = 0; i < count; i++)
        points(&a->bonds[i]);
}

/* A list of `count` atoms, each with a name. */
static atom *atoms_make(size_t count)
{
    atom *first = NULL, *a;
    while (count--) {
        a = atom_make();
        a->name = text("atom");
        a->next = first;
        first = a;
    }
    return first;
}

/* ---- Roots (G1). */

static void refuse_roots(const haul_root *roots, size_t count, haul_status expected,
                         const char *part)
{
    int variant;
    for (variant = 0; variant < VARIANTS; variant++)
        refuse_variant(roots, count, variant, expected, "", part);
}

TEST(graph_faults, a_null_root_no_roots_and_roots_of_nothing_are_wrong_arguments_G1)
{
    haul_root roots[2];
    atom_start();
    roots[0].address = roots[1].address = atom_make();
    roots[0].type = roots[1].type = atom_type;
    roots[0].count = roots[1].count = 1;
    refuse_roots(NULL, 1, HAUL_ERROR_ARGUMENT, "list of roots is NULL");
    refuse_roots(roots, 0, HAUL_ERROR_ARGUMENT, "number of roots is 0");
    roots[1].address = NULL;
    refuse_roots(roots, 2, HAUL_ERROR_ARGUMENT, "root 1 is NULL");
    roots[1].address = roots[0].address;
    roots[1].count = 0;
    refuse_roots(roots, 2, HAUL_ERROR_ARGUMENT, "root 1 is 0 objects");
    roots[1].count = 1;
    roots[1].type = NULL;
    refuse_roots(roots, 2, HAUL_ERROR_ARGUMENT, "root 1");
    roots[1].type = atom_type;
    lab_pack_roots(roots, 2);
    atom_end();
}

TEST(graph_faults, a_type_that_is_open_makes_no_root)
{
    haul_root root;
    haul_type *open;
    atom_start();
    open = type_open("open", 8, NULL, 0);
    root.address = take(8, 8);
    root.type = open;
    root.count = 1;
    refuse_roots(&root, 1, HAUL_ERROR_STATE, "type open of root 0 is not committed");
    type_commit(open);
    lab_pack_roots(&root, 1);
    haul_type_free(&open);
    atom_end();
}

TEST(graph_faults, no_context_or_no_place_for_the_plan_is_a_wrong_argument)
{
    haul_root root;
    haul_plan *plan;
    int mark;
    atom_start();
    root.address = atom_make();
    root.type = atom_type;
    root.count = 1;
    plan = (haul_plan *)(void *)&mark;
    CHECK_STATUS(haul_plan_create(NULL, haul_from_roots(&root, 1), NULL, &plan),
                 HAUL_ERROR_ARGUMENT);
    CHECK_PTR(plan, NULL);
    lab_open_context(CHECKED);
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, NULL),
                 HAUL_ERROR_ARGUMENT);
    haul_plan_free(NULL);
    haul_plan_free(&plan);
    atom_end();
}

/* ---- Counts (G2-G5). */

TEST(graph_faults, a_null_pointer_with_a_count_is_refused_G2)
{
    atom *a;
    atom_start();
    a = atoms_make(3);
    a->next->count = 7;
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.next.values", "a NULL pointer with count 7");
    a->next->count = 0;
    lab_pack(a, atom_type, 1);
    a->next->bond_count = 1;
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.next.bonds", "a NULL pointer with count 1");
    bonds_make(a->next, 1);
    lab_pack(a, atom_type, 1);
    atom_end();
}

typedef struct counts {
    int8_t s8;
    int16_t s16;
    int32_t s32;
    int64_t s64;
    char *a8, *a16, *a32, *a64;
} counts;

TEST(graph_faults, a_negative_count_of_any_width_is_refused_G3)
{
    static const haul_field fields[] = { HAUL_ARRAY(counts, a8, HAUL_COUNT(counts, s8)),
                                         HAUL_ARRAY(counts, a16, HAUL_COUNT(counts, s16)),
                                         HAUL_ARRAY(counts, a32, HAUL_COUNT(counts, s32)),
                                         HAUL_ARRAY(counts, a64, HAUL_COUNT(counts, s64)) };
    static const char *const paths[] = { "root.a8", "root.a16", "root.a32", "root.a64" };
    haul_type *type;
    counts *c;
    int i;
    lab_start();
    type = TYPE_OPEN(counts, fields);
    type_commit(type);
    c = take(sizeof *c, sizeof(int64_t));
    points(&c->a8);
    points(&c->a16);
    points(&c->a32);
    points(&c->a64);
    c->a8 = c->a16 = c->a32 = c->a64 = take(10, 1);
    c->s8 = 10;
    for (i = 0; i < 4; i++) {
        c->s8 = i == 0 ? -1 : 10;
        c->s16 = i == 1 ? -2 : 0;
        c->s32 = i == 2 ? -3 : 0;
        c->s64 = i == 3 ? INT64_MIN : 0;
        lab_refuse(c, type, HAUL_ERROR_GRAPH, paths[i], "count -");
    }
    c->s64 = 0;
    lab_pack(c, type, 1);
    haul_type_free(&type);
    lab_end();
}

TEST(graph_faults, the_smallest_values_of_each_width_are_negative_counts_too_G3)
{
    static const haul_field fields[] = { HAUL_ARRAY(counts, a8, HAUL_COUNT_PLUS(counts, s8, 100)),
                                         HAUL_ARRAY(counts, a16,
                                                    HAUL_COUNT_TIMES(counts, s16, -1)) };
    haul_type *type;
    counts *c;
    lab_start();
    type = TYPE_OPEN(counts, fields);
    type_commit(type);
    c = take(sizeof *c, sizeof(int64_t));
    points(&c->a8);
    points(&c->a16);
    c->a8 = take(100, 1);
    c->a16 = c->a8;
    c->s8 = INT8_MIN;
    lab_refuse(c, type, HAUL_ERROR_GRAPH, "root.a8", "count -128");
    c->s8 = 0;
    c->s16 = 5;
    lab_refuse(c, type, HAUL_ERROR_GRAPH, "root.a16", "count -5");
    c->s16 = 0;
    lab_pack(c, type, 1);
    haul_type_free(&type);
    lab_end();
}

TEST(graph_faults, an_unsigned_count_described_as_signed_is_named_not_read_as_huge_G3)
{
    static const haul_field fields[] = { HAUL_ARRAY(counts, a8, HAUL_COUNT(counts, s8)) };
    haul_type *type;
    counts *c;
    lab_start();
    type = TYPE_OPEN(counts, fields);
    type_commit(type);
    c = take(sizeof *c, sizeof(int64_t));
    points(&c->a8);
    memset(&c->s8, 200, 1);
    c->a8 = take(200, 1);
    lab_refuse(c, type, HAUL_ERROR_GRAPH, "root.a8", "count -56 in the field");
    c->s8 = 100;
    memset(the.what + lab_offset(c->a8) + 100, OF_NOBODY, 100);
    lab_pack(c, type, 1);
    haul_type_free(&type);
    lab_end();
}

typedef struct grid {
    int64_t n, m, l;
    uint64_t u;
    double *area, *volume, *all, *plus;
} grid;

static haul_type *grid_type;

static grid *grid_start(void)
{
    static const haul_field fields[] = { HAUL_ARRAY(grid, area, HAUL_COUNT(grid, n, m)),
                                         HAUL_ARRAY(grid, volume, HAUL_COUNT(grid, n, m, l)),
                                         HAUL_ARRAY(grid, all, HAUL_COUNT(grid, u)),
                                         HAUL_ARRAY(grid, plus, HAUL_COUNT_PLUS(grid, l, 5)) };
    grid *g;
    lab_start();
    grid_type = TYPE_OPEN(grid, fields);
    type_commit(grid_type);
    g = take(sizeof *g, sizeof(double));
    points(&g->area);
    points(&g->volume);
    points(&g->all);
    points(&g->plus);
    g->area = g->volume = g->all = g->plus = take(5 * sizeof(double), sizeof(double));
    return g;
}

static void grid_end(void)
{
    haul_type_free(&grid_type);
    lab_end();
}

TEST(graph_faults, products_and_sums_that_overflow_are_limits_before_any_read_G4)
{
    grid *g = grid_start();
    g->n = (int64_t)1 << 32;
    g->m = (int64_t)1 << 31;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.area", "overflow");
    g->n = 1;
    g->m = INT64_MAX;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.area", "");
    g->n = g->m = 0;
    g->u = UINT64_MAX;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.all", "above 2^63");
    g->u = SIZE_MAX / sizeof(double) + 2;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.all", "overflow");
    g->u = 0;
    g->l = INT64_MAX;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.plus", "overflow");
    g->l = 0;
    lab_pack(g, grid_type, 1);
    grid_end();
}

TEST(graph_faults, a_product_whose_last_factor_is_zero_is_zero)
{
    grid *g = grid_start();
    g->n = g->m = 1;
    g->l = 0;
    lab_pack(g, grid_type, 1);
    CHECK_EQ(the.statistics.graph_bytes, sizeof *g + 5 * sizeof(double));
    grid_end();
}

TEST(graph_faults, a_huge_count_over_little_memory_is_a_limit_where_one_is_set_G5)
{
    grid *g = grid_start();
    g->u = (uint64_t)1 << 26;
    the.options.max_array_elements = 1000;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.all", "array_elements");
    the.options.max_array_elements = 0;
    the.options.max_bytes = 4096;
    lab_refuse(g, grid_type, HAUL_ERROR_LIMIT, "root.all", "limit of 4096");
    g->u = 5;
    lab_pack(g, grid_type, 1);
    grid_end();
}

static int in_the_lab(void *user, const void *address, size_t bytes)
{
    size_t at = lab_offset(address);
    (void)user;
    return at < LAB_BYTES && bytes <= LAB_BYTES - at;
}

TEST(graph_faults, a_huge_count_over_little_memory_is_refused_where_the_range_is_asked_for_G5)
{
    grid *g = grid_start();
    g->u = LAB_BYTES;
    the.options.readable = in_the_lab;
    lab_refuse(g, grid_type, HAUL_ERROR_GRAPH, "root.all", "not readable");
    g->u = 5;
    lab_pack(g, grid_type, 1);
    grid_end();
}

/* ---- Pointers (G6, G7). */

TEST(graph_faults, a_misaligned_pointer_is_refused_G6)
{
    atom *a, *good;
    unsigned by;
    atom_start();
    a = atoms_make(4);
    good = a->next->next;
    for (by = 1; by < sizeof(void *); by++) {
        char part[80];
        a->next->next = (atom *)(void *)((char *)good + by);
        snprintf(part, sizeof part, "modulo %zu is %u", sizeof(void *), by);
        lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.next.next", part);
    }
    a->next->next = good;
    bonds_make(a, 3);
    a->bonds[2] = (atom *)(void *)((char *)good + 4);
    if (sizeof(void *) > 4)
        lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.bonds[2]", "misaligned");
    a->bonds[2] = good;
    a->bonds = (atom **)(void *)((char *)a->bonds + 1);
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.bonds", "misaligned");
    a->bonds = (atom **)(void *)((char *)a->bonds - 1);
    lab_pack(a, atom_type, 1);
    lab_refuse((char *)a + 2, atom_type, HAUL_ERROR_GRAPH, "root", "misaligned");
    atom_end();
}

TEST(graph_faults, a_pointer_off_a_declared_alignment_is_refused_G6)
{
    typedef struct holder {
        void *at;
    } holder;
    static haul_type *line_type, *holder_type;
    static const haul_field fields[] = { HAUL_ADDRESS(holder, at, .target = &line_type) };
    size_t alignment;
    for (alignment = 32; alignment <= 4096; alignment *= 2) {
        holder *h;
        char *line;
        lab_start();
        line_type = type_new(
            &(const haul_struct){ .name = "line", .bytes = alignment, .alignment = alignment });
        holder_type = TYPE_OPEN(holder, fields);
        type_commit(holder_type);
        h = take(sizeof *h, sizeof(void *));
        points(&h->at);
        line = take(alignment, alignment);
        h->at = line + alignment / 2;
        lab_refuse(h, holder_type, HAUL_ERROR_GRAPH, "root.at", "misaligned");
        h->at = line;
        lab_pack(h, holder_type, 1);
        haul_type_free(&holder_type);
        haul_type_free(&line_type);
        lab_end();
    }
}

TEST(graph_faults, addresses_that_are_no_ones_are_refused_G7)
{
    atom *a;
    uintptr_t bad[6] = { 8, 4088, UINTPTR_MAX - 7, UINTPTR_MAX & ~(uintptr_t)7 };
    int i, count = 4;
    atom_start();
    a = atoms_make(2);
    if (sizeof(void *) == 8) {
        bad[2] = (uintptr_t)UINT64_C(0x0001000000000000);                /* non-canonical */
        bad[3] = (uintptr_t)UINT64_C(0xffff800000001000);                /* the kernel's */
        bad[4] = (uintptr_t)a | (uintptr_t)UINT64_C(0x0008000000000000); /* an address of 52 bits */
        /* a tag that some processors ignore */
        bad[5] = (uintptr_t)a | (uintptr_t)UINT64_C(0x5a00000000000000);
        count = 6;
    }
    for (i = 0; i < count; i++) {
        a->next = (atom *)bad[i];
        lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.next",
                   "outside any process's address range");
        a->next = NULL;
        bonds_make(a, 2);
        a->bonds[1] = (atom *)bad[i];
        lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.bonds[1]",
                   "outside any process's address range");
        a->bonds[1] = NULL;
    }
    a->name = (char *)(uintptr_t)1;
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.name", "outside any process's address range");
    a->name = NULL;
    memset(the.what, OF_NOBODY, LAB_BYTES);
    memset(the.what + lab_offset(a), OF_DATA, sizeof *a);
    points(&a->name);
    points(&a->values);
    points(&a->next);
    points(&a->bonds);
    memset(the.what + lab_offset(a->bonds), OF_POINTER, 2 * sizeof(void *));
    lab_pack(a, atom_type, 1);
    atom_end();
}

/* Nodes of whole granules take the innermost loops: by themselves, and in arrays of pointers. */
typedef struct plain_node {
    struct plain_node *next, *other;
    void *data[2];
} plain_node;

typedef struct node_table {
    plain_node **node;
    int64_t count;
} node_table;

static void refuse_in_nodes(uintptr_t bad, const haul_type *node_type, const haul_type *table_type)
{
    plain_node *first = take(sizeof *first, GRANULE), *second = take(sizeof *second, GRANULE);
    node_table *table = take(sizeof *table, GRANULE);
    plain_node **nodes = take(2 * sizeof *nodes, GRANULE);
    first->next = second;
    second->other = (plain_node *)bad;
    lab_refuse(first, node_type, HAUL_ERROR_GRAPH, "root.next.other",
               "outside any process's address range");
    first->other = first;
    lab_refuse(first, node_type, HAUL_ERROR_GRAPH, "root.next.other",
               "outside any process's address range");
    first->next = (plain_node *)bad;
    second->other = NULL;
    lab_refuse(first, node_type, HAUL_ERROR_GRAPH, "root.next",
               "outside any process's address range");
    table->node = nodes;
    table->count = 2;
    nodes[0] = second;
    nodes[1] = (plain_node *)bad;
    lab_refuse(table, table_type, HAUL_ERROR_GRAPH, "root.node[1]",
               "outside any process's address range");
}

TEST(graph_faults, addresses_that_are_no_ones_are_refused_in_nodes_of_whole_granules_too_G7)
{
    static haul_type *node_type, *table_type;
    static const haul_field node_fields[] = { HAUL_OBJECT(plain_node, next, &node_type),
                                              HAUL_OBJECT(plain_node, other, &node_type) };
    static const haul_field table_fields[] = { HAUL_POINTERS(node_table, node, &node_type,
                                                             HAUL_COUNT(node_table, count)) };
    lab_start();
    node_type = TYPE_OPEN(plain_node, node_fields);
    type_commit(node_type);
    table_type = TYPE_OPEN(node_table, table_fields);
    type_commit(table_type);
    refuse_in_nodes(UINTPTR_MAX & ~(uintptr_t)15, node_type, table_type);
    if (sizeof(void *) == 8) {
        refuse_in_nodes((uintptr_t)UINT64_C(0x0001000000000000), node_type, table_type);
        refuse_in_nodes((uintptr_t)UINT64_C(0xffff800000001000), node_type, table_type);
    }
    haul_type_free(&node_type);
    haul_type_free(&table_type);
    lab_end();
}

TEST(graph_faults, a_misaligned_one_is_refused_whatever_stands_there_G7)
{
    atom *a;
    atom_start();
    a = atoms_make(1);
    a->next = (atom *)(uintptr_t)1;
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.next", "");
    a->next = NULL;
    lab_pack(a, atom_type, 1);
    atom_end();
}

TEST(graph_faults, a_dangling_pointer_is_refused_where_ranges_are_asked_for_G7)
{
    atom *a;
    atom_start();
    the.options.readable = in_the_lab;
    a = atoms_make(3);
    a->next->next->next = (atom *)(void *)(the.memory + LAB_BYTES + 64);
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root(.next)*3", "not readable");
    /* begins inside, ends outside */
    a->next->next->next = (atom *)(void *)(the.memory + LAB_BYTES - 8);
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root(.next)*3", "not readable");
    a->next->next->next = NULL;
    lab_pack(a, atom_type, 1);
    atom_end();
}

/* ---- Conflicts (G8). */

typedef struct two_ways {
    atom *as_atom;
    char *as_bytes;
    struct other *as_other;
} two_ways;

typedef struct other {
    char *name;
    char rest[sizeof(atom) - sizeof(char *)];
} other;

static haul_type *two_ways_type, *other_type;

static two_ways *two_ways_start(const haul_field *fields, size_t count)
{
    static const haul_field other_fields[] = { HAUL_STRING(other, name) };
    two_ways *t;
    atom_start();
    other_type = TYPE_OPEN(other, other_fields);
    two_ways_type = type_open("two_ways", sizeof(two_ways), fields, count);
    type_commit(other_type);
    type_commit(two_ways_type);
    t = take(sizeof *t, sizeof(void *));
    points(&t->as_atom);
    points(&t->as_bytes);
    points(&t->as_other);
    return t;
}

static void two_ways_end(void)
{
    haul_type_free(&two_ways_type);
    haul_type_free(&other_type);
    atom_end();
}

static void lab_refuse_both(void *root, const haul_type *type, const char *path,
                            const char *other_path)
{
    haul_root one;
    int variant;
    one.address = root;
    one.type = type;
    one.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        refuse_variant(&one, 1, variant, HAUL_ERROR_GRAPH, path,
                       "a word is a pointer for one description and data");
        CHECK_STR(haul_context_error(the.context)->other_path, "");
        lab_drop();
        lab_open_context(variant);
        {
            haul_plan *none;
            CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&one, 1), NULL, &none),
                         HAUL_ERROR_GRAPH);
            CHECK_STR(haul_context_error(the.context)->path, path);
            CHECK_STR(haul_context_error(the.context)->other_path, other_path);
        }
    }
    lab_drop();
    check_note(NULL);
}

TEST(graph_faults, a_word_that_is_pointer_and_data_is_refused_with_both_paths_G8)
{
    static const haul_field fields[] = { HAUL_OBJECT(two_ways, as_atom, &atom_type),
                                         HAUL_ARRAY(two_ways, as_bytes,
                                                    HAUL_FIXED(sizeof(void *))) };
    two_ways *t = two_ways_start(fields, 2);
    points(&t->as_other);
    memset(the.what + lab_offset(&t->as_other), OF_DATA, WORD);
    t->as_atom = atom_make();
    t->as_bytes = (char *)&t->as_atom->next;
    lab_refuse_both(t, two_ways_type, "root.as_bytes", "root.as_atom.next");
    t->as_bytes = (char *)&t->as_atom->count - 1 + 1;
    lab_pack(t, two_ways_type, 1);
    two_ways_end();
}

TEST(graph_faults, data_first_and_pointer_afterwards_is_refused_as_well_G8)
{
    static const haul_field fields[] = { HAUL_ARRAY(two_ways, as_bytes, HAUL_FIXED(sizeof(atom))),
                                         HAUL_OBJECT(two_ways, as_other, &other_type) };
    two_ways *t = two_ways_start(fields, 2);
    atom *a = atom_make();
    memset(the.what + lab_offset(a), OF_DATA, sizeof *a);
    memset(the.what + lab_offset(&t->as_atom), OF_DATA, WORD);
    t->as_bytes = (char *)a;
    t->as_other = (other *)(void *)a;
    lab_refuse_both(t, two_ways_type, "root.as_other", "root.as_bytes[0]");
    t->as_other = NULL;
    lab_pack(t, two_ways_type, 1);
    two_ways_end();
}

/* In unchecked contexts this object is marked in line, inside a cell or over the end of one. */
TEST(graph_faults,
     a_few_bytes_of_a_pointer_described_as_data_before_its_object_is_found_are_refused_G8)
{
    typedef struct bead {
        struct bead *next;
        char *bytes;
        uintptr_t rest[2];
    } bead;
    static const size_t places[] = { 0, 32 * GRANULE - GRANULE, BLOCK - GRANULE };
    static haul_type *bead_type;
    static const haul_field fields[] = { HAUL_OBJECT(bead, next, &bead_type),
                                         HAUL_ARRAY(bead, bytes, HAUL_FIXED(3)) };
    size_t p, i;
    for (p = 0; p < COUNT_OF(places); p++) {
        bead *first = NULL, *last = NULL;
        lab_start();
        bead_type = TYPE_OPEN(bead, fields);
        type_commit(bead_type);
        for (i = 0; i < 3; i++) {
            bead *b = i ? take(sizeof *b, GRANULE) : take_at(BLOCK + places[p], sizeof *b);
            points(&b->next);
            points(&b->bytes);
            b->next = first;
            first = b;
            last = last ? last : b;
        }
        first->bytes = (char *)last + 1;
        lab_refuse_both(first, bead_type, "root.next.next", "root.bytes[0]");
        first->bytes = (char *)last + 2 * sizeof(void *) + 1;
        lab_pack(first, bead_type, 1);
        /* over the end of a pointer into data */
        first->bytes = (char *)last + 2 * sizeof(void *) - 1;
        lab_refuse_both(first, bead_type, "root.next.next", "root.bytes[0]");
        haul_type_free(&bead_type);
        lab_end();
    }
}

TEST(graph_faults, one_address_as_two_types_with_the_same_words_is_refused_in_checked_contexts_G8)
{
    typedef struct twin {
        char *name;
        char rest[sizeof(atom) - sizeof(char *)];
    } twin;
    static haul_type *twin_type;
    static const haul_field twin_fields[] = { HAUL_STRING(twin, name) };
    typedef struct pair {
        other *first;
        twin *second;
    } pair;
    static const haul_field pair_fields[] = { HAUL_OBJECT(pair, first, &other_type),
                                              HAUL_OBJECT(pair, second, &twin_type) };
    haul_type *pair_type;
    pair *p;
    static const haul_field other_fields[] = { HAUL_STRING(other, name) };
    lab_start();
    other_type = TYPE_OPEN(other, other_fields);
    twin_type = TYPE_OPEN(twin, twin_fields);
    pair_type = TYPE_OPEN(pair, pair_fields);
    type_commit(pair_type);
    p = take(sizeof *p, sizeof(void *));
    points(&p->first);
    points(&p->second);
    p->first = take(sizeof(other), sizeof(void *));
    points(&p->first->name);
    p->second = (twin *)(void *)p->first;
    lab_refuse_checked(p, pair_type, "root.second", "root.first");
    p->second = NULL;
    lab_pack(p, pair_type, 1);
    haul_type_free(&pair_type);
    haul_type_free(&twin_type);
    haul_type_free(&other_type);
    lab_end();
}

TEST(graph_faults, one_object_as_two_roots_of_two_types_is_refused_with_the_names_of_both_G8)
{
    static const haul_field atom_refs_alone[] = { HAUL_STRING(atom, name) };
    haul_type *types[2];
    haul_root roots[2];
    haul_plan *none;
    size_t i;
    int variant;
    atom *a;
    lab_start();
    a = take(sizeof *a, sizeof(void *));
    points(&a->name);
    for (i = 0; i < 2; i++) {
        types[i] = type_open(i ? "ion" : "atom", sizeof *a, atom_refs_alone, 1);
        type_commit(types[i]);
        roots[i].address = a;
        roots[i].type = types[i];
        roots[i].count = 1;
    }
    for (variant = CHECKED; variant < VARIANTS; variant += 2) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, 2), NULL, &none),
                     HAUL_ERROR_GRAPH);
        CHECK_STR(haul_context_error(the.context)->path, "roots[1]");
        CHECK_STR(haul_context_error(the.context)->other_path, "roots[0]");
        CHECK_HAS(haul_context_error(the.context)->text,
                  "one address is reached as a ion and as a atom");
    }
    haul_type_free(&types[0]);
    haul_type_free(&types[1]);
    lab_end();
}

TEST(graph_faults, one_pointer_word_with_two_targets_is_refused_in_checked_contexts_G8)
{
    typedef struct slots {
        char **strings;
        atom **atoms;
    } slots;
    static const haul_field fields[] = { HAUL_ARRAYS(slots, strings, HAUL_FIXED(1), HAUL_FIXED(3)),
                                         HAUL_POINTERS(slots, atoms, &atom_type, HAUL_FIXED(1)) };
    haul_type *type;
    slots *s;
    haul_root root;
    int variant;
    atom_start();
    type = TYPE_OPEN(slots, fields);
    type_commit(type);
    s = take(sizeof *s, sizeof(void *));
    points(&s->strings);
    points(&s->atoms);
    s->atoms = take(sizeof(void *), sizeof(void *));
    points(s->atoms);
    s->strings = (char **)(void *)s->atoms;
    root.address = s;
    root.type = type;
    root.count = 1;
    for (variant = CHECKED; variant < VARIANTS; variant += 2) {
        haul_plan *none;
        lab_drop();
        lab_open_context(variant);
        s->atoms[0] = atom_make();
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &none),
                     HAUL_ERROR_GRAPH);
        CHECK_PTR(none, NULL);
        s->atoms[0] = NULL;
    }
    haul_type_free(&type);
    atom_end();
}

/* ---- Ranges. */

typedef struct range {
    int32_t *begin, *end;
} range;

TEST(graph_faults, an_end_before_its_begin_or_between_elements_is_refused)
{
    static const haul_field fields[] = { HAUL_ARRAY(range, begin, HAUL_UNTIL(range, end)) };
    haul_type *type;
    range *r;
    lab_start();
    type = TYPE_OPEN(range, fields);
    type_commit(type);
    r = take(sizeof *r, sizeof(void *));
    points(&r->begin);
    points(&r->end);
    r->begin = take(40, 4);
    r->end = r->begin - 1;
    lab_refuse(r, type, HAUL_ERROR_GRAPH, "root.begin", "its end lies before its begin");
    r->end = NULL;
    lab_refuse(r, type, HAUL_ERROR_GRAPH, "root.begin", "its end lies before its begin");
    r->end = (int32_t *)(void *)((char *)r->begin + 39);
    lab_refuse(r, type, HAUL_ERROR_GRAPH, "root.begin",
               "39 bytes on, no multiple of the element's 4 bytes");
    r->end = r->begin + 10;
    lab_pack(r, type, 1);
    r->begin = NULL;
    lab_refuse(r, type, HAUL_ERROR_GRAPH, "root.begin", "");
    haul_type_free(&type);
    lab_end();
}

/* ---- Terminators (G19). */

TEST(graph_faults, a_string_without_an_end_is_a_limit_and_is_read_no_further_G19)
{
    atom *a;
    atom_start();
    a = atom_make();
    a->next = atom_make();
    a->next->name = take_at_page_end(100);
    memset(a->next->name, 'x', 100);
    the.options.max_scan_bytes = 100;
    lab_refuse(a, atom_type, HAUL_ERROR_LIMIT, "root.next.name",
               "no terminator within 100 bytes (limit scan_bytes)");
    the.options.max_scan_bytes = 60;
    lab_refuse(a, atom_type, HAUL_ERROR_LIMIT, "root.next.name", "60");
    the.options.max_scan_bytes = 100;
    a->next->name[99] = '\0';
    lab_pack(a, atom_type, 1);
    the.options.max_scan_bytes = SIZE_MAX;
    lab_pack(a, atom_type, 1);
    atom_end();
}

typedef struct sentinels {
    int32_t *numbers;
    atom **atoms;
} sentinels;

TEST(graph_faults, arrays_without_their_sentinel_are_limits_too_G19)
{
    static const haul_field fields[] = { HAUL_ARRAY(sentinels, numbers, HAUL_TERMINATED_BY(-1)),
                                         HAUL_POINTERS(sentinels, atoms, &atom_type,
                                                       HAUL_TERMINATED) };
    haul_type *type;
    sentinels *s;
    int i;
    atom_start();
    type = TYPE_OPEN(sentinels, fields);
    type_commit(type);
    s = take(sizeof *s, sizeof(void *));
    points(&s->numbers);
    points(&s->atoms);
    s->numbers = take_at_page_end(10 * sizeof(int32_t));
    the.options.max_scan_bytes = 10 * sizeof(int32_t);
    lab_refuse(s, type, HAUL_ERROR_LIMIT, "root.numbers", "no terminator");
    s->numbers[9] = -1;
    the.options.max_scan_bytes = 10 * sizeof(void *) + 3;
    s->atoms = take_at_page_end(10 * sizeof(void *));
    for (i = 0; i < 10; i++) {
        points(&s->atoms[i]);
        s->atoms[i] = (atom *)(void *)s; /* never looked at */
    }
    memset(s->atoms + 10, 1, 3);
    memset(the.what + lab_offset(s->atoms + 10), OF_DATA, 3);
    lab_refuse(s, type, HAUL_ERROR_LIMIT, "root.atoms", "no terminator");
    memset(the.what + lab_offset(s->atoms + 10), OF_NOBODY, 3);
    memset(s->atoms, 0, 10 * sizeof(void *));
    memset(the.what + lab_offset(&s->atoms[1]), OF_NOBODY, 9 * sizeof(void *));
    lab_pack(s, type, 1);
    haul_type_free(&type);
    atom_end();
}

TEST(graph_faults, a_string_that_runs_into_a_page_one_must_not_read_is_refused_G19)
{
    atom *a;
    atom_start();
    the.options.readable = in_the_lab;
    a = atoms_make(1);
    a->name = take_at(LAB_BYTES - 50, 50);
    memset(a->name, 'x', 50);
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.name", "not readable");
    a->name[49] = '\0';
    memset(the.what, OF_NOBODY, LAB_BYTES - 50);
    memset(the.what + lab_offset(a), OF_DATA, sizeof *a);
    points(&a->name);
    points(&a->values);
    points(&a->next);
    points(&a->bonds);
    lab_pack(a, atom_type, 1);
    atom_end();
}

/* ---- Limits (G21). */

TEST(graph_faults, the_limit_of_objects_holds_for_lists_and_arrays_G21)
{
    atom *a;
    haul_root root;
    haul_plan *plan;
    int variant;
    atom_start();
    a = atoms_make(20);
    root.address = a;
    root.type = atom_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        the.options.max_objects = 39; /* 20 atoms and 20 names */
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_ERROR_LIMIT);
        CHECK_HAS(haul_context_error(the.context)->text, "limit of 39 objects");
        CHECK_HAS(haul_context_error(the.context)->path, "root");
        lab_drop();
        the.options.max_objects = 40;
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_OK);
        haul_plan_free(&plan);
    }
    atom_end();
}

TEST(graph_faults, the_limit_of_bytes_is_one_budget_for_all_roots_G21)
{
    haul_root roots[2];
    haul_plan *plan;
    int variant;
    atom_start();
    roots[0].address = atom_make();
    roots[1].address = atom_make();
    roots[0].type = roots[1].type = atom_type;
    roots[0].count = roots[1].count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        the.options.max_bytes = 2 * sizeof(atom) - 1;
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, 1), NULL, &plan),
                     HAUL_OK);
        haul_plan_free(&plan);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, 2), NULL, &plan),
                     HAUL_ERROR_LIMIT);
        lab_drop();
        the.options.max_bytes = 2 * sizeof(atom);
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(roots, 2), NULL, &plan),
                     HAUL_OK);
        haul_plan_free(&plan);
    }
    atom_end();
}

/* Counts what is asked for. */
typedef struct meter {
    size_t bytes, peak;
} meter;

static void *meter_allocate(void *user, size_t bytes, size_t alignment)
{
    meter *m = user;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment < 16 ? 16 : alignment, bytes) != 0)
        return NULL;
    m->bytes += bytes;
    if (m->peak < m->bytes)
        m->peak = m->bytes;
    return memory;
}

static void meter_release(void *user, void *memory, size_t bytes)
{
    meter *m = user;
    m->bytes -= bytes;
    free(memory);
}

TEST(graph_faults, what_is_too_large_is_refused_before_memory_is_taken_for_it_G21)
{
    grid *g = grid_start();
    meter m = { 0, 0 };
    haul_allocator allocator;
    haul_context_options options;
    haul_context *context;
    haul_root root;
    haul_plan *plan;
    memset(&allocator, 0, sizeof allocator);
    memset(&options, 0, sizeof options);
    allocator.user = &m;
    allocator.allocate = meter_allocate;
    allocator.release = meter_release;
    test_allocator(&options, &allocator);
    options.max_bytes = (size_t)1 << 20;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    g->u = (uint64_t)1 << 27; /* a GiB of doubles */
    root.address = g;
    root.type = grid_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan),
                 HAUL_ERROR_LIMIT);
    CHECK(m.peak < 100000 + TEAM_BYTES);
    haul_context_free(&context);
    CHECK_EQ(m.bytes, 0);
    grid_end();
}

/* ---- Callbacks. */

static int64_t callback_answer;

static int64_t answer(const haul_here *here)
{
    (void)here;
    return callback_answer;
}

TEST(graph_faults, a_callback_that_refuses_is_named_with_its_answer_T16)
{
    typedef struct told {
        char *bytes;
    } told;
    static const haul_field fields[] = { HAUL_ARRAY(told, bytes, HAUL_COUNT_FN(answer)) };
    haul_type *type;
    told *t;
    lab_start();
    type = TYPE_OPEN(told, fields);
    type_commit(type);
    t = take(sizeof *t, sizeof(void *));
    points(&t->bytes);
    t->bytes = take(5, 1);
    callback_answer = -17;
    lab_refuse(t, type, HAUL_ERROR_GRAPH, "root.bytes", "its callback answered -17");
    callback_answer = INT64_MAX;
    lab_refuse(t, type, sizeof(void *) > 4 ? HAUL_ERROR_GRAPH : HAUL_ERROR_LIMIT, "root.bytes", "");
    callback_answer = 5;
    lab_pack(t, type, 1);
    haul_type_free(&type);
    lab_end();
}

/* ---- Paths. */

TEST(graph_faults, the_path_says_which_element_of_which_array)
{
    haul_root roots[2];
    atom *a, *array;
    int i;
    atom_start();
    a = atom_make();
    bonds_make(a, 5);
    a->bonds[3] = atom_make();
    bonds_make(a->bonds[3], 2);
    a->bonds[3]->bonds[1] = atom_make();
    a->bonds[3]->bonds[1]->count = -4;
    lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, "root.bonds[3].bonds[1].values", "count -4");
    a->bonds[3]->bonds[1]->count = 0;
    array = atom_make();
    for (i = 0; i < 7; i++)
        atom_make();
    array[6].next = atom_make();
    array[6].next->count = -1;
    roots[0].address = a;
    roots[1].address = array;
    roots[0].type = roots[1].type = atom_type;
    roots[0].count = 1;
    roots[1].count = 8;
    for (i = 0; i < VARIANTS; i++)
        refuse_variant(roots, 2, i, HAUL_ERROR_GRAPH, "roots[1][6].next.values", "count -1");
    array[6].next->count = 0;
    lab_pack_roots(roots, 2);
    atom_end();
}

TEST(graph_faults, the_path_goes_through_embedded_structs_and_arrays_of_pointers_in_them)
{
    typedef struct part {
        char *names[2];
        int32_t count;
        double *values;
    } part;
    typedef struct whole {
        part parts[3];
        part one;
    } whole;
    static haul_type *part_type;
    static const haul_field part_fields[] = { HAUL_EACH(part, names, .count = HAUL_TERMINATED),
                                              HAUL_ARRAY(part, values, HAUL_COUNT(part, count)) };
    static const haul_field whole_fields[] = { HAUL_EMBED(whole, parts, &part_type),
                                               HAUL_EMBED(whole, one, &part_type) };
    haul_type *whole_type;
    whole *w;
    part *p;
    lab_start();
    part_type = TYPE_OPEN(part, part_fields);
    whole_type = TYPE_OPEN(whole, whole_fields);
    type_commit(whole_type);
    w = take(sizeof *w, sizeof(double));
    for (p = w->parts; p <= &w->one; p++) {
        points(&p->names[0]);
        points(&p->names[1]);
        points(&p->values);
    }
    w->parts[2].count = -2;
    lab_refuse(w, whole_type, HAUL_ERROR_GRAPH, "root.parts[2].values", "count -2");
    w->parts[2].count = 0;
    w->one.names[1] = (char *)(uintptr_t)3;
    lab_refuse(w, whole_type, HAUL_ERROR_GRAPH, "root.one.names[1]", "outside");
    w->one.names[1] = NULL;
    w->parts[0].names[0] = (char *)(uintptr_t)3;
    lab_refuse(w, whole_type, HAUL_ERROR_GRAPH, "root.parts[0].names[0]", "outside");
    w->parts[0].names[0] = NULL;
    lab_pack(w, whole_type, 1);
    haul_type_free(&whole_type);
    haul_type_free(&part_type);
    lab_end();
}

TEST(graph_faults, the_path_of_a_matrix_names_row_and_place)
{
    typedef struct matrix {
        char ***all;
    } matrix;
    static const haul_field fields[] = { HAUL_ADDRESS(
        matrix, all, .levels = 3, .element_bytes = sizeof(***((matrix *)0)->all),
        .count = HAUL_FIXED(2), .count2 = HAUL_FIXED(3), .count3 = HAUL_TERMINATED) };
    haul_type *type;
    matrix *m;
    int i;
    lab_start();
    type = TYPE_OPEN(matrix, fields);
    type_commit(type);
    m = take(sizeof *m, sizeof(void *));
    points(&m->all);
    m->all = take(2 * sizeof(void *), sizeof(void *));
    for (i = 0; i < 2; i++) {
        points(&m->all[i]);
        m->all[i] = take(3 * sizeof(void *), sizeof(void *));
        memset(the.what + lab_offset(m->all[i]), OF_POINTER, 3 * sizeof(void *));
    }
    m->all[1][2] = (char *)(uintptr_t)5;
    lab_refuse(m, type, HAUL_ERROR_GRAPH, "root.all[1][2]", "outside");
    m->all[1][2] = NULL;
    lab_pack(m, type, 1);
    haul_type_free(&type);
    lab_end();
}

TEST(graph_faults, a_step_taken_many_times_is_written_once)
{
    static const struct {
        size_t count;
        const char *path;
    } cases[] = { { 1, "root.values" },
                  { 2, "root.next.values" },
                  { 3, "root.next.next.values" },
                  { 4, "root(.next)*3.values" },
                  { 1000, "root(.next)*999.values" } };
    size_t i, n;
    for (i = 0; i < COUNT_OF(cases); i++) {
        atom *a, *last;
        atom_start();
        a = last = atoms_make(cases[i].count);
        for (n = 1; n < cases[i].count; n++)
            last = last->next;
        last->count = 3;
        lab_refuse(a, atom_type, HAUL_ERROR_GRAPH, cases[i].path, "NULL pointer");
        atom_end();
    }
}

TEST(graph_faults, the_path_to_the_end_of_a_long_list_can_be_read)
{
    typedef struct link {
        struct link *next;
        int32_t count;
        char *bytes;
    } link;
    enum { LINKS = LARGE(200000, 100000) };
    static haul_type *link_type;
    static const haul_field fields[] = { HAUL_OBJECT(link, next, &link_type),
                                         HAUL_ARRAY(link, bytes, HAUL_COUNT(link, count)) };
    link *all = calloc(LINKS, sizeof *all);
    haul_root root;
    haul_plan *plan;
    char path[64];
    int variant;
    size_t i;
    CHECK(all != NULL);
    snprintf(path, sizeof path, "root(.next)*%d.bytes", LINKS - 1);
    lab_start();
    link_type = TYPE_OPEN(link, fields);
    type_commit(link_type);
    for (i = 0; i + 1 < LINKS; i++)
        all[i].next = &all[i + 1];
    all[LINKS - 1].count = 1;
    root.address = all;
    root.type = link_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_ERROR_GRAPH);
        CHECK_STR(haul_context_error(the.context)->path, path);
    }
    free(all);
    haul_type_free(&link_type);
    lab_end();
}

TEST(graph_faults, a_long_path_loses_its_middle_and_keeps_its_end)
{
    typedef struct zig {
        struct zig *a_field_whose_name_is_long, *another_field_whose_name_is_long;
        char *text;
    } zig;
    static haul_type *zig_type;
    static const haul_field fields[] = {
        HAUL_OBJECT(zig, a_field_whose_name_is_long, &zig_type),
        HAUL_OBJECT(zig, another_field_whose_name_is_long, &zig_type), HAUL_STRING(zig, text)
    };
    zig *first, *z;
    haul_root root;
    haul_plan *plan;
    const char *path;
    int i, variant;
    lab_start();
    zig_type = TYPE_OPEN(zig, fields);
    type_commit(zig_type);
    first = z = take(sizeof *z, sizeof(void *));
    for (i = 0; i < 200; i++) {
        zig *next = take(sizeof *next, sizeof(void *));
        *(i % 2 ? &z->a_field_whose_name_is_long : &z->another_field_whose_name_is_long) = next;
        z = next;
    }
    z->text = (char *)(uintptr_t)1;
    root.address = first;
    root.type = zig_type;
    root.count = 1;
    for (variant = 0; variant < VARIANTS; variant++) {
        lab_drop();
        lab_open_context(variant);
        CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                     HAUL_ERROR_GRAPH);
        path = haul_context_error(the.context)->path;
        CHECK(strlen(path) < HAUL_PATH_BYTES);
        CHECK(strncmp(path, "root.another_field", 18) == 0);
        CHECK_STR(path + strlen(path) - 10, "_long.text");
        CHECK_HAS(path, "...");
    }
    haul_type_free(&zig_type);
    lab_end();
}
