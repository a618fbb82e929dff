/* A real structure that leans on static tables (STAT): generators of random numbers as GSL has
 * them. The type of each is a constant of the library's, and says how large the state is and which
 * function draws from it.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

typedef struct gsl_rng_type {
    const char *name;
    size_t size;
    void (*set)(void *state, uint32_t seed);
    uint32_t (*get)(void *state);
} gsl_rng_type;

typedef struct gsl_rng {
    const gsl_rng_type *type;
    void *state;
} gsl_rng;

typedef struct pool {
    int count;
    gsl_rng *rng;
} pool;

enum { GENERATORS = 1500, DRAWS = 5, LAG = 607, STATE_MAX = (LAG + 1) * 4 };
enum { MASK = 0x3FFFFFFF }; /* numbers that are no addresses, where these have four bytes */

static void congruence_set(void *state, uint32_t seed)
{
    *(uint32_t *)state = (seed | 1) & MASK;
}

static uint32_t congruence_get(void *state)
{
    uint32_t *x = state;
    return *x = (*x * 69069u + 12345u) & MASK;
}

static void shifts_set(void *state, uint32_t seed)
{
    uint32_t *x = state;
    x[0] = seed & MASK;
    x[1] = ~seed & MASK;
    x[2] = 77;
}

static uint32_t shifts_get(void *state)
{
    uint32_t *x = state, t = x[0] ^ (x[0] << 11);
    x[0] = x[1];
    x[1] = x[2];
    return x[2] = (x[2] ^ (x[2] >> 19) ^ t ^ (t >> 8)) & MASK;
}

static void lagged_set(void *state, uint32_t seed)
{
    uint32_t *x = state, i;
    for (i = 0; i < LAG; i++)
        x[i] = seed = (seed * 1664525u + 1013904223u) & MASK;
    x[LAG] = 0;
}

static uint32_t lagged_get(void *state)
{
    uint32_t *x = state, at = x[LAG];
    x[LAG] = (at + 1) % LAG;
    return x[at] = (x[at] + x[(at + 273) % LAG]) & MASK;
}

static const gsl_rng_type types[] = {
    { "congruence", sizeof(uint32_t), congruence_set, congruence_get },
    { "shifts", 3 * sizeof(uint32_t), shifts_set, shifts_get },
    { "lagged", STATE_MAX, lagged_set, lagged_get },
};
static const test_static known_types = { types, sizeof types, HAUL_STATIC_KEEP };

static haul_type *rng_type, *pool_type;

HAUL_FUNCTION(state_bytes, gsl_rng, self->type->size)
HAUL_FUNCTION(first_bytes, gsl_rng, types[0].size)

static void pool_open(haul_function *bytes)
{
    const haul_field rng_fields[] = { HAUL_ADDRESS(gsl_rng, type, .ownership = HAUL_BORROWED,
                                                   .maybe_static = 1),
                                      HAUL_BYTES(gsl_rng, state, HAUL_COUNT_FN(bytes)) };
    static const haul_field pool_fields[] = { HAUL_OBJECTS(pool, rng, &rng_type,
                                                           HAUL_COUNT(pool, count)) };
    rng_type = OPEN(gsl_rng, rng_fields);
    pool_type = OPEN(pool, pool_fields);
    type_close(pool_type);
    the.known.statics = &known_types;
    the.known.static_count = 1;
}

static void pool_close(void)
{
    haul_type_free(&pool_type);
    haul_type_free(&rng_type);
}

/* What is drawn there is drawn here first, from states of the test's own. */
static void see_draws(const gsl_rng_type *type, uint32_t seed, uint64_t *seen)
{
    uint32_t state[STATE_MAX / sizeof(uint32_t)];
    int i;
    type->set(state, seed);
    see_text(seen, type->name);
    for (i = 0; i < DRAWS; i++)
        see(seen, type->get(state));
}

static pool *pool_make(uint64_t *seen)
{
    pool *p = PUT(pool);
    int i;
    p->count = GENERATORS;
    p->rng = PUT_ARRAY(gsl_rng, GENERATORS);
    for (i = 0; i < GENERATORS; i++) {
        const gsl_rng_type *type = &types[i ? random_below(&the.random, COUNT_OF(types)) : 2];
        uint32_t seed = (uint32_t)random_next(&the.random);
        p->rng[i].type = type;
        p->rng[i].state = put(type->size, sizeof(uint32_t));
        type->set(p->rng[i].state, seed);
        see_draws(type, seed, seen);
    }
    return p;
}

static void pool_walk(void *argument)
{
    visit *v = argument;
    pool *p = v->root;
    int i, k;
    for (i = 0; i < p->count; i++) {
        see_text(&v->seen, p->rng[i].type->name);
        for (k = 0; k < DRAWS; k++)
            see(&v->seen, p->rng[i].type->get(p->rng[i].state));
    }
}

TEST(structures_gsl,
     generators_draw_by_the_constant_tables_of_their_types_and_their_states_come_back)
{
    journey j = { .walk = pool_walk };
    site_start(251);
    pool_open(state_bytes);
    j.root = pool_make(&j.seen);
    j.type = pool_type;
    travel(&j);
    pool_close();
    site_end();
}

TEST(structures_gsl,
     a_table_that_is_not_registered_is_refused_by_name_and_a_size_of_another_is_told)
{
    uint64_t seen = 0;
    pool *p;
    site_start(251);
    p = pool_make(&seen);
    pool_open(first_bytes);
    audit_tells(p, pool_type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.rng[0].state[0]",
                "only the first 4 bytes of its block of 2432 are described");
    the.known.static_count = 0;
    refuse_graph(p, pool_type, HAUL_ERROR_GRAPH, "root.rng[0].type", "",
                 "nor into a registered static range");
    pool_close();
    site_end();
}
