/* Images: saved, beside the packer by hand; loaded from a program that is trusted, and from a
 * stranger.
 *
 * Nodes have 64 bytes and four, two or no pointers behind the first (list, tree, random graph); the
 * arrays of `blocks` have 1 MiB. All of it in memory, in a warm context, beside one memcpy of the
 * image, and one into memory that the system has just given, as a load's is. An image is freed
 * within the time of its load.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "lazy_map.h"
#include "support/counted.h"

enum { NODES = 1000000, NODE_BYTES = 64, SIZED = 6, MADE = 3, THREADS = 4, PAGE = 4096 };
/* where an image of its own address is mapped */
#define ADDRESS ((uintptr_t)1 << (sizeof(void *) == 8 ? 45 : 30))

static const char *const sized_name[SIZED] = { "list_heap",     "list_shuffled", "tree_heap",
                                               "tree_shuffled", "graph_heap",    "graph_shuffled" };
static const unsigned sized_pointers[SIZED] = { 1, 1, 2, 2, 4, 4 };
static const char *const made_name[MADE] = { "strings", "counted", "blocks" };

typedef struct job {
    haul_context *context, *threaded;
    haul_root root;
    haul_type *type;
    const char *name;
    char path[64];      /* of the image as a file */
    char placed[64];    /* of the same with an address of its own */
    char *image, *copy; /* of `room` bytes */
    size_t bytes, room;
    const workload *it;
    hash_map map; /* of the packer by hand, with its queue */
    const void **queue;
} job;

static void must(const job *j, haul_status status)
{
    if (status != HAUL_OK)
        bench_die(j->name, haul_context_error(j->context));
}

/* ---- A file in memory. */

static haul_status put(void *user, const void *bytes, size_t count)
{
    job *j = user;
    if (count > j->room - j->bytes)
        return HAUL_ERROR_FILE;
    memcpy(j->image + j->bytes, bytes, count);
    j->bytes += count;
    return HAUL_OK;
}

static haul_status save(job *j)
{
    haul_file file = { 0 };
    file.user = j;
    file.write = put;
    j->bytes = 0;
    return haul_image_write(j->context, haul_from_roots(&j->root, 1), &file);
}

static void save_to_memory(job *j, haul_context *context)
{
    if (haul_image_to_bytes(context, haul_from_roots(&j->root, 1), NULL, j->image, j->room,
                            &j->bytes) != HAUL_OK)
        bench_die(j->name, haul_context_error(context));
}

static double pack_by_hand(job *j)
{
    double begin;
    memset(j->queue, 0, j->it->objects * sizeof *j->queue);
    begin = bench_processor_milliseconds();
    hash_pack(j->it, &j->map, j->queue, j->copy, PLAIN);
    return bench_processor_milliseconds() - begin;
}

static void load(job *j, haul_context *context, const haul_image_options *options)
{
    haul_image *image;
    if (haul_image_from_bytes(context, j->image, j->bytes, &j->type, 1, options, &image) != HAUL_OK)
        bench_die(j->name, haul_context_error(context));
    haul_image_free(&image);
}

/* ---- A file that is mapped, and how many of its pages are then touched: one of `apart`, or none
 * (0). */

static void touch(const char *memory, size_t bytes, size_t apart)
{
    size_t at;
    for (at = 0; apart && at < bytes; at += apart * PAGE)
        (void)*(const volatile char *)(memory + at);
}

typedef haul_status mapping(haul_context *context, const char *path, haul_type *const *types,
                            size_t count, haul_image **image);

static double map(job *j, mapping *by, const char *path, size_t apart)
{
    const double begin = bench_processor_milliseconds();
    haul_image *image;
    size_t bytes;
    const char *memory;
    must(j, by(j->context, path, &j->type, 1, &image));
    memory = haul_image_memory(image, &bytes);
    touch(memory, bytes, apart);
    haul_image_free(&image);
    return bench_processor_milliseconds() - begin;
}

