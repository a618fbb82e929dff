/* A program after CoreNEURON: cells of many nodes, which synapses join in a ring. A thread's data
 * is one array; seven pointers, all mechanisms and the watchers of spikes point into it. Mechanisms
 * stand in a list, and in a table by type that has gaps. Watchers lead back to their thread.
 *
 * All threads stay on the device. Each step the host sends the events that are due, and reads which
 * cells have fired and the voltages along one cell. Buffers of events come later, as roots of their
 * own, and mechanisms are attached to them. If a buffer is too small, it leaves, grows, comes back
 * and is attached again.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include <haul.h>

#include "accept.h"

enum { THREADS = 3, CELLS = 8, LAYERS = 24, NODES = CELLS * LAYERS, STEPS = 80 };
enum { CHANNEL = 1, LEAK = 2, SYNAPSE = 4, TYPES = 6 }; /* 0, 3 and 5 are in no thread */
enum { PAD = 8, SHARED = 7 };

typedef struct event_buffer {
    int *instance;
    double *weight;
    int count, room;
} event_buffer;

typedef struct mechanism {
    int *nodeindices;
    double *data; /* rows of `padded` values, in the thread's array */
    int *pdata;   /* rows of places in the thread's array */
    int nodecount, padded, rows, places;
    event_buffer *events;
} mechanism;

typedef struct listed {
    struct listed *next;
    mechanism *ml;
    int index, ndependencies;
    int *dependencies;
} listed;

typedef struct report {
    char *file;
    int every;
} report;

struct thread;
typedef struct watcher {
    double *v; /* in the thread's array */
    struct thread *nt;
    double threshold;
    int gid, was_above;
} watcher;

typedef struct thread {
    listed *tml;
    mechanism **ml_list;
    double *data, *data_end;
    double *rhs, *d, *a, *b, *v, *area, *diam; /* the SHARED first parts of `data` */
    int *parents;
    watcher *watchers;
    double *shadow;
    int *fired; /* gids */
    report *report;
    double dt, t;
    int ndata, end, ncell, ntype, nshadow, nfired;
} thread;

static haul_type *buffer_type, *mechanism_type, *listed_type, *report_type, *watcher_type;
static haul_type *thread_type, *policy;

#define INTO_DATA .element_bytes = sizeof(double), .ownership = HAUL_BORROWED
static const haul_field buffer_fields[] = {
    HAUL_ARRAY(event_buffer, instance, HAUL_COUNT(event_buffer, room)),
    HAUL_ARRAY(event_buffer, weight, HAUL_COUNT(event_buffer, room)),
};
static const haul_field mechanism_fields[] = {
    HAUL_ARRAY(mechanism, nodeindices, HAUL_COUNT(mechanism, nodecount)),
    HAUL_ADDRESS(mechanism, data, INTO_DATA),
    HAUL_ARRAY(mechanism, pdata, HAUL_COUNT(mechanism, places, padded)),
    HAUL_OBJECT(mechanism, events, &buffer_type),
};
static const haul_field listed_fields[] = {
    HAUL_OBJECT(listed, next, &listed_type),
    HAUL_OBJECT(listed, ml, &mechanism_type),
    HAUL_ARRAY(listed, dependencies, HAUL_COUNT(listed, ndependencies)),
};
static const haul_field report_fields[] = { HAUL_STRING(report, file) };
static const haul_field watcher_fields[] = {
    HAUL_ADDRESS(watcher, v, INTO_DATA),
    HAUL_OBJECT(watcher, nt, &thread_type),
};
static const haul_field thread_fields[] = {
    HAUL_OBJECT(thread, tml, &listed_type),
    HAUL_POINTERS(thread, ml_list, &mechanism_type, HAUL_COUNT(thread, ntype)),
    HAUL_ARRAY(thread, data, HAUL_COUNT(thread, ndata)),
    HAUL_ADDRESS(thread, data_end, INTO_DATA),
    HAUL_ADDRESS(thread, rhs, INTO_DATA),
    HAUL_ADDRESS(thread, d, INTO_DATA),
    HAUL_ADDRESS(thread, a, INTO_DATA),
    HAUL_ADDRESS(thread, b, INTO_DATA),
    HAUL_ADDRESS(thread, v, INTO_DATA),
    HAUL_ADDRESS(thread, area, INTO_DATA),
    HAUL_ADDRESS(thread, diam, INTO_DATA),
    HAUL_ARRAY(thread, parents, HAUL_COUNT(thread, end)),
    HAUL_OBJECTS(thread, watchers, &watcher_type, HAUL_COUNT(thread, ncell)),
    HAUL_ARRAY(thread, shadow, HAUL_COUNT(thread, nshadow)),
    HAUL_ARRAY(thread, fired, HAUL_COUNT(thread, ncell)),
    HAUL_OBJECT(thread, report, &report_type),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(event_buffer, &buffer_type, buffer_fields),
    HAUL_STRUCT(mechanism, &mechanism_type, mechanism_fields),
    HAUL_STRUCT(listed, &listed_type, listed_fields),
    HAUL_STRUCT(report, &report_type, report_fields),
    HAUL_STRUCT(watcher, &watcher_type, watcher_fields),
    HAUL_STRUCT(thread, &thread_type, thread_fields),
};

