/* Thread pools: each chunk of a loop is done once, by any thread, and a loop ends even if no other
 * thread comes.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/random.h"

enum { NUMBERS = 3000, LOOPS = 400, LARGE = 1 << 30 };

typedef struct ledger {
    unsigned done[NUMBERS];     /* atomic */
    unsigned char *scratch[64]; /* that were seen; behind the lock */
    size_t scratches;
    pthread_mutex_t lock;
} ledger;

static haul__pool *pool_awake(unsigned threads, double seconds)
{
    haul_allocator allocator = haul__allocator_or_default(NULL);
    haul__pool *pool = haul__pool_new(&allocator, threads, seconds);
    CHECK(pool != NULL);
    return pool;
}

static haul__pool *pool_of(unsigned threads)
{
    return pool_awake(threads, 0);
}

static void enter(ledger *l, unsigned char *scratch)
{
    size_t i;
    pthread_mutex_lock(&l->lock);
    for (i = 0; i < l->scratches && l->scratch[i] != scratch; i++)
        continue;
    if (i == l->scratches)
        l->scratch[l->scratches++] = scratch;
    pthread_mutex_unlock(&l->lock);
}

static void count_only(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    ledger *l = user;
    (void)scratch;
    if (number >= HAUL__POOL_CHUNKS)
        first = end; /* not counted, so found out */
    for (; first < end; first++)
        __atomic_add_fetch(&l->done[first], 1u, __ATOMIC_RELAXED);
}

static void count_and_scribble(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    ledger *l = user;
    size_t at;
    count_only(user, number, first, end, NULL);
    if (!scratch)
        return; /* one share is all */
    enter(l, scratch);
    memset(scratch, (int)number, HAUL__SCRATCH_BYTES);
    for (at = 0; at < HAUL__SCRATCH_BYTES; at += 61)
        if (((unsigned char *)scratch)[at] != (unsigned char)number)
            __atomic_add_fetch(&l->done[first], 100u,
                               __ATOMIC_RELAXED); /* somebody else writes there */
}

static void check_range(haul__pool *pool, ledger *l, size_t first, size_t end, size_t grain)
{
    size_t i, shares;
    memset(l->done, 0, sizeof l->done);
    shares = haul__pool_run(pool, LARGE, first, end, grain, count_and_scribble, l);
    CHECK(shares <= HAUL__POOL_CHUNKS && (shares == 0) == (first == end));
    for (i = 0; i < NUMBERS; i++)
        CHECK_EQ(l->done[i], i >= first && i < end);
}

static void check_loop(haul__pool *pool, ledger *l, size_t count)
{
    check_range(pool, l, 0, count, 1);
}

