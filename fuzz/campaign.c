/* The parent forks workers, which take seeds in pieces from a counter that all share. What each
 * does stands in a page that the parent reads: so it knows the seed of one that died, and sees one
 * that hangs. The parent itself never calls the library.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "campaign.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/builds.h"

enum { JOBS_MAX = 256, FAILURES_MAX = 32, PIECE = 64, PROGRESS_SECONDS = 15 };

/* One worker's, in shared memory. */
typedef struct worker {
    pid_t process;      /* 0: none */
    uint64_t next, end; /* offsets of the seeds that it has taken; `next` is under way */
    uint64_t runs, accepted;
    uint64_t seen; /* the parent's: `runs` when it last looked */
    double seen_at;
} worker;

typedef struct shared {
    uint64_t taken; /* offsets below this are somebody's */
    int stop;
    worker workers[JOBS_MAX];
} shared;

typedef struct course {
    const campaign *c;
    shared *shared;
    unsigned jobs;
    double begun, told;
    uint64_t failed;
} course;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Inputs. */

static size_t draw_input(const campaign *of, uint64_t seed, uint8_t *data)
{
    choices c = choices_from_seed(seed);
    size_t bytes = 0;
    uint32_t changes;
    if (of->from->count && chance(&c, 3, 4)) {
        const struct corpus_file *file =
            &of->from->files[choose(&c, 65536) * of->from->count / 65536];
        bytes = file->bytes < CAMPAIGN_BYTES ? file->bytes : CAMPAIGN_BYTES;
        memcpy(data, file->data, bytes);
    } else if (!of->target->change) {
        bytes = choose(&c, 1u << (2 + choose(&c, 10)));
        fill(&c, data, bytes);
    }
    for (changes = 1 + choose(&c, 1u + choose(&c, 5)); changes > 0; changes--)
        bytes = of->target->change && !chance(&c, 1, 64)
                    ? of->target->change(data, bytes, CAMPAIGN_BYTES, &c)
                    : fuzz_change_bytes(data, bytes, CAMPAIGN_BYTES, &c);
    return bytes;
}

/* Runs it in memory of exactly its size. */
static int run_seed(const campaign *c, uint64_t seed, uint8_t *scratch)
{
    const size_t bytes = draw_input(c, seed, scratch);
    uint8_t *data = malloc(bytes ? bytes : 1);
    int accepted;
    if (!data)
        exit(2);
    memcpy(data, scratch, bytes);
    accepted = c->target->run(data, bytes);
    free(data);
    return accepted;
}

/* ---- Workers. */

#define MEMORY_MOST ((rlim_t)2 << 30) /* of a process; sanitizers have much of their own */

/* A run that takes too much is refused memory, and so the machine is not. */
static void limit_memory(void)
{
    struct rlimit limit;
    if (!BUILD_SANITIZED && getrlimit(RLIMIT_DATA, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < MEMORY_MOST ? limit.rlim_max : MEMORY_MOST;
        setrlimit(RLIMIT_DATA, &limit);
    }
}

static void work(const course *r, worker *w)
{
    static uint8_t scratch[CAMPAIGN_BYTES];
    const campaign *c = r->c;
    shared *all = r->shared;
    while (!__atomic_load_n(&all->stop, __ATOMIC_RELAXED)) {
        if (w->next == w->end) {
            const uint64_t first = __atomic_fetch_add(&all->taken, PIECE, __ATOMIC_RELAXED);
            if (first >= c->runs)
                break;
            w->next = first;
            w->end = c->runs - first < PIECE ? c->runs : first + PIECE;
        }
        w->accepted += (uint64_t)run_seed(c, c->seed + w->next, scratch);
        w->next++;
        w->runs++;
    }
    fflush(NULL);
    _exit(0);
}

static void start(course *r, worker *w)
{
    pid_t child;
    fflush(NULL);
    w->seen = w->runs;
    w->seen_at = now();
    child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_IGN); /* the parent tells */
        limit_memory();
        work(r, w);
    }
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    w->process = child;
}

