/* A thread pool: its threads share loops with the caller.
 *
 * The slow obvious version starts threads for each loop and joins them: some 20 us for each thread.
 * Here threads live between loops. After a loop a thread spins for as long as a piece of a transfer
 * takes, and then sleeps.
 *
 * A thread begins at the chunk that belongs to its number, and then takes the chunks that other
 * threads have left. A graph of some megabytes that goes back and forth is then gathered by the
 * thread whose cache it was scattered from. If any thread took any chunk, most lines would come
 * from other caches.
 *
 * The state of a loop is one word: an open bit, and the number of threads inside. A thread enters
 * by adding one, and learns in the same step whether the loop is open; if not, it leaves. The
 * caller takes chunks until none is left, closes the loop, and waits until the number is 0. Then
 * each chunk has been taken, and each thread has left: all chunks are done, and the next loop can
 * be set up. The caller does not wait for threads that sleep through a loop.
 *
 * Waking a thread costs the waker 1 to 2 us. So each thread wakes two others: the last of 15 is
 * awake after three such steps, and the caller has paid for two.
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

/* The default time for which a thread spins. Longer: it is ready for the next piece, and a core is
 * busy meanwhile. */
#define AWAKE_SECONDS 100e-6
#define SPINS_A_CLOCK 64u      /* between two looks at the clock */
#define TO_SLEEP_SECONDS 50e-6 /* that the caller waits at most for threads to fall asleep */
#define SPINS_A_YIELD 4096u    /* between two calls of sched_yield */
#define WAKES 2u               /* that one thread wakes */
#define STACK_BYTES ((size_t)512 << 10)
/* the smallest chunk of a copy. Smaller: its first and last lines count for more. */
#define COPY_BYTES ((size_t)64 << 10)

/* The bytes of work for each thread that is woken: copying them takes about as long as waking it.
 * If threads stay awake for long, fewer bytes are enough. A build for tests wakes all. */
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
    unsigned threads, room; /* threads that run; threads that there is memory for */
    double awake_seconds;
    size_t worth_waking; /* bytes */
    pid_t process;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned asleep;                        /* threads that wait; atomic, written under the mutex */
    unsigned wanted;                        /* how many of them to wake; under the mutex */
    int is_over;                            /* atomic */
    int shall_sleep;                        /* atomic: no thread spins until the next call */
    unsigned calls;                         /* atomic, written under the mutex */
    unsigned char apart[HAUL__LINE];        /* keeps the members below on other lines */
    unsigned inside;                        /* atomic: the state of the loop */
    unsigned next_number;                   /* atomic */
    size_t first, end, each, count;         /* of the loop */
    unsigned char taken[HAUL__POOL_CHUNKS]; /* atomic */
    haul__pool_work *work;
    void *user;
    pthread_t thread[1];
};

/* A mask has room for 1024 processors. If there are more, or there is no mask, all that are online
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

/* Each thread has an errno of its own. */
uintptr_t haul__thread_place(void)
{
    return (uintptr_t)&errno;
}

static size_t pool_bytes(unsigned threads)
{
    return sizeof(haul__pool) + threads * sizeof(pthread_t);
}

static size_t scratch_bytes(unsigned threads)
{
    return ((size_t)threads + 1) * HAUL__SCRATCH_BYTES;
}

