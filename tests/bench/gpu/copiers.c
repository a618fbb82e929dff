/* The comparators: how others copy graphs to a device, each as good as its description allows.
 *
 * From the paper on automatic copying of pointer-based data structures (Chen, Sura, Sung, LCPC
 * 2016), after the descriptions of its techniques that are at hand; the names are its own. All four
 * keep its present table: a hash from host to device addresses, here open addressing, presized,
 * warm and never cleared.
 *
 *   base        for each object one allocation on the device and one copy; then, for each pointer
 *               that is not null, one copy of 8 bytes that patches it there. Back: one copy for
 *               each object.
 *   base_plus   as base, but device memory comes from a pool, and pointers are patched on the host
 *               just before the object's copy, so that no patch is copied.
 *   tcpy        two passes: objects first, then pointers, one copy each, device memory from a pool.
 *               No copy depends on another, so all are asynchronous with one wait at the end.
 *   pcpy        packed: objects are copied one by one into one contiguous host buffer, patched
 *               there, and go in one transfer; back in one transfer and object by object.
 *               pcpy_pinned: the same with a pinned buffer.
 *
 * Of others:
 *
 *   marshal_attach   the deep-copy benchmark's marshalling: the graph has been built in one host
 *                    buffer (packing is not timed); one copy, then one copy of 8 bytes for each
 *                    pointer that is not null (acc_attach), all asynchronous, one wait. Back: one
 *                    copy.
 *   chain            pointer-chain extraction by hand: the host follows the chains and copies the
 *                    arrays that the kernel uses, one copy each; the kernel gets their device
 *                    addresses and follows no pointer. Only for Linear, and for Dense where one
 *                    array is used.
 *   unified          the graph lives in managed memory and moves by page faults: out while the
 *                    kernel runs, back when the host reads it. unified_prefetch: one prefetch each
 *                    way.
 *   raw_pinned, raw_pageable   the limits: one copy of the graph's bytes.
 *   raw_written                raw_pinned, of bytes that the host has just written, as it has
 *                              whenever something was packed, or built where it ships from
 *
 * Pools, buffers and tables exist before any timing, and the buffers are warm.
 */
#include <string.h>

#include "gpu.h"

/* -------------------------------------------------------------------------------------------------
 * Places on the device
 */
static uint64_t place_alone(void *user, size_t bytes)
{
    (void)user;
    return gpu_allocate(bytes);
}

static void set_root(gpu_bench *b, uint64_t place)
{
    b->device_root = (const void *)(uintptr_t)place;
}

/* -------------------------------------------------------------------------------------------------
 * The paper's
 */
static void patch_on_device(const gpu_bench *b, const gpu_object *object)
{
    size_t i, count = gpu_pointer_count(object);
    for (i = 0; i < count; i++)
        if (b->walk.targets[i])
            gpu_copy_to(object->place + gpu_pointer_at(object, i), &b->walk.targets[i],
                        sizeof(void *));
}

static void base_to(gpu_bench *b)
{
    const gpu_object *object;
    gpu_walk_start(&b->walk, place_alone, NULL);
    while ((object = gpu_walk_visit(&b->walk)) != NULL) {
        gpu_copy_to(object->place, object->host, gpu_bytes(object));
        patch_on_device(b, object);
    }
    gpu_wait();
    set_root(b, b->walk.objects[0].place);
}

static void base_free(gpu_bench *b)
{
    size_t i;
    for (i = 0; i < b->walk.count; i++)
        gpu_release(b->walk.objects[i].place);
}

/* The host object's own pointers are set to the device's for the time of the copy, which saves a
 * copy of the object. */
static void base_plus_to(gpu_bench *b)
{
    const gpu_object *object;
    uint64_t next = b->pool;
    gpu_walk_start(&b->walk, gpu_place_next, &next);
    while ((object = gpu_walk_visit(&b->walk)) != NULL) {
        gpu_read_pointers(object, object->host, b->saved);
        gpu_write_pointers(object, object->host, b->walk.targets);
        gpu_copy_to(object->place, object->host, gpu_bytes(object));
        gpu_write_pointers(object, object->host, b->saved);
    }
    gpu_wait();
    set_root(b, b->walk.objects[0].place);
}

