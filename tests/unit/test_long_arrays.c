/* Long arrays: all threads mark them together, and find what one thread finds.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/store.h"
#include "support/types.h"

/* So many that five threads mark an array of the shortest elements together. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { COUNT = 1500 };
#else
enum { COUNT = 30000 };
#endif
enum { BIGS = COUNT / 90, PLAIN = 5 * COUNT, ROWS = 5 * COUNT, EARLY = 5 };
#ifdef HAUL_STRESS_THREADS
enum { MAY_LIST = 0 };
#else
enum { MAY_LIST = CAN_SHARE };
#endif

/* Whole granules; they go to uniform blocks. */
typedef struct even {
    struct even *next;
    double value[5];
} even;

/* Whole words: every other one begins off the grid of granules. */
typedef struct odd {
    struct odd *next;
    double value[4];
} odd;

/* Longer than a block. */
typedef struct big {
    odd *to;
    double value[600];
} big;

typedef struct holder {
    odd *early[EARLY]; /* they lie between the arrays */
    even *evens;
    odd *odds;
    big *bigs;
    double *plain;
    even **rows;
    even *again; /* the evens once more, or a part of them */
    int64_t even_count, odd_count, big_count, plain_count, row_count, again_count;
} holder;

static haul_type *even_type, *odd_type, *big_type, *holder_type;

static void make_types(void)
{
    static const haul_field even_fields[] = { HAUL_OBJECT(even, next, &even_type) };
    static const haul_field odd_fields[] = { HAUL_OBJECT(odd, next, &odd_type) };
    static const haul_field big_fields[] = { HAUL_OBJECT(big, to, &odd_type) };
    static const haul_field holder_fields[] = {
        HAUL_EACH(holder, early, .target = &odd_type),
        HAUL_OBJECTS(holder, evens, &even_type, HAUL_COUNT(holder, even_count)),
        HAUL_OBJECTS(holder, odds, &odd_type, HAUL_COUNT(holder, odd_count)),
        HAUL_OBJECTS(holder, bigs, &big_type, HAUL_COUNT(holder, big_count)),
        HAUL_ARRAY(holder, plain, HAUL_COUNT(holder, plain_count)),
        HAUL_POINTERS(holder, rows, &even_type, HAUL_COUNT(holder, row_count)),
        HAUL_OBJECTS(holder, again, &even_type, HAUL_COUNT(holder, again_count)),
    };
    even_type = TYPE_NEW(even, even_fields);
    odd_type = TYPE_NEW(odd, odd_fields);
    big_type = TYPE_NEW(big, big_fields);
    holder_type = TYPE_NEW(holder, holder_fields);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
}

static void free_types(void)
{
    haul_type_free(&holder_type);
    haul_type_free(&big_type);
    haul_type_free(&odd_type);
    haul_type_free(&even_type);
}

typedef struct world {
    random_source random;
    char *memory, *free;
    holder holder;
} world;

/* The next memory, a few words behind what was taken before. */
static void *take(world *w, size_t bytes)
{
    char *taken = w->free + sizeof(double) * random_below(&w->random, 6);
    w->free = taken + bytes;
    return taken;
}

static void draw_values(double *value, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        value[i] = (double)i + 0.5;
}

static void fill_arrays(world *w)
{
    holder *h = &w->holder;
    size_t i;
    for (i = 0; i < COUNT; i++) {
        h->evens[i].next = random_one_in(&w->random, 3) ? NULL : &h->evens[i / 2];
        draw_values(h->evens[i].value, 5);
        h->odds[i].next = random_one_in(&w->random, 3) ? NULL : &h->odds[i / 3];
        draw_values(h->odds[i].value, 4);
    }
    for (i = 0; i < BIGS; i++) {
        h->bigs[i].to = &h->odds[random_below(&w->random, COUNT)];
        draw_values(h->bigs[i].value, 600);
    }
    draw_values(h->plain, PLAIN);
    for (i = 0; i < ROWS; i++)
        h->rows[i] = &h->evens[random_below(&w->random, COUNT)];
}

