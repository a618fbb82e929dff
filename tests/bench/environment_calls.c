/* Updates of environments beside one raw copy of as many bytes, and enters and exits by many
 * threads at once, whose counts must be exact.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>

#include "base/pool.h"
#include "context/context.h"
#include "bench/environments.h"

enum {
    CALLERS = 16,
    CALLS = 2048, /* of each of them */
    MEMBER_TURNS = 5,
    OBJECT_TURNS = 1000,
    RIVAL_NODES = 2000,
    BARE_GRAIN = 4096, /* nodes that a thread takes at a time */
};

/* ---- One member of all objects. */

/* Milliseconds of the last of some updates: the first ones list where the member lies. */
static double time_member(environments *all, haul_direction direction)
{
    haul_update_part part;
    double started = 0;
    int turn;
    memset(&part, 0, sizeof part);
    part.type = environment_node_type;
    part.offset = offsetof(environment_node, values);
    part.bytes = sizeof(double);
    for (turn = 0; turn < MEMBER_TURNS; turn++) {
        started = bench_milliseconds();
        environments_must(all, haul_environment_update(all->e, &part, 1, direction, NULL));
        started = bench_milliseconds() - started;
    }
    return started;
}

static void set_members(environments *all, double first, double step)
{
    size_t i;
    for (i = 0; i < all->count; i++)
        all->nodes[i].values[0] = first + step * (double)i;
}

/* The same by hand on the host alone: a bare loop by as many threads, which moves the members to a
 * buffer, or from it. */
typedef struct bare {
    environment_node *nodes;
    double *buffer;
    int is_back;
} bare;

static void move_bare(void *user, size_t number, size_t first, size_t end, void *scratch)
{
    const bare *b = user;
    size_t i;
    (void)number;
    (void)scratch;
    for (i = first; i < end && !b->is_back; i++)
        b->buffer[i] = b->nodes[i].values[0];
    for (i = first; i < end && b->is_back; i++)
        b->nodes[i].values[0] = b->buffer[i];
}

/* Milliseconds of the last of some loops. */
static double time_bare(const environments *all, haul__pool *pool, double *buffer, int is_back)
{
    bare b;
    double started = 0;
    int turn;
    b.nodes = all->nodes;
    b.buffer = buffer;
    b.is_back = is_back;
    for (turn = 0; turn < MEMBER_TURNS; turn++) {
        started = bench_milliseconds();
        haul__pool_run(pool, SIZE_MAX, 0, all->count, BARE_GRAIN, move_bare, &b);
        started = bench_milliseconds() - started;
    }
    return started;
}

static void report_bare(environments *all, const char *name, double raw_to, double raw_from)
{
    const unsigned threads = all->threads;
    double *buffer = bench_map(all->count * sizeof *buffer);
    haul__pool *pool =
        threads > 1 ? haul__pool_new(&all->context->allocator, threads - 1, all->spin) : NULL;
    report_value(name, "bare_to_ms", time_bare(all, pool, buffer, 0) + raw_to);
    report_value(name, "bare_from_ms", time_bare(all, pool, buffer, 1) + raw_from);
    haul__pool_free(pool);
    bench_unmap(buffer, all->count * sizeof *buffer);
}

static void report_rival_member(environments *all, const char *name)
{
    const environment_rival *rival = all->setting->rival;
    double started;
    size_t i;
    if (!rival)
        return;
    for (i = 0; i < RIVAL_NODES; i++)
        rival->enter(&all->nodes[i], sizeof(environment_node));
    started = bench_milliseconds();
    for (i = 0; i < RIVAL_NODES; i++)
        rival->update(all->nodes[i].values, sizeof(double), HAUL_TO_DEVICE);
    report_value(name, "run_time_to_us_each", 1e3 * (bench_milliseconds() - started) / RIVAL_NODES);
    started = bench_milliseconds();
    for (i = 0; i < RIVAL_NODES; i++)
        rival->update(all->nodes[i].values, sizeof(double), HAUL_TO_HOST);
    report_value(name, "run_time_from_us_each",
                 1e3 * (bench_milliseconds() - started) / RIVAL_NODES);
    for (i = 0; i < RIVAL_NODES; i++)
        rival->leave(&all->nodes[i], sizeof(environment_node));
}

void measure_member(environments *all, const char *name)
{
    const size_t bytes = all->count * sizeof(double);
    double to, from, raw_to, raw_from;
    size_t i;
    environments_enter(all, all->nodes, environment_node_type, 1);
    set_members(all, 1, 1);
    raw_to = all->setting->raw_copy(bytes, HAUL_TO_DEVICE);
    to = time_member(all, HAUL_TO_DEVICE);
    set_members(all, 0, 0);
    raw_from = all->setting->raw_copy(bytes, HAUL_TO_HOST);
    from = time_member(all, HAUL_TO_HOST);
    for (i = 0; i < all->count; i++)
        if (all->nodes[i].values[0] != 1 + (double)i)
            bench_die("a member did not come back", NULL);
    report_value(name, "to_ms", to);
    report_value(name, "to_times_raw", to / raw_to);
    report_value(name, "from_ms", from);
    report_value(name, "from_times_raw", from / raw_from);
    report_value(name, "raw_to_ms", raw_to);
    report_value(name, "raw_from_ms", raw_from);
    report_bare(all, name, raw_to, raw_from);
    environments_leave(all, all->nodes);
}

/* ---- One object. */

