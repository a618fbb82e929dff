/* The tree's numbers: those of a cell are made of those of its parts. */
#include "nbody_cells.h"

#include <string.h>

typedef struct box {
    double low[3], high[3];
} box;

static box sum_up_in(cell *at)
{
    box all = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    if (at->single) {
        memcpy(at->centre, at->single->place, sizeof(at->centre));
        memcpy(all.low, at->centre, sizeof(all.low));
        memcpy(all.high, at->centre, sizeof(all.high));
        at->mass = at->single->mass;
        return all;
    }
    at->mass = at->size = at->centre[0] = at->centre[1] = at->centre[2] = 0;
    for (cell *part = at->first; part != at->next; part = part->next) {
        const box in_part = sum_up_in(part);
        at->mass += part->mass;
        for (int i = 0; i < 3; i++) {
            at->centre[i] += part->mass * part->centre[i];
            all.low[i] = fmin(all.low[i], in_part.low[i]);
            all.high[i] = fmax(all.high[i], in_part.high[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        at->centre[i] /= at->mass;
        at->size = fmax(at->size, all.high[i] - all.low[i]);
    }
    return all;
}

void sum_up(cell *tree)
{
    sum_up_in(tree);
}
