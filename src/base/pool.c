/* A pool: threads that share loops with the thread that asks.
 *
 * The slow obvious version starts threads for each loop and joins them: some 20 us for each. Here
 * they live between loops. One that has just had work asks for more for as long as a piece of a
 * transfer takes, and then sleeps.
 *
 * Each begins with the shares that are its own by number, and then takes what others have left. A
 * graph of some megabytes that goes back and forth is then gathered by the thread in whose cache it
 * was scattered: where any thread takes any share, most of its lines have to come from another's.
 *
 * The state of a loop is one word: whether it is open, and how many threads are inside. Coming in
 * adds one and tells in the same step whether the loop is open; who finds it closed goes out again.
 * The thread that asked takes shares itself until there are none left, closes the loop and waits
 * until nobody is inside. All shares are taken by then, and whoever took one is gone: so all are
 * done, and the next loop can be set up. Nobody else is waited for: a thread that sleeps through a
 * loop is no concern of it.
 *
 * To wake a thread costs the one that wakes 1 to 2 us. So each wakes two others: of 15 the last is
 * awake after three such steps, and the one that asked has paid for two.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/stream.h"

#define IS_OPEN ((unsigned)1 << 31)

/* For so long a thread waits awake, if nobody says. Longer: it is there when the next piece comes,
 * and a core is busy meanwhile. */
#define AWAKE_SECONDS 100e-6
#define ASKS_A_LOOK 64u /* at the clock */
#define ASKS_A_YIELD 4096u
#define WAKES 2u
#define STACK_BYTES ((size_t)512 << 10)
#define LINE 64u
/* of a copy, at least, in one share. Smaller: its first and last lines count for more. */
#define COPY_BYTES ((size_t)64 << 10)

/* A thread for so many: it takes about as long to copy them as to wake it. Where it then stays
 * awake, it is woken for less. In a build for tests all are woken. */
#ifdef HAUL_STRESS_THREADS
#define WORTH_WAKING_BYTES ((size_t)1)
#define WORTH_STAYING_BYTES ((size_t)1)
#else
#define WORTH_WAKING_BYTES ((size_t)192 << 10)
#define WORTH_STAYING_BYTES ((size_t)32 << 10)
#endif

struct haul__pool {
    haul_allocator allocator;
    unsigned char *scratch; /* the caller's, and one for each thread */
    unsigned threads, room; /* that run; that there is memory for */
    double awake_seconds;
    size_t worth_waking; /* bytes */
    pid_t process;
    pthread_mutex_t door;
    pthread_cond_t bell;
    /* behind the door: threads that wait for the bell; how many of them to wake */
    unsigned asleep, wanted;
    int is_over;                            /* atomic */
    unsigned calls;                         /* atomic, written behind the door */
    unsigned char apart[LINE];              /* from what changes while others look at it */
    unsigned inside;                        /* atomic */
    unsigned next_number;                   /* atomic */
    size_t first, end, each, count;         /* of the loop */
    unsigned char taken[HAUL__POOL_CHUNKS]; /* atomic */
    haul__pool_work *work;
    void *user;
    pthread_t thread[1];
};

/* A mask has room for 1024 of them; beyond that, or where there is none, all that are there
 * count. */
unsigned haul__processors(void)
{
    const int saved = errno;
    long count = 0;
#ifdef CPU_COUNT
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        count = CPU_COUNT(&mask);
#endif
    if (count < 1)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    errno = saved;
    return count < 1 ? 1u : (unsigned)count;
}

long haul__process(void)
{
    return (long)getpid();
}

static size_t team_bytes(unsigned threads)
{
    return sizeof(haul__pool) + threads * sizeof(pthread_t);
}

static size_t scratch_bytes(unsigned threads)
{
    return ((size_t)threads + 1) * HAUL__SCRATCH_BYTES;
}

static int take(haul__pool *pool, size_t share)
{
    return !haul__atomic_load(&pool->taken[share]) && !haul__atomic_swap(&pool->taken[share], 1);
}

/* Number 0 is the thread that asked. */
static void take_shares(haul__pool *pool, unsigned number)
{
    void *scratch = pool->scratch + number * HAUL__SCRATCH_BYTES;
    const size_t own = number * pool->count / (pool->threads + 1u);
    size_t tried;
    for (tried = 0; tried < pool->count; tried++) {
        const size_t i = (own + tried) % pool->count, at = pool->first + i * pool->each;
        if (take(pool, i))
            pool->work(pool->user, i, at, pool->end - at < pool->each ? pool->end : at + pool->each,
                       scratch);
    }
}

/* ---- Threads. */

static void wake_some(haul__pool *pool)
{
    unsigned i, some = pool->wanted < WAKES ? pool->wanted : WAKES;
    if (some > pool->asleep)
        some = pool->asleep;
    pool->wanted -= some;
    for (i = 0; i < some; i++)
        pthread_cond_signal(&pool->bell);
}

static int was_called(const haul__pool *pool, unsigned seen)
{
    return haul__atomic_load(&pool->calls) != seen;
}

static int wait_awake(const haul__pool *pool, unsigned seen)
{
    const double until = haul__seconds() + pool->awake_seconds;
    unsigned asks;
    do {
        for (asks = 0; asks < ASKS_A_LOOK; asks++) {
            if (was_called(pool, seen))
                return 1;
            haul__relax();
        }
    } while (haul__seconds() < until);
    return 0;
}

