/* A snapshot: the graph of a shipment as the device has it, in host memory of its own.
 *
 * The arena comes back whole, and each pointer of the plan, or of the arena's bits, that leads into
 * the old range is moved by one distance. Then the copy is a source like any other, and is
 * discovered: so counts and pointers that a kernel has changed are taken as they are. Bytes of a
 * device are not trusted: the copy is walked within its bounds first. That walk records, and finds
 * things in another order than one that does not; so the plan is made by a second one, and an
 * untouched shipment makes the image of its source.
 */
#include "ship/snapshot.h"

#include "arena/arena_words.h"
#include "device/piece_sizes.h"
#include "device/staging.h"
#include "map/address.h"
#include "pack/bitmap.h"
#include "pack/plan.h"
#include "pack/plan_space.h"
#include "pack/translate.h"
#include "ship/transfer.h"
#include "walk/discovery.h"
#include "walk/roots.h"

/* ---- The bytes. */

static haul_status fetch(haul_shipment *shipment, unsigned char *memory, size_t bytes)
{
    haul_device *device = shipment->device;
    const size_t most = haul__piece_bytes(device, bytes);
    size_t at = 0;
    while (at < bytes) {
        const size_t piece = bytes - at < most ? bytes - at : most;
        haul__staging staging;
        haul_status status = haul__stage(device, piece, 0, &staging);
        if (status != HAUL_OK)
            return status;
        status = haul__shipment_receive(shipment, staging.data, at, piece);
        if (status == HAUL_OK)
            memcpy(memory + at, staging.data, piece);
        haul__unstage(device, &staging);
        if (status != HAUL_OK)
            return status;
        at += piece;
    }
    return HAUL_OK;
}

/* ---- The pointers. */

/* Pointers into [from, from + bytes] of the device become pointers into the snapshot. */
typedef struct mover {
    unsigned char *memory;
    uintptr_t from, bytes, delta;
} mover;

static void move_word(const mover *m, uint64_t at)
{
    uintptr_t word = haul__load_word(m->memory + at);
    if (word == 0 || word - m->from > m->bytes)
        return;
    word += m->delta;
    memcpy(m->memory + at, &word, sizeof word);
}

/* Words [first, first + count) of the bitmap. */
static void move_marked(const mover *m, const uint64_t *bitmap, size_t first, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        uint64_t bits = bitmap[i];
        for (; bits; bits &= bits - 1)
            move_word(m, ((first + i) * 64 + haul__lowest64(bits)) * HAUL__WORD);
    }
}

/* Explicit relocations, at `offsets`, may lead out of the arena by as much as the contents say.
 * Tagged pointers are those of the space. */
static haul_status move_special(mover m, const haul__space *space, const haul__contents *contents,
                                const uint64_t *offsets, size_t count)
{
    const uintptr_t from = m.from;
    haul__tagged_run run = { 0, 0, 0, 0 };
    haul_status status = HAUL_OK;
    size_t i;
    m.from -= contents->before;
    m.bytes += contents->before + contents->behind;
    for (i = 0; i < count; i++)
        move_word(&m, offsets[i]);
    while (status == HAUL_OK && haul__next_tagged_run(space, SIZE_MAX, &run))
        status = haul__move_tagged(space, &run, m.memory + run.at, from);
    return status;
}

/* Those of the bits. */
static void move_slots(const haul_shipment *shipment, const mover *m)
{
    const size_t words = ((m->bytes >> HAUL__WORD_SHIFT) + 63) / 64;
    uint64_t bitmap[64];
    size_t i;
    if (haul__is_arena(shipment)) {
        move_marked(m, shipment->contents.slots, 0, words);
        return;
    }
    for (i = 0; i < words; i += 64) {
        const size_t count = words - i < 64 ? words - i : 64;
        haul__plan_bitmap(shipment->plan, i, count, bitmap);
        move_marked(m, bitmap, i, count);
    }
}

static haul_status move_pointers(const haul_shipment *shipment, const haul__snapshot *snapshot)
{
    const haul_plan *plan = shipment->plan;
    const haul__contents *contents = &shipment->contents;
    const haul_allocator *allocator = &snapshot->context->allocator;
    const uintptr_t to = (uintptr_t)snapshot->memory;
    const haul__space space = plan ? haul__plan_space(plan, to, to)
                                   : haul__contents_space(contents, to, &snapshot->context->error);
    const size_t count = plan ? haul__plan_explicit_count(plan) : space.explicit_count;
    uint64_t *offsets = NULL;
    haul_status status;
    mover m;
    m.memory = snapshot->memory;
    m.from = (uintptr_t)shipment->range.address;
    m.bytes = snapshot->bytes;
    m.delta = to - m.from;
    if (count > 0) {
        offsets = haul__allocate(allocator, count * sizeof *offsets, sizeof *offsets);
        if (!offsets)
            return haul__fail(&snapshot->context->error, HAUL_ERROR_MEMORY,
                              "out of memory for a snapshot");
        if (plan)
            haul__plan_explicit(plan, 0, count, offsets);
        else
            haul__write_explicit(&space, 0, count, offsets);
    }
    move_slots(shipment, &m);
    status = move_special(m, &space, contents, offsets, count);
    haul__release(allocator, offsets, count * sizeof *offsets);
    return status;
}

