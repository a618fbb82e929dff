/* Haul's ways, each with its unmarshal.
 *
 *   haul               the first ship: discovery, packing, allocation, transfer, relocation; the
 *                      context is warm
 *   haul_plan          ship by a plan that exists
 *   haul_refresh       the same arena again, by its plan
 *   haul_reship        the graph discovered again, with the plan at hand, and the same arena
 *   haul_locked        the same where the source's pages are locked: the device gathers it by
 *                      itself
 *   haul_used          as haul, by a type that says which array the kernel uses; for workloads that
 *                      use one alone
 *   haul_pinned_arena  a packed arena that lies in pinned memory already: one copy and the
 *                      relocation, one copy back. The public calls have no such form; this calls
 *                      the device table's own verbs.
 *   haul_arena         the graph stands in a haul_arena in pinned memory: a ship that
 *                      refuses pointers that lead out, and haul_unmarshal
 *   haul_arena_direct  the same, pointers trusted, and brought back without staging
 *   haul_arena_still   haul_arena, brought back without staging, of an arena that is filled once
 *                      and then goes there and back, untouched by the host between, as the raw
 *                      copy's bytes are
 *   haul_mirrored      the same, in an arena that the device has memory for at the same addresses
 *   haul_mirrored_kept the same, pointers trusted
 *   haul_threads, haul_threads_refresh, haul_threads_reship, haul_threads_arena
 *                      haul, haul_refresh, haul_reship and haul_arena in a context with as many
 *                      threads as the machine has cores, at most 16
 *
 * The device is opened through a table that counts the calls of its verbs and passes them on. What
 * `calls` says of Haul is that number: a verb is one or a few calls of the driver.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul/cuda.h>

#include "gpu.h"
#include "support/short_forms.h"
#include "haul/experimental.h"

static const haul_device_table *real;
static haul_device *device, *threaded; /* whose contexts have one thread, and several */
#define THREADS_MAX 16u
/* of the threads: longer than a small graph's kernel, no longer than the runs before a timed one */
#define AWAKE_SECONDS 2e-3

static const void *chosen; /* what the context's argument points to */

/* -------------------------------------------------------------------------------------------------
 * The table that counts
 */
static haul_status count_allocate(void *state, uint64_t bytes, size_t alignment,
                                  haul_address *address)
{
    gpu_counted.calls++;
    return real->allocate(state, bytes, alignment, address);
}

static void count_release(void *state, haul_address address, uint64_t bytes)
{
    gpu_counted.calls++;
    real->release(state, address, bytes);
}

static haul_status count_stage(void *state, size_t bytes, void **memory)
{
    gpu_counted.calls++;
    return real->stage(state, bytes, memory);
}

static void count_unstage(void *state, void *memory, size_t bytes)
{
    gpu_counted.calls++;
    real->unstage(state, memory, bytes);
}

static haul_status count_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    gpu_counted.calls++;
    return real->copy_to(state, to, from, bytes);
}

static haul_status count_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    gpu_counted.calls++;
    return real->copy_from(state, to, from, bytes);
}

static haul_status count_relocate(void *state, const haul_relocation *relocation)
{
    gpu_counted.calls++;
    return real->relocate(state, relocation);
}

static haul_status count_send(void *state, const haul_relocation *relocation, const void *from,
                              size_t bytes)
{
    gpu_counted.calls++;
    return real->send(state, relocation, from, bytes);
}

static haul_status count_fetch(void *state, void *to, const haul_relocation *relocation,
                               size_t bytes)
{
    gpu_counted.calls++;
    return real->fetch(state, to, relocation, bytes);
}

static haul_status count_lock(void *state, void *memory, size_t bytes)
{
    gpu_counted.calls++;
    return real->lock(state, memory, bytes);
}

static void count_unlock(void *state, void *memory, size_t bytes)
{
    gpu_counted.calls++;
    real->unlock(state, memory, bytes);
}

static haul_status count_pull(void *state, const haul_crossing *crossing)
{
    gpu_counted.calls++;
    return real->pull(state, crossing);
}

static haul_status count_push(void *state, const haul_crossing *crossing)
{
    gpu_counted.calls++;
    return real->push(state, crossing);
}

static haul_status count_across(void *state, haul_address to, void *from_state, haul_address from,
                                size_t bytes)
{
    gpu_counted.calls++;
    return real->across(state, to, from_state, from, bytes);
}

