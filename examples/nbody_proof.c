/* The forces on some of the bodies are compared with the sum over all pairs. Energy is kept when
 * forces and steps are good. */
#include "nbody_proof.h"

#include "common.h"

enum { SAMPLES = 200 };

double energy(const cluster *all)
{
    double sum = 0;
    for (const body *b = all->bodies; b < all->bodies + all->count; b++)
        sum += b->mass *
               (b->potential + b->velocity[0] * b->velocity[0] + b->velocity[1] * b->velocity[1] +
                b->velocity[2] * b->velocity[2]) /
               2;
    return sum;
}

/* The largest part of a force by which one of the samples is off. */
static double force_error(const cluster *all)
{
    double worst = 0;
    for (long i = 0; i < all->count; i += 1 + all->count / SAMPLES) {
        const body *b = &all->bodies[i];
        body sum = *b;
        double off = 0, square = 0;
        sum.pull[0] = sum.pull[1] = sum.pull[2] = 0;
        for (const body *other = all->bodies; other < all->bodies + all->count; other++)
            attract(&sum, other->place, other->mass,
                    all->softness); /* itself: at distance 0, no pull */
        for (int k = 0; k < 3; k++) {
            off += (b->pull[k] - sum.pull[k]) * (b->pull[k] - sum.pull[k]);
            square += sum.pull[k] * sum.pull[k];
        }
        worst = fmax(worst, sqrt(off / square));
    }
    return worst;
}

int prove(const cluster *all, double energy_before)
{
    const double error = force_error(all), now = energy(all),
                 drift = fabs((now - energy_before) / energy_before);
    int right;
    printf("Forces: at most %.2g off the sum over all pairs. Energy: %.6f, then %.6f, drift %.2g\n",
           error, energy_before, now, drift);
    right = claim("the forces agree with the sum over all pairs within 5 %", error < 0.05);
    right &= claim("the energy stays within 0.1 %", drift < 1e-3);
    return right;
}