static double map_lazily(const job *j, size_t apart)
{
    const double begin = bench_processor_milliseconds();
    lazy_map lazy;
    lazy_map_open(&lazy, j->path);
    touch(lazy.arena, lazy.arena_bytes, apart);
    lazy_map_close(&lazy);
    return bench_processor_milliseconds() - begin;
}

static void map_round(job *j)
{
    report_value(j->name, "map", map(j, haul_image_map, j->path, 0));
    report_value(j->name, "map_hundredth", map(j, haul_image_map, j->path, 100));
    report_value(j->name, "map_all", map(j, haul_image_map, j->path, 1));
    report_value(j->name, "lazy", map_lazily(j, 0));
    report_value(j->name, "lazy_hundredth", map_lazily(j, 100));
    report_value(j->name, "lazy_all", map_lazily(j, 1));
    report_value(j->name, "map_shared", map(j, haul_image_map_shared, j->placed, 0));
    report_value(j->name, "map_shared_all", map(j, haul_image_map_shared, j->placed, 1));
}

/* ---- One graph. */

static double copy_to_new(const job *j)
{
    const double begin = bench_processor_milliseconds();
    void *memory = bench_map_untouched(j->bytes);
    memcpy(memory, j->image, j->bytes);
    bench_unmap(memory, j->bytes);
    return bench_processor_milliseconds() - begin;
}

static double load_by_threads(job *j, const haul_image_options *options)
{
    const double begin = bench_milliseconds();
    load(j, j->threaded, options);
    return bench_milliseconds() - begin;
}

static void save_round(job *j)
{
    const double by_hand = pack_by_hand(j);
    double times[4], by_threads;
    times[0] = bench_processor_milliseconds();
    must(j, save(j));
    times[1] = bench_processor_milliseconds();
    save_to_memory(j, j->context);
    times[2] = bench_processor_milliseconds();
    by_threads = bench_milliseconds();
    save_to_memory(j, j->threaded);
    by_threads = bench_milliseconds() - by_threads;
    report_value(j->name, "hash", by_hand);
    report_value(j->name, "save", times[1] - times[0]);
    report_value(j->name, "save_memory", times[2] - times[1]);
    report_value(j->name, "save_threads", by_threads);
    report_value(j->name, "save_times_hash", (times[1] - times[0]) / by_hand);
    report_value(j->name, "memory_times_hash", (times[2] - times[1]) / by_hand);
}

static void one_round(job *j)
{
    const haul_image_options trusted = { .is_trusted = 1 };
    const haul_image_options in_place = { .is_trusted = 1,
                                          .buffer = j->copy,
                                          .buffer_bytes = j->room };
    const haul_image_options checked = { .buffer = j->copy, .buffer_bytes = j->room };
    double times[6], by_threads;
    int i;
    times[0] = bench_processor_milliseconds();
    memcpy(j->copy, j->image, j->bytes);
    times[1] = bench_processor_milliseconds();
    load(j, j->context, &trusted);
    times[2] = bench_processor_milliseconds();
    load(j, j->context, NULL);
    times[3] = bench_processor_milliseconds();
    load(j, j->context, &in_place);
    times[4] = bench_processor_milliseconds();
    load(j, j->context, &checked);
    times[5] = bench_processor_milliseconds();
    by_threads = load_by_threads(j, NULL);
    for (i = 5; i > 0; i--)
        times[i] -= times[i - 1];
    report_value(j->name, "memcpy", times[1]);
    report_value(j->name, "memcpy_new", copy_to_new(j));
    report_value(j->name, "load_trusted", times[2]);
    report_value(j->name, "load_checked", times[3]);
    report_value(j->name, "load_buffer", times[4]);
    report_value(j->name, "checked_buffer", times[5]);
    report_value(j->name, "trusted_threads", load_by_threads(j, &trusted));
    report_value(j->name, "checked_threads", by_threads);
    report_value(j->name, "trusted_times_memcpy", times[2] / times[1]);
    report_value(j->name, "checked_times_memcpy", times[3] / times[1]);
    report_value(j->name, "buffer_times_memcpy", times[5] / times[1]);
    report_value(j->name, "threads_times_memcpy", by_threads / times[1]);
}