static haul_status count_select(void *state, void *stream)
{
    gpu_counted.calls++;
    return real->select(state, stream);
}

static haul_status count_fence(void *state, uint64_t *fence)
{
    gpu_counted.calls++;
    return real->fence(state, fence);
}

static haul_status count_poll(void *state, uint64_t fence)
{
    gpu_counted.calls++;
    return real->poll(state, fence);
}

static haul_status count_await(void *state, uint64_t fence)
{
    gpu_counted.calls++;
    return real->await(state, fence);
}

static haul_status count_wait(void *state)
{
    gpu_counted.calls++;
    return real->wait(state);
}

static haul_status count_signal(void *state, void *event)
{
    gpu_counted.calls++;
    return real->signal(state, event);
}

static haul_device_table counting_table(void)
{
    haul_device_table table = *real;
    table.allocate = count_allocate;
    table.release = count_release;
    table.stage = count_stage;
    table.unstage = count_unstage;
    table.copy_to = count_copy_to;
    table.copy_from = count_copy_from;
    table.relocate = count_relocate;
    table.send = count_send;
    table.fetch = count_fetch;
    table.lock = count_lock;
    table.unlock = count_unlock;
    table.pull = count_pull;
    table.push = count_push;
    table.across = count_across;
    table.select = count_select;
    table.fence = count_fence;
    table.poll = count_poll;
    table.await = count_await;
    table.wait = count_wait;
    table.signal = count_signal;
    return table;
}

/* -------------------------------------------------------------------------------------------------
 * The device
 */
static void must_on(const haul_device *on, haul_status status, const char *what)
{
    if (status != HAUL_OK)
        gpu_die(what,
                on ? haul_context_error(haul_device_context(on))->text : haul_status_text(status));
}

static void must(haul_status status, const char *what)
{
    must_on(device, status, what);
}

static unsigned threads_here(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1u : cores < THREADS_MAX ? (unsigned)cores : THREADS_MAX;
}

void gpu_haul_open(void)
{
    static haul_device_table counting;
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof(options));
    options.argument = &chosen;
    real = haul_cuda_device();
    counting = counting_table();
    must(haul_context_create(&options, &context), "haul_context_create");
    must(haul_device_open(context, &counting, NULL, &device), "haul_device_open");
    haul_context_free(&context);
    options.threads = threads_here();
    options.spin_seconds = AWAKE_SECONDS;
    must(haul_context_create(&options, &context), "haul_context_create");
    must_on(NULL, haul_device_open(context, &counting, NULL, &threaded), "haul_device_open");
    haul_context_free(&context);
}

void gpu_haul_close(void)
{
    haul_device_close(&threaded);
    haul_device_close(&device);
}

static void set_root(gpu_bench *b, const haul_shipment *shipment)
{
    b->device_root = haul_device_pointer(shipment, b->it->root);
}

static haul_plan *new_plan(const gpu_workload *it)
{
    haul_plan *plan;
    haul_root root;
    root.address = it->root;
    root.type = it->type[0];
    root.count = 1;
    must(haul_plan_create(haul_device_context(device), haul_from_roots(&root, 1), NULL, &plan),
         "haul_plan_create");
    return plan;
}

/* -------------------------------------------------------------------------------------------------
 * What a shipment tells of itself. Its counts are those since it was shipped.
 */
static haul_shipment_info seen; /* of a shipment that is older than the run */

static void tell_pack_and_transfer(const haul_shipment *shipment, int discovered)
{
    haul_shipment_info now;
    haul_shipment_get_info(shipment, &now);
    gpu_counted.transfers_to += (double)(now.transfers_to - seen.transfers_to);
    gpu_counted.bytes_to += (double)(now.bytes_to - seen.bytes_to);
    if (discovered) {
        gpu_sample("discover", 1e3 * now.discover_seconds, "to");
        gpu_sample("layout", 1e3 * now.layout_seconds, "to");
    }
    gpu_sample("pack", 1e3 * now.pack_seconds, "to");
    gpu_sample("transfer", 1e3 * now.transfer_seconds, "to");
    gpu_sample("relocate", 1e3 * now.relocate_seconds, "to");
}

