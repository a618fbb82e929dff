/* haul_cuda_latency [rounds]: what the verbs of the CUDA device cost, beside CUDA's bare calls and
 * other ways to do the same. In microseconds, median and best. Exit code 77 when there is no GPU.
 *
 * Copies are timed with staging that lies still and with staging that was just written, as it is
 * after packing: then its bytes are still in the processor's caches, and the bus fetches them from
 * there.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/latency/pull.h"
#include "haul/cuda.h"

#define SKIPPED 77
#define WARM_ROUNDS 200
#define MOST_BYTES ((size_t)256 << 10)

typedef struct bench {
    const haul_device_table *table;
    void *state;
    cudaStream_t free, bound; /* in no order with the legacy default stream; in order with it */
    cudaStream_t stream;      /* the way's */
    cudaEvent_t event;
    haul_address address;
    unsigned char *staged, *combined, *source; /* pinned; the same, write-combined; plain */
    haul_relocation relocation;
    uint64_t fence; /* that has been reached */
    size_t bytes;
    unsigned threads, vectors;
    pull_flag flag;
    unsigned rounds;
    double *samples;
} bench;

static void demand(int good, const char *what)
{
    if (good)
        return;
    printf("%s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

#define CUDA(call) demand((call) == cudaSuccess, #call)
#define HAUL(call) demand((call) == HAUL_OK, #call)

/* ---- Ways to wait. */

static void synchronize(bench *b)
{
    CUDA(cudaStreamSynchronize(b->stream));
}

static void query_stream(bench *b)
{
    cudaError_t error;
    while ((error = cudaStreamQuery(b->stream)) == cudaErrorNotReady)
        ;
    CUDA(error);
    (void)cudaGetLastError();
}

static void query_event(bench *b)
{
    cudaError_t error;
    CUDA(cudaEventRecord(b->event, b->stream));
    while ((error = cudaEventQuery(b->event)) == cudaErrorNotReady)
        ;
    CUDA(error);
    (void)cudaGetLastError();
}

static void synchronize_event(bench *b)
{
    CUDA(cudaEventRecord(b->event, b->stream));
    CUDA(cudaEventSynchronize(b->event));
}

static void table_wait(bench *b)
{
    HAUL(b->table->wait(b->state));
}

static void table_await(bench *b)
{
    uint64_t fence;
    HAUL(b->table->fence(b->state, &fence));
    HAUL(b->table->await(b->state, fence));
}

static void watch_flag(bench *b)
{
    unsigned long asked = 0;
    while (__atomic_load_n(b->flag.told, __ATOMIC_ACQUIRE) != b->flag.ticket)
        demand(++asked < 1000000000, "waiting for the flag");
}

/* ---- Work. */

static void *target(const bench *b)
{
    return (void *)(uintptr_t)b->address;
}

static void raw_to(bench *b)
{
    CUDA(cudaMemcpyAsync(target(b), b->staged, b->bytes, cudaMemcpyHostToDevice, b->stream));
}

static void raw_from(bench *b)
{
    CUDA(cudaMemcpyAsync(b->staged, target(b), b->bytes, cudaMemcpyDeviceToHost, b->stream));
}

static void raw_plain(bench *b)
{
    CUDA(cudaMemcpy(target(b), b->staged, b->bytes, cudaMemcpyHostToDevice));
}

static void copy_to(bench *b)
{
    HAUL(b->table->copy_to(b->state, b->address, b->staged, b->bytes));
}

static void copy_from(bench *b)
{
    HAUL(b->table->copy_from(b->state, b->staged, b->address, b->bytes));
}

static void copy_and_relocate(bench *b)
{
    copy_to(b);
    HAUL(b->table->relocate(b->state, &b->relocation));
}

static void send(bench *b)
{
    HAUL(b->table->send(b->state, &b->relocation, b->staged, b->bytes));
}

static void pull(bench *b)
{
    b->flag.ticket++;
    pull_start(target(b), b->staged, b->bytes, b->threads, b->vectors, &b->flag, b->stream);
}

static void pull_untold(bench *b)
{
    static const pull_flag nobody = { NULL, NULL, 0 };
    pull_start(target(b), b->staged, b->bytes, b->threads, b->vectors, &nobody, b->stream);
}

static void start_nothing(bench *b)
{
    b->flag.ticket++;
    pull_nothing(&b->flag, b->stream);
}

/* ---- Calls by themselves. */

static void look_at_error(bench *b)
{
    (void)b;
    CUDA(cudaPeekAtLastError());
}

static void get_device(bench *b)
{
    int device;
    (void)b;
    CUDA(cudaGetDevice(&device));
}

static void set_device(bench *b)
{
    (void)b;
    CUDA(cudaSetDevice(0));
}

static void exchange_mode_twice(bench *b)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    (void)b;
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
}

static void host_pointer(bench *b)
{
    void *address;
    CUDA(cudaHostGetDevicePointer(&address, b->staged, 0));
}

static void attributes(bench *b)
{
    struct cudaPointerAttributes found;
    CUDA(cudaPointerGetAttributes(&found, target(b)));
}

static void is_capturing(bench *b)
{
    enum cudaStreamCaptureStatus capture;
    CUDA(cudaStreamIsCapturing(b->stream, &capture));
}

static void record(bench *b)
{
    CUDA(cudaEventRecord(b->event, b->stream));
}

static void visit(bench *b)
{
    HAUL(b->table->poll(b->state, b->fence));
}

static void select_stream(bench *b)
{
    HAUL(b->table->select(b->state, b->stream));
    HAUL(b->table->select(b->state, NULL));
}

static void allocate_and_release(bench *b)
{
    haul_address address;
    HAUL(b->table->allocate(b->state, (size_t)128 << 10, 256, &address));
    b->table->release(b->state, address, (size_t)128 << 10);
}

/* ---- Timing. */

typedef void step(bench *b);

typedef struct result {
    double median, best;
} result;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static result measure(bench *b, step *work, step *await, int fresh)
{
    unsigned i;
    result found;
    for (i = 0; i < WARM_ROUNDS + b->rounds; i++) {
        double begin;
        if (fresh)
            memcpy(b->staged, b->source, b->bytes);
        begin = seconds();
        work(b);
        if (await)
            await(b);
        if (i >= WARM_ROUNDS)
            b->samples[i - WARM_ROUNDS] = (seconds() - begin) * 1e6;
    }
    CUDA(cudaDeviceSynchronize());
    qsort(b->samples, b->rounds, sizeof *b->samples, compare);
    found.median = b->samples[b->rounds / 2];
    found.best = b->samples[0];
    return found;
}

static void print_call(bench *b, const char *name, step *work, step *await)
{
    result found = measure(b, work, await, 0);
    printf("%-52s %7.2f /%7.2f\n", name, found.median, found.best);
}

static void use_size(bench *b, size_t bytes)
{
    b->bytes = bytes;
    b->relocation.words = bytes / 8 * 64 / 65;
    b->relocation.bitmap = b->address + b->relocation.words * 8;
}

static void print_by_size(bench *b, const char *name, step *work, step *await)
{
    static const size_t sizes[] = { (size_t)16 << 10, (size_t)128 << 10, MOST_BYTES };
    size_t i;
    int fresh;
    printf("%-52s", name);
    for (fresh = 0; fresh < 2; fresh++)
        for (i = 0; i < 3; i++) {
            result found;
            use_size(b, sizes[i]);
            found = measure(b, work, await, fresh);
            printf(" %6.2f /%6.2f", found.median, found.best);
        }
    printf("\n");
    fflush(stdout);
}

/* ---- The tables. */

static void print_calls(bench *b)
{
    printf("%-52s %7s /%7s\n", "calls, us", "median", "best");
    print_call(b, "cudaPeekAtLastError", look_at_error, NULL);
    print_call(b, "cudaGetDevice", get_device, NULL);
    print_call(b, "cudaSetDevice to the same", set_device, NULL);
    print_call(b, "cudaThreadExchangeStreamCaptureMode, twice", exchange_mode_twice, NULL);
    print_call(b, "cudaHostGetDevicePointer", host_pointer, NULL);
    print_call(b, "cudaPointerGetAttributes", attributes, NULL);
    print_call(b, "cudaStreamIsCapturing", is_capturing, NULL);
    print_call(b, "cudaEventRecord", record, NULL);
    print_call(b, "cudaStreamSynchronize, nothing to wait for", synchronize, NULL);
    print_call(b, "cudaStreamQuery, nothing to wait for", query_stream, NULL);
    print_call(b, "a visit: poll of a fence that was reached", visit, NULL);
    print_call(b, "select a stream and back", select_stream, NULL);
    print_call(b, "wait, nothing to wait for", table_wait, NULL);
    print_call(b, "fence + await, nothing to wait for", table_await, NULL);
    print_call(b, "allocate + release 128 KiB", allocate_and_release, NULL);
    print_call(b, "empty kernel + cudaStreamSynchronize", start_nothing, synchronize);
    print_call(b, "empty kernel + cudaStreamQuery", start_nothing, query_stream);
    print_call(b, "empty kernel + cudaEventQuery", start_nothing, query_event);
    print_call(b, "empty kernel + flag", start_nothing, watch_flag);
    b->stream = b->bound;
    print_call(b, "empty kernel + cudaStreamSynchronize, bound", start_nothing, synchronize);
    b->stream = b->free;
}

static void print_raw_copies(bench *b)
{
    print_by_size(b, "cudaMemcpyAsync + cudaStreamSynchronize", raw_to, synchronize);
    print_by_size(b, "cudaMemcpyAsync + cudaStreamQuery", raw_to, query_stream);
    print_by_size(b, "cudaMemcpyAsync + event, cudaEventQuery", raw_to, query_event);
    print_by_size(b, "cudaMemcpyAsync + event, cudaEventSynchronize", raw_to, synchronize_event);
    print_by_size(b, "cudaMemcpy", raw_plain, NULL);
    b->stream = b->bound;
    print_by_size(b, "bound: cudaMemcpyAsync + cudaStreamSynchronize", raw_to, synchronize);
    print_by_size(b, "bound: cudaMemcpyAsync + cudaStreamQuery", raw_to, query_stream);
    b->stream = b->free;
    print_by_size(b, "back: cudaMemcpyAsync + cudaStreamSynchronize", raw_from, synchronize);
    print_by_size(b, "back: cudaMemcpyAsync + cudaStreamQuery", raw_from, query_stream);
}

/* Memory that the processor writes past its caches, and reads very slowly. */
static void print_write_combined(bench *b)
{
    unsigned char *staged = b->staged;
    b->staged = b->combined;
    b->threads = 128;
    b->vectors = 1;
    print_by_size(b, "write-combined: cudaMemcpyAsync + cudaStreamSync.", raw_to, synchronize);
    print_by_size(b, "write-combined: pull 128 x 1 + cudaStreamSynchronize", pull_untold,
                  synchronize);
    b->staged = staged;
}

static void print_verbs(bench *b)
{
    print_by_size(b, "copy_to + wait", copy_to, table_wait);
    print_by_size(b, "copy_to + fence + await", copy_to, table_await);
    print_by_size(b, "copy_to + relocate + wait", copy_and_relocate, table_wait);
    print_by_size(b, "send + wait", send, table_wait);
    print_by_size(b, "send + fence + await", send, table_await);
    print_by_size(b, "copy_from + wait", copy_from, table_wait);
    HAUL(b->table->select(b->state, b->free));
    print_by_size(b, "selected: copy_to + wait", copy_to, table_wait);
    print_by_size(b, "selected: copy_to + cudaStreamQuery", copy_to, query_stream);
    print_by_size(b, "selected: send + wait", send, table_wait);
    print_by_size(b, "selected: send + cudaStreamQuery", send, query_stream);
    HAUL(b->table->select(b->state, NULL));
}

static void print_pulls(bench *b)
{
    static const struct {
        unsigned threads, vectors;
    } shapes[] = { { 64, 1 },   { 128, 1 }, { 256, 1 }, { 512, 1 },
                   { 1024, 1 }, { 128, 2 }, { 128, 4 }, { 512, 4 } };
    char name[80];
    size_t i;
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        b->threads = shapes[i].threads;
        b->vectors = shapes[i].vectors;
        snprintf(name, sizeof name, "pull %u x %u + cudaStreamSynchronize", b->threads, b->vectors);
        print_by_size(b, name, pull_untold, synchronize);
        snprintf(name, sizeof name, "pull %u x %u + cudaStreamQuery", b->threads, b->vectors);
        print_by_size(b, name, pull_untold, query_stream);
        snprintf(name, sizeof name, "pull %u x %u + flag", b->threads, b->vectors);
        print_by_size(b, name, pull, watch_flag);
    }
}