static double time_object(environments *all, haul_direction direction)
{
    environment_node *const one = &all->nodes[0];
    double started = 0;
    int i;
    for (i = -OBJECT_TURNS / 10; i < OBJECT_TURNS; i++) {
        if (i == 0)
            started = bench_milliseconds();
        environments_must(all, direction == HAUL_TO_DEVICE
                                   ? haul_environment_update_device(all->e, one, sizeof *one, NULL)
                                   : haul_environment_update_host(all->e, one, sizeof *one, NULL));
    }
    return 1e3 * (bench_milliseconds() - started) / OBJECT_TURNS;
}

static double time_rival_object(environments *all, haul_direction direction)
{
    double started = bench_milliseconds();
    int i;
    for (i = 0; i < OBJECT_TURNS; i++)
        all->setting->rival->update(&all->nodes[0], sizeof(environment_node), direction);
    return 1e3 * (bench_milliseconds() - started) / OBJECT_TURNS;
}

void measure_object(environments *all)
{
    const environment_rival *rival = all->setting->rival;
    all->nodes[0].next = all->nodes[0].other = NULL;
    environments_enter(all, all->nodes, environment_node_type, 1);
    report_value("object", "to_us", time_object(all, HAUL_TO_DEVICE));
    report_value("object", "from_us", time_object(all, HAUL_TO_HOST));
    environments_leave(all, all->nodes);
    if (!rival)
        return;
    rival->enter(all->nodes, sizeof(environment_node));
    report_value("object", "run_time_to_us", time_rival_object(all, HAUL_TO_DEVICE));
    report_value("object", "run_time_from_us", time_rival_object(all, HAUL_TO_HOST));
    rival->leave(all->nodes, sizeof(environment_node));
    report_rival_member(all, "member");
}

/* ---- Many callers. */

typedef enum task { ENTER, EXIT, BOTH, RIVAL } task;

typedef struct crew {
    environments *all;
    pthread_barrier_t start;
    task task;
} crew;

typedef struct member {
    crew *crew;
    pthread_t thread;
    double begin, end; /* milliseconds */
} member;

static void call_once(environments *all, task what)
{
    if (what == RIVAL) {
        all->setting->rival->enter(all->nodes, sizeof(environment_node));
        all->setting->rival->leave(all->nodes, sizeof(environment_node));
        return;
    }
    if (what != EXIT)
        environments_enter(all, all->nodes, environment_node_type, 1);
    if (what != ENTER)
        environments_leave(all, all->nodes);
}

static void *caller(void *argument)
{
    member *m = argument;
    int i;
    pthread_barrier_wait(&m->crew->start);
    m->begin = bench_milliseconds();
    for (i = 0; i < CALLS; i++)
        call_once(m->crew->all, m->crew->task);
    m->end = bench_milliseconds();
    return NULL;
}

/* Nanoseconds for each of the 32,768 calls, on the wall. */
static double time_crew(environments *all, task what)
{
    member members[CALLERS];
    crew c;
    double begin, end;
    int i;
    c.all = all;
    c.task = what;
    if (pthread_barrier_init(&c.start, NULL, CALLERS) != 0)
        bench_die("no barrier", NULL);
    for (i = 0; i < CALLERS; i++) {
        members[i].crew = &c;
        if (pthread_create(&members[i].thread, NULL, caller, &members[i]) != 0)
            bench_die("no thread", NULL);
    }
    for (i = 0; i < CALLERS; i++)
        pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&c.start);
    begin = members[0].begin;
    end = members[0].end;
    for (i = 1; i < CALLERS; i++) {
        begin = members[i].begin < begin ? members[i].begin : begin;
        end = members[i].end > end ? members[i].end : end;
    }
    return 1e6 * (end - begin) / (CALLERS * CALLS);
}

static void must_count(environments *all, size_t wanted)
{
    haul_present_range found;
    environments_must(all, haul_environment_find(all->e, all->nodes, &found));
    if (found.dynamic != wanted || found.structured != 0)
        bench_die("the counts of 16 threads are not exact", NULL);
}

void measure_callers(environments *all)
{
    const environment_rival *rival = all->setting->rival;
    haul_environment_info before, after;
    all->nodes[0].next = &all->nodes[1];
    all->nodes[1].next = all->nodes[1].other = all->nodes[0].other = NULL;
    haul_environment_get_info(all->e, &before);
    environments_enter(all, all->nodes, environment_node_type, 1);
    report_value("callers", "enter_ns", time_crew(all, ENTER));
    must_count(all, 1 + CALLERS * CALLS);
    report_value("callers", "exit_ns", time_crew(all, EXIT));
    must_count(all, 1);
    report_value("callers", "enter_and_exit_ns", time_crew(all, BOTH));
    must_count(all, 1);
    environments_leave(all, all->nodes);
    haul_environment_get_info(all->e, &after);
    if (after.enters - before.enters != 1 + 2 * CALLERS * CALLS ||
        after.exits - before.exits != 1 + 2 * CALLERS * CALLS ||
        haul_environment_presence(all->e, all->nodes, 1) != HAUL_ABSENT)
        bench_die("the counts of 16 threads are not exact", NULL);
    if (!rival)
        return;
    rival->enter(all->nodes, sizeof(environment_node));
    report_value("callers", "run_time_enter_and_exit_ns", time_crew(all, RIVAL));
    rival->leave(all->nodes, sizeof(environment_node));
}
