/* Fault plans, the allocator and the device that follow them, and the driver that fails each event
 * in turn.
 *
 * The device keeps no state of its own: its state is the inner device's, and its plan is found in a
 * list of the open ones. So functions that know the inner device's state go on working.
 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "haul/host.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"

#ifdef BUILD_MSAN
#include <sanitizer/msan_interface.h>
#endif

void fault_arm(fault_plan *plan, fault_mode mode, uint64_t at)
{
    fault_disarm(plan);
    plan->mode = mode;
    plan->at = at;
    plan->events = plan->fired = plan->fell_back = 0;
    plan->first = HAUL_OK;
    plan->failed = NULL;
    plan->failed_on = NULL;
    plan->last = "";
}

void fault_disarm(fault_plan *plan)
{
    plan->at = 0;
    plan->lost = plan->late = 0;
}

static void misused(fault_plan *plan, const char *what)
{
    if (!plan->misuse)
        plan->misuse = what;
}

/* Counts an event; 1 when it is to fail. */
static int hit(fault_plan *plan, const char *name)
{
    plan->events++;
    plan->last = name;
    if (plan->also_at != 0 && plan->events == plan->also_at)
        return 1;
    if (plan->at == 0 || plan->events < plan->at ||
        (plan->events > plan->at && plan->mode != FAULT_FROM))
        return 0;
    if (plan->mode == FAULT_CALL)
        plan->call(plan->call_user);
    return plan->mode != FAULT_CALL;
}

static haul_status fired(fault_plan *plan, haul_status status)
{
    if (plan->fired++ == 0) {
        plan->first = status;
        plan->failed = plan->last;
    }
    return status;
}

/* ---- The devices that are open. */

#define DEVICES_MAX 16u
#define RANGES_MAX 4096u
#define ORDERS_MAX 4096u
#define MIRRORS_MAX 16u

typedef struct range {
    haul_address address;
    uint64_t bytes;
} range;

/* What was ordered and has not happened yet. */
typedef enum order_kind {
    COPY_TO,
    COPY_FROM,
    RELOCATE,
    SEND,
    FETCH,
    PULL,
    PUSH,
    ACROSS,
    STRIPS_TO,
    STRIPS_FROM,
    CLEAR,
    SIGNAL,
    RELEASE,
    FENCE
} order_kind;

typedef struct order {
    order_kind kind;
    void *stream;
    haul_address device;
    const void *from;
    void *to;
    uint64_t bytes;
    haul_relocation relocation;
    haul_crossing crossing;
    const haul_strip *strips;
    void *other;         /* ACROSS: the other device's state */
    haul_address source; /* ... and where its bytes are; STRIPS: the number of them */
    uint64_t fence;      /* FENCE: its number; ACROSS: the other device's, to be reached before */
} order;

typedef struct front {
    void *state; /* the inner device's; NULL: free */
    fault_plan *plan;
    const haul_device_table *inner;
    int injected; /* the last failure was ours */
    char message[128];
    range *ranges; /* RANGES_MAX */
    size_t range_count;
    void *stream; /* selected */
    uint64_t fences;
    order *queue; /* ORDERS_MAX */
    size_t queue_count;
    haul_mirror mirrors[MIRRORS_MAX];
    size_t mirror_count;
    haul_status failed; /* of what has happened since it was last told */
} front;

static front fronts[DEVICES_MAX];
static pthread_mutex_t fronts_lock = PTHREAD_MUTEX_INITIALIZER;

/* The front of an open device. */
static front *front_of(const void *state)
{
    size_t i = 0;
    pthread_mutex_lock(&fronts_lock);
    while (i < DEVICES_MAX && fronts[i].state != state)
        i++;
    pthread_mutex_unlock(&fronts_lock);
    CHECK(i < DEVICES_MAX);
    return &fronts[i];
}

static int lies_in(const void *at, const void *memory, uint64_t bytes)
{
    return at && (uintptr_t)at - (uintptr_t)memory < bytes;
}

/* Host memory that a device of the plan has been told to read or write, and has not yet. */
static int is_worked_with(const fault_plan *plan, const void *memory, size_t bytes)
{
    size_t i, at;
    int found = 0;
    pthread_mutex_lock(&fronts_lock);
    for (i = 0; i < DEVICES_MAX; i++)
        for (at = 0; fronts[i].state && fronts[i].plan == plan && at < fronts[i].queue_count; at++)
            found |= lies_in(fronts[i].queue[at].from, memory, bytes) ||
                     lies_in(fronts[i].queue[at].to, memory, bytes);
    pthread_mutex_unlock(&fronts_lock);
    return found;
}

/* ---- The allocator. In front of each block stands what release will want to know. */

#define BLOCK_MAGIC 0x6f6f6c62u

typedef struct block_head {
    size_t bytes;
    size_t before; /* from the start of the malloc'ed memory to the block */
    uint32_t magic;
} block_head;

static void *allocate_block(fault_plan *plan, size_t bytes, size_t alignment)
{
    size_t before = (sizeof(block_head) + 15) & ~(size_t)15;
    block_head head;
    void *memory;
    if (alignment < 16)
        alignment = 16;
    if (before < alignment)
        before = alignment;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, alignment, before + bytes) != 0)
        return NULL;
    head.bytes = bytes;
    head.before = before;
    head.magic = BLOCK_MAGIC;
    memcpy((char *)memory + before - sizeof head, &head, sizeof head);
#ifndef BUILD_MSAN
    memset((char *)memory + before, 0xA5, bytes);
#endif
    plan->host_blocks++;
    plan->host_bytes += bytes;
    if (plan->host_bytes > plan->host_most)
        plan->host_most = plan->host_bytes;
    return (char *)memory + before;
}

static void *plan_allocate(void *user, size_t bytes, size_t alignment)
{
    fault_plan *plan = user;
    if (bytes == 0)
        misused(plan, "allocate of 0 bytes");
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        misused(plan, "allocate with an alignment that is no power of two");
    if (hit(plan, "allocate")) {
        fired(plan, HAUL_ERROR_MEMORY);
        return NULL;
    }
    return allocate_block(plan, bytes, alignment);
}