static const haul_policy_row rows[] = {
    { .path = "parents", .action = HAUL_COPYIN },
    { .path = "shadow", .action = HAUL_CREATE },
    { .path = "fired", .action = HAUL_COPYOUT },
    { .path = "report", .action = HAUL_SHALLOW },
    { .type = &mechanism_type, .path = "nodeindices", .action = HAUL_COPYIN },
    { .type = &mechanism_type, .path = "pdata", .action = HAUL_COPYIN },
    { .type = &listed_type, .path = "dependencies", .action = HAUL_NONE },
    { .type = &watcher_type,
      .path = "threshold",
      .offset = offsetof(watcher, threshold),
      .bytes = sizeof(double),
      .action = HAUL_COPYIN },
};

/* ---- The network. */

static void *take(size_t count, size_t bytes)
{
    void *memory = heap_malloc(count * bytes);
    memset(memory, 0, count * bytes);
    return memory;
}

static int padded(int count)
{
    return (count + PAD - 1) / PAD * PAD;
}

/* A synapse has a conductance that events raise; a leak and a channel stand on nodes. */
static mechanism *make_mechanism(thread *nt, int type, int first, int count, int rows_of)
{
    mechanism *ml = take(1, sizeof *ml);
    listed *at = take(1, sizeof *at), **end = &nt->tml;
    int i;
    ml->nodecount = count;
    ml->padded = padded(count);
    ml->rows = rows_of;
    ml->places = 1;
    ml->nodeindices = take((size_t)count, sizeof(int));
    ml->pdata = take((size_t)ml->padded, sizeof(int));
    for (i = 0; i < count; i++) {
        ml->nodeindices[i] = first + i;
        ml->pdata[i] = (int)(nt->area - nt->data) + first + i;
    }
    while (*end)
        end = &(*end)->next;
    *end = at;
    at->ml = ml;
    at->index = type;
    at->ndependencies = 1;
    at->dependencies = take(1, sizeof(int));
    nt->ml_list[type] = ml;
    return ml;
}

/* Gives `data` to the mechanism, from *next on; row r begins with the value of `values`. */
static void place_data(mechanism *ml, double **next, const double *values)
{
    int i, r;
    ml->data = *next;
    *next += ml->rows * ml->padded;
    for (r = 0; r < ml->rows; r++)
        for (i = 0; i < ml->nodecount; i++)
            ml->data[r * ml->padded + i] = values[r];
}

enum { CHANNEL_ROWS = 5, LEAK_ROWS = 2, SYNAPSE_ROWS = 3 };

