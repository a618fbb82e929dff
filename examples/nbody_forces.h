/* What nbody_tree does on the device: one call for each body walks the tree and adds up what pulls
 * at it.
 *
 * A cell that looks small from the body counts as one mass at its centre of mass; any other is
 * opened. The walk needs no stack: `first` leads into a cell, `next` past it.
 */
#ifndef EXAMPLES_NBODY_FORCES_H
#define EXAMPLES_NBODY_FORCES_H

#include <math.h>

#include "device.h"

typedef struct body {
    double place[3], velocity[3], mass;
    double pull[3], potential; /* written on the device */
} body;

typedef struct cell {
    /* of the bodies in it: centre of mass, longest side of their box */
    double centre[3], mass, size;
    struct cell *child[8]; /* by the octant of the cell; NULL where it is empty */
    /* the way of the walk: the first child, and what follows when this cell is done */
    struct cell *first, *next;
    body *single; /* a leaf's one body */
} cell;

typedef struct cluster {
    body *bodies;
    cell *tree;
    long count;
    double opening;  /* a cell is taken whole when size < opening * distance */
    double softness; /* bodies are clouds of about this size, so close pairs stay tame */
} cluster;

ON_DEVICE void attract(body *at, const double place[3], double mass, double softness)
{
    const double x = place[0] - at->place[0], y = place[1] - at->place[1],
                 z = place[2] - at->place[2];
    const double near = 1.0 / sqrt(x * x + y * y + z * z + softness * softness),
                 strength = mass * near * near * near;
    at->pull[0] += strength * x;
    at->pull[1] += strength * y;
    at->pull[2] += strength * z;
    at->potential -= mass * near;
}

ON_DEVICE int looks_small(const cell *c, const body *at, double opening)
{
    const double x = c->centre[0] - at->place[0], y = c->centre[1] - at->place[1],
                 z = c->centre[2] - at->place[2];
    return c->size * c->size < opening * opening * (x * x + y * y + z * z);
}

/* The work of one thread: the forces on the body `index`. */
ON_DEVICE void pull_body(void *data, long index)
{
    const cluster *all = (const cluster *)data;
    body *self = &all->bodies[index];
    const cell *at = all->tree;
    self->pull[0] = self->pull[1] = self->pull[2] = self->potential = 0.0;
    while (at) {
        if (at->single ? at->single != self : looks_small(at, self, all->opening)) {
            attract(self, at->centre, at->mass, all->softness);
            at = at->next;
        } else {
            at = at->first ? at->first : at->next;
        }
    }
}

#endif