/* The most memory of a checked load beside the block that it answers, of 100 bytes of the image. */
static double memory_percent(const job *j)
{
    counted c;
    haul_context *context;
    haul_image *image;
    size_t block;
    if (counted_open(&c, &context) != HAUL_OK ||
        haul_image_from_bytes(context, j->image, j->bytes, &j->type, 1, NULL, &image) != HAUL_OK)
        bench_die(j->name, NULL);
    haul_image_memory(image, &block);
    haul_image_free(&image);
    haul_context_free(&context);
    return 100.0 * (double)(c.most - block) / (double)j->bytes;
}

/* The described bytes of the graph. */
static double payload(const job *j)
{
    haul_plan_info numbers;
    haul_plan *plan;
    must(j, haul_plan_create(j->context, haul_from_roots(&j->root, 1), NULL, &plan));
    haul_plan_get_info(plan, &numbers);
    haul_plan_free(&plan);
    return (double)numbers.graph_bytes;
}

static void save_files(job *j)
{
    const haul_image_write_options placed = { .address = ADDRESS };
    const haul_source source = haul_from_roots(&j->root, 1);
    snprintf(j->path, sizeof j->path, "%s/haul_bench_%ld.haul", P_tmpdir, (long)getpid());
    snprintf(j->placed, sizeof j->placed, "%s/haul_bench_%ld_placed.haul", P_tmpdir,
             (long)getpid());
    must(j, haul_image_save(j->context, source, j->path));
    must(j, haul_image_save_as(j->context, source, &placed, j->placed));
}

static void measure_one(const char *called, const workload *it, int runs)
{
    const haul_context_options threaded = { .threads = THREADS };
    job j;
    int run;
    memset(&j, 0, sizeof j);
    j.name = called;
    j.type = it->type;
    j.root.address = it->root;
    j.root.count = it->root_count;
    j.root.type = it->type;
    if (haul_context_create(NULL, &j.context) != HAUL_OK ||
        haul_context_create(&threaded, &j.threaded) != HAUL_OK)
        bench_die(called, NULL);
    j.room = it->described_bytes + it->described_bytes / 2 + (1u << 20) + 32 * it->objects;
    j.image = bench_map(j.room);
    j.copy = bench_map(j.room);
    j.it = it;
    j.queue = bench_map(it->objects * sizeof *j.queue);
    hash_map_open(&j.map, it->objects, 1);
    must(&j, save(&j));
    save_files(&j);
    report_value(called, "image_bytes", (double)j.bytes);
    report_value(called, "times_payload", (double)j.bytes / payload(&j));
    report_value(called, "memory_percent", memory_percent(&j));
    for (run = 0; run < runs; run++) {
        one_round(&j);
        map_round(&j);
        save_round(&j);
    }
    hash_map_close(&j.map);
    bench_unmap(j.queue, it->objects * sizeof *j.queue);
    bench_unmap(j.image, j.room);
    bench_unmap(j.copy, j.room);
    remove(j.path);
    remove(j.placed);
    haul_context_free(&j.threaded);
    haul_context_free(&j.context);
}

static void measure_made(const char *name, double scale, int runs)
{
    size_t i;
    for (i = 0; i < workload_maker_count; i++)
        if (strcmp(workload_makers[i].name, name) == 0) {
            workload it;
            workload_make(&it, &workload_makers[i], scale);
            measure_one(name, &it, runs);
            workload_free(&it);
        }
}

void measure_images(int runs, double scale)
{
    const size_t count = (size_t)(NODES * scale) + 4;
    int i;
    report_begin("images");
    for (i = 0; i < SIZED; i++) {
        workload it;
        workload_make_sized(&it, count, NODE_BYTES, sized_pointers[i], i % 2);
        measure_one(sized_name[i], &it, runs);
        workload_free(&it);
        bench_forget_blocks();
    }
    for (i = 0; i < MADE; i++)
        measure_made(made_name[i], scale, runs);
    workload_free_types();
    report_end();
}