static void make_mechanisms(thread *nt)
{
    static const double channel[] = { 120, 36, 0.05, 0.6, 0.32 }, leak[] = { 0.3, -54 };
    static const double synapse[] = { 2, 0, 0 };
    double *next = nt->data + SHARED * NODES;
    nt->ntype = TYPES;
    nt->ml_list = take(TYPES, sizeof *nt->ml_list);
    place_data(make_mechanism(nt, CHANNEL, 0, CELLS, CHANNEL_ROWS), &next, channel);
    place_data(make_mechanism(nt, LEAK, 0, NODES, LEAK_ROWS), &next, leak);
    place_data(make_mechanism(nt, SYNAPSE, CELLS, CELLS, SYNAPSE_ROWS), &next, synapse);
    nt->data_end = next;
}

/* Nodes of cells are interleaved, layer by layer; each third layer branches off. */
static void make_nodes(thread *nt)
{
    double **const shared[SHARED] = {
        &nt->rhs, &nt->d, &nt->a, &nt->b, &nt->v, &nt->area, &nt->diam
    };
    int i;
    nt->ndata = SHARED * NODES + CHANNEL_ROWS * padded(CELLS) + LEAK_ROWS * padded(NODES) +
                SYNAPSE_ROWS * padded(CELLS);
    nt->data = take((size_t)nt->ndata, sizeof(double));
    nt->parents = take(NODES, sizeof(int));
    for (i = 0; i < SHARED; i++)
        *shared[i] = nt->data + i * NODES;
    for (i = 0; i < NODES; i++) {
        const int layer = i / CELLS;
        nt->parents[i] = layer == 0 ? -1 : i - CELLS * (layer % 3 == 2 ? 2 : 1);
        nt->a[i] = nt->b[i] = layer == 0 ? 0 : -4 - 0.1 * layer;
        nt->v[i] = -65;
        nt->area[i] = 100 - layer;
        nt->diam[i] = 1;
    }
}

static void make_thread(thread *nt, thread *all)
{
    int i;
    nt->dt = 0.025;
    nt->end = NODES;
    nt->ncell = nt->nshadow = CELLS;
    make_nodes(nt);
    make_mechanisms(nt);
    nt->watchers = take(CELLS, sizeof *nt->watchers);
    for (i = 0; i < CELLS; i++) {
        nt->watchers[i].v = &nt->v[i];
        nt->watchers[i].nt = nt;
        nt->watchers[i].threshold = -20;
        nt->watchers[i].gid = (int)(nt - all) * CELLS + i;
    }
    nt->shadow = take(CELLS, sizeof(double));
    nt->fired = take(CELLS, sizeof(int));
    nt->report = take(1, sizeof *nt->report);
    nt->report->file = take(8, 1);
    memcpy(nt->report->file, "soma.h5", 8);
}

static thread *make(heap *in)
{
    thread *all;
    int i;
    heap_use(in);
    all = take(THREADS, sizeof *all);
    for (i = 0; i < THREADS; i++)
        make_thread(&all[i], all);
    heap_use(NULL);
    return all;
}

static void make_events(heap *in, thread *all)
{
    int i;
    heap_use(in);
    for (i = 0; i < THREADS; i++) {
        event_buffer *events = take(1, sizeof *events);
        events->room = 2;
        events->instance = take(2, sizeof(int));
        events->weight = take(2, sizeof(double));
        all[i].ml_list[SYNAPSE]->events = events;
    }
    heap_use(NULL);
}

static void destroy_mechanism(mechanism *ml)
{
    if (ml->events) {
        heap_free(ml->events->instance);
        heap_free(ml->events->weight);
        heap_free(ml->events);
    }
    heap_free(ml->nodeindices);
    heap_free(ml->pdata);
    heap_free(ml);
}