static void tell_return(const haul_shipment *shipment)
{
    haul_shipment_info now;
    haul_shipment_get_info(shipment, &now);
    gpu_counted.transfers_from += (double)(now.transfers_from - seen.transfers_from);
    gpu_counted.bytes_from += (double)(now.bytes_from - seen.bytes_from);
    gpu_sample("return", 1e3 * now.return_seconds, "from");
    gpu_sample("scatter", 1e3 * now.scatter_seconds, "from");
}

static void forget_seen(gpu_bench *b)
{
    (void)b;
    memset(&seen, 0, sizeof(seen));
}

static void tell_to_discovered(gpu_bench *b)
{
    tell_pack_and_transfer(b->shipment, 1);
}

static void tell_to_planned(gpu_bench *b)
{
    tell_pack_and_transfer(b->shipment, 0);
}

static void tell_from(gpu_bench *b)
{
    tell_return(b->shipment);
}

/* -------------------------------------------------------------------------------------------------
 * Ship
 */
static void haul_to(gpu_bench *b)
{
    must(haul_ship(device, b->it->root, b->it->type[0], 1, NULL, &b->shipment), "haul_ship");
    set_root(b, b->shipment);
}

static void plan_open(gpu_bench *b)
{
    b->plan = new_plan(b->it);
}

static void plan_close(gpu_bench *b)
{
    haul_plan_free(&b->plan);
}

static void plan_to(gpu_bench *b)
{
    must(haul_ship_from(device, haul_from_plan(b->plan), NULL, NULL, &b->shipment),
         "haul_ship_from");
    set_root(b, b->shipment);
}

static void haul_from(gpu_bench *b)
{
    must(haul_unmarshal(b->shipment), "haul_unmarshal");
}

static void haul_free(gpu_bench *b)
{
    haul_shipment_free(&b->shipment);
}

static int used_fits(const gpu_bench *b)
{
    return b->it->chosen != NULL;
}

static void used_before(gpu_bench *b)
{
    forget_seen(b);
    chosen = b->it->chosen;
}

static void used_to(gpu_bench *b)
{
    must(haul_ship(device, b->it->root, b->it->used_type[0], 1, NULL, &b->shipment), "haul_ship");
    set_root(b, b->shipment);
}

/* -------------------------------------------------------------------------------------------------
 * Refresh
 */
static void refresh_open(gpu_bench *b)
{
    must(haul_ship(device, b->it->root, b->it->type[0], 1, NULL, &b->kept), "haul_ship");
}

static void refresh_before(gpu_bench *b)
{
    haul_shipment_get_info(b->kept, &seen);
}

static void refresh_to(gpu_bench *b)
{
    must(haul_update_device(b->kept, NULL, NULL), "haul_update_device");
    set_root(b, b->kept);
}

static void refresh_from(gpu_bench *b)
{
    must(haul_unmarshal(b->kept), "haul_unmarshal");
}

static void refresh_tell_to(gpu_bench *b)
{
    tell_pack_and_transfer(b->kept, 0);
}

static void refresh_tell_from(gpu_bench *b)
{
    tell_return(b->kept);
}

static void refresh_close(gpu_bench *b)
{
    haul_shipment_free(&b->kept);
}

/* -------------------------------------------------------------------------------------------------
 * With a locked source; the first refresh locks it. Copies from locked memory are as fast as from
 * pinned: so nobody else is measured meanwhile.
 */
static haul_shipment *locked_kept;

static void locked_open(gpu_bench *b)
{
    haul_ship_options options;
    haul_shipment_info now;
    memset(&options, 0, sizeof(options));
    options.lock_source = 1;
    must(haul_ship(device, b->it->root, b->it->type[0], 1, &options, &locked_kept), "haul_ship");
    must(haul_update_device(locked_kept, NULL, NULL), "haul_update_device");
    haul_shipment_get_info(locked_kept, &now);
    if (now.packs_because)
        gpu_die(b->it->name, now.packs_because);
}

static void locked_before(gpu_bench *b)
{
    (void)b;
    haul_shipment_get_info(locked_kept, &seen);
}

static void locked_to(gpu_bench *b)
{
    must(haul_update_device(locked_kept, NULL, NULL), "haul_update_device");
    set_root(b, locked_kept);
}

static void locked_from(gpu_bench *b)
{
    (void)b;
    must(haul_unmarshal(locked_kept), "haul_unmarshal");
}

static void locked_tell_to(gpu_bench *b)
{
    (void)b;
    tell_pack_and_transfer(locked_kept, 0);
}