/* 0: there will be none. */
static int wait_for_call(haul__pool *pool, unsigned *seen)
{
    if (!wait_awake(pool, *seen)) {
        pthread_mutex_lock(&pool->door);
        pool->asleep++;
        while (!was_called(pool, *seen))
            pthread_cond_wait(&pool->bell, &pool->door);
        pool->asleep--;
        wake_some(pool);
        pthread_mutex_unlock(&pool->door);
    }
    *seen = haul__atomic_load(&pool->calls);
    return !haul__atomic_load(&pool->is_over);
}

static void *help(void *argument)
{
    haul__pool *pool = argument;
    const unsigned number = haul__atomic_add(&pool->next_number, 1u);
    unsigned seen = 0;
    while (wait_for_call(pool, &seen)) {
        if (haul__atomic_add(&pool->inside, 1u) & IS_OPEN)
            take_shares(pool, number);
        haul__atomic_add(&pool->inside, 0u - 1u);
    }
    return NULL;
}

/* Signals are for the user's threads, but for those that an instruction brings upon itself: a
 * handler may mend what it was that could not be read or written. */
static void block_signals(sigset_t *before)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
    sigset_t most;
    size_t i;
    sigfillset(&most);
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&most, own[i]);
    pthread_sigmask(SIG_SETMASK, &most, before);
}

static void start(haul__pool *pool, unsigned threads)
{
    const int saved = errno;
    pthread_attr_t attributes;
    sigset_t before;
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    block_signals(&before);
    while (pool->threads < threads &&
           pthread_create(&pool->thread[pool->threads], &attributes, help, pool) == 0)
        pool->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    errno = saved;
}

haul__pool *haul__pool_new(const haul_allocator *allocator, unsigned threads, double awake_seconds)
{
    haul__pool *pool = haul__allocate_zeroed(allocator, team_bytes(threads));
    if (!pool)
        return NULL;
    pool->allocator = *allocator;
    pool->room = threads;
    pool->awake_seconds = awake_seconds > 0 ? awake_seconds : AWAKE_SECONDS;
    pool->worth_waking = awake_seconds > AWAKE_SECONDS ? WORTH_STAYING_BYTES : WORTH_WAKING_BYTES;
    pool->process = getpid();
    pool->scratch = haul__allocate(allocator, scratch_bytes(threads), HAUL__SCRATCH_ALIGNMENT);
    if (!pool->scratch) {
        haul__release(allocator, pool, team_bytes(threads));
        return NULL;
    }
    pthread_mutex_init(&pool->door, NULL);
    pthread_cond_init(&pool->bell, NULL);
    start(pool, threads);
    return pool;
}

/* Those that are awake see it anyway. */
static void call(haul__pool *pool, size_t wanted)
{
    pthread_mutex_lock(&pool->door);
    haul__atomic_store(&pool->calls, pool->calls + 1);
    pool->wanted = wanted < pool->threads ? (unsigned)wanted : pool->threads;
    wake_some(pool);
    pthread_mutex_unlock(&pool->door);
}

/* After a fork the threads are the other process's; so are the locks, in whatever state. */
static int is_here(const haul__pool *pool)
{
    return pool->threads > 0 && pool->process == getpid();
}

void haul__pool_free(haul__pool *pool)
{
    const int saved = errno;
    haul_allocator allocator;
    unsigned i;
    if (!pool)
        return;
    if (is_here(pool)) {
        haul__atomic_store(&pool->is_over, 1);
        call(pool, pool->threads);
        for (i = 0; i < pool->threads; i++)
            pthread_join(pool->thread[i], NULL);
        pthread_cond_destroy(&pool->bell);
        pthread_mutex_destroy(&pool->door);
    }
    allocator = pool->allocator;
    haul__release(&allocator, pool->scratch, scratch_bytes(pool->room));
    haul__release(&allocator, pool, team_bytes(pool->room));
    errno = saved;
}

/* ---- Loops. */

void haul__pool_wake(haul__pool *pool, size_t bytes)
{
    if (pool && is_here(pool))
        call(pool, bytes / pool->worth_waking);
}

static void wait_until_empty(haul__pool *pool)
{
    unsigned asks = 0;
    while (haul__atomic_load(&pool->inside) != 0) {
        haul__relax();
        if (++asks % ASKS_A_YIELD == 0)
            sched_yield();
    }
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

size_t haul__pool_run(haul__pool *pool, size_t bytes, size_t first, size_t end, size_t grain,
                      haul__pool_work *work, void *user)
{
    if (first >= end)
        return 0;
    if (!pool || end - first <= grain || !is_here(pool)) {
        work(user, 0, first, end, NULL);
        return 1;
    }
    pool->work = work;
    pool->user = user;
    pool->first = first;
    pool->end = end;
    pool->each = divide_up(divide_up(end - first, grain), HAUL__POOL_CHUNKS) * grain;
    pool->count = divide_up(end - first, pool->each);
    memset(pool->taken, 0, sizeof pool->taken);
    haul__atomic_add(&pool->inside, IS_OPEN);
    call(pool, bytes / pool->worth_waking);
    take_shares(pool, 0);
    haul__atomic_add(&pool->inside, 0u - IS_OPEN);
    wait_until_empty(pool);
    return pool->count;
}

/* ---- Copies. */

typedef struct copying {
    unsigned char *to;
    const unsigned char *from;
} copying;

static void copy_share(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const copying *all = user;
    (void)number;
    (void)scratch;
    haul__copy_streaming(all->to + first, all->from + first, end - first);
}

void haul__pool_copy(haul__pool *pool, void *to, const void *from, size_t bytes)
{
    copying all;
    all.to = to;
    all.from = from;
    haul__pool_run(pool, bytes, 0, bytes, COPY_BYTES, copy_share, &all);
}