static void destroy(thread *all)
{
    thread *nt;
    for (nt = all; nt < all + THREADS; nt++) {
        while (nt->tml) {
            listed *at = nt->tml;
            nt->tml = at->next;
            destroy_mechanism(at->ml);
            heap_free(at->dependencies);
            heap_free(at);
        }
        heap_free(nt->ml_list);
        heap_free(nt->data);
        heap_free(nt->parents);
        heap_free(nt->watchers);
        heap_free(nt->shadow);
        heap_free(nt->fired);
        heap_free(nt->report->file);
        heap_free(nt->report);
    }
    heap_free(all);
}

/* ---- A step. */

static double *row(const mechanism *ml, int r)
{
    return ml->data + r * ml->padded;
}

static void deliver(mechanism *ml)
{
    const event_buffer *events = ml->events;
    int i;
    for (i = 0; events && i < events->count; i++)
        row(ml, 2)[events->instance[i]] += events->weight[i];
}

static void add_current(thread *nt, int node, double conductance, double reversal)
{
    nt->rhs[node] -= conductance * (nt->v[node] - reversal);
    nt->d[node] += conductance;
}

static double gate(double value, double opens, double closes, double dt)
{
    const double settled = opens / (opens + closes);
    return settled + (value - settled) * exp(-dt * (opens + closes));
}

static void step_channel(thread *nt, mechanism *ml)
{
    double *m = row(ml, 2), *h = row(ml, 3), *n = row(ml, 4);
    int i;
    for (i = 0; i < ml->nodecount; i++) {
        const int node = ml->nodeindices[i];
        const double v = nt->v[node] + 65;
        m[i] =
            gate(m[i], 0.1 * (25.01 - v) / (exp((25.01 - v) / 10) - 1), 4 * exp(-v / 18), nt->dt);
        h[i] = gate(h[i], 0.07 * exp(-v / 20), 1 / (exp((30 - v) / 10) + 1), nt->dt);
        n[i] = gate(n[i], 0.01 * (10.01 - v) / (exp((10.01 - v) / 10) - 1), 0.125 * exp(-v / 80),
                    nt->dt);
        add_current(nt, node, row(ml, 0)[i] * m[i] * m[i] * m[i] * h[i], 50);
        add_current(nt, node, row(ml, 1)[i] * n[i] * n[i] * n[i] * n[i], -77);
    }
}

static void step_leak(thread *nt, mechanism *ml)
{
    int i;
    for (i = 0; i < ml->nodecount; i++)
        add_current(nt, ml->nodeindices[i], row(ml, 0)[i], row(ml, 1)[i]);
}

/* By way of the shadow, as where several synapses stand on one node. */
static void step_synapse(thread *nt, mechanism *ml)
{
    double *tau = row(ml, 0), *reversal = row(ml, 1), *g = row(ml, 2);
    int i;
    for (i = 0; i < ml->nodecount; i++) {
        nt->shadow[i] = g[i] * 100 / nt->data[ml->pdata[i]];
        g[i] *= exp(-nt->dt / tau[i]);
    }
    for (i = 0; i < ml->nodecount; i++)
        add_current(nt, ml->nodeindices[i], nt->shadow[i], reversal[i]);
}

/* Solves the tree from its leaves to its roots, and back. */
static void solve(thread *nt)
{
    int i;
    for (i = nt->ncell; i < nt->end; i++) {
        const int p = nt->parents[i];
        const double dv = nt->v[p] - nt->v[i];
        nt->rhs[i] -= nt->b[i] * dv;
        nt->rhs[p] += nt->a[i] * dv;
        nt->d[i] -= nt->b[i];
        nt->d[p] -= nt->a[i];
    }
    for (i = nt->end - 1; i >= nt->ncell; i--) {
        const double factor = nt->a[i] / nt->d[i];
        nt->d[nt->parents[i]] -= factor * nt->b[i];
        nt->rhs[nt->parents[i]] -= factor * nt->rhs[i];
    }
    for (i = 0; i < nt->end; i++) {
        if (i >= nt->ncell)
            nt->rhs[i] -= nt->b[i] * nt->rhs[nt->parents[i]];
        nt->rhs[i] /= nt->d[i];
        nt->v[i] += nt->rhs[i];
    }
}