static void locked_tell_from(gpu_bench *b)
{
    (void)b;
    tell_return(locked_kept);
}

static void locked_close(gpu_bench *b)
{
    (void)b;
    haul_shipment_free(&locked_kept);
}

/* -------------------------------------------------------------------------------------------------
 * An arena in pinned memory: | arena | bitmap |, as a shipment's range is.
 */
struct gpu_arena {
    haul_plan *plan;
    char *staged;
    uint64_t *bits; /* the bitmap, */
    size_t bit_words;
    haul_relocation relocation; /* its `arena` and `bytes` are the arena's */
    size_t marks_at, whole;     /* ... which crosses behind the arena, or a list of offsets */
    int is_small;               /* for the table's verb that does both */
};

static void arena_open(gpu_bench *b)
{
    static struct gpu_arena the_arena;
    struct gpu_arena *arena = b->arena = &the_arena;
    haul_relocation *relocation = &arena->relocation;
    haul_device_info info;
    void *state = haul_device_state(device), *staged;
    memset(arena, 0, sizeof(*arena));
    haul_device_get_info(device, &info);
    arena->plan = new_plan(b->it);
    relocation->bytes = plan_bytes(arena->plan);
    arena->bit_words = plan_bitmap_bytes(arena->plan) / sizeof(uint64_t);
    arena->bits = bench_allocate((arena->bit_words + 1) * sizeof(uint64_t));
    arena->marks_at = (relocation->bytes + 15) & ~(size_t)15;
    arena->whole = arena->marks_at + arena->bit_words * sizeof(uint64_t);
    arena->is_small = arena->whole <= info.capabilities->send_bytes;
    must(real->stage(state, arena->whole, &staged), "stage");
    must(real->allocate(state, arena->whole, plan_alignment(arena->plan), &relocation->arena),
         "allocate");
    arena->staged = staged;
    relocation->delta = relocation->arena;
    relocation->word_bytes = sizeof(void *);
}

/* Few pointers are told by their offsets, as the library does it. */
static void write_marks(struct gpu_arena *arena)
{
    haul_relocation *relocation = &arena->relocation;
    char *marks = arena->staged + arena->marks_at;
    size_t count = 0, i;
    for (i = 0; i < arena->bit_words; i++)
        count += (size_t)__builtin_popcountll(arena->bits[i]);
    relocation->bitmap = relocation->offsets = relocation->arena + arena->marks_at;
    if (arena->is_small || count > arena->bit_words / 2) {
        memcpy(marks, arena->bits, arena->bit_words * sizeof(uint64_t));
        relocation->words = relocation->bytes / sizeof(void *);
        return;
    }
    relocation->offset_count = count;
    arena->whole = arena->marks_at + count * sizeof(uint64_t);
    for (i = 0; i < arena->bit_words; i++) {
        uint64_t left;
        for (left = arena->bits[i]; left; left &= left - 1) {
            uint64_t offset = (i * 64 + (size_t)__builtin_ctzll(left)) * sizeof(void *);
            memcpy(marks, &offset, sizeof(offset));
            marks += sizeof(offset);
        }
    }
}

static void arena_before(gpu_bench *b)
{
    struct gpu_arena *arena = b->arena;
    must(haul_plan_pack(arena->plan, arena->staged, arena->relocation.bytes, 0, arena->bits),
         "haul_plan_pack");
    write_marks(arena);
}

/* Those of the words before `cut` and those behind it. */
static void cut_marks(const struct gpu_arena *arena, size_t cut, haul_relocation *first,
                      haul_relocation *rest)
{
    const char *list = arena->staged + arena->marks_at;
    uint64_t offset;
    *first = *rest = arena->relocation;
    if (arena->relocation.offset_count) {
        for (first->offset_count = 0; first->offset_count < rest->offset_count;
             first->offset_count++) {
            memcpy(&offset, list + first->offset_count * sizeof(offset), sizeof(offset));
            if (offset >= cut)
                break;
        }
        rest->offsets += first->offset_count * sizeof(offset);
        rest->offset_count -= first->offset_count;
        return;
    }
    first->words = cut / sizeof(void *);
    rest->arena += cut;
    rest->bitmap += first->words / 8;
    rest->words -= first->words;
}

