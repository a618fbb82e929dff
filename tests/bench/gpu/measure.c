/* One workload, all techniques, in turn within each round. A run of a technique: to the device, the
 * kernel, back; then what the kernel summed on the device and what came back to the host are
 * checked. The kernel adds 1 to every word that it uses, so each run finds the graph one step
 * further on, and none can live on what another left behind. What came back to a technique's own
 * copy of the graph is summed on the device when it goes there again.
 *
 * Times are the host's, between points where the device has finished. What the techniques share
 * (buffers, a pool, the walk's tables) is made before and is warm.
 */
#include <stdio.h>
#include <string.h>

#include "gpu.h"

enum { TECHNIQUES_MAX = 40, MANAGED_BYTES_MAX = 256 << 20, WARM_BYTES = 4 << 20, ROUNDS_MIN = 2 };

#define WARM_MILLISECONDS 2.0 /* some five runs of a small graph */
#define CALL_SECONDS 5e-6     /* of one driver call, to foresee what takes too long */

typedef struct turn {
    const gpu_technique *technique;
    int rounds;
    int is_slow; /* its first run counts */
} turn;

/* -------------------------------------------------------------------------------------------------
 * One run
 */
static double timed(gpu_bench *b, void (*part)(gpu_bench *b))
{
    double started = bench_milliseconds();
    part(b);
    return bench_milliseconds() - started;
}

static void optional(gpu_bench *b, void (*part)(gpu_bench *b))
{
    if (part)
        part(b);
}

static void kernel(gpu_bench *b)
{
    const gpu_workload *it = b->it;
    if (b->device_root)
        gpu_must(gpu_find(&it->layout, b->device_root, b->found), "find");
    gpu_must(gpu_touch(b->found, it->used_count, it->longest_words, b->sum), "touch");
    gpu_must(cudaStreamSynchronize(0), "the kernel");
}

