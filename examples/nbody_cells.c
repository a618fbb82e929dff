/* The tree's pointers. Bodies are inserted one by one, down to an empty octant or to a leaf, which
 * then becomes a cell with both bodies.
 */
#include "nbody_cells.h"

#include "common.h"

typedef struct cube {
    double centre[3], half;
} cube;

/* Which octant of the cube the place lies in; the cube becomes that octant. */
static int enter_octant(cube *space, const double place[3])
{
    int octant = 0;
    space->half /= 2;
    for (int i = 0; i < 3; i++) {
        const int upper = place[i] >= space->centre[i];
        octant |= upper << i;
        space->centre[i] += upper ? space->half : -space->half;
    }
    return octant;
}

static cell *make_cell(body *single)
{
    cell *made = allocate(sizeof(cell));
    memset(made, 0, sizeof(cell));
    made->single = single;
    return made;
}

static void put_in(cell *tree, cube space, body *b)
{
    cell **link = &tree->child[enter_octant(&space, b->place)];
    while (*link && !(*link)->single)
        link = &(*link)->child[enter_octant(&space, b->place)];
    while (*link) { /* a leaf: it moves down until the two part */
        cell *leaf = *link, *between = make_cell(NULL);
        cube other = space;
        if (!(space.half > 0)) {
            fprintf(stderr, "two bodies are at the same place\n");
            exit(1);
        }
        *link = between;
        between->child[enter_octant(&other, leaf->single->place)] = leaf;
        link = &between->child[enter_octant(&space, b->place)];
    }
    *link = make_cell(b);
}

/* Depth first, last child first: each cell is told what follows it. */
static void thread(cell *at, cell *next)
{
    at->next = next;
    for (int i = 7; i >= 0; i--)
        if (at->child[i]) {
            thread(at->child[i], next);
            next = at->first = at->child[i];
        }
}

void make_cells(cluster *all)
{
    cell *tree = make_cell(NULL);
    cube space = { { 0, 0, 0 }, 1 };
    for (long i = 0; i < 3 * all->count; i++)
        while (fabs(all->bodies[i / 3].place[i % 3]) >= space.half)
            space.half *= 2;
    for (long i = 0; i < all->count; i++)
        put_in(tree, space, &all->bodies[i]);
    thread(tree, NULL);
    sum_up(tree);
    free_cells(all->tree);
    all->tree = tree;
}

void free_cells(cell *tree)
{
    for (int i = 0; tree && i < 8; i++)
        free_cells(tree->child[i]);
    free(tree);
}