static ledger *ledger_new(void)
{
    ledger *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

TEST(thread_pool, each_number_is_done_once_and_no_two_threads_have_one_scratch)
{
    random_source r = random_start("loops of a pool");
    ledger *l = ledger_new();
    haul__pool *pool = pool_of(4);
    size_t loop;
    for (loop = 0; loop < LOOPS; loop++) {
        if (random_below(&r, 8) == 0)
            usleep(300); /* they are asleep by then */
        if (random_below(&r, 4) == 0)
            haul__pool_wake(pool, LARGE);
        check_loop(pool, l, random_below(&r, 40));
        check_range(pool, l, random_below(&r, 90), 90 + random_below(&r, NUMBERS - 90),
                    1 + random_below(&r, 20));
    }
    check_loop(pool, l, NUMBERS);
    CHECK(l->scratches >= 1 && l->scratches <= 5);
    haul__pool_free(pool);
    free(l);
}

TEST(thread_pool, a_pool_without_threads_and_no_pool_at_all_do_the_same)
{
    ledger *l = ledger_new();
    haul__pool *pool = pool_of(0);
    check_loop(pool, l, NUMBERS);
    check_loop(NULL, l, NUMBERS);
    CHECK_EQ(l->scratches, 0);
    haul__pool_wake(pool, LARGE);
    haul__pool_wake(NULL, LARGE);
    haul__pool_free(pool);
    haul__pool_free(NULL);
    free(l);
}

/* A hundred pools that end while their threads start, wait awake or sleep. */
TEST(thread_pool, pools_end_at_any_time)
{
    ledger *l = ledger_new();
    int i;
    for (i = 0; i < 100; i++) {
        haul__pool *pool = pool_of(3);
        l->scratches = 0;
        if (i % 3)
            check_loop(pool, l, 10);
        if (i % 5 == 0)
            usleep(200);
        haul__pool_free(pool);
    }
    free(l);
}

TEST(thread_pool, a_child_after_a_fork_works_alone)
{
    ledger *l = ledger_new();
    haul__pool *pool = pool_of(3);
    int status = -1;
    pid_t child;
    check_loop(pool, l, 100);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        size_t i, wrong = 0;
        memset(l->done, 0, sizeof l->done);
        haul__pool_wake(pool, LARGE);
        haul__pool_run(pool, LARGE, 0, 100, 1, count_only, l);
        for (i = 0; i < 100; i++)
            wrong += l->done[i] != 1;
        haul__pool_free(pool);
        check_leave(wrong ? 1 : 0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_loop(pool, l, 100);
    haul__pool_free(pool);
    free(l);
}

/* How many threads of this process run or could, this one among them. */
static size_t threads_awake(void)
{
    size_t awake = 0;
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    CHECK(tasks != NULL);
    while ((task = readdir(tasks)) != NULL) {
        char path[300], state = 0;
        FILE *stat;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        stat = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1)
            awake += state == 'R';
        if (stat)
            fclose(stat);
    }
    closedir(tasks);
    return awake;
}

/* Their number, if need be a second later: a sanitizer's thread wakes now and then. */
static size_t threads_awake_at_last(size_t expected)
{
    size_t awake = threads_awake();
    int tries;
    for (tries = 0; awake != expected && tries < 1000; tries++) {
        usleep(1000);
        awake = threads_awake();
    }
    return awake;
}

/* Other tests' threads have ended with their pools. */
TEST(thread_pool, threads_wait_awake_for_as_long_as_they_should)
{
    ledger *l = ledger_new();
    haul__pool *pool = pool_awake(2, 3600);
    check_loop(pool, l, NUMBERS);
    usleep(20000);
    CHECK_EQ(threads_awake_at_last(3), 3);
    haul__pool_free(pool); /* does not wait for that hour */
    pool = pool_of(2);
    check_loop(pool, l, NUMBERS);
    CHECK_EQ(threads_awake_at_last(1), 1);
    haul__pool_free(pool);
    free(l);
}

TEST(thread_pool, threads_that_wait_awake_can_be_sent_to_sleep_until_the_next_loop)
{
    ledger *l = ledger_new();
    haul__pool *pool = pool_awake(2, 3600);
    int i;
    haul__pool_sleep(NULL);
    haul__pool_sleep(pool); /* before any loop */
    CHECK_EQ(threads_awake_at_last(1), 1);
    for (i = 0; i < 50; i++) {
        check_loop(pool, l, NUMBERS);
        haul__pool_sleep(pool);
        haul__pool_sleep(pool);
    }
    CHECK_EQ(threads_awake_at_last(1), 1);
    haul__pool_wake(pool, LARGE); /* signals threads, which have yet to wake */
    haul__pool_sleep(pool);
    CHECK_EQ(threads_awake_at_last(1), 1);
    check_loop(pool, l, NUMBERS);
    CHECK_EQ(threads_awake_at_last(3), 3);
    haul__pool_free(pool);
    free(l);
}

static pthread_t signalled;

static void note_thread(int number)
{
    (void)number;
    signalled = pthread_self();
}

TEST(thread_pool, signals_are_taken_by_the_users_threads)
{
    ledger *l = ledger_new();
    haul__pool *pool = pool_of(3);
    struct sigaction action, before;
    int i;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_thread;
    sigemptyset(&action.sa_mask);
    CHECK_EQ(sigaction(SIGUSR1, &action, &before), 0);
    for (i = 0; i < 50; i++) {
        memset(&signalled, 0, sizeof signalled);
        check_loop(pool, l, 20);
        CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        CHECK(pthread_equal(signalled, pthread_self()));
    }
    sigaction(SIGUSR1, &before, NULL);
    haul__pool_free(pool);
    free(l);
}

TEST(thread_pool, a_shared_copy_copies_every_byte_at_any_place_and_no_other)
{
    enum { BYTES = 1 << 20 };
    random_source r = random_start("copies of a pool");
    haul__pool *pool = pool_of(3);
    unsigned char *from = malloc(BYTES + 256), *to = malloc(BYTES + 256);
    size_t i, round;
    CHECK(from && to);
    for (i = 0; i < BYTES + 256; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
    for (round = 0; round < 30; round++) {
        size_t a = random_below(&r, 64), b = random_below(&r, 64);
        size_t bytes = random_below(&r, BYTES);
        memset(to, 0xEE, BYTES + 256);
        haul__pool_copy(round % 4 ? pool : NULL, to + a + 1, from + b, bytes);
        CHECK_BYTES(to + a + 1, from + b, bytes);
        CHECK(to[a] == 0xEE && to[a + 1 + bytes] == 0xEE);
    }
    free(from);
    free(to);
    haul__pool_free(pool);
}