/* ---- The roots. */

/* The place of a byte of the host's graph. 0: it has none. */
static int place_of(const haul_shipment *shipment, uintptr_t host, uint64_t *place)
{
    if (!haul__is_arena(shipment))
        return haul__offset_of(shipment->plan, host, place);
    *place = host - (uintptr_t)shipment->contents.base;
    return *place < shipment->contents.bytes;
}

static haul_status find_roots(const haul_shipment *shipment, const haul_root *given,
                              haul__snapshot *snapshot)
{
    haul_context *context = snapshot->context;
    const haul_root *roots = given;
    size_t count = 1, i;
    haul_status status;
    if (!given->type && haul__is_arena(shipment)) {
        roots = &shipment->contents.root;
        if (!roots->type)
            return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                              "an arena keeps no types: haul_from_device_root names its root");
    } else if (!given->type) {
        roots = haul__plan_roots(shipment->plan, &count);
    }
    status = haul__check_roots(context, roots, count);
    if (status != HAUL_OK)
        return status;
    snapshot->roots =
        haul__allocate(&context->allocator, count * sizeof *snapshot->roots, sizeof(void *));
    if (!snapshot->roots)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY, "out of memory for a snapshot");
    snapshot->root_count = count;
    for (i = 0; i < count; i++) {
        const size_t lower = haul__type_walk(roots[i].type)->true_lower;
        uint64_t place;
        if (!place_of(shipment, (uintptr_t)roots[i].address + lower, &place))
            return haul__fail(&context->error, HAUL_ERROR_ARGUMENT,
                              "root %zu is no object of the shipment", i);
        snapshot->roots[i] = roots[i];
        snapshot->roots[i].address = snapshot->memory + place - lower;
    }
    return HAUL_OK;
}

/* ---- The whole. */

void haul__snapshot_drop(haul__snapshot *snapshot)
{
    const haul_allocator *allocator = &snapshot->context->allocator;
    haul__release(allocator, snapshot->roots, snapshot->root_count * sizeof *snapshot->roots);
    haul__release(allocator, snapshot->memory, snapshot->bytes);
}

/* `arena`: a copy of it; NULL: it is fetched. */
static haul_status take(haul_shipment *shipment, const haul_root *root, const unsigned char *arena,
                        haul__snapshot *snapshot)
{
    haul_context *context = shipment->device->context;
    haul_status status = haul__is_arena(shipment)
                             ? haul__contents_check(&shipment->contents, &context->error)
                             : HAUL_OK;
    memset(snapshot, 0, sizeof *snapshot);
    if (status != HAUL_OK)
        return status;
    snapshot->context = context;
    snapshot->bytes = shipment->range.arena_bytes;
    snapshot->memory = haul__allocate(&context->allocator, snapshot->bytes, HAUL_ALIGNMENT_MAX);
    if (!snapshot->memory)
        return haul__fail(&context->error, HAUL_ERROR_MEMORY,
                          "out of memory for a snapshot of %zu bytes", snapshot->bytes);
    status = find_roots(shipment, root, snapshot);
    if (status == HAUL_OK && arena)
        memcpy(snapshot->memory, arena, snapshot->bytes);
    else if (status == HAUL_OK)
        status = fetch(shipment, snapshot->memory, snapshot->bytes);
    return status == HAUL_OK ? move_pointers(shipment, snapshot) : status;
}

haul_status haul__snapshot_take(haul_shipment *shipment, const haul_root *root,
                                haul__snapshot *snapshot)
{
    return take(shipment, root, NULL, snapshot);
}

haul_status haul__snapshot_of(haul_shipment *shipment, const unsigned char *arena,
                              haul__snapshot *snapshot)
{
    static const haul_root none;
    return take(shipment, &none, arena, snapshot);
}

/* Walks it within bounds. */
static haul_status check(haul__snapshot *snapshot)
{
    haul__bounds bounds;
    haul__discovery walk;
    haul__found found;
    haul_status status;
    bounds.begin = (uintptr_t)snapshot->memory;
    bounds.end = bounds.begin + snapshot->bytes;
    bounds.work = SIZE_MAX;
    status = haul__record(snapshot->context, snapshot->roots, snapshot->root_count, &bounds, &found,
                          &walk);
    if (status != HAUL_OK)
        return status;
    haul__record_close(&walk);
    haul__found_drop(snapshot->context, &found);
    return HAUL_OK;
}

haul_status haul__snapshot_plan(haul__snapshot *snapshot, haul_plan **plan)
{
    haul_context_options *options = &snapshot->context->options;
    haul_readable *readable = options->readable;
    haul_status status;
    options->readable = NULL; /* it knows the source's addresses */
    status = check(snapshot);
    if (status == HAUL_OK)
        status = haul__plan_make(snapshot->context, snapshot->roots, snapshot->root_count, 1, plan);
    options->readable = readable;
    return status;
}