/* Whole objects straight into the host's, whose pointers are put back. */
static void objects_from(gpu_bench *b)
{
    size_t i;
    for (i = 0; i < b->walk.count; i++) {
        const gpu_object *object = &b->walk.objects[i];
        gpu_read_pointers(object, object->host, b->saved);
        gpu_copy_from(object->host, object->place, gpu_bytes(object));
        gpu_write_pointers(object, object->host, b->saved);
    }
}

static void attach_all(gpu_bench *b)
{
    const uint64_t *edge = b->edges;
    size_t i, k;
    for (i = 0; i < b->walk.count; i++) {
        const gpu_object *object = &b->walk.objects[i];
        size_t count = gpu_pointer_count(object);
        for (k = 0; k < count; k++, edge++)
            if (*edge)
                gpu_start_copy_to(object->place + gpu_pointer_at(object, k), edge, sizeof(void *));
    }
}

static uint64_t *note_edges(const gpu_bench *b, const gpu_object *object, uint64_t *edge)
{
    size_t count = gpu_pointer_count(object);
    memcpy(edge, b->walk.targets, count * sizeof(uint64_t));
    return edge + count;
}

static void tcpy_to(gpu_bench *b)
{
    const gpu_object *object;
    uint64_t next = b->pool, *edge = b->edges;
    gpu_walk_start(&b->walk, gpu_place_next, &next);
    while ((object = gpu_walk_visit(&b->walk)) != NULL) {
        gpu_start_copy_to(object->place, object->host, gpu_bytes(object));
        edge = note_edges(b, object, edge);
    }
    attach_all(b);
    gpu_wait();
    set_root(b, b->walk.objects[0].place);
}

static void packed_to(gpu_bench *b, char *buffer)
{
    gpu_pack(&b->walk, buffer, b->pool);
    gpu_start_copy_to(b->pool, buffer, b->room);
    gpu_wait();
    set_root(b, b->walk.objects[0].place);
}

static void packed_from(gpu_bench *b, char *buffer)
{
    gpu_copy_from(buffer, b->pool, b->room);
    gpu_unpack(&b->walk, buffer, b->pool);
}

static void pcpy_to(gpu_bench *b)
{
    packed_to(b, b->pageable);
}

static void pcpy_from(gpu_bench *b)
{
    packed_from(b, b->pageable);
}

static void pcpy_pinned_to(gpu_bench *b)
{
    packed_to(b, b->pinned);
}

static void pcpy_pinned_from(gpu_bench *b)
{
    packed_from(b, b->pinned);
}

/* -------------------------------------------------------------------------------------------------
 * The deep-copy benchmark's
 */
static void marshal_before(gpu_bench *b)
{
    const gpu_object *object;
    uint64_t next = b->pool, *edge = b->edges;
    gpu_walk_start(&b->walk, gpu_place_next, &next);
    while ((object = gpu_walk_visit(&b->walk)) != NULL) {
        memcpy(b->pageable + (object->place - b->pool), object->host, gpu_bytes(object));
        edge = note_edges(b, object, edge);
    }
}

static void marshal_to(gpu_bench *b)
{
    gpu_start_copy_to(b->pool, b->pageable, b->room);
    attach_all(b);
    gpu_wait();
    set_root(b, b->walk.objects[0].place);
}

static void marshal_from(gpu_bench *b)
{
    gpu_copy_from(b->pageable, b->pool, b->room);
}

static void marshal_after(gpu_bench *b)
{
    gpu_unpack(&b->walk, b->pageable, b->pool);
}

enum { CHAINS = 64 };

static int chain_fits(const gpu_bench *b)
{
    gpu_form form = b->it->layout.form;
    return (form == GPU_LINEAR && b->it->used_count <= CHAINS) ||
           (form == GPU_DENSE && b->it->layout.last_only);
}

static void chain_to(gpu_bench *b)
{
    gpu_piece there[CHAINS];
    uint64_t next = b->pool;
    size_t i;
    for (i = 0; i < b->it->used_count; i++) {
        const gpu_piece *piece = &b->it->pieces[i];
        size_t bytes = piece->words * sizeof(uint64_t);
        uint64_t place = gpu_place_next(&next, bytes);
        there[i].data = (uint64_t *)(uintptr_t)place;
        there[i].words = piece->words;
        gpu_start_copy_to(place, piece->data, bytes);
    }
    gpu_start_copy_to((uint64_t)(uintptr_t)b->found, there, i * sizeof(gpu_piece));
    gpu_wait();
    b->device_root = NULL;
}