/* Number 0 is the caller. */
static void take_chunks(haul__pool *pool, unsigned number)
{
    void *scratch = pool->scratch + number * HAUL__SCRATCH_BYTES;
    const size_t own = number * pool->count / (pool->threads + 1u);
    size_t tried;
    for (tried = 0; tried < pool->count; tried++) {
        const size_t i = (own + tried) % pool->count, at = pool->first + i * pool->each;
        if (!haul__atomic_load(&pool->taken[i]) && !haul__atomic_swap(&pool->taken[i], 1))
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
        pthread_cond_signal(&pool->condition);
}

static int was_called(const haul__pool *pool, unsigned seen)
{
    return haul__atomic_load(&pool->calls) != seen;
}

static int spin(const haul__pool *pool, unsigned seen)
{
    const double until = haul__seconds() + pool->awake_seconds;
    unsigned spins;
    do {
        for (spins = 0; spins < SPINS_A_CLOCK; spins++) {
            if (was_called(pool, seen))
                return 1;
            haul__relax();
        }
    } while (!haul__atomic_load(&pool->shall_sleep) && haul__seconds() < until);
    return 0;
}

/* 0: the pool ends. */
static int wait_for_call(haul__pool *pool, unsigned *seen)
{
    if (!spin(pool, *seen)) {
        pthread_mutex_lock(&pool->mutex);
        haul__atomic_add(&pool->asleep, 1u);
        while (!was_called(pool, *seen))
            pthread_cond_wait(&pool->condition, &pool->mutex);
        haul__atomic_add(&pool->asleep, 0u - 1u);
        wake_some(pool);
        pthread_mutex_unlock(&pool->mutex);
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
            take_chunks(pool, number);
        haul__atomic_add(&pool->inside, 0u - 1u);
    }
    return NULL;
}

/* Blocks all signals, so that they go to the user's threads, except those that an instruction
 * raises: their handler may make the memory accessible. */
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
    haul__pool *pool = haul__allocate_zeroed(allocator, pool_bytes(threads));
    if (!pool)
        return NULL;
    pool->allocator = *allocator;
    pool->room = threads;
    pool->awake_seconds = awake_seconds > 0 ? awake_seconds : AWAKE_SECONDS;
    pool->worth_waking = awake_seconds > AWAKE_SECONDS ? WORTH_STAYING_BYTES : WORTH_WAKING_BYTES;
    pool->process = getpid();
    pool->scratch = haul__allocate(allocator, scratch_bytes(threads), HAUL__SCRATCH_ALIGNMENT);
    if (!pool->scratch) {
        haul__release(allocator, pool, pool_bytes(threads));
        return NULL;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->condition, NULL);
    start(pool, threads);
    return pool;
}

/* Threads that are awake see the call without the condition. */
static void call(haul__pool *pool, size_t wanted)
{
    pthread_mutex_lock(&pool->mutex);
    haul__atomic_store(&pool->shall_sleep, 0);
    haul__atomic_store(&pool->calls, pool->calls + 1);
    pool->wanted = wanted < pool->threads ? (unsigned)wanted : pool->threads;
    wake_some(pool);
    pthread_mutex_unlock(&pool->mutex);
}

/* After a fork the threads belong to the parent; the mutex may be in any state. */
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
        pthread_cond_destroy(&pool->condition);
        pthread_mutex_destroy(&pool->mutex);
    }
    allocator = pool->allocator;
    haul__release(&allocator, pool->scratch, scratch_bytes(pool->room));
    haul__release(&allocator, pool, pool_bytes(pool->room));
    errno = saved;
}

/* ---- Loops. */

void haul__pool_wake(haul__pool *pool, size_t bytes)
{
    if (pool && is_here(pool))
        call(pool, bytes / pool->worth_waking);
}

void haul__pool_sleep(haul__pool *pool)
{
    double until;
    if (!pool || !is_here(pool))
        return;
    haul__atomic_store(&pool->shall_sleep, 1); /* for those too that a signal is yet to wake */
    until = haul__seconds() + TO_SLEEP_SECONDS;
    while (haul__atomic_load(&pool->asleep) < pool->threads && haul__seconds() < until)
        haul__relax();
}

void haul__pool_rest(unsigned *spins)
{
    haul__relax();
    if (++*spins % SPINS_A_YIELD == 0)
        sched_yield();
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

size_t haul__pool_run(haul__pool *pool, size_t bytes, size_t first, size_t end, size_t grain,
                      haul__pool_work *work, void *user)
{
    unsigned spins = 0;
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
    take_chunks(pool, 0);
    haul__atomic_add(&pool->inside, 0u - IS_OPEN);
    while (haul__atomic_load(&pool->inside) != 0)
        haul__pool_rest(&spins);
    return pool->count;
}

/* ---- Copies. */

typedef struct copying {
    unsigned char *to;
    const unsigned char *from;
} copying;

static void copy_chunk(void *user, size_t number, size_t first, size_t end, void *scratch)
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
    haul__pool_run(pool, bytes, 0, bytes, COPY_BYTES, copy_chunk, &all);
}
