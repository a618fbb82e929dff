/* The cluster of nbody_tree: how it begins, moves and is judged. Nothing here knows of trees or
 * devices. */
#ifndef EXAMPLES_NBODY_CLUSTER_H
#define EXAMPLES_NBODY_CLUSTER_H

#include "nbody_forces.h"

/* A ball of bodies in balance, the same in each run. Release all->bodies with free. */
void make_cluster(cluster *all, long count);

/* Speeds by the forces, places by the speeds. */
void kick(cluster *all, double time);
void drift(cluster *all, double time);

double energy(const cluster *all);

/* How far the forces on some of the bodies are off the sum over all pairs: the largest part of a
 * force. */
double force_error(const cluster *all);

#endif