static void chain_from(gpu_bench *b)
{
    uint64_t next = b->pool;
    size_t i;
    for (i = 0; i < b->it->used_count; i++) {
        const gpu_piece *piece = &b->it->pieces[i];
        gpu_copy_from(piece->data, gpu_place_next(&next, piece->words * sizeof(uint64_t)),
                      piece->words * sizeof(uint64_t));
    }
}

/* -------------------------------------------------------------------------------------------------
 * Unified memory. Building the graph there is not timed: it would live there. Writing it anew on
 * the host before each run brings its pages home.
 */
static int unified_fits(const gpu_bench *b)
{
    return b->managed != NULL;
}

static int unified_prefetch_fits(const gpu_bench *b)
{
    return b->managed != NULL && gpu_can_prefetch();
}

static void unified_before(gpu_bench *b)
{
    gpu_pack(&b->walk, b->managed, (uint64_t)(uintptr_t)b->managed);
}

static void unified_to(gpu_bench *b)
{
    set_root(b, b->walk.objects[0].place);
}

enum { PAGE_BYTES = 4096 };

/* The host reads a word of each page. */
static void unified_from(gpu_bench *b)
{
    const volatile char *memory = b->managed;
    size_t i;
    for (i = 0; i < b->room; i += PAGE_BYTES)
        (void)memory[i];
}

static void unified_prefetch_to(gpu_bench *b)
{
    gpu_prefetch(b->managed, b->room, 1);
    gpu_wait();
    unified_to(b);
}

static void unified_prefetch_from(gpu_bench *b)
{
    gpu_prefetch(b->managed, b->room, 0);
    gpu_wait();
    unified_from(b);
}

static void unified_after(gpu_bench *b)
{
    gpu_unpack(&b->walk, b->managed, (uint64_t)(uintptr_t)b->managed);
}

/* -------------------------------------------------------------------------------------------------
 * The limits
 */
static void raw_to(gpu_bench *b, const char *buffer)
{
    gpu_start_copy_to(b->pool, buffer, b->it->graph_bytes);
    gpu_wait();
}

static void raw_pinned_to(gpu_bench *b)
{
    raw_to(b, b->pinned);
}

static void raw_pinned_from(gpu_bench *b)
{
    gpu_copy_from(b->pinned, b->pool, b->it->graph_bytes);
}

static void raw_written_before(gpu_bench *b)
{
    gpu_pack(&b->walk, b->pinned, (uint64_t)(uintptr_t)b->pinned);
}

static void raw_pageable_to(gpu_bench *b)
{
    raw_to(b, b->pageable);
}

static void raw_pageable_from(gpu_bench *b)
{
    gpu_copy_from(b->pageable, b->pool, b->it->graph_bytes);
}

/* Calls for each object: a list's, which has one pointer a node; allocation, copy, patch, copy
 * back, free. */
const gpu_technique gpu_copiers[] = {
    { .name = "raw_pinned", .is_limit = 1, .to = raw_pinned_to, .from = raw_pinned_from },
    { .name = "raw_written",
      .is_limit = 1,
      .before = raw_written_before,
      .to = raw_pinned_to,
      .from = raw_pinned_from },
    { .name = "raw_pageable", .is_limit = 1, .to = raw_pageable_to, .from = raw_pageable_from },
    { .name = "base", .calls_each = 5, .to = base_to, .from = objects_from, .free = base_free },
    { .name = "base_plus", .calls_each = 2, .to = base_plus_to, .from = objects_from },
    { .name = "tcpy", .calls_each = 3, .to = tcpy_to, .from = objects_from },
    { .name = "pcpy", .to = pcpy_to, .from = pcpy_from },
    { .name = "pcpy_pinned", .to = pcpy_pinned_to, .from = pcpy_pinned_from },
    { .name = "marshal_attach",
      .calls_each = 1,
      .before = marshal_before,
      .to = marshal_to,
      .from = marshal_from,
      .after = marshal_after },
    { .name = "chain", .fits = chain_fits, .to = chain_to, .from = chain_from },
    { .name = "unified",
      .fits = unified_fits,
      .before = unified_before,
      .to = unified_to,
      .from = unified_from,
      .after = unified_after },
    { .name = "unified_prefetch",
      .fits = unified_prefetch_fits,
      .before = unified_before,
      .to = unified_prefetch_to,
      .from = unified_prefetch_from,
      .after = unified_after },
};
const size_t gpu_copier_count = sizeof(gpu_copiers) / sizeof(gpu_copiers[0]);