/* In a process of its own: 0: it went well. Writes the input where it is to be kept. */
static int run_alone(const campaign *c, uint64_t seed)
{
    static uint8_t scratch[CAMPAIGN_BYTES];
    int status = 1;
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(c->hang_seconds);
        limit_memory();
        if (c->keep) {
            char path[4096];
            FILE *file;
            const size_t bytes = draw_input(c, seed, scratch);
            snprintf(path, sizeof path, "%s/%s-%llu", c->keep, c->target->name,
                     (unsigned long long)seed);
            file = fopen(path, "wb");
            if (!file || fwrite(scratch, 1, bytes, file) != bytes || fclose(file) != 0)
                fprintf(stderr, "cannot write %s\n", path);
        }
        run_seed(c, seed, scratch);
        _exit(0);
    }
    return child < 0 || waitpid(child, &status, 0) != child ? 1 : status;
}

/* The worker has died at the seed `next`. */
static void bury(course *r, worker *w, int status)
{
    const campaign *c = r->c;
    const uint64_t seed = c->seed + w->next;
    char how[64];
    w->process = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof how, "exit %d", WEXITSTATUS(status));
    r->failed++;
    w->runs++;
    w->next++;
    printf("FAILED: haul_fuzz %s --random 1 --seed %llu (with this corpus): %s%s\n",
           c->target->name, (unsigned long long)seed, how,
           run_alone(c, seed) ? "" : "; it passes by itself, behind no other runs");
    fflush(stdout);
    if (r->failed < FAILURES_MAX)
        start(r, w);
}

/* ---- The parent. */

static campaign_result sum(const course *r)
{
    campaign_result s = { 0, 0, 0, 0 };
    unsigned i;
    for (i = 0; i < r->jobs; i++) {
        s.runs += r->shared->workers[i].runs;
        s.accepted += r->shared->workers[i].accepted;
    }
    s.failed = r->failed;
    s.is_interrupted = interrupted;
    return s;
}

static void tell(const course *r)
{
    const campaign_result s = sum(r);
    const double seconds = now() - r->begun;
    printf("%s: %llu runs, %.1f s, %u processes, %.0f runs a second, %.2f %% accepted, "
           "%llu failed\n",
           r->c->target->name, (unsigned long long)s.runs, seconds, r->jobs,
           (double)s.runs / (seconds > 0 ? seconds : 1),
           s.runs ? 100.0 * (double)s.accepted / (double)s.runs : 0.0,
           (unsigned long long)s.failed);
    fflush(stdout);
}

/* Kills a worker whose run takes too long; it is then buried like any other. */
static void look_for_hangs(course *r)
{
    unsigned i;
    for (i = 0; i < r->jobs; i++) {
        worker *w = &r->shared->workers[i];
        if (w->process == 0)
            continue;
        if (w->runs != w->seen) {
            w->seen = w->runs;
            w->seen_at = now();
        } else if (now() - w->seen_at > r->c->hang_seconds) {
            fprintf(stderr, "%s: a run hangs\n", r->c->target->name);
            kill(w->process, SIGKILL);
            w->seen_at = now();
        }
    }
}

static void collect_the_dead(course *r)
{
    unsigned i;
    for (i = 0; i < r->jobs; i++) {
        worker *w = &r->shared->workers[i];
        int status;
        if (w->process != 0 && waitpid(w->process, &status, WNOHANG) == w->process)
            bury(r, w, status);
    }
}

static int is_anyone_left(const course *r)
{
    unsigned i;
    for (i = 0; i < r->jobs; i++)
        if (r->shared->workers[i].process != 0)
            return 1;
    return 0;
}

static void watch(course *r)
{
    const struct timespec nap = { 0, 50 * 1000 * 1000 };
    while (is_anyone_left(r)) {
        nanosleep(&nap, NULL);
        collect_the_dead(r);
        look_for_hangs(r);
        if (interrupted || r->failed >= FAILURES_MAX ||
            (r->c->seconds > 0 && now() - r->begun >= r->c->seconds))
            __atomic_store_n(&r->shared->stop, 1, __ATOMIC_RELAXED);
        if (now() - r->told >= PROGRESS_SECONDS) {
            r->told = now();
            tell(r);
        }
    }
}

static unsigned processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (unsigned)count;
}

campaign_result campaign_run(const campaign *c)
{
    course r;
    campaign_result result;
    unsigned i;
    memset(&r, 0, sizeof r);
    r.c = c;
    r.jobs = c->jobs && c->jobs < JOBS_MAX ? c->jobs : processors();
    r.shared =
        mmap(NULL, sizeof *r.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r.shared == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    r.begun = r.told = now();
    for (i = 0; i < r.jobs; i++)
        start(&r, &r.shared->workers[i]);
    watch(&r);
    tell(&r);
    result = sum(&r);
    munmap(r.shared, sizeof *r.shared);
    return result;
}