/* All but a sixteenth is patched while that crosses, as the library does it. */
static void arena_to_in_two(const struct gpu_arena *arena, void *state)
{
    haul_relocation first, rest;
    const size_t bytes = (size_t)arena->relocation.bytes, cut = (bytes - bytes / 16) / 512 * 512;
    const haul_address to = arena->relocation.arena;
    uint64_t fence;
    must(count_copy_to(state, to, arena->staged, cut), "copy_to");
    must(count_copy_to(state, to + arena->marks_at, arena->staged + arena->marks_at,
                       arena->whole - arena->marks_at),
         "copy_to");
    must(count_fence(state, &fence), "fence");
    must(count_copy_to(state, to + cut, arena->staged + cut, bytes - cut), "copy_to");
    cut_marks(arena, cut, &first, &rest);
    first.after = fence;
    if (first.words + first.offset_count)
        must(count_relocate(state, &first), "relocate");
    if (rest.words + rest.offset_count)
        must(count_relocate(state, &rest), "relocate");
}

static void arena_to(gpu_bench *b)
{
    const struct gpu_arena *arena = b->arena;
    const haul_relocation *relocation = &arena->relocation;
    void *state = haul_device_state(device);
    size_t root;
    if (arena->is_small)
        must(count_send(state, relocation, arena->staged, arena->whole), "send");
    else if (relocation->bytes >= (size_t)8 << 20)
        arena_to_in_two(arena, state);
    else {
        must(count_copy_to(state, relocation->arena, arena->staged, arena->whole), "copy_to");
        must(count_relocate(state, relocation), "relocate");
    }
    must(count_wait(state), "wait");
    must(haul_plan_offset(arena->plan, b->it->root, &root), "haul_plan_offset");
    b->device_root = (const void *)(uintptr_t)(relocation->arena + root);
}

static void arena_tell_to(gpu_bench *b)
{
    gpu_counted.transfers_to++;
    gpu_counted.bytes_to += (double)b->arena->whole;
}

static void arena_from(gpu_bench *b)
{
    const struct gpu_arena *arena = b->arena;
    void *state = haul_device_state(device);
    must(count_copy_from(state, arena->staged, arena->relocation.arena, arena->relocation.bytes),
         "copy_from");
    must(count_wait(state), "wait");
}

static void arena_tell_from(gpu_bench *b)
{
    gpu_counted.transfers_from++;
    gpu_counted.bytes_from += (double)b->arena->relocation.bytes;
}

static void arena_after(gpu_bench *b)
{
    must(haul_plan_unpack(b->arena->plan, b->arena->staged, b->arena->relocation.bytes, 0),
         "haul_plan_unpack");
}

static void arena_close(gpu_bench *b)
{
    struct gpu_arena *arena = b->arena;
    void *state = haul_device_state(device);
    const uint64_t bytes = arena->marks_at + arena->bit_words * sizeof(uint64_t);
    real->release(state, arena->relocation.arena, bytes);
    real->unstage(state, arena->staged, bytes);
    free(arena->bits);
    haul_plan_free(&arena->plan);
}

/* -------------------------------------------------------------------------------------------------
 * A graph that stands in a haul_arena. It is built once, by typed allocation, in the places of the
 * comparators' walk; contents go into it before each run and out after it, outside the clock.
 */
typedef struct standing {
    haul_arena *arena;
    gpu_walk walk;
    char *base;
    haul_ship_options options;
    int is_direct; /* haul_return_directly */
    haul_device *device;
} standing;

static void *build_object(standing *s, const gpu_workload *it, const gpu_object *object)
{
    const gpu_kind *kind = object->kind;
    if (kind && kind->nature == GPU_STRUCT)
        return haul_arena_new(s->arena, it->type[kind - it->kind], object->count);
    if (kind && kind->nature == GPU_POINTER)
        return haul_arena_new_pointers(s->arena, object->count);
    return haul_arena_bytes(s->arena, gpu_bytes(object), 0);
}

static void build(standing *s, const gpu_workload *it)
{
    size_t i;
    for (i = 0; i < s->walk.count; i++) {
        const gpu_object *object = &s->walk.objects[i];
        void *made;
        if (gpu_bytes(object) == 0)
            continue;
        made = build_object(s, it, object);
        if (!made)
            gpu_die(it->name, haul_arena_error(s->arena)->text);
        s->base = s->base ? s->base : made;
    }
}

