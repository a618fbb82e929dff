/* Random numbers for tests: splitmix64 (Steele, Lea, Flood 2014). The same seed gives the same
 * numbers on any machine.
 *
 *     random_source random = random_start("plans agree with the reference");
 *
 * prints the seed, and takes it from the environment variable HAUL_SEED where that is set, so that
 * a failure can be run again.
 */
#ifndef HAUL_TESTS_RANDOM_H
#define HAUL_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct random_source {
    uint64_t state;
} random_source;

static inline random_source random_from(uint64_t seed)
{
    random_source random;
    random.state = seed;
    return random;
}

static inline random_source random_start(const char *what)
{
    const char *given = getenv("HAUL_SEED");
    uint64_t seed =
        given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 0x9E3779B97F4A7C15u >> 24;
    printf("%s: HAUL_SEED=%llu\n", what, (unsigned long long)seed);
    fflush(stdout);
    return random_from(seed);
}

static inline uint64_t random_next(random_source *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* 0 .. bound - 1. */
static inline size_t random_below(random_source *random, size_t bound)
{
    return (size_t)(random_next(random) % bound);
}

/* low .. high, both included. */
static inline size_t random_between(random_source *random, size_t low, size_t high)
{
    return low + random_below(random, high - low + 1);
}

/* 1 in `of` times. */
static inline int random_one_in(random_source *random, size_t of)
{
    return random_below(random, of) == 0;
}

static inline void random_fill(random_source *random, void *memory, size_t bytes)
{
    unsigned char *at = (unsigned char *)memory;
    size_t i;
    for (i = 0; i < bytes; i++)
        at[i] = (unsigned char)random_next(random);
}

#endif