static void watch(watcher *w)
{
    const int is_above = *w->v > w->threshold;
    if (is_above && !w->was_above)
        w->nt->fired[w->nt->nfired++] = w->gid;
    w->was_above = is_above;
}

static void step_thread(thread *nt)
{
    listed *at;
    int i;
    nt->nfired = 0;
    for (i = 0; i < nt->end; i++) {
        nt->rhs[i] = 0;
        nt->d[i] = nt->diam[i] / nt->dt;
    }
    deliver(nt->ml_list[SYNAPSE]);
    for (at = nt->tml; at; at = at->next)
        (at->index == CHANNEL ? step_channel
         : at->index == LEAK  ? step_leak
                              : step_synapse)(nt, at->ml);
    solve(nt);
    nt->t += nt->dt;
    for (i = 0; i < nt->ncell; i++)
        watch(&nt->watchers[i]);
}

static void step(void *argument)
{
    thread *all = argument;
    int i;
    for (i = 0; i < THREADS; i++)
        step_thread(&all[i]);
}

/* ---- The program. */

enum { ALL_CELLS = THREADS * CELLS, RECORDED = 1 };

typedef struct world {
    heap *originals, *plain;
    haul_device *device;
    haul_environment *environment;
    thread *all, *right;
    int due[ALL_CELLS + CELLS + 1], ndue; /* gids of cells that get an event now */
    int fired, grown;
} world;

static void enter_events(const world *w, mechanism *ml)
{
    accept_must(w->device,
                haul_environment_enter(w->environment, ml->events, buffer_type, 1, NULL, NULL),
                "a buffer is entered");
    accept_must(w->device, haul_environment_attach(w->environment, &ml->events),
                "a buffer is attached");
}

/* Every pointer leads to where it should, seen from the pointers alone. */
static int is_in_shape(const thread *nt, int is_there)
{
    const listed *at;
    int i, right = nt->data_end == nt->data + nt->ndata && nt->v == nt->data + 4 * NODES &&
                   nt->diam == nt->data + 6 * NODES && !nt->ml_list[0] && !nt->ml_list[3] &&
                   !nt->ml_list[5] && is_there == !nt->report;
    for (at = nt->tml; at; at = at->next)
        right &= nt->ml_list[at->index] == at->ml && at->ml->data > nt->diam &&
                 at->ml->data + at->ml->rows * at->ml->padded <= nt->data_end &&
                 is_there == !at->dependencies;
    for (i = 0; i < nt->ncell; i++)
        right &= nt->watchers[i].nt == nt && nt->watchers[i].v == nt->v + i;
    return right && nt->ml_list[SYNAPSE]->events->room == 2;
}

typedef struct look {
    const thread *all;
    const double *v;
    int right;
} look;

static void look_at(void *argument)
{
    look *l = argument;
    int i;
    l->v = l->all[1].v;
    for (i = 0; i < THREADS; i++)
        l->right += is_in_shape(&l->all[i], 1);
}

static void enter(world *w)
{
    look l = { NULL, NULL, 0 };
    int i;
    accept_must(w->device, haul_environment_create(w->device, &w->environment),
                "there is an environment");
    accept_must(w->device,
                haul_environment_enter(w->environment, w->all, policy, THREADS, NULL, NULL),
                "it is entered");
    accept(accept_info(w->environment).groups == 1 && accept_info(w->environment).transfers_to == 1,
           "%d threads are entered by one transfer: %zu ranges, %zu bytes", THREADS,
           accept_info(w->environment).ranges, accept_info(w->environment).bytes);
    make_events(w->originals, w->all);
    make_events(w->plain, w->right);
    for (i = 0; i < THREADS; i++)
        enter_events(w, w->all[i].ml_list[SYNAPSE]);
    l.all = haul_environment_device_pointer(w->environment, w->all);
    accept_there(w->device, w->originals, w->all, look_at, &l);
    accept(l.right == THREADS && is_in_shape(w->all, 0),
           "pointers into the shared array, the table's gaps and aliases, and cycles are as here");
    accept(l.v == haul_environment_device_pointer(w->environment, w->all[1].v),
           "a look-up of an interior pointer is what the device has");
    accept(haul_environment_presence(w->environment, w->all->report, 1) == HAUL_ABSENT,
           "reports are the host's own");
}

