/* Environments that many threads use at once.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "environment_graphs.h"

enum { THREADS = 16, TURNS = LARGE(2048, 128), READERS = 4, CHANGES = LARGE(3000, 300) };
enum {
    ASKING = 150,
    QUESTIONS = LARGE(20000, 200),
    WIDE_TURNS = LARGE(2000, 100)
}; /* more threads than stripes */

#define P (host.parts)

static int is_over;

static void *enter_and_exit(void *user)
{
    int i;
    for (i = 0; i < TURNS; i++) {
        enter(user);
        leave(user);
    }
    return NULL;
}

/* Not all at once: each ends before the last one, so the graph comes and goes. */
TEST(environment_threads, counts_are_exact_whoever_enters_and_exits)
{
    pthread_t threads[THREADS];
    int i;
    start();
    P[0].a = &P[1];
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, enter_and_exit, &P[i % 2]) == 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(info().enters, THREADS * TURNS);
    CHECK_EQ(info().exits, THREADS * TURNS);
    CHECK_EQ(info().groups, 0);
    CHECK_PTR(there(&P[0]), NULL);
    finish();
}

typedef struct asker {
    pthread_barrier_t *all;
    int turns;
} asker;

/* All live at once, then ask at once. */
static void *ask(void *user)
{
    const asker *a = user;
    int i;
    pthread_barrier_wait(a->all);
    for (i = 0; i < a->turns; i++)
        CHECK(there(&P[0]) != NULL);
    pthread_barrier_wait(a->all);
    return NULL;
}

TEST(environment_threads, look_ups_are_counted_whoever_makes_them)
{
    pthread_t threads[ASKING];
    pthread_barrier_t all;
    asker a = { &all, QUESTIONS };
    int i, turn;
    start();
    enter(&P[0]);
    CHECK(pthread_barrier_init(&all, NULL, ASKING) == 0);
    for (turn = 1; turn < 3; turn++) { /* the second ones have the names of the first ones */
        for (i = 0; i < ASKING; i++)
            CHECK(pthread_create(&threads[i], NULL, ask, &a) == 0);
        for (i = 0; i < ASKING; i++)
            pthread_join(threads[i], NULL);
        CHECK_EQ(info().look_ups, (uint64_t)turn * ASKING * QUESTIONS);
    }
    pthread_barrier_destroy(&all);
    leave(&P[0]);
    finish();
}

/* P[0] stays; P[1] and its array come and go beside it, in the same page. */
static void *look_up(void *user)
{
    part *const kept = there(&P[0]);
    (void)user;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        part *at = there(&P[1].value), *last = there((char *)&P[0] + sizeof P[0]);
        CHECK_PTR(there(&P[0]), kept);
        CHECK_PTR(haul_environment_host_pointer(env, kept), &P[0]);
        CHECK_EQ(haul_environment_presence(env, &P[0], sizeof P[0]), HAUL_PRESENT);
        CHECK(haul_environment_presence(env, &P[1], sizeof P[1]) != HAUL_PRESENT_IN_PART);
        CHECK(at == NULL || last != NULL);
        CHECK_PTR(there(&P[3]), NULL);
    }
    return NULL;
}

/* The beginning of `wide` comes and goes, and then all but its first page. */
enum { WIDE_PAGES = 128, PAGE = 4096 };
typedef struct wide_page {
    unsigned char of[PAGE];
} wide_page;
static wide_page *wide;

static void *ask_for_both(void *user)
{
    (void)user;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        CHECK(haul_environment_presence(env, wide, WIDE_PAGES * sizeof *wide) != HAUL_PRESENT);
    return NULL;
}

/* The sleep lets readers ask. When it ends, one of them may have to wait in the middle. */
static void come_and_go(wide_page *at, const haul_type *type, size_t pages)
{
    const struct timespec little = { 0, 50000 };
    CHECK_STATUS(haul_environment_enter(env, at, type, pages, NULL, NULL), HAUL_OK);
    nanosleep(&little, NULL);
    leave((part *)(void *)at);
}

TEST(environment_threads, what_was_never_present_as_a_whole_is_never_said_to_be)
{
    static const haul_struct plain = HAUL_PLAIN(wide_page, NULL);
    pthread_t readers[READERS];
    haul_type *type;
    void *memory;
    int i;
    start();
    type = type_new(&plain);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK(posix_memalign(&memory, PAGE, (WIDE_PAGES + 1) * sizeof *wide) == 0);
    wide = memory;
    memset(wide, 0, (WIDE_PAGES + 1) * sizeof *wide);
    is_over = 0;
    for (i = 0; i < READERS; i++)
        CHECK(pthread_create(&readers[i], NULL, ask_for_both, NULL) == 0);
    for (i = 0; i < WIDE_TURNS; i++) {
        come_and_go(wide, type, WIDE_PAGES * 3 / 4);
        come_and_go(wide + 1, type, WIDE_PAGES);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    free(memory);
    haul_type_free(&type);
    finish();
}

enum { LONG_PAGES = LARGE(16384, 1024), LONG_TURNS = 50 };

static void *come_and_go_on(void *user)
{
    (void)user;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        CHECK_STATUS(haul_environment_enter(env, &P[1], part_type, 1, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_environment_exit(env, &P[1], NULL, NULL), HAUL_OK);
    }
    return NULL;
}

/* In the time of one answer about many pages, another thread enters and leaves many times. */
TEST(environment_threads, changes_elsewhere_do_not_hold_up_an_answer_about_many_pages)
{
    static const haul_struct plain = HAUL_PLAIN(wide_page, NULL);
    const size_t bytes = LONG_PAGES * sizeof *wide;
    haul_type *type;
    pthread_t other;
    void *memory;
    int i;
    start();
    type = type_new(&plain);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK(posix_memalign(&memory, PAGE, 2 * bytes) == 0);
    wide = memset(memory, 0, 2 * bytes);
    CHECK_STATUS(haul_environment_enter(env, wide, type, LONG_PAGES, NULL, NULL), HAUL_OK);
    is_over = 0;
    CHECK(pthread_create(&other, NULL, come_and_go_on, NULL) == 0);
    for (i = 0; i < LONG_TURNS; i++) {
        CHECK_EQ(haul_environment_presence(env, wide, bytes), HAUL_PRESENT);
        CHECK_EQ(haul_environment_presence(env, wide, bytes + 1), HAUL_PRESENT_IN_PART);
        CHECK_EQ(haul_environment_presence(env, wide + LONG_PAGES, bytes), HAUL_ABSENT);
        CHECK_EQ(haul_environment_presence(env, (char *)(wide + LONG_PAGES) - 1, bytes),
                 HAUL_PRESENT_IN_PART);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    leave((part *)(void *)wide);
    free(memory);
    haul_type_free(&type);
    finish();
}

TEST(environment_threads, look_ups_are_right_while_other_graphs_come_and_go)
{
    pthread_t readers[READERS];
    int i;
    start();
    enter(&P[0]);
    is_over = 0;
    for (i = 0; i < READERS; i++)
        CHECK(pthread_create(&readers[i], NULL, look_up, NULL) == 0);
    for (i = 0; i < CHANGES; i++) {
        enter(&P[1]);
        if (i % 3 == 0)
            enter(&P[5]);
        leave(&P[1]);
        if (i % 3 == 0)
            leave(&P[5]);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    leave(&P[0]);
    finish();
}