/* ---- Setting up. */

static void *allocate_plainly(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    return posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes) ==
                   0
               ? memory
               : NULL;
}

static void release_plainly(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static haul_allocator plain_allocator(void)
{
    haul_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = allocate_plainly;
    allocator.release = release_plainly;
    return allocator;
}

static void set_up(bench *b)
{
    haul_allocator allocator = plain_allocator();
    void *staged = NULL;
    b->table = haul_cuda_device();
    HAUL(b->table->open(NULL, &allocator, &b->state));
    HAUL(b->table->allocate(b->state, MOST_BYTES, 256, &b->address));
    HAUL(b->table->stage(b->state, MOST_BYTES, &staged));
    HAUL(b->table->fence(b->state, &b->fence));
    HAUL(b->table->await(b->state, b->fence));
    b->staged = staged;
    b->source = malloc(MOST_BYTES);
    b->samples = malloc(b->rounds * sizeof *b->samples);
    demand(b->source && b->samples, "malloc");
    memset(b->source, 0x55, MOST_BYTES); /* the bitmap's, too: each second word is marked */
    memset(b->staged, 0x55, MOST_BYTES);
    b->relocation.arena = b->address;
    b->relocation.bytes = UINT64_MAX;
    b->relocation.delta = 16;
    b->relocation.word_bytes = 8;
    CUDA(cudaStreamCreateWithFlags(&b->free, cudaStreamNonBlocking));
    CUDA(cudaStreamCreate(&b->bound));
    CUDA(cudaEventCreateWithFlags(&b->event, cudaEventDisableTiming));
    CUDA(cudaMalloc((void **)&b->flag.arrived, sizeof *b->flag.arrived));
    CUDA(cudaMemset(b->flag.arrived, 0, sizeof *b->flag.arrived));
    CUDA(cudaHostAlloc((void **)&b->flag.told, sizeof *b->flag.told,
                       cudaHostAllocPortable | cudaHostAllocMapped));
    CUDA(cudaHostAlloc((void **)&b->combined, MOST_BYTES,
                       cudaHostAllocWriteCombined | cudaHostAllocMapped));
    *b->flag.told = 0;
    CUDA(cudaDeviceSynchronize());
    b->stream = b->free;
}

static void tear_down(bench *b)
{
    CUDA(cudaFree(b->flag.arrived));
    CUDA(cudaFreeHost(b->flag.told));
    CUDA(cudaFreeHost(b->combined));
    CUDA(cudaEventDestroy(b->event));
    CUDA(cudaStreamDestroy(b->free));
    CUDA(cudaStreamDestroy(b->bound));
    b->table->unstage(b->state, b->staged, MOST_BYTES);
    b->table->release(b->state, b->address, MOST_BYTES);
    b->table->close(b->state);
    free(b->source);
    free(b->samples);
}

int main(int count, char **arguments)
{
    bench b;
    memset(&b, 0, sizeof b);
    b.rounds = count > 1 ? (unsigned)atoi(arguments[1]) : 2000;
    if (haul_cuda_count() == 0 || b.rounds == 0) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    set_up(&b);
    print_calls(&b);
    printf("\n%-52s %-45s%s\n", "copies, us: median / best", " staging still: 16, 128, 256 KiB",
           " just written: 16, 128, 256 KiB");
    print_raw_copies(&b);
    print_write_combined(&b);
    print_verbs(&b);
    print_pulls(&b);
    tear_down(&b);
    return 0;
}