/* ---- Events. */

static void grow(heap *in, event_buffer *events)
{
    heap_use(in);
    events->room *= 2;
    events->instance = heap_realloc(events->instance, (size_t)events->room * sizeof(int));
    events->weight = heap_realloc(events->weight, (size_t)events->room * sizeof(double));
    heap_use(NULL);
}

/* Takes the event for cell `gid`. The buffer of w->all leaves the device to grow. */
static void post(world *w, thread *all, int gid)
{
    mechanism *ml = all[gid / CELLS].ml_list[SYNAPSE];
    event_buffer *events = ml->events;
    if (events->count == events->room && all == w->all) {
        accept_must(w->device, haul_environment_exit(w->environment, events, NULL, NULL),
                    "a buffer is exited");
        grow(w->originals, events);
        enter_events(w, ml);
        w->grown++;
    } else if (events->count == events->room) {
        grow(w->plain, events);
    }
    events->instance[events->count] = gid % CELLS;
    events->weight[events->count++] = 8;
}

static void post_all(world *w, thread *all)
{
    int i;
    for (i = 0; i < THREADS; i++)
        all[i].ml_list[SYNAPSE]->events->count = 0;
    for (i = 0; i < w->ndue; i++)
        post(w, all, w->due[i]);
}

static void send_events(const world *w)
{
    haul_update_part parts[1 + 2 * THREADS];
    size_t count = 1;
    int i;
    memset(parts, 0, sizeof parts);
    parts[0].type = buffer_type;
    parts[0].offset = offsetof(event_buffer, count);
    parts[0].bytes = sizeof(int);
    for (i = 0; i < THREADS; i++) {
        const event_buffer *events = w->all[i].ml_list[SYNAPSE]->events;
        if (events->count == 0)
            continue;
        parts[count].host = events->instance;
        parts[count++].bytes = (size_t)events->count * sizeof(int);
        parts[count].host = events->weight;
        parts[count++].bytes = (size_t)events->count * sizeof(double);
    }
    accept_must(w->device,
                haul_environment_update(w->environment, parts, count, HAUL_TO_DEVICE, NULL),
                "events go");
}

/* How many have fired in each thread, and who; and the voltages along one cell. */
static void bring_results(const world *w)
{
    const haul_update_part parts[] = {
        { .type = policy, .offset = offsetof(thread, nfired), .bytes = sizeof(int) },
        { .host = w->all[0].fired, .bytes = CELLS * sizeof(int) },
        { .host = w->all[1].fired, .bytes = CELLS * sizeof(int) },
        { .host = w->all[2].fired, .bytes = CELLS * sizeof(int) },
        { .host = w->all[1].v + RECORDED,
          .bytes = sizeof(double),
          .count = LAYERS,
          .stride = CELLS * sizeof(double) },
    };
    accept_must(w->device,
                haul_environment_update(w->environment, parts, sizeof parts / sizeof *parts,
                                        HAUL_TO_HOST, NULL),
                "results come");
}

static int results_agree(const world *w)
{
    int i, agree = 1;
    for (i = 0; i < THREADS; i++)
        agree &= w->all[i].nfired == w->right[i].nfired &&
                 memcmp(w->all[i].fired, w->right[i].fired,
                        (size_t)w->right[i].nfired * sizeof(int)) == 0;
    for (i = RECORDED; i < NODES; i += CELLS)
        agree &= w->all[1].v[i] == w->right[1].v[i];
    return agree;
}