/* The arrays lie one behind the other, in an order that is drawn, with an object before each. */
static world *world_make(const char *name)
{
    world *w = calloc(1, sizeof *w);
    size_t order, i;
    holder *h;
    CHECK(w != NULL);
    make_types();
    h = &w->holder;
    w->random = random_start(name);
    w->memory = w->free = calloc(1, COUNT * (sizeof(even) + sizeof(odd)) + BIGS * sizeof(big) +
                                        PLAIN * sizeof(double) + ROWS * sizeof(even *) + 4096);
    CHECK(w->memory != NULL);
    order = random_below(&w->random, EARLY);
    for (i = 0; i < EARLY; i++) {
        h->early[i] = take(w, sizeof(odd));
        switch ((i + order) % EARLY) {
        case 0:
            h->evens = take(w, COUNT * sizeof(even));
            break;
        case 1:
            h->odds = take(w, COUNT * sizeof(odd));
            break;
        case 2:
            h->bigs = take(w, BIGS * sizeof(big));
            break;
        case 3:
            h->plain = take(w, PLAIN * sizeof(double));
            break;
        default:
            h->rows = take(w, ROWS * sizeof(even *));
            break;
        }
    }
    fill_arrays(w);
    h->even_count = h->odd_count = COUNT;
    h->big_count = BIGS;
    h->plain_count = PLAIN;
    h->row_count = ROWS;
    return w;
}

static void world_free(world *w)
{
    free(w->memory);
    free(w);
    free_types();
}

static int agree(world *w)
{
    haul_root root = { &w->holder, holder_type, 1 };
    outcome alone;
    const int shared = outcomes_agree(&root, NULL, OUTCOMES_FORMS, &alone);
    CHECK_STATUS(alone.status, HAUL_OK);
    outcome_free(&alone);
    return shared;
}

TEST(long_arrays, all_threads_mark_arrays_that_lie_side_by_side)
{
    world *w = world_make("long arrays: side by side");
    CHECK(agree(w) || !MAY_LIST);
    memset(w->holder.early, 0, sizeof w->holder.early);
    CHECK(agree(w) || !MAY_LIST);
    world_free(w);
}

TEST(long_arrays, each_array_alone_is_found_as_by_one_thread)
{
    world *w = world_make("long arrays: alone");
    const holder all = w->holder;
    int which;
    for (which = 0; which < EARLY; which++) {
        memset(&w->holder, 0, sizeof w->holder);
        w->holder.evens = all.evens; /* rows lead to them */
        w->holder.even_count = which == 0 || which == 4 ? COUNT : 0;
        w->holder.odds = all.odds; /* bigs lead to them */
        w->holder.odd_count = which == 1 || which == 2 ? COUNT : 0;
        w->holder.bigs = all.bigs;
        w->holder.big_count = which == 2 ? BIGS : 0;
        w->holder.plain = all.plain;
        w->holder.plain_count = which == 3 ? PLAIN : 0;
        w->holder.rows = all.rows;
        w->holder.row_count = which == 4 ? ROWS : 0;
        CHECK(agree(w) || !MAY_LIST || which == 3); /* one thread finds plain bytes */
    }
    world_free(w);
}

TEST(long_arrays, a_second_pointer_to_an_array_or_a_part_of_it_counts_as_with_one_thread)
{
    world *w = world_make("long arrays: again");
    int round;
    w->holder.again = w->holder.evens;
    w->holder.again_count = COUNT;
    CHECK(agree(w) || !MAY_LIST);
    for (round = 0; round < 10; round++) {
        const size_t first = random_below(&w->random, COUNT);
        w->holder.again = w->holder.evens + first;
        w->holder.again_count = (int64_t)random_below(&w->random, COUNT - first);
        w->holder.even_count = (int64_t)random_below(&w->random, COUNT);
        (void)agree(w);
    }
    world_free(w);
}

TEST(long_arrays, memory_that_runs_out_in_any_thread_is_told_and_all_of_it_given_back_H1_H2)
{
    world *w = world_make("long arrays: no memory");
    random_source random = random_start("long arrays: no memory");
    const haul_source source = haul_from_object(&w->holder, holder_type);
    haul_status status;
    size_t all, i, failed = 0;
    all = plan_from_store(source, SIZE_MAX, &status);
    CHECK_STATUS(status, HAUL_OK);
    for (i = 0; i < 30; i++) {
        plan_from_store(source, i < 15 ? i : random_below(&random, all), &status);
        failed += status == HAUL_ERROR_MEMORY;
    }
    CHECK(failed > 15);
    world_free(w);
}
