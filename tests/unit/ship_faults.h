/* What the fault suites of the ship room share: a setting, made anew for each run through the doors of a fault plan,
 * and the checks that hold after any run.
 */
#ifndef HAUL_TESTS_SHIP_FAULTS_H
#define HAUL_TESTS_SHIP_FAULTS_H

#include "ship_graphs.h"
#include "support/doors.h"

typedef struct setting {
    world w;
    unsigned char *before;   /* the world, as it must stay when a call fails */
    fault_plan *plan;
    haul_device *device;
    haul_shipment *s;
    room *first;
    int relocate_on_host, whole_return;
    int keep;                /* prepare ships */
    size_t gap;              /* between the world's objects: not 0, and they lie in many blocks */
    const haul_async *async; /* NULL: ship does not return before the device is done */
    visit seen;              /* from the host */
} setting;

static setting the;

static inline void open_device(fault_plan *plan)
{
    static fault_device_settings settings;
    haul_allocator allocator = fault_allocator(plan);
    haul_device_options options;
    memset(&options, 0, sizeof options);
    settings.plan = plan;
    settings.inner = haul_host_device();
    options.new_context.allocator = &allocator;
    options.settings = &settings;
    the.device = NULL;
    CHECK_STATUS(haul_device_open(fault_device(haul_host_device()), &options, &the.device), HAUL_OK);
}

static inline haul_status ship(void *user)
{
    haul_ship_options options;
    (void)user;
    memset(&options, 0, sizeof options);
    options.relocate_on_host = the.relocate_on_host;
    options.whole_return = the.whole_return;
    if (the.async)
        return haul_ship_async(the.device, the.first, room_type, 1, &options, the.async, &the.s);
    return haul_ship(the.device, the.first, room_type, 1, &options, &the.s);
}

/* A device that has worked before, so that what it keeps for itself is there. */
static inline void prepare(void *user, fault_plan *plan)
{
    the.plan = plan;
    world_start(&the.w, the.gap ? 1 << 20 : 1 << 14);
    the.w.gap = the.gap;
    museum_open();
    the.first = museum_make(&the.w, 12, 1);
    the.before = world_picture(&the.w);
    the.seen = museum_seen_from(the.first);
    open_device(plan);
    CHECK_STATUS(ship(user), HAUL_OK);
    CHECK_STATUS(haul_shipment_wait(the.s), HAUL_OK);
    if (!the.keep)
        haul_shipment_free(&the.s);
    haul_context_trim(haul_device_context(the.device));
}

static inline void finish(void *user)
{
    (void)user;
    haul_shipment_free(&the.s);
    haul_device_close(&the.device);
    museum_close();
    world_end(&the.w);
    free(the.before);
}

static inline void trim(void *user)
{
    (void)user;
    CHECK_STATUS(haul_context_trim(haul_device_context(the.device)), HAUL_OK);
}

static inline void check_report(haul_status status)
{
    const haul_error *error = haul_device_error(the.device);
    CHECK_EQ(error->status, status);
    if (status == HAUL_OK)
        return;
    CHECK(error->text[0] != '\0');
    if (status <= HAUL_ERROR_DEVICE || status == HAUL_ERROR_DEVICE_MEMORY) {
        CHECK_HAS(error->text, "failed");
        CHECK_HAS(error->text, "injected fault");
    }
}

static inline void check_world_is_untouched(void)
{
    CHECK_BYTES(the.w.memory, the.before, the.w.bytes);
}

/* The shipment is right: seen by a kernel. The plan's own faults are over by then or do not meet a launch. */
static inline void check_shipment(void)
{
    visit there = museum_seen_on(the.device, the.s, &the.w, the.first);
    check_visits_agree(&there, &the.seen);
}

static inline void check_ship(void *user, haul_status status)
{
    (void)user;
    check_report(status);
    check_world_is_untouched();
    if (status == HAUL_OK)
        check_shipment();
    else
        CHECK_PTR(the.s, NULL);
}

static inline void free_shipment(void *user)
{
    (void)user;
    haul_shipment_free(&the.s);
}

static inline fault_operation operation_on(haul_status (*run)(void *), void (*check)(void *, haul_status))
{
    fault_operation operation;
    memset(&operation, 0, sizeof operation);
    memset(&the, 0, sizeof the);
    operation.prepare = prepare;
    operation.run = run;
    operation.check = check;
    operation.trim = trim;
    operation.finish = finish;
    return operation;
}

static inline fault_operation operation_on_shipment(haul_status (*run)(void *), void (*check)(void *, haul_status))
{
    fault_operation operation = operation_on(run, check);
    the.keep = 1;
    return operation;
}

#endif