static void standing_open(gpu_bench *b, standing *s, haul_device *on, int mirrored)
{
    haul_arena_options options;
    haul_arena_info made;
    memset(s, 0, sizeof(*s));
    memset(&options, 0, sizeof(options));
    options.pinned = !mirrored;
    options.mirrored = mirrored;
    options.reserve_bytes = b->room + b->room / 32 + 4096;
    s->device = on;
    options.device = on;
    must_on(on, haul_arena_create(haul_device_context(on), &options, &s->arena),
            "haul_arena_create");
    haul_arena_get_info(s->arena, &made);
    if (!made.pinned || made.mirrored != mirrored)
        gpu_die(b->it->name, "the arena is not where it was to be");
    gpu_walk_open(&s->walk, b->it);
    gpu_packed_bytes(&s->walk);
    build(s, b->it);
}

static void standing_close(standing *s)
{
    gpu_walk_close(&s->walk);
    haul_arena_free(&s->arena);
}

static void standing_before(gpu_bench *b, standing *s)
{
    forget_seen(b);
    gpu_pack(&s->walk, s->base, (uint64_t)(uintptr_t)s->base);
}

static void standing_to(gpu_bench *b, standing *s)
{
    must_on(s->device,
            haul_ship_from(s->device, haul_from_arena(s->arena), &s->options, NULL, &b->shipment),
            "haul_ship_from");
    if (s->is_direct)
        must_on(s->device, haul_return_directly(b->shipment), "haul_return_directly");
    b->device_root = haul_device_pointer(b->shipment, s->base);
}

static void standing_after(standing *s)
{
    gpu_unpack(&s->walk, s->base, (uint64_t)(uintptr_t)s->base);
}

static standing checked, direct;

static void checked_open(gpu_bench *b)
{
    standing_open(b, &checked, device, 0);
}

static void checked_before(gpu_bench *b)
{
    standing_before(b, &checked);
}

static void checked_to(gpu_bench *b)
{
    standing_to(b, &checked);
}

static void checked_after(gpu_bench *b)
{
    (void)b;
    standing_after(&checked);
}

static void checked_close(gpu_bench *b)
{
    (void)b;
    standing_close(&checked);
}

static void direct_open(gpu_bench *b)
{
    standing_open(b, &direct, device, 0);
    direct.options.outside = HAUL_OUTSIDE_KEEP;
    direct.is_direct = 1;
}

static void direct_before(gpu_bench *b)
{
    standing_before(b, &direct);
}

static void direct_to(gpu_bench *b)
{
    standing_to(b, &direct);
}

static void direct_after(gpu_bench *b)
{
    (void)b;
    standing_after(&direct);
}

static void direct_close(gpu_bench *b)
{
    (void)b;
    standing_close(&direct);
}

/* Filled once; then there and back, untouched by the host. */
typedef struct lying {
    standing standing;
    uint64_t generation;
} lying;
static lying still, mirrored, trusted;

static void lying_open(gpu_bench *b, lying *l, int is_mirrored, haul_outside outside)
{
    standing_open(b, &l->standing, device, is_mirrored);
    l->standing.is_direct = 1;
    l->standing.options.outside = outside;
    standing_before(b, &l->standing);
    l->generation = b->it->generation;
}

/* What it has come to becomes the graph's. */
static void lying_close(gpu_bench *b, lying *l, const char *name)
{
    standing_after(&l->standing);
    b->it->generation = l->generation;
    gpu_workload_check(b->it, 1, name);
    standing_close(&l->standing);
}

static void still_open(gpu_bench *b)
{
    lying_open(b, &still, 0, HAUL_OUTSIDE_REFUSE);
}

static void still_to(gpu_bench *b)
{
    standing_to(b, &still.standing);
}

static void still_close(gpu_bench *b)
{
    lying_close(b, &still, "haul_arena_still");
}

static void mirrored_open(gpu_bench *b)
{
    lying_open(b, &mirrored, 1, HAUL_OUTSIDE_REFUSE);
}

static void mirrored_to(gpu_bench *b)
{
    standing_to(b, &mirrored.standing);
}

static void mirrored_close(gpu_bench *b)
{
    lying_close(b, &mirrored, "haul_mirrored");
}

static void trusted_open(gpu_bench *b)
{
    lying_open(b, &trusted, 1, HAUL_OUTSIDE_KEEP);
}