/* Answers its time. */
static double run_kernel(gpu_bench *b, const gpu_technique *technique)
{
    uint64_t *generation =
        technique->own_generation ? technique->own_generation : &b->it->generation;
    const gpu_workload *it = b->it;
    const uint64_t zero = 0, expected = it->pattern_sum + *generation * it->weights;
    uint64_t sum;
    double spent;
    gpu_must(cudaMemcpy(b->sum, &zero, sizeof(zero), cudaMemcpyHostToDevice), "cudaMemcpy");
    spent = timed(b, kernel);
    gpu_must(cudaMemcpy(&sum, b->sum, sizeof(sum), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (sum != expected) {
        char why[160];
        snprintf(why, sizeof(why), "%s: the sum on the device is %016llx, not %016llx",
                 technique->name, (unsigned long long)sum, (unsigned long long)expected);
        gpu_die(it->name, why);
    }
    ++*generation;
    return spent;
}

static void start_counting(void)
{
    gpu_wait();
    memset(&gpu_counted, 0, sizeof(gpu_counted));
}

static void report_counts(int back)
{
    static const char *const name[2][3] = { { "transfers_to", "calls_to", "bytes_to" },
                                            { "transfers_from", "calls_from", "bytes_from" } };
    gpu_sample(name[back][0], gpu_counted.transfers_to + gpu_counted.transfers_from, REPORT_VALUE);
    gpu_sample(name[back][1], gpu_counted.calls, REPORT_VALUE);
    gpu_sample(name[back][2], gpu_counted.bytes_to + gpu_counted.bytes_from, REPORT_VALUE);
}

static void run(gpu_bench *b, const gpu_technique *technique, int thorough)
{
    double to, from, worked = 0;
    optional(b, technique->before);
    start_counting();
    to = timed(b, technique->to);
    optional(b, technique->tell_to);
    report_counts(0);
    if (!technique->is_limit)
        worked = run_kernel(b, technique);
    start_counting();
    from = technique->from ? timed(b, technique->from) : 0;
    optional(b, technique->tell_from);
    report_counts(1);
    optional(b, technique->after);
    if (technique->free)
        gpu_sample("free", timed(b, technique->free), REPORT_TIME);
    gpu_sample("to", to, "to");
    if (technique->from)
        gpu_sample("from", from, "from");
    if (!technique->is_limit) {
        gpu_sample("kernel", worked, REPORT_TIME);
        if (!technique->own_generation)
            gpu_workload_check(b->it, thorough, technique->name);
    }
    gpu_sample("total", to + worked + from, "total");
}

/* -------------------------------------------------------------------------------------------------
 * Rounds
 */
static double foreseen_seconds(const gpu_bench *b, const gpu_technique *technique)
{
    return technique->calls_each * CALL_SECONDS * (double)b->it->objects;
}

/* Is it in a list with commas? */
static int is_named(const char *list, const char *name)
{
    const size_t length = strlen(name);
    const char *at;
    for (at = list; at; at = strchr(at, ',')) {
        at += at != list;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return 1;
    }
    return 0;
}

static int is_wanted(const gpu_bench *b, const gpu_technique *technique, const gpu_options *options)
{
    if (options->techniques && !technique->is_limit &&
        !is_named(options->techniques, technique->name))
        return 0;
    if (technique->fits && !technique->fits(b))
        return 0;
    if (foreseen_seconds(b, technique) <= options->patience)
        return 1;
    report_left_out(technique->name, "it would take longer than --patience");
    return 0;
}

const gpu_technique *gpu_technique_at(size_t i)
{
    if (i < gpu_walk_count)
        return &gpu_walks[i];
    i -= gpu_walk_count;
    if (i < gpu_copier_count)
        return &gpu_copiers[i];
    i -= gpu_copier_count;
    return i < gpu_haul_way_count ? &gpu_haul_ways[i] : NULL;
}

static int choose(const gpu_bench *b, const gpu_options *options, int alone, turn *turns)
{
    const gpu_technique *technique;
    size_t i;
    int count = 0;
    for (i = 0; (technique = gpu_technique_at(i)) != NULL; i++) {
        if (count == TECHNIQUES_MAX || technique->is_alone != alone ||
            !is_wanted(b, technique, options))
            continue;
        memset(&turns[count], 0, sizeof(turns[count]));
        turns[count++].technique = technique;
    }
    return count;
}

/* The first run warms up and says how many rounds there is time for. */
static void first_run(gpu_bench *b, turn *turn, const gpu_options *options)
{
    double started = bench_milliseconds(), seconds;
    turn->is_slow = foreseen_seconds(b, turn->technique) > options->cell_seconds;
    gpu_report_technique(turn->is_slow ? turn->technique->name : NULL);
    run(b, turn->technique, 1);
    seconds = (bench_milliseconds() - started) / 1e3;
    turn->rounds = options->runs;
    if (seconds * options->runs > options->cell_seconds)
        turn->rounds = (int)(options->cell_seconds / seconds);
    if (turn->rounds < ROUNDS_MIN && turn->rounds < options->runs)
        turn->rounds = ROUNDS_MIN < options->runs ? ROUNDS_MIN : options->runs;
    if (turn->is_slow)
        turn->rounds = 0;
}

static int last_round(const turn *turns, int count)
{
    int i, last = 0;
    for (i = 0; i < count; i++)
        if (last < turns[i].rounds)
            last = turns[i].rounds;
    return last;
}

/* What is small is shipped again and again, by a program whose data and code are in the caches;
 * here other techniques have just been there. So each goes for a while before its time is taken. */
static void warm_up(gpu_bench *b, const gpu_technique *technique)
{
    const double start = bench_milliseconds();
    if (b->it->graph_bytes > WARM_BYTES)
        return;
    gpu_report_technique(NULL);
    do {
        run(b, technique, 0);
    } while (bench_milliseconds() - start < WARM_MILLISECONDS);
}

static void rounds(gpu_bench *b, turn *turns, int count)
{
    int i, round, last = last_round(turns, count);
    for (round = 0; round < last; round++)
        for (i = 0; i < count; i++)
            if (round < turns[i].rounds) {
                warm_up(b, turns[i].technique);
                gpu_report_technique(turns[i].technique->name);
                run(b, turns[i].technique, 0);
            }
}

/* -------------------------------------------------------------------------------------------------
 * What techniques share
 */
static void open_memory(gpu_bench *b)
{
    const gpu_workload *it = b->it;
    gpu_walk_open(&b->walk, it);
    b->room = gpu_packed_bytes(&b->walk);
    if (b->walk.count != it->objects)
        gpu_die(it->name, "the root does not reach all that was built");
    b->saved = bench_map((it->largest_pointers + 1) * sizeof(uint64_t));
    b->edges = bench_map((it->pointers + 1) * sizeof(uint64_t));
    b->pageable = bench_map(b->room);
    b->pinned = gpu_allocate_pinned(b->room);
    memset(b->pinned, 0x5a, b->room);
    b->pool = gpu_allocate(b->room);
    b->found = (gpu_piece *)(uintptr_t)gpu_allocate(it->used_count * sizeof(gpu_piece));
    b->sum = (uint64_t *)(uintptr_t)gpu_allocate(sizeof(uint64_t));
    if (b->room <= MANAGED_BYTES_MAX && b->room < gpu_free_bytes() / 2)
        b->managed = gpu_allocate_managed(b->room);
}

static void close_memory(gpu_bench *b)
{
    const gpu_workload *it = b->it;
    if (b->managed)
        gpu_release_managed(b->managed);
    gpu_release((uint64_t)(uintptr_t)b->sum);
    gpu_release((uint64_t)(uintptr_t)b->found);
    gpu_release(b->pool);
    gpu_release_pinned(b->pinned);
    bench_unmap(b->pageable, b->room);
    bench_unmap(b->edges, (it->pointers + 1) * sizeof(uint64_t));
    bench_unmap(b->saved, (it->largest_pointers + 1) * sizeof(uint64_t));
    gpu_walk_close(&b->walk);
}

/* Those that are alone, or all others. */
static void measure_all(gpu_bench *b, const gpu_options *options, int alone)
{
    turn turns[TECHNIQUES_MAX];
    const int count = choose(b, options, alone, turns);
    int i;
    for (i = 0; i < count; i++) {
        optional(b, turns[i].technique->open);
        first_run(b, &turns[i], options);
    }
    rounds(b, turns, count);
    gpu_workload_check(b->it, 1, "the last round");
    for (i = 0; i < count; i++)
        optional(b, turns[i].technique->close);
}

void gpu_measure(gpu_workload *it, const gpu_options *options)
{
    gpu_bench b;
    memset(&b, 0, sizeof(b));
    b.it = it;
    gpu_report_begin(it);
    open_memory(&b);
    measure_all(&b, options, 0);
    measure_all(&b, options, 1);
    report_end();
    close_memory(&b);
}
