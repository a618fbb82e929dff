/* Plummer's sphere, in which mass, radius and gravity are 1 and the bodies' speeds keep it in
 * balance. */
#include "nbody_cluster.h"

#include "common.h"

static double chance(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static void point_anywhere(double length, double v[3])
{
    const double height = 2 * chance() - 1, angle = 6.283185307179586 * chance();
    v[0] = length * sqrt(1 - height * height) * cos(angle);
    v[1] = length * sqrt(1 - height * height) * sin(angle);
    v[2] = length * height;
}

static void place_body(body *b, double mass)
{
    const double radius = 1 / sqrt(pow(0.999 * chance(), -2.0 / 3.0) - 1);
    /* of the speed that would carry it away: shares are as frequent as q^2 (1 - q^2)^3.5 */
    double share, tried;
    do {
        share = chance();
        tried = 0.1 * chance();
    } while (tried > share * share * pow(1 - share * share, 3.5));
    memset(b, 0, sizeof(*b));
    b->mass = mass;
    point_anywhere(radius, b->place);
    point_anywhere(share * sqrt(2 / sqrt(1 + radius * radius)), b->velocity);
}

void make_cluster(cluster *all, long count)
{
    all->count = count < 1000 ? 1000 : count;
    all->bodies = allocate((size_t)all->count * sizeof(body));
    for (long i = 0; i < all->count; i++)
        place_body(&all->bodies[i], 1.0 / (double)all->count);
    all->tree = NULL;
    all->opening = 0.4; /* below 0.57: no body is pulled by its own cell */
    all->softness = 0.05;
}

void kick(cluster *all, double time)
{
    for (long i = 0; i < 3 * all->count; i++)
        all->bodies[i / 3].velocity[i % 3] += time * all->bodies[i / 3].pull[i % 3];
}

void drift(cluster *all, double time)
{
    for (long i = 0; i < 3 * all->count; i++)
        all->bodies[i / 3].place[i % 3] += time * all->bodies[i / 3].velocity[i % 3];
}