static void trusted_to(gpu_bench *b)
{
    standing_to(b, &trusted.standing);
}

static void trusted_close(gpu_bench *b)
{
    lying_close(b, &trusted, "haul_mirrored_kept");
}

/* -------------------------------------------------------------------------------------------------
 * With threads
 */
static haul_shipment *threaded_kept;
static standing threaded_standing;

static void threads_to(gpu_bench *b)
{
    must_on(threaded, haul_ship(threaded, b->it->root, b->it->type[0], 1, NULL, &b->shipment),
            "haul_ship");
    set_root(b, b->shipment);
}

static void threads_refresh_open(gpu_bench *b)
{
    must_on(threaded, haul_ship(threaded, b->it->root, b->it->type[0], 1, NULL, &threaded_kept),
            "haul_ship");
}

static void threads_refresh_before(gpu_bench *b)
{
    (void)b;
    haul_shipment_get_info(threaded_kept, &seen);
}

static void threads_refresh_to(gpu_bench *b)
{
    must_on(threaded, haul_update_device(threaded_kept, NULL, NULL), "haul_update_device");
    set_root(b, threaded_kept);
}

static void threads_refresh_from(gpu_bench *b)
{
    (void)b;
    must_on(threaded, haul_unmarshal(threaded_kept), "haul_unmarshal");
}

static void threads_refresh_tell_to(gpu_bench *b)
{
    (void)b;
    tell_pack_and_transfer(threaded_kept, 0);
}

static void threads_refresh_tell_from(gpu_bench *b)
{
    (void)b;
    tell_return(threaded_kept);
}

static void threads_refresh_close(gpu_bench *b)
{
    (void)b;
    haul_shipment_free(&threaded_kept);
}

static void threads_arena_open(gpu_bench *b)
{
    standing_open(b, &threaded_standing, threaded, 0);
}

static void threads_arena_before(gpu_bench *b)
{
    standing_before(b, &threaded_standing);
}

static void threads_arena_to(gpu_bench *b)
{
    standing_to(b, &threaded_standing);
}

static void threads_arena_after(gpu_bench *b)
{
    (void)b;
    standing_after(&threaded_standing);
}

static void threads_arena_close(gpu_bench *b)
{
    (void)b;
    standing_close(&threaded_standing);
}

/* -------------------------------------------------------------------------------------------------
 * Shipped again, by one thread and by several: discovered with the old plan at hand
 */
typedef struct again {
    haul_device *on;
    haul_shipment *shipment;
} again;
static again alone, together;

static void again_open(gpu_bench *b, again *a, haul_device *on)
{
    a->on = on;
    must_on(on, haul_ship(on, b->it->root, b->it->type[0], 1, NULL, &a->shipment), "haul_ship");
}

static void again_to(gpu_bench *b, again *a)
{
    must_on(a->on, haul_reship(a->shipment, NULL), "haul_reship");
    set_root(b, a->shipment);
}

static void again_from(again *a)
{
    must_on(a->on, haul_unmarshal(a->shipment), "haul_unmarshal");
}

static void reship_open(gpu_bench *b)
{
    again_open(b, &alone, device);
}

static void reship_before(gpu_bench *b)
{
    (void)b;
    haul_shipment_get_info(alone.shipment, &seen);
}

static void reship_to(gpu_bench *b)
{
    again_to(b, &alone);
}

static void reship_tell_to(gpu_bench *b)
{
    (void)b;
    tell_pack_and_transfer(alone.shipment, 1);
}

static void reship_from(gpu_bench *b)
{
    (void)b;
    again_from(&alone);
}

static void reship_tell_from(gpu_bench *b)
{
    (void)b;
    tell_return(alone.shipment);
}

static void reship_close(gpu_bench *b)
{
    (void)b;
    haul_shipment_free(&alone.shipment);
}

static void threads_reship_open(gpu_bench *b)
{
    again_open(b, &together, threaded);
}

static void threads_reship_before(gpu_bench *b)
{
    (void)b;
    haul_shipment_get_info(together.shipment, &seen);
}

static void threads_reship_to(gpu_bench *b)
{
    again_to(b, &together);
}

static void threads_reship_tell_to(gpu_bench *b)
{
    (void)b;
    tell_pack_and_transfer(together.shipment, 1);
}

static void threads_reship_from(gpu_bench *b)
{
    (void)b;
    again_from(&together);
}

