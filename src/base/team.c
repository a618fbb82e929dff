/* A team: threads that share loops with the thread that asks.
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

#include "base/team.h"

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

struct haul__team {
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
    int is_over;                       /* atomic */
    unsigned calls;                    /* atomic, written behind the door */
    unsigned char apart[LINE];         /* from what changes while others look at it */
    unsigned inside;                   /* atomic */
    unsigned next_number;              /* atomic */
    size_t first, end, each, count;    /* of the loop */
    unsigned char taken[HAUL__SHARES]; /* atomic */
    haul__share *work;
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
    return sizeof(haul__team) + threads * sizeof(pthread_t);
}

static size_t scratch_bytes(unsigned threads)
{
    return ((size_t)threads + 1) * HAUL__SCRATCH_BYTES;
}

static int take(haul__team *team, size_t share)
{
    return !haul__atomic_load(&team->taken[share]) && !haul__atomic_swap(&team->taken[share], 1);
}

/* Number 0 is the thread that asked. */
static void take_shares(haul__team *team, unsigned number)
{
    void *scratch = team->scratch + number * HAUL__SCRATCH_BYTES;
    const size_t own = number * team->count / (team->threads + 1u);
    size_t tried;
    for (tried = 0; tried < team->count; tried++) {
        const size_t i = (own + tried) % team->count, at = team->first + i * team->each;
        if (take(team, i))
            team->work(team->user, i, at, team->end - at < team->each ? team->end : at + team->each,
                       scratch);
    }
}

/* ---- Threads. */

static void wake_some(haul__team *team)
{
    unsigned i, some = team->wanted < WAKES ? team->wanted : WAKES;
    if (some > team->asleep)
        some = team->asleep;
    team->wanted -= some;
    for (i = 0; i < some; i++)
        pthread_cond_signal(&team->bell);
}

static int was_called(const haul__team *team, unsigned seen)
{
    return haul__atomic_load(&team->calls) != seen;
}

static int wait_awake(const haul__team *team, unsigned seen)
{
    const double until = haul__seconds() + team->awake_seconds;
    unsigned asks;
    do {
        for (asks = 0; asks < ASKS_A_LOOK; asks++) {
            if (was_called(team, seen))
                return 1;
            haul__relax();
        }
    } while (haul__seconds() < until);
    return 0;
}

/* 0: there will be none. */
static int wait_for_call(haul__team *team, unsigned *seen)
{
    if (!wait_awake(team, *seen)) {
        pthread_mutex_lock(&team->door);
        team->asleep++;
        while (!was_called(team, *seen))
            pthread_cond_wait(&team->bell, &team->door);
        team->asleep--;
        wake_some(team);
        pthread_mutex_unlock(&team->door);
    }
    *seen = haul__atomic_load(&team->calls);
    return !haul__atomic_load(&team->is_over);
}

static void *help(void *argument)
{
    haul__team *team = argument;
    const unsigned number = haul__atomic_add(&team->next_number, 1u);
    unsigned seen = 0;
    while (wait_for_call(team, &seen)) {
        if (haul__atomic_add(&team->inside, 1u) & IS_OPEN)
            take_shares(team, number);
        haul__atomic_add(&team->inside, 0u - 1u);
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

static void start(haul__team *team, unsigned threads)
{
    const int saved = errno;
    pthread_attr_t attributes;
    sigset_t before;
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    block_signals(&before);
    while (team->threads < threads &&
           pthread_create(&team->thread[team->threads], &attributes, help, team) == 0)
        team->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    errno = saved;
}

haul__team *haul__team_new(const haul_allocator *allocator, unsigned threads, double awake_seconds)
{
    haul__team *team = haul__allocate_zeroed(allocator, team_bytes(threads));
    if (!team)
        return NULL;
    team->allocator = *allocator;
    team->room = threads;
    team->awake_seconds = awake_seconds > 0 ? awake_seconds : AWAKE_SECONDS;
    team->worth_waking = awake_seconds > AWAKE_SECONDS ? WORTH_STAYING_BYTES : WORTH_WAKING_BYTES;
    team->process = getpid();
    team->scratch = haul__allocate(allocator, scratch_bytes(threads), HAUL__SCRATCH_ALIGNMENT);
    if (!team->scratch) {
        haul__release(allocator, team, team_bytes(threads));
        return NULL;
    }
    pthread_mutex_init(&team->door, NULL);
    pthread_cond_init(&team->bell, NULL);
    start(team, threads);
    return team;
}

/* Those that are awake see it anyway. */
static void call(haul__team *team, size_t wanted)
{
    pthread_mutex_lock(&team->door);
    haul__atomic_store(&team->calls, team->calls + 1);
    team->wanted = wanted < team->threads ? (unsigned)wanted : team->threads;
    wake_some(team);
    pthread_mutex_unlock(&team->door);
}

/* After a fork the threads are the other process's; so are the locks, in whatever state. */
static int is_here(const haul__team *team)
{
    return team->threads > 0 && team->process == getpid();
}

void haul__team_free(haul__team *team)
{
    const int saved = errno;
    haul_allocator allocator;
    unsigned i;
    if (!team)
        return;
    if (is_here(team)) {
        haul__atomic_store(&team->is_over, 1);
        call(team, team->threads);
        for (i = 0; i < team->threads; i++)
            pthread_join(team->thread[i], NULL);
        pthread_cond_destroy(&team->bell);
        pthread_mutex_destroy(&team->door);
    }
    allocator = team->allocator;
    haul__release(&allocator, team->scratch, scratch_bytes(team->room));
    haul__release(&allocator, team, team_bytes(team->room));
    errno = saved;
}

/* ---- Loops. */

void haul__team_call(haul__team *team, size_t bytes)
{
    if (team && is_here(team))
        call(team, bytes / team->worth_waking);
}

static void wait_until_empty(haul__team *team)
{
    unsigned asks = 0;
    while (haul__atomic_load(&team->inside) != 0) {
        haul__relax();
        if (++asks % ASKS_A_YIELD == 0)
            sched_yield();
    }
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

size_t haul__team_run(haul__team *team, size_t bytes, size_t first, size_t end, size_t grain,
                      haul__share *work, void *user)
{
    if (first >= end)
        return 0;
    if (!team || end - first <= grain || !is_here(team)) {
        work(user, 0, first, end, NULL);
        return 1;
    }
    team->work = work;
    team->user = user;
    team->first = first;
    team->end = end;
    team->each = divide_up(divide_up(end - first, grain), HAUL__SHARES) * grain;
    team->count = divide_up(end - first, team->each);
    memset(team->taken, 0, sizeof team->taken);
    haul__atomic_add(&team->inside, IS_OPEN);
    call(team, bytes / team->worth_waking);
    take_shares(team, 0);
    haul__atomic_add(&team->inside, 0u - IS_OPEN);
    wait_until_empty(team);
    return team->count;
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

void haul__team_copy(haul__team *team, void *to, const void *from, size_t bytes)
{
    copying all;
    all.to = to;
    all.from = from;
    haul__team_run(team, bytes, 0, bytes, COPY_BYTES, copy_share, &all);
}
