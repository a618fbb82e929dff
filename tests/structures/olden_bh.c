/* Olden's bh. A tree of cells and bodies, which a tag at the front of both tells apart. Each
 * processor has a list of bodies; how many processors there are is a number of the program's, and
 * the places of the others hold anything.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { BODY = 1, CELL = 2, PROCESSORS = 11, PROCESSORS_MAX = 32, BODIES = 700, LEVELS = 7 };

#define NODE_HEAD                                                                                  \
    short type;                                                                                    \
    double mass, pos[3];                                                                           \
    int proc, new_proc

typedef struct bh_node {
    NODE_HEAD;
} bh_node;

typedef struct bh_body {
    NODE_HEAD;
    double vel[3], acc[3], new_acc[3], phi;
    struct bh_body *next, *proc_next;
} bh_body;

typedef struct bh_cell {
    NODE_HEAD;
    bh_node *subp[8];
    struct bh_cell *next;
} bh_cell;

typedef struct bh_tree {
    double rmin[3], rsize;
    bh_node *root;
    bh_body *bodytab[PROCESSORS_MAX], *bodiesperproc[PROCESSORS_MAX];
} bh_tree;

static haul_type *body_type, *cell_type, *tree_type;

HAUL_FUNCTION(is_processor, bh_tree,
              here->argument && (int)here->index < *(const int *)here->argument)

static void bh_open(size_t kinds)
{
    static const haul_case body_or_cell[] = { { BODY, &body_type, 0 }, { CELL, &cell_type, 0 } };
    haul_switch either = HAUL_SWITCH_TARGET(bh_node, type, body_or_cell);
    static const haul_field body_fields[] = { HAUL_OBJECT(bh_body, next, &body_type),
                                              HAUL_OBJECT(bh_body, proc_next, &body_type) };
    haul_field cell_fields[] = { HAUL_ADDRESS(bh_cell, subp),
                                 HAUL_OBJECT(bh_cell, next, &cell_type) };
    haul_field tree_fields[] = {
        HAUL_ADDRESS(bh_tree, root),
        HAUL_EACH(bh_tree, bodytab, .target = &body_type, .when = HAUL_WHEN_FN(is_processor)),
        HAUL_EACH(bh_tree, bodiesperproc, .target = &body_type, .when = HAUL_WHEN_FN(is_processor))
    };
    either.case_count = kinds;
    cell_fields[0].type_switch = tree_fields[0].type_switch = either;
    body_type = OPEN(bh_body, body_fields);
    cell_type = OPEN(bh_cell, cell_fields);
    tree_type = OPEN(bh_tree, tree_fields);
    type_close(tree_type);
}

static void bh_close(void)
{
    haul_type_free(&tree_type);
    haul_type_free(&cell_type);
    haul_type_free(&body_type);
}

static int octant(const bh_node *n, int level)
{
    int k, which = 0;
    for (k = 0; k < 3; k++)
        which = 2 * which + ((int)n->pos[k] >> level & 1);
    return which;
}

/* `last`: the cell that was made before. */
static void load_body(bh_node **at, bh_node *body, bh_cell **last)
{
    int level = LEVELS;
    while (*at && (*at)->type == CELL)
        at = &((bh_cell *)*at)->subp[octant(body, --level)];
    while (*at) {
        bh_cell *c = PUT(bh_cell);
        c->type = CELL;
        c->next = *last;
        *last = c;
        c->subp[octant(*at, --level)] = *at;
        *at = (bh_node *)c;
        at = &c->subp[octant(body, level)];
    }
    *at = body;
}

/* No two bodies are at one place. */
static bh_tree *bh_make(uint64_t *seen)
{
    bh_tree *t = PUT(bh_tree);
    bh_cell *last = NULL;
    int i;
    for (i = 0; i < PROCESSORS_MAX; i++)
        t->bodytab[i] = t->bodiesperproc[i] = i < PROCESSORS ? NULL : (bh_body *)(uintptr_t)17;
    for (i = BODIES; i-- > 0;) {
        bh_body *b = PUT(bh_body);
        b->type = BODY;
        b->mass = 1 + (double)random_below(&the.random, 50);
        b->pos[0] = i * 37 % 128;
        b->pos[1] = i / 128 * 20 + (double)random_below(&the.random, 20);
        b->pos[2] = (double)random_below(&the.random, 128);
        b->next = t->bodytab[i % PROCESSORS];
        b->proc_next = t->bodiesperproc[i * 7 % PROCESSORS];
        t->bodytab[i % PROCESSORS] = t->bodiesperproc[i * 7 % PROCESSORS] = b;
        load_body(&t->root, (bh_node *)b, &last);
        see(seen, 0); /* found */
    }
    return t;
}

/* Every body by the tree. */
static void bh_walk(void *argument)
{
    visit *v = argument;
    bh_tree *t = v->root;
    bh_body *b;
    int i, level;
    for (i = PROCESSORS; i < PROCESSORS_MAX; i++)
        if (!v->is_host && t->bodytab[i])
            see(&v->seen, 2);
    for (i = 0; i < PROCESSORS; i++)
        for (b = t->bodytab[i]; b; b = b->next) {
            bh_node *n = t->root;
            for (level = LEVELS; n->type == CELL;) {
                bh_cell *c = (bh_cell *)n;
                c->mass += b->mass;
                n = c->subp[octant((bh_node *)b, --level)];
            }
            see(&v->seen, n == (bh_node *)b ? 0 : 1);
            b->acc[0] += b->mass;
            if (b->proc_next)
                b->proc_next->vel[1]++;
        }
}

TEST(structures_olden,
     bh_bodies_are_found_by_the_tree_of_cells_and_processors_that_are_none_have_no_list)
{
    journey j = { .walk = bh_walk };
    int processors = PROCESSORS;
    site_start(64);
    the.options.argument = &processors;
    bh_open(2);
    j.root = bh_make(&j.seen);
    j.type = tree_type;
    travel(&j);
    bh_close();
    site_end();
}

TEST(structures_olden, bh_a_kind_of_node_that_was_forgotten_is_refused)
{
    int processors = PROCESSORS;
    uint64_t seen = 0;
    site_start(64);
    the.options.argument = &processors;
    bh_open(1);
    refuse_graph(bh_make(&seen), tree_type, HAUL_ERROR_GRAPH, "root.root", NULL,
                 "its `.type_switch` has no case for 2");
    bh_close();
    site_end();
}