/* A cell that has fired sends an event to the next one in the ring. At first some get one from
 * outside, and later all of one thread. */
static void choose_events(world *w, int number)
{
    int i, k;
    w->ndue = 0;
    for (i = 0; i < THREADS; i++)
        for (k = 0; k < w->all[i].nfired; k++)
            w->due[w->ndue++] = (w->all[i].fired[k] + 1) % ALL_CELLS;
    w->fired += w->ndue;
    for (i = 0; i < CELLS && number == 50; i++)
        w->due[w->ndue++] = CELLS + i;
    if (number == 0 || number == 20)
        w->due[w->ndue++] = number;
}

static int make_step(world *w, int number)
{
    choose_events(w, number);
    post_all(w, w->all);
    post_all(w, w->right);
    send_events(w);
    if (!accept_there(w->device, w->originals, w->all, step,
                      haul_environment_device_pointer(w->environment, w->all)))
        return 0;
    step(w->right);
    bring_results(w);
    return results_agree(w);
}

static void make_steps(world *w)
{
    const haul_environment_info before = accept_info(w->environment);
    int made = 0;
    while (made < STEPS && make_step(w, made))
        made++;
    accept(made == STEPS, "%d of %d steps have the spikes and voltages of the host", made, STEPS);
    accept(w->fired > THREADS, "%d cells have fired", w->fired);
    accept(w->grown == 2 && accept_info(w->environment).attached == before.attached + 2,
           "a buffer has grown twice, and was attached again");
    accept(accept_info(w->environment).transfers_from - before.transfers_from == STEPS &&
               accept_info(w->environment).transfers_to - before.transfers_to == STEPS + 2,
           "each step is one transfer each way; each growth is one more");
}

static void leave(world *w)
{
    const haul_exit_options back = { .copyout = 1 };
    int i, same = 1, kept = 1;
    accept_must(w->device, haul_environment_exit(w->environment, w->all, &back, NULL),
                "the threads are exited");
    for (i = 0; i < THREADS; i++)
        accept_must(
            w->device,
            haul_environment_exit(w->environment, w->all[i].ml_list[SYNAPSE]->events, NULL, NULL),
            "a buffer is exited");
    for (i = 0; i < THREADS; i++) {
        const thread *nt = &w->all[i];
        same &= memcmp(nt->data, w->right[i].data, (size_t)nt->ndata * sizeof(double)) == 0 &&
                nt->t == w->right[i].t;
        kept &= nt->watchers->nt == nt && nt->report && nt->tml->dependencies &&
                strcmp(nt->report->file, "soma.h5") == 0 && nt->shadow[0] == 0;
    }
    accept(same, "after the exit the shared arrays are those of the host");
    accept(kept, "the host's pointers and its own data are as they were");
    accept_left(w->device, &w->environment);
}

int main(void)
{
    world w;
    memset(&w, 0, sizeof w);
    w.device = accept_device(0);
    w.originals = heap_open();
    w.plain = heap_open();
    accept_must(w.device, HAUL_DESCRIBE(haul_device_context(w.device), structs),
                "threads are described");
    accept_must(w.device,
                haul_policy_create(thread_type, "step", rows, sizeof rows / sizeof *rows, &policy),
                "their policy is made");
    w.all = make(w.originals);
    w.right = make(w.plain);
    accept_title("A ring of %d cells of %d nodes in %d threads", ALL_CELLS, LAYERS, THREADS);
    accept_audit(NULL, w.all, thread_type, THREADS);
    enter(&w);
    make_steps(&w);
    leave(&w);
    destroy(w.all);
    destroy(w.right);
    accept_heaps_end(w.originals, w.plain);
    haul_type_free(&policy);
    HAUL_FORGET(structs);
    haul_device_close(&w.device);
    return accept_done();
}
