/* The cluster of nbody_tree: how it begins and moves. Nothing here knows of trees or devices. */
#ifndef EXAMPLES_NBODY_CLUSTER_H
#define EXAMPLES_NBODY_CLUSTER_H

#include "nbody_forces.h"

/* A ball of 1000 bodies or more in balance, the same in each run; without a tree. Release
 * all->bodies with free. */
void make_cluster(cluster *all, long count);

/* Speeds by the forces, places by the speeds. */
void kick(cluster *all, double time);
void drift(cluster *all, double time);

#endif