static void threads_reship_tell_from(gpu_bench *b)
{
    (void)b;
    tell_return(together.shipment);
}

static void threads_reship_close(gpu_bench *b)
{
    (void)b;
    haul_shipment_free(&together.shipment);
}

const gpu_technique gpu_haul_ways[] = {
    { .name = "haul",
      .before = forget_seen,
      .to = haul_to,
      .from = haul_from,
      .free = haul_free,
      .tell_to = tell_to_discovered,
      .tell_from = tell_from },
    { .name = "haul_plan",
      .open = plan_open,
      .before = forget_seen,
      .to = plan_to,
      .from = haul_from,
      .free = haul_free,
      .close = plan_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
    { .name = "haul_refresh",
      .open = refresh_open,
      .before = refresh_before,
      .to = refresh_to,
      .from = refresh_from,
      .close = refresh_close,
      .tell_to = refresh_tell_to,
      .tell_from = refresh_tell_from },
    { .name = "haul_reship",
      .open = reship_open,
      .before = reship_before,
      .to = reship_to,
      .from = reship_from,
      .close = reship_close,
      .tell_to = reship_tell_to,
      .tell_from = reship_tell_from },
    { .name = "haul_locked",
      .is_alone = 1,
      .open = locked_open,
      .before = locked_before,
      .to = locked_to,
      .from = locked_from,
      .close = locked_close,
      .tell_to = locked_tell_to,
      .tell_from = locked_tell_from },
    { .name = "haul_used",
      .fits = used_fits,
      .before = used_before,
      .to = used_to,
      .from = haul_from,
      .free = haul_free,
      .tell_to = tell_to_discovered,
      .tell_from = tell_from },
    { .name = "haul_pinned_arena",
      .open = arena_open,
      .before = arena_before,
      .to = arena_to,
      .from = arena_from,
      .after = arena_after,
      .close = arena_close,
      .tell_to = arena_tell_to,
      .tell_from = arena_tell_from },
    { .name = "haul_arena",
      .open = checked_open,
      .before = checked_before,
      .to = checked_to,
      .from = haul_from,
      .after = checked_after,
      .free = haul_free,
      .close = checked_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
    { .name = "haul_arena_direct",
      .open = direct_open,
      .before = direct_before,
      .to = direct_to,
      .from = haul_from,
      .after = direct_after,
      .free = haul_free,
      .close = direct_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
    { .name = "haul_arena_still",
      .own_generation = &still.generation,
      .open = still_open,
      .before = forget_seen,
      .to = still_to,
      .from = haul_from,
      .free = haul_free,
      .close = still_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
    { .name = "haul_mirrored",
      .own_generation = &mirrored.generation,
      .open = mirrored_open,
      .before = forget_seen,
      .to = mirrored_to,
      .from = haul_from,
      .free = haul_free,
      .close = mirrored_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
    { .name = "haul_mirrored_kept",
      .own_generation = &trusted.generation,
      .open = trusted_open,
      .before = forget_seen,
      .to = trusted_to,
      .from = haul_from,
      .free = haul_free,
      .close = trusted_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
    { .name = "haul_threads",
      .before = forget_seen,
      .to = threads_to,
      .from = haul_from,
      .free = haul_free,
      .tell_to = tell_to_discovered,
      .tell_from = tell_from },
    { .name = "haul_threads_refresh",
      .open = threads_refresh_open,
      .before = threads_refresh_before,
      .to = threads_refresh_to,
      .from = threads_refresh_from,
      .close = threads_refresh_close,
      .tell_to = threads_refresh_tell_to,
      .tell_from = threads_refresh_tell_from },
    { .name = "haul_threads_reship",
      .open = threads_reship_open,
      .before = threads_reship_before,
      .to = threads_reship_to,
      .from = threads_reship_from,
      .close = threads_reship_close,
      .tell_to = threads_reship_tell_to,
      .tell_from = threads_reship_tell_from },
    { .name = "haul_threads_arena",
      .open = threads_arena_open,
      .before = threads_arena_before,
      .to = threads_arena_to,
      .from = haul_from,
      .after = threads_arena_after,
      .free = haul_free,
      .close = threads_arena_close,
      .tell_to = tell_to_planned,
      .tell_from = tell_from },
};
const size_t gpu_haul_way_count = sizeof(gpu_haul_ways) / sizeof(gpu_haul_ways[0]);
