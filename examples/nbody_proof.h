/* Whether the forces of nbody_tree are right. */
#ifndef EXAMPLES_NBODY_PROOF_H
#define EXAMPLES_NBODY_PROOF_H

#include "nbody_forces.h"

double energy(const cluster *all);

/* Prints two claims with yes or NO, and answers whether both hold. */
int prove(const cluster *all, double energy_before);

#endif
