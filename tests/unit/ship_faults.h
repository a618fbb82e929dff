/* What the fault suites of the ship room share: a setting, made anew for each run through the doors
 * of a fault plan, the calls that are failed, and the checks that hold after any of them.
 *
 * A suite says what is shipped: a cargo. The museum is one.
 */
#ifndef HAUL_TESTS_SHIP_FAULTS_H
#define HAUL_TESTS_SHIP_FAULTS_H

#include "ship/shipment.h"
#include "ship_graphs.h"
#include "support/doors.h"
#include "support/short_forms.h"
#include "support/inside.h"

typedef struct cargo {
    haul_type **type;
    void *(*load)(void);  /* makes the types, starts the world and builds a graph in it: its root */
    void (*unload)(void); /* frees the types */
    void (*look)(void);   /* checks the.s, which is as it was sent; no fault meets a launch */
} cargo;

typedef struct setting {
    const cargo *cargo;
    world w;
    unsigned char *before; /* the world, as it must stay when a call fails */
    fault_plan *plan;
    haul_device *device;
    haul_device *other; /* of the suites that open it */
    haul_shipment *s, *copy;
    void *root;
    int patched_here, all_or_nothing, ordered, lock_source, lets_change;
    int in_pieces;           /* results are written as they come, however few they are */
    int keep;                /* prepare ships */
    size_t gap;              /* between the world's objects: not 0, and they lie in many blocks */
    const haul_async *async; /* NULL: ship does not return before the device is done */
    room *first;             /* of a museum */
    visit seen;              /* from the host */
} setting;

static setting the;

/* ---- The museum. */

static inline void *load_rooms(void)
{
    world_start(&the.w, the.gap ? 1 << 20 : 1 << 14);
    the.w.gap = the.gap;
    museum_open();
    the.first = museum_make(&the.w, 12, 1);
    the.seen = museum_seen_from(the.first);
    return the.first;
}

static inline void look_at_rooms(void)
{
    visit there = museum_seen_on(the.device, the.s, &the.w, the.first);
    check_visits_agree(&there, &the.seen);
}

static const cargo rooms = { &room_type, load_rooms, museum_close, look_at_rooms };

static inline void start_over(void)
{
    memset(&the, 0, sizeof the);
    the.cargo = &rooms;
}

/* ---- What is failed. */

static inline haul_status ship(void *user)
{
    haul_ship_options options;
    (void)user;
    memset(&options, 0, sizeof options);
    host_patches(the.device, the.patched_here);
    options.ordered = the.ordered;
    options.lock_source = the.lock_source;
    options.let_counts_change = the.lets_change;
    if (the.async)
        return haul_ship_from(the.device, haul_from_object(the.root, *the.cargo->type), &options,
                              the.async, &the.s);
    return haul_ship(the.device, the.root, *the.cargo->type, 1, &options, &the.s);
}

static inline haul_status refresh(void *user)
{
    (void)user;
    return haul_update_device(the.s, NULL, NULL);
}

static inline haul_status unmarshal(void *user)
{
    (void)user;
    return haul_update_host(the.s, the.all_or_nothing ? ALL_OR_NOTHING : NULL, NULL);
}

static inline haul_status unmarshal_pointers(void *user)
{
    (void)user;
    return haul_update_host(the.s, WITH_POINTERS, NULL);
}

/* To the other device, if there is one. */
static inline haul_status copy(void *user)
{
    (void)user;
    return haul_shipment_copy(the.s, the.other ? the.other : the.device, &the.copy);
}

/* ---- Before and after. */

/* A device without a past. */
static inline void prepare_cold(void *user, fault_plan *plan)
{
    (void)user;
    the.plan = plan;
    the.root = the.cargo->load();
    the.before = world_picture(&the.w);
    CHECK_STATUS(fault_open(plan, NULL, &the.device), HAUL_OK);
    if (the.in_pieces)
        the.device->whole_bytes = 0;
}

/* One that has worked before, so that what it keeps for itself is there. */
static inline void prepare(void *user, fault_plan *plan)
{
    prepare_cold(user, plan);
    CHECK_STATUS(ship(user), HAUL_OK);
    CHECK_STATUS(haul_wait(the.s), HAUL_OK);
    if (!the.keep)
        haul_shipment_free(&the.s);
    haul_context_trim(plan->context);
}

/* The museum on the device holds other contents than the host's: a failed return shows in the
 * host's bytes. */
static inline void prepare_changed(void *user, fault_plan *plan)
{
    prepare(user, plan);
    CHECK_STATUS(haul_host_launch(the.device, museum_change, haul_device_pointer(the.s, the.first)),
                 HAUL_OK);
}

static inline void finish(void *user)
{
    (void)user;
    haul_shipment_free(&the.copy);
    haul_shipment_free(&the.s);
    haul_device_close(&the.other);
    haul_device_close(&the.device);
    the.cargo->unload();
    world_end(&the.w);
    free(the.before);
}

static inline void free_shipment(void *user)
{
    (void)user;
    haul_shipment_free(&the.s);
}

static inline void free_copy(void *user)
{
    (void)user;
    haul_shipment_free(&the.copy);
}

/* ---- What holds after it. */

static inline void check_report(haul_status status)
{
    const haul_error *error = haul_context_error(haul_device_context(the.device));
    CHECK_EQ(error->status, status);
    if (status == HAUL_OK)
        return;
    CHECK(error->text[0] != '\0');
    if (status == HAUL_ERROR_DEVICE || status == HAUL_ERROR_DEVICE_LOST ||
        status == HAUL_ERROR_DEVICE_MEMORY) {
        CHECK_HAS(error->text, "failed");
        CHECK_HAS(error->text, "injected fault");
    }
}

static inline void check_world_is_untouched(void)
{
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
}

/* After a call that sends. */
static inline void check_sent(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    check_world_is_untouched();
    if (status == HAUL_OK)
        the.cargo->look();
}

static inline void check_ship(void *user, haul_status status)
{
    check_sent(user, status);
    if (status != HAUL_OK)
        CHECK_PTR(the.s, NULL);
}

/* After one that brings back what a device has made of the museum. */
static inline void check_return(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    if (status == HAUL_OK) {
        world_check_changed_by(&the.w, memcpy(malloc(the.w.bytes), the.before, the.w.bytes),
                               museum_change, the.first);
        memcpy(the.w.memory, the.before, the.w.bytes);
    }
    check_world_is_untouched();
}

/* On the museum; a suite puts its own cargo in its place. */
static inline fault_operation operation_on(haul_status (*run)(void *),
                                           void (*check)(void *, haul_status))
{
    fault_operation operation = {
        .prepare = prepare, .run = run, .check = check, .finish = finish
    };
    start_over();
    return operation;
}

static inline fault_operation operation_on_shipment(haul_status (*run)(void *),
                                                    void (*check)(void *, haul_status))
{
    fault_operation operation = operation_on(run, check);
    the.keep = 1;
    return operation;
}

#endif