static void plan_release(void *user, void *memory, size_t bytes)
{
    fault_plan *plan = user;
    block_head head;
    if (!memory) {
        misused(plan, "release of NULL");
        return;
    }
    memcpy(&head, (char *)memory - sizeof head, sizeof head);
    if (head.magic != BLOCK_MAGIC) {
        misused(plan, "release of memory that was not allocated, or written before its start");
        return;
    }
    if (head.bytes != bytes)
        misused(plan, "release with another size than allocate");
    if (is_worked_with(plan, memory, bytes))
        misused(plan, "release of memory that a device works with");
    plan->host_blocks--;
    plan->host_bytes -= head.bytes;
    memset((char *)memory - sizeof head, 0x5A, sizeof head + head.bytes);
    free((char *)memory - head.before);
}

static void *plan_reserve(void *user, size_t bytes)
{
    fault_plan *plan = user;
    void *memory;
    if (hit(plan, "reserve")) {
        plan->fell_back++;
        return NULL;
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    plan->reserved_blocks++;
    return memory;
}

static void plan_unreserve(void *user, void *memory, size_t bytes)
{
    fault_plan *plan = user;
    if (!memory || munmap(memory, bytes) != 0)
        misused(plan, "unreserve of something else");
    else
        plan->reserved_blocks--;
}

haul_allocator fault_allocator(fault_plan *plan)
{
    haul_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.user = plan;
    allocator.allocate = plan_allocate;
    allocator.release = plan_release;
    if (!plan->no_reserve) {
        allocator.reserve = plan_reserve;
        allocator.unreserve = plan_unreserve;
    }
    return allocator;
}

/* ---- What a device answers. */

static haul_status fired_on(front *f, haul_status status)
{
    if (f->plan->fired == 0)
        f->plan->failed_on = f->state;
    return fired(f->plan, status);
}

static haul_status inject(front *f, haul_status status)
{
    f->injected = 1;
    snprintf(f->message, sizeof f->message, "injected fault at event %llu (%s)",
             (unsigned long long)f->plan->events, f->plan->last);
    return fired_on(f, status);
}

/* A lost device does nothing any more; memory that was to be released is. */
static haul_status be_lost(front *f)
{
    size_t i;
    for (i = 0; i < f->queue_count; i++)
        if (f->queue[i].kind == RELEASE)
            f->inner->release(f->state, f->queue[i].device, f->queue[i].bytes);
    f->queue_count = 0;
    f->plan->lost = 1;
    return inject(f, HAUL_ERROR_DEVICE_LOST);
}

/* Counts a device event; HAUL_OK, or the failure to answer. */
static haul_status event(front *f, const char *name, haul_status failure)
{
    int fails = !f->plan->memory_only && hit(f->plan, name);
    f->injected = 0;
    if (f->plan->lost)
        return be_lost(f);
    if (!fails)
        return HAUL_OK;
    return f->plan->mode == FAULT_LOST ? be_lost(f) : inject(f, failure);
}

/* The same for copies and relocations, which can also fail later. *half is set when this one is to
 * do half and be silent. */
static haul_status late_event(front *f, const char *name, int *half)
{
    *half = 0;
    if (f->plan->at == 0 || f->plan->mode != FAULT_LATE || f->plan->events + 1 != f->plan->at)
        return event(f, name, HAUL_ERROR_DEVICE);
    hit(f->plan, name);
    fired_on(f, HAUL_ERROR_DEVICE);
    f->plan->late = 1;
    *half = 1;
    return HAUL_OK;
}

/* A free front becomes the plan's; it has no state yet but itself. */
static front *claim(const fault_device_settings *s)
{
    front *f;
    size_t i = 0;
    pthread_mutex_lock(&fronts_lock);
    while (i < DEVICES_MAX && fronts[i].state)
        i++;
    f = i < DEVICES_MAX ? &fronts[i] : NULL;
    if (f) {
        memset(f, 0, sizeof *f);
        f->state = f;
        f->plan = s->plan;
        f->inner = s->inner;
    }
    pthread_mutex_unlock(&fronts_lock);
    CHECK(f != NULL);
    return f;
}

static void let_go(front *f)
{
    pthread_mutex_lock(&fronts_lock);
    f->state = NULL;
    pthread_mutex_unlock(&fronts_lock);
}

static haul_status front_open(const void *settings, const haul_allocator *allocator, void **state)
{
    const fault_device_settings *s = settings;
    front *f = claim(s);
    haul_status status = event(f, "open", HAUL_ERROR_DEVICE);
    if (status == HAUL_OK)
        status = s->inner->open(s->inner_settings, allocator, state);
    if (status != HAUL_OK) {
        let_go(f);
        return status;
    }
    f->ranges = calloc(RANGES_MAX, sizeof *f->ranges);
    f->queue = calloc(ORDERS_MAX, sizeof *f->queue);
    CHECK(f->ranges && f->queue);
    f->plan->devices++;
    pthread_mutex_lock(&fronts_lock);
    f->state = *state;
    pthread_mutex_unlock(&fronts_lock);
    return HAUL_OK;
}

static int is_work(const order *o)
{
    return o->kind != FENCE && o->kind != RELEASE;
}

static void front_close(void *state)
{
    front *f = front_of(state);
    size_t i;
    if (f->range_count > 0)
        misused(f->plan, "close of a device with allocations");
    for (i = 0; i < f->queue_count; i++) {
        if (is_work(&f->queue[i]))
            misused(f->plan, "close of a device that works");
        if (f->queue[i].kind == RELEASE)
            f->inner->release(state, f->queue[i].device, f->queue[i].bytes);
    }
    f->plan->devices--;
    f->inner->close(state);
    free(f->ranges);
    free(f->queue);
    let_go(f);
}

static void front_capabilities(void *state, haul_device_capabilities *capabilities, size_t bytes)
{
    const front *f = front_of(state);
    f->inner->capabilities(state, capabilities, bytes);
    if (f->plan->chunk_bytes)
        capabilities->chunk_bytes = f->plan->chunk_bytes;
    if (f->plan->no_send)
        capabilities->send_bytes = capabilities->fetch_bytes = 0;
}

/* Placings lie behind one another, each in one of the three places, and have all the bytes. */
static void check_placings(const front *f, uint64_t bytes, const haul_placing *placings,
                           size_t count)
{
    haul_device_capabilities capabilities;
    uint64_t at = 0;
    size_t i;
    memset(&capabilities, 0, sizeof capabilities);
    f->inner->capabilities(f->state, &capabilities, sizeof capabilities);
    for (i = 0; i < count; at = placings[i++].end)
        if (placings[i].end <= at || placings[i].place < HAUL_PLACE_DEVICE ||
            placings[i].place > HAUL_PLACE_MOVING || placings[i].reserved ||
            (i > 0 && at % capabilities.place_bytes != 0))
            misused(f->plan, "device allocate with wrong placings");
    if (placings && at != bytes)
        misused(f->plan, "device allocate with placings of another length");
}

static haul_status front_allocate_in_places(void *state, uint64_t bytes, size_t alignment,
                                            const haul_placing *placings, size_t count,
                                            haul_address *address)
{
    front *f = front_of(state);
    haul_status status = event(f, "device allocate", HAUL_ERROR_DEVICE_MEMORY);
    check_placings(f, bytes, placings, count);
    if (bytes == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        misused(f->plan,
                "device allocate of nothing, or with an alignment that is no power of two");
    if (status == HAUL_OK)
        status = placings ? f->inner->allocate_in_places(state, bytes, alignment, placings, count,
                                                         address)
                          : f->inner->allocate(state, bytes, alignment, address);
    if (status != HAUL_OK)
        return status;
    CHECK(f->range_count < RANGES_MAX);
    f->ranges[f->range_count].address = *address;
    f->ranges[f->range_count++].bytes = bytes;
    f->plan->device_blocks++;
    f->plan->device_bytes += bytes;
    return HAUL_OK;
}

static uint64_t front_free_bytes(void *state)
{
    const front *f = front_of(state);
    return f->inner->free_bytes ? f->inner->free_bytes(f->state) : UINT64_MAX;
}

static haul_status front_allocate(void *state, uint64_t bytes, size_t alignment,
                                  haul_address *address)
{
    return front_allocate_in_places(state, bytes, alignment, NULL, 0, address);
}

/* ---- Orders: put off where the plan says so. */

static order *put_off(front *f, order_kind kind)
{
    order *o = &f->queue[f->queue_count];
    CHECK(f->queue_count < ORDERS_MAX);
    memset(o, 0, sizeof *o);
    o->kind = kind;
    o->stream = f->stream;
    f->queue_count++;
    return o;
}

static int touches(const order *o, haul_address address, uint64_t bytes)
{
    uint64_t i;
    if (o->kind == STRIPS_TO || o->kind == STRIPS_FROM) {
        for (i = 0; i < o->source && o->strips[i].first - address >= bytes; i++)
            ;
        return i < o->source;
    }
    if (o->kind == RELOCATE || o->kind == SEND || o->kind == FETCH)
        return o->relocation.arena - address < bytes;
    if (o->kind == PULL || o->kind == PUSH)
        return o->crossing.arena - address < bytes || o->crossing.lists - address < bytes;
    return is_work(o) && o->kind != SIGNAL && o->device - address < bytes;
}

/* 1: an order for the range waits on this stream, 2: on another one, too. */
static int orders_for(const front *f, haul_address address, uint64_t bytes)
{
    int found = 0;
    size_t i;
    for (i = 0; i < f->queue_count; i++)
        if (touches(&f->queue[i], address, bytes))
            found |= f->queue[i].stream == f->stream ? 1 : 2;
    return found;
}

static void front_release(void *state, haul_address address, uint64_t bytes)
{
    front *f = front_of(state);
    size_t i = 0;
    int orders = orders_for(f, address, bytes);
    order *o;
    while (i < f->range_count && f->ranges[i].address != address)
        i++;
    if (i == f->range_count) {
        misused(f->plan, "device release of what was not allocated");
        return;
    }
    if (f->ranges[i].bytes != bytes)
        misused(f->plan, "device release with another size than allocate");
    if (orders & 2)
        misused(f->plan, "device release while another stream works with the memory");
    f->plan->device_blocks--;
    f->plan->device_bytes -= f->ranges[i].bytes;
    f->ranges[i] = f->ranges[--f->range_count];
    if (!orders) {
        f->inner->release(state, address, bytes);
        return;
    }
    o = put_off(f, RELEASE);
    o->device = address;
    o->bytes = bytes;
}

/* What fired since `fired_before` need not be reported: the library has another way. */
static void forgive(fault_plan *plan, uint64_t fired_before)
{
    plan->fell_back += plan->fired - fired_before;
    plan->fired = fired_before;
    if (fired_before == 0) {
        plan->first = HAUL_OK;
        plan->failed = NULL;
        plan->failed_on = NULL;
    }
}

static haul_status front_stage(void *state, size_t bytes, void **memory)
{
    front *f = front_of(state);
    fault_plan *plan = f->plan;
    uint64_t fired_before = plan->fired;
    haul_status status = event(f, "stage", HAUL_ERROR_MEMORY);
    if (bytes == 0)
        misused(plan, "stage of 0 bytes");
    if (status == HAUL_OK)
        status = f->inner->stage(state, bytes, memory);
    if (status == HAUL_OK)
        plan->staged_blocks++;
    else if (!plan->lost)
        forgive(plan, fired_before);
    return status;
}

static void front_unstage(void *state, void *memory, size_t bytes)
{
    front *f = front_of(state);
    if (is_worked_with(f->plan, memory, bytes))
        misused(f->plan, "unstage of memory that the device works with");
    f->plan->staged_blocks--;
    f->inner->unstage(state, memory, bytes);
}

static haul_status front_mirror(void *state, size_t bytes, haul_mirror *mirror)
{
    front *f = front_of(state);
    fault_plan *plan = f->plan;
    uint64_t fired_before = plan->fired;
    haul_status status = event(f, "mirror", HAUL_ERROR_DEVICE_MEMORY);
    if (bytes == 0)
        misused(plan, "mirror of 0 bytes");
    if (status == HAUL_OK)
        status = f->inner->mirror(state, bytes, mirror);
    if (status != HAUL_OK) {
        if (!plan->lost)
            forgive(plan, fired_before);
        return status;
    }
    CHECK(f->mirror_count < MIRRORS_MAX);
    f->mirrors[f->mirror_count++] = *mirror;
    plan->device_blocks++;
    plan->device_bytes += mirror->bytes;
    return HAUL_OK;
}

static void front_unmirror(void *state, const haul_mirror *mirror)
{
    front *f = front_of(state);
    size_t i = 0;
    while (i < f->mirror_count && memcmp(&f->mirrors[i], mirror, sizeof *mirror) != 0)
        i++;
    if (i == f->mirror_count) {
        misused(f->plan, "unmirror of what was not given, or not so");
        return;
    }
    if (is_worked_with(f->plan, mirror->window, mirror->bytes) ||
        orders_for(f, (uintptr_t)mirror->memory, mirror->bytes))
        misused(f->plan, "unmirror of memory that the device works with");
    f->mirrors[i] = f->mirrors[--f->mirror_count];
    f->plan->device_blocks--;
    f->plan->device_bytes -= mirror->bytes;
    f->inner->unmirror(state, mirror);
}

/* Does a device of the plan have memory of its own where this is? */
static int means_a_device(const fault_plan *plan, const void *host)
{
    size_t i, at;
    int found = 0;
    pthread_mutex_lock(&fronts_lock);
    for (i = 0; i < DEVICES_MAX; i++)
        for (at = 0; fronts[i].state && fronts[i].plan == plan && at < fronts[i].mirror_count; at++)
            found |= lies_in(host, fronts[i].mirrors[at].memory, fronts[i].mirrors[at].bytes);
    pthread_mutex_unlock(&fronts_lock);
    return found;
}

static void check_copy(fault_plan *plan, const void *host, size_t bytes)
{
    if (bytes == 0 || !host)
        misused(plan, "copy of 0 bytes or NULL");
    if (means_a_device(plan, host))
        misused(plan, "copy from or to host memory by an address that is a device's too");
}

static void check_source(const fault_plan *plan, const void *from, size_t bytes)
{
#ifdef BUILD_MSAN
    if (plan->check_initialized)
        __msan_check_mem_is_initialized(from, bytes);
#else
    (void)plan;
    (void)from;
    (void)bytes;
#endif
}

static haul_status front_copy_to(void *state, haul_address to, const void *from, size_t bytes)
{
    front *f = front_of(state);
    int half;
    haul_status status = late_event(f, "copy_to", &half);
    order *o;
    check_copy(f->plan, from, bytes);
    check_source(f->plan, from, bytes);
    if (half)
        bytes /= 2;
    if (status != HAUL_OK || bytes == 0)
        return status;
    if (!f->plan->deferred)
        return f->inner->copy_to(state, to, from, bytes);
    o = put_off(f, COPY_TO);
    o->device = to;
    o->from = from;
    o->bytes = bytes;
    return HAUL_OK;
}

static haul_status front_copy_from(void *state, void *to, haul_address from, size_t bytes)
{
    front *f = front_of(state);
    int half;
    haul_status status = late_event(f, "copy_from", &half);
    order *o;
    check_copy(f->plan, to, bytes);
    if (half)
        bytes /= 2;
    if (status != HAUL_OK || bytes == 0)
        return status;
    if (!f->plan->deferred)
        return f->inner->copy_from(state, to, from, bytes);
    o = put_off(f, COPY_FROM);
    o->device = from;
    o->to = to;
    o->bytes = bytes;
    return HAUL_OK;
}

static void check_relocation(fault_plan *plan, const haul_relocation *relocation)
{
    if (relocation->word_bytes != sizeof(void *))
        misused(plan, "relocate with words that are no pointers");
    if (relocation->words == 0 && relocation->offset_count == 0)
        misused(plan, "relocate of nothing");
    plan->offsets = relocation->offset_count;
}

static int waits(const front *f, uint64_t fence)
{
    size_t i;
    for (i = 0; i < f->queue_count; i++)
        if (f->queue[i].kind == FENCE && f->queue[i].fence == fence)
            return 1;
    return 0;
}

/* The last order happens right behind a fence, before all that was ordered since: as early as the
 * caller allows. */
static void bring_forward(front *f, uint64_t fence)
{
    size_t at = 0, last = f->queue_count - 1;
    order o = f->queue[last];
    while (waits(f, fence) && (f->queue[at].kind != FENCE || f->queue[at].fence != fence))
        at++;
    at += waits(f, fence) ? 1 : 0;
    memmove(&f->queue[at + 1], &f->queue[at], (last - at) * sizeof o);
    f->queue[at] = o;
}

static haul_status front_relocate(void *state, const haul_relocation *relocation)
{
    front *f = front_of(state);
    order *o;
    int half;
    haul_status status = late_event(f, "relocate", &half);
    check_relocation(f->plan, relocation);
    if (f->plan->deferred && relocation->after > f->fences)
        misused(f->plan, "relocate after a fence that was not made");
    if (status != HAUL_OK || half)
        return status;
    if (!f->plan->deferred)
        return f->inner->relocate(state, relocation);
    o = put_off(f, RELOCATE);
    o->relocation = *relocation;
    o->relocation.after = 0;
    o->to = relocation->outside;
    if (relocation->after)
        bring_forward(f, relocation->after);
    return HAUL_OK;
}

/* `send` and `fetch`: what holds for both. 0: nothing is to be done; *status is the answer then. */
static int is_let_pass(front *f, const char *verb, const haul_relocation *relocation,
                       const void *memory, size_t bytes, haul_status *status)
{
    haul_device_capabilities capabilities;
    int half;
    *status = late_event(f, verb, &half);
    memset(&capabilities, 0, sizeof capabilities);
    front_capabilities(f->state, &capabilities, sizeof capabilities);
    if (bytes > (strcmp(verb, "send") == 0 ? capabilities.send_bytes : capabilities.fetch_bytes))
        misused(f->plan, "send or fetch of more than the device's send_bytes or fetch_bytes");
    check_copy(f->plan, memory, bytes);
    check_relocation(f->plan, relocation);
    return *status == HAUL_OK && !half;
}

static order *put_off_small(front *f, order_kind kind, const haul_relocation *relocation,
                            size_t bytes)
{
    order *o = put_off(f, kind);
    o->relocation = *relocation;
    o->bytes = bytes;
    return o;
}

static haul_status front_send(void *state, const haul_relocation *relocation, const void *from,
                              size_t bytes)
{
    front *f = front_of(state);
    haul_status status;
    check_source(f->plan, from, bytes);
    if (!is_let_pass(f, "send", relocation, from, bytes, &status))
        return status;
    if (!f->plan->deferred)
        return f->inner->send(state, relocation, from, bytes);
    put_off_small(f, SEND, relocation, bytes)->from = from;
    return HAUL_OK;
}

static haul_status front_fetch(void *state, void *to, const haul_relocation *relocation,
                               size_t bytes)
{
    front *f = front_of(state);
    haul_status status;
    if (!is_let_pass(f, "fetch", relocation, to, bytes, &status))
        return status;
    if (!f->plan->deferred)
        return f->inner->fetch(state, to, relocation, bytes);
    put_off_small(f, FETCH, relocation, bytes)->to = to;
    return HAUL_OK;
}

static haul_status front_lock(void *state, void *memory, size_t bytes)
{
    front *f = front_of(state);
    haul_status status = event(f, "lock", HAUL_ERROR_UNSUPPORTED);
    if (bytes == 0 || bytes % 4096 != 0 || (uintptr_t)memory % 4096 != 0)
        misused(f->plan, "lock of what is not whole pages");
    if (status == HAUL_OK)
        status = f->inner->lock(state, memory, bytes);
    if (status == HAUL_OK)
        f->plan->locked_bytes += bytes;
    return status;
}

static void front_unlock(void *state, void *memory, size_t bytes)
{
    front *f = front_of(state);
    size_t i;
    for (i = 0; i < f->queue_count; i++)
        if (f->queue[i].kind == PULL || f->queue[i].kind == PUSH)
            misused(f->plan, "unlock of memory that the device works with");
    f->plan->locked_bytes -= bytes;
    f->inner->unlock(state, memory, bytes);
}

static haul_status cross(front *f, order_kind kind, const haul_crossing *crossing)
{
    const char *const verb = kind == PULL ? "pull" : "push";
    int half;
    haul_status status = late_event(f, verb, &half);
    if (crossing->bytes == 0 || crossing->segment_count == 0 ||
        (kind == PULL && !crossing->changed))
        misused(f->plan, "pull or push of nothing, or no word for changes");
    if (status != HAUL_OK || half)
        return status;
    if (!f->plan->deferred)
        return kind == PULL ? f->inner->pull(f->state, crossing)
                            : f->inner->push(f->state, crossing);
    put_off(f, kind)->to = crossing->changed;
    f->queue[f->queue_count - 1].crossing = *crossing;
    return HAUL_OK;
}

static haul_status front_pull(void *state, const haul_crossing *crossing)
{
    return cross(front_of(state), PULL, crossing);
}

static haul_status front_push(void *state, const haul_crossing *crossing)
{
    return cross(front_of(state), PUSH, crossing);
}

static haul_status front_across(void *state, haul_address to, void *from_state, haul_address from,
                                size_t bytes)
{
    front *f = front_of(state), *other = front_of(from_state);
    int half;
    haul_status status = late_event(f, "across", &half);
    order *o;
    if (bytes == 0)
        misused(f->plan, "across of 0 bytes");
    if (status == HAUL_OK && other->plan->lost) {
        f->injected = 1;
        snprintf(f->message, sizeof f->message, "injected fault: the other device is lost");
        return fired_on(f, HAUL_ERROR_DEVICE_LOST);
    }
    if (half)
        bytes /= 2;
    if (status != HAUL_OK || bytes == 0)
        return status;
    if (!f->plan->deferred)
        return f->inner->across(state, to, from_state, from, bytes);
    put_off(other, FENCE)->fence = ++other->fences;
    o = put_off(f, ACROSS);
    o->device = to;
    o->other = from_state;
    o->source = from;
    o->bytes = bytes;
    o->fence = other->fences;
    return HAUL_OK;
}

static haul_status move_strips(front *f, const char *name, order_kind kind,
                               const haul_strip *strips, size_t count, void *to, const void *from,
                               size_t bytes)
{
    int half;
    haul_status status = late_event(f, name, &half);
    order *o;
    if (count == 0)
        misused(f->plan, "no strips");
    if (half)
        count /= 2;
    if (status != HAUL_OK || count == 0)
        return status;
    if (!f->plan->deferred)
        return to ? f->inner->gather_strips(f->state, to, bytes, strips, count)
                  : f->inner->scatter_strips(f->state, strips, count, from, bytes);
    o = put_off(f, kind);
    o->strips = strips;
    o->source = count;
    o->to = to;
    o->from = from;
    o->bytes = bytes;
    return HAUL_OK;
}

static haul_status front_gather_strips(void *state, void *packed, size_t bytes,
                                       const haul_strip *strips, size_t count)
{
    return move_strips(front_of(state), "gather_strips", STRIPS_FROM, strips, count, packed, NULL,
                       bytes);
}

static haul_status front_scatter_strips(void *state, const haul_strip *strips, size_t count,
                                        const void *packed, size_t bytes)
{
    front *f = front_of(state);
    check_source(f->plan, packed, bytes);
    return move_strips(f, "scatter_strips", STRIPS_TO, strips, count, NULL, packed, bytes);
}

static haul_status front_clear(void *state, haul_address at, uint64_t bytes)
{
    front *f = front_of(state);
    int half;
    haul_status status = late_event(f, "clear", &half);
    order *o;
    if (bytes == 0)
        misused(f->plan, "clear of 0 bytes");
    if (half)
        bytes /= 2;
    if (status != HAUL_OK || bytes == 0)
        return status;
    if (!f->plan->deferred)
        return f->inner->clear(f->state, at, bytes);
    o = put_off(f, CLEAR);
    o->device = at;
    o->bytes = bytes;
    return HAUL_OK;
}

/* ---- Order. */

static char streams[FAULT_STREAMS];

void *fault_stream(unsigned i)
{
    return &streams[i];
}

static haul_status happen(front *f, const order *o)
{
    switch (o->kind) {
    case COPY_TO:
        return f->inner->copy_to(f->state, o->device, o->from, (size_t)o->bytes);
    case COPY_FROM:
        return f->inner->copy_from(f->state, o->to, o->device, (size_t)o->bytes);
    case RELOCATE:
        return f->inner->relocate(f->state, &o->relocation);
    case SEND:
        return f->inner->send(f->state, &o->relocation, o->from, (size_t)o->bytes);
    case FETCH:
        return f->inner->fetch(f->state, o->to, &o->relocation, (size_t)o->bytes);
    case PULL:
        return f->inner->pull(f->state, &o->crossing);
    case PUSH:
        return f->inner->push(f->state, &o->crossing);
    case ACROSS:
        return f->inner->across(f->state, o->device, o->other, o->source, (size_t)o->bytes);
    case STRIPS_FROM:
        return f->inner->gather_strips(f->state, o->to, (size_t)o->bytes, o->strips,
                                       (size_t)o->source);
    case STRIPS_TO:
        return f->inner->scatter_strips(f->state, o->strips, (size_t)o->source, o->from,
                                        (size_t)o->bytes);
    case CLEAR:
        return f->inner->clear(f->state, o->device, o->bytes);
    case SIGNAL:
        return f->inner->signal(f->state, o->to);
    case RELEASE:
        f->inner->release(f->state, o->device, o->bytes);
        return HAUL_OK;
    case FENCE:
        break;
    }
    return HAUL_OK;
}

/* The first order of a stream happens. 0: there is none. */
static int step(front *f, const void *stream)
{
    size_t i = 0;
    order o;
    haul_status status;
    while (i < f->queue_count && f->queue[i].stream != stream)
        i++;
    if (i == f->queue_count)
        return 0;
    o = f->queue[i];
    f->queue_count--;
    memmove(&f->queue[i], &f->queue[i + 1], (f->queue_count - i) * sizeof o);
    status = happen(f, &o);
    f->failed = f->failed == HAUL_OK ? status : f->failed;
    return 1;
}

static const void *stream_of(const front *f, uint64_t fence)
{
    size_t i = 0;
    while (i < f->queue_count && (f->queue[i].kind != FENCE || f->queue[i].fence != fence))
        i++;
    CHECK(i < f->queue_count);
    return f->queue[i].stream;
}

/* What another device was told before a copy from it happens first. A copy within one device
 * waits in its own stream. */
static void catch_up_with(front *f, const void *stream)
{
    size_t i;
    for (i = 0; i < f->queue_count; i++) {
        const order *o = &f->queue[i];
        front *other = o->kind == ACROSS && o->stream == stream ? front_of(o->other) : NULL;
        while (other && other != f && waits(other, o->fence))
            step(other, stream_of(other, o->fence));
    }
}

/* What has gone wrong silently is told once. */
static haul_status told(front *f)
{
    haul_status status = f->failed;
    f->failed = HAUL_OK;
    if (!f->plan->late)
        return status;
    f->plan->late = 0;
    f->plan->last = "wait";
    f->injected = 1;
    snprintf(f->message, sizeof f->message, "injected fault, reported late");
    return HAUL_ERROR_DEVICE;
}

static haul_status front_select(void *state, void *stream)
{
    front *f = front_of(state);
    haul_status status = event(f, "select", HAUL_ERROR_DEVICE);
    int ours = f->plan->deferred && stream && lies_in(stream, streams, sizeof streams);
    if (status == HAUL_OK && !ours)
        status = f->inner->select(state, stream);
    if (status == HAUL_OK)
        f->stream = stream;
    return status;
}

static haul_status front_fence(void *state, uint64_t *fence)
{
    front *f = front_of(state);
    haul_status status = event(f, "fence", HAUL_ERROR_DEVICE);
    if (status != HAUL_OK || !f->plan->deferred)
        return status == HAUL_OK ? f->inner->fence(state, fence) : status;
    *fence = ++f->fences;
    put_off(f, FENCE)->fence = *fence;
    return HAUL_OK;
}

/* All that a fence stands behind happens. */
static void reach(front *f, uint64_t fence)
{
    const void *stream = waits(f, fence) ? stream_of(f, fence) : NULL;
    catch_up_with(f, stream);
    while (waits(f, fence))
        step(f, stream);
}

static haul_status front_poll(void *state, uint64_t fence)
{
    front *f = front_of(state);
    haul_status status = event(f, "poll", HAUL_ERROR_DEVICE);
    if (!f->plan->deferred && status == HAUL_OK)
        return f->plan->late ? told(f) : f->inner->poll(state, fence);
    if (f->plan->deferred && fence > f->fences)
        misused(f->plan, "poll of a fence that was not made");
    if (status != HAUL_OK) {
        reach(f, fence);
    } else if (waits(f, fence)) {
        catch_up_with(f, stream_of(f, fence));
        step(f, stream_of(f, fence));
        status = waits(f, fence) ? HAUL_ERROR_PENDING : told(f);
    } else {
        status = told(f);
    }
    return status;
}

/* A wait's event: it may be one that is slow. */
static haul_status wait_event(front *f, const char *name)
{
    fault_plan *plan = f->plan;
    if (plan->late)
        return HAUL_OK;
    if (plan->impatient && !plan->lost) {
        f->injected = 1;
        snprintf(f->message, sizeof f->message, "injected fault: the device takes its time");
        return HAUL_ERROR_PENDING;
    }
    return event(f, name, plan->mode == FAULT_SLOW ? HAUL_ERROR_PENDING : HAUL_ERROR_DEVICE);
}

/* A wait that fails has waited all the same, unless it says that it has not. */
static haul_status front_await(void *state, uint64_t fence)
{
    front *f = front_of(state);
    haul_status status = wait_event(f, "await"), inner;
    if (status == HAUL_ERROR_PENDING)
        return status;
    if (f->plan->deferred && fence > f->fences)
        misused(f->plan, "await of a fence that was not made");
    reach(f, fence);
    inner = f->plan->deferred ? f->inner->wait(state) : f->inner->await(state, fence);
    if (status == HAUL_OK)
        status = inner;
    return status == HAUL_OK ? told(f) : status;
}

static haul_status front_wait(void *state)
{
    front *f = front_of(state);
    haul_status status = wait_event(f, "wait"), inner;
    if (status == HAUL_ERROR_PENDING)
        return status;
    catch_up_with(f, f->stream);
    while (step(f, f->stream))
        ;
    inner = f->inner->wait(state);
    if (status == HAUL_OK)
        status = inner;
    return status == HAUL_OK ? told(f) : status;
}

static haul_status front_signal(void *state, void *told_event)
{
    front *f = front_of(state);
    haul_status status = event(f, "signal", HAUL_ERROR_DEVICE);
    if (status != HAUL_OK || !f->plan->deferred)
        return status == HAUL_OK ? f->inner->signal(state, told_event) : status;
    put_off(f, SIGNAL)->to = told_event;
    return HAUL_OK;
}

static const char *front_message(void *state)
{
    front *f = front_of(state);
    return f->injected ? f->message : f->inner->message(state);
}

#define TABLES_MAX 4u

/* One table for each inner one: only the name differs. */
const haul_device_table *fault_device(const haul_device_table *inner)
{
    static haul_device_table tables[TABLES_MAX];
    static const haul_device_table front_table = {
        .table_bytes = sizeof(haul_device_table),
        .settings_bytes = sizeof(fault_device_settings),
        .open = front_open,
        .close = front_close,
        .capabilities = front_capabilities,
        .allocate = front_allocate,
        .release = front_release,
        .stage = front_stage,
        .unstage = front_unstage,
        .copy_to = front_copy_to,
        .copy_from = front_copy_from,
        .relocate = front_relocate,
        .select = front_select,
        .fence = front_fence,
        .poll = front_poll,
        .await = front_await,
        .wait = front_wait,
        .message = front_message,
        .send = front_send,
        .fetch = front_fetch,
        .mirror = front_mirror,
        .unmirror = front_unmirror,
        .lock = front_lock,
        .unlock = front_unlock,
        .pull = front_pull,
        .push = front_push,
        .across = front_across,
        .gather_strips = front_gather_strips,
        .scatter_strips = front_scatter_strips,
        .clear = front_clear,
        .free_bytes = front_free_bytes,
        .signal = front_signal,
        .allocate_in_places = front_allocate_in_places,
    };
    size_t i = 0;
    pthread_mutex_lock(&fronts_lock);
    while (i < TABLES_MAX - 1 && tables[i].name && tables[i].name != inner->name)
        i++;
    if (!tables[i].name) {
        tables[i] = front_table;
        tables[i].name = inner->name;
    }
    pthread_mutex_unlock(&fronts_lock);
    return &tables[i];
}

haul_status fault_open(fault_plan *plan, const test_device *options, haul_device **device)
{
    fault_device_settings settings = { plan, haul_host_device(), &ordinary_launches };
    haul_allocator allocator = fault_allocator(plan);
    test_device behind;
    haul_status status;
    memset(&behind, 0, sizeof behind);
    if (options)
        behind = *options;
    test_allocator(&behind.new_context, &allocator);
    behind.settings = &settings;
    status = test_open(fault_device(haul_host_device()), &behind, device);
    plan->context = status == HAUL_OK ? haul_device_context(*device) : NULL;
    return status;
}

haul_status fault_open_context(fault_plan *plan, const haul_context_options *options,
                               haul_context **context)
{
    haul_allocator allocator = fault_allocator(plan);
    haul_context_options behind;
    haul_status status;
    memset(&behind, 0, sizeof behind);
    if (options)
        behind = *options;
    test_allocator(&behind, &allocator);
    status = haul_context_create(&behind, context);
    plan->context = *context;
    return status;
}

/* ---- The driver. */

static const char *const mode_names[] = { "once", "from", "lost", "late", "slow", "call" };

/* What the driver says before an operation's own checks, so that a failing one tells where it
 * stood. */
static void note(const fault_operation *operation, const fault_plan *plan, fault_mode mode,
                 uint64_t at)
{
    check_note("%s fault %s at event %llu (the last was %llu, %s)",
               operation->name ? operation->name : "", mode_names[mode], (unsigned long long)at,
               (unsigned long long)plan->events, plan->last);
}

void fault_check_clean(const fault_plan *plan)
{
    CHECK_STR(plan->misuse, NULL);
    CHECK_EQ(plan->staged_blocks, 0);
    CHECK_EQ(plan->locked_bytes, 0);
    CHECK_EQ(plan->device_blocks, 0);
    CHECK_EQ(plan->devices, 0);
    CHECK_EQ(plan->reserved_blocks, 0);
    CHECK_EQ(plan->host_blocks, 0);
    CHECK_EQ(plan->host_bytes, 0);
}

typedef struct levels {
    uint64_t host_blocks, host_bytes, device_blocks, device_bytes, staged_blocks, devices;
} levels;

static levels levels_of(const fault_plan *plan)
{
    levels now;
    now.host_blocks = plan->host_blocks;
    now.host_bytes = plan->host_bytes;
    now.device_blocks = plan->device_blocks;
    now.device_bytes = plan->device_bytes;
    now.staged_blocks = plan->staged_blocks;
    now.devices = plan->devices;
    return now;
}

/* The context gives back what it keeps between calls. */
static void trim(const fault_plan *plan)
{
    if (plan->context)
        CHECK_STATUS(haul_context_trim(plan->context), HAUL_OK);
}

/* Nothing is live that was not before. */
static void check_levels(const fault_operation *operation, const levels *before,
                         const fault_plan *plan)
{
    levels now;
    if (!operation->keeps)
        trim(plan);
    now = levels_of(plan);
    CHECK_EQ(now.device_blocks, before->device_blocks);
    CHECK_EQ(now.device_bytes, before->device_bytes);
    CHECK_EQ(now.devices, before->devices);
    if (operation->keeps)
        return;
    CHECK_EQ(now.staged_blocks, before->staged_blocks);
    CHECK_EQ(now.host_blocks, before->host_blocks);
    CHECK_EQ(now.host_bytes, before->host_bytes);
}

static haul_status run_and_check(const fault_operation *operation)
{
    haul_status status = operation->run(operation->user);
    if (operation->check)
        operation->check(operation->user, status);
    return status;
}

static void undo(const fault_operation *operation, haul_status status)
{
    if (status == HAUL_OK && operation->undo)
        operation->undo(operation->user);
}

/* The same call again with nothing failing; a lost device stays lost, and says so or is not
 * needed. */
static void retry(const fault_operation *operation, fault_plan *plan)
{
    haul_status status;
    int lost = plan->lost;
    fault_disarm(plan);
    plan->lost = lost;
    status = run_and_check(operation);
    if (lost)
        CHECK(status == HAUL_OK || status == HAUL_ERROR_DEVICE_LOST);
    else
        CHECK_STATUS(status, HAUL_OK);
    undo(operation, status);
}

/* One run with event `at` failing; 1 when there was such an event. *events: how many there were. */
static int fail_once(const fault_operation *operation, fault_mode mode, uint64_t at,
                     uint64_t *events)
{
    fault_plan plan = operation->settings;
    levels before;
    haul_status status;
    int happened;
    plan.mode = FAULT_ONCE;
    plan.at = 0;
    if (operation->prepare)
        operation->prepare(operation->user, &plan);
    trim(&plan);
    before = levels_of(&plan);
    fault_arm(&plan, mode, at);
    check_note("%s fault %s at event %llu", operation->name ? operation->name : "",
               mode_names[mode], (unsigned long long)at);
    status = operation->run(operation->user);
    *events = plan.events;
    happened = plan.events >= at;
    note(operation, &plan, mode, at);
    CHECK_STATUS(status, plan.first);
    if (operation->check)
        operation->check(operation->user, status);
    plan.at = 0;
    undo(operation, status);
    if (status != HAUL_ERROR_PENDING) /* else something is kept until a later call finds it free */
        check_levels(operation, &before, &plan);
    retry(operation, &plan);
    if (status != HAUL_ERROR_PENDING)
        check_levels(operation, &before, &plan);
    if (operation->finish)
        operation->finish(operation->user);
    fault_check_clean(&plan);
    check_note(NULL);
    return happened;
}

/* A number of the environment; 0: there is none. */
static uint64_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : 0;
}

/* A mode ends with a run in which nothing failed: its events are all that can fail, so the answer
 * does not depend on the stride. */
unsigned fault_everywhere(const fault_operation *operation)
{
    uint64_t stride = number_of("HAUL_FAULT_STRIDE"), seed = number_of("HAUL_SEED"), runs = 0;
    int is_first = 1;
    unsigned mode;
    for (mode = 0; mode < FAULT_MODES; mode++) {
        const uint64_t thin = is_first ? stride / 3 : stride;
        uint64_t at = 1, step = 1, events;
        if (operation->modes && (operation->modes & (1u << mode)) == 0)
            continue;
        if (thin > 1) {
            at += (seed + mode) % thin;
            step = thin;
        }
        is_first = 0;
        while (fail_once(operation, (fault_mode)mode, at, &events))
            at += step;
        runs += events;
    }
    return (unsigned)runs;
}

typedef struct plan_work {
    haul_source source;
    haul_context *context;
    haul_plan *plan;
} plan_work;

static void plan_prepare(void *user, fault_plan *plan)
{
    CHECK_STATUS(fault_open_context(plan, NULL, &((plan_work *)user)->context), HAUL_OK);
}

static haul_status plan_run(void *user)
{
    plan_work *work = user;
    return haul_plan_create(work->context, work->source, NULL, &work->plan);
}

static void plan_undo(void *user)
{
    haul_plan_free(&((plan_work *)user)->plan);
}

static void plan_finish(void *user)
{
    haul_context_free(&((plan_work *)user)->context);
}

unsigned fault_every_plan(haul_source source, unsigned modes)
{
    plan_work work = { source, NULL, NULL };
    fault_operation operation = { .prepare = plan_prepare,
                                  .run = plan_run,
                                  .undo = plan_undo,
                                  .finish = plan_finish,
                                  .user = &work,
                                  .modes = modes };
    return fault_everywhere(&operation);
}

unsigned fault_call_everywhere(const fault_operation *operation, void (*call)(void *user))
{
    uint64_t at;
    int happened = 1;
    for (at = 1; happened; at++) {
        fault_plan plan = operation->settings;
        haul_status status;
        if (operation->prepare)
            operation->prepare(operation->user, &plan);
        trim(&plan);
        plan.call = call;
        plan.call_user = operation->user;
        fault_arm(&plan, FAULT_CALL, at);
        check_note("call at event %llu", (unsigned long long)at);
        status = operation->run(operation->user);
        happened = plan.events >= at;
        fault_disarm(&plan);
        undo(operation, status);
        if (operation->finish)
            operation->finish(operation->user);
        fault_check_clean(&plan);
        check_note(NULL);
    }
    return (unsigned)(at - 2);
}
