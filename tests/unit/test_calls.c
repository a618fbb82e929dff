/* One table of calls and faults: each public call that needs memory or a device, with each of its
 * events failing in each way that the fault plan knows (support/doors.h).
 *
 * After each failure: the call and its context's record report the first failure, results are NULL,
 * the source is as it was, nothing has leaked, and the same call works. Cases that need other
 * sources or other checks stand in the suites of their subjects.
 *
 * tests/consumers/check.sh compares the names here with the list of exported functions: a new one
 * gets a row, or a line among those that cannot fail so.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HAUL_EXPERIMENTAL
#include "haul.h"
#include "image/compression.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "support/world.h"
#include "support/written.h"
#include "haul/experimental.h"

typedef struct node {
    struct node *next;
    char *name;
    int64_t value;
} node;

enum { NODES = 3 };

static struct {
    fault_plan *plan;
    haul_context *own, *context; /* the device's, if there is one */
    haul_device *device;
    haul_type *type, *open, *container, *parameter;
    haul_arena *arena;
    haul_shipment *shipment;
    node data[NODES], before[NODES];
    /* Results. */
    haul_context *new_context;
    haul_device *new_device;
    haul_plan *new_plan;
    haul_chain *new_chain;
    haul_shipment *new_shipment;
    haul_arena *new_arena;
    haul_type *new_type;
    haul_image *new_image;
    unsigned char image[2048]; /* of the data */
    size_t image_bytes;
} the;

static const haul_field node_fields[] = { HAUL_OBJECT(node, next, &the.type),
                                          HAUL_STRING(node, name) };

/* ---- The world of each run. */

static const haul_arena_options small = { .reserve_bytes = 1 << 20, .reuse = 1 };

static void make_types(void)
{
    haul_field held = HAUL_OBJECT(node, next, &the.parameter);
    haul_struct what = HAUL_STRUCT(node, NULL, node_fields);
    CHECK_STATUS(haul_type_create(the.context, &what, &the.type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(the.type), HAUL_OK);
    CHECK_STATUS(haul_type_create(the.context, &what, &the.open), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(the.context, "element", &the.parameter), HAUL_OK);
    CHECK_STATUS(type_make_in(the.context, "container", sizeof(node), &held, 1, &the.container),
                 HAUL_OK);
}

static void make_data(void)
{
    static char name[] = "a name of some length";
    int i;
    for (i = 0; i < NODES; i++) {
        the.data[i].next = &the.data[(i + 1) % NODES];
        the.data[i].name = name;
        the.data[i].value = i;
    }
    memcpy(the.before, the.data, sizeof the.data);
}

/* For calls on a context. */
static void prepare_context(void *user, fault_plan *plan)
{
    (void)user;
    memset(&the, 0, sizeof the);
    the.plan = plan;
    CHECK_STATUS(fault_open_context(plan, NULL, &the.own), HAUL_OK);
    the.context = the.own;
    make_types();
    make_data();
}

/* For calls on a device: one that has shipped before. */
static void prepare_device(void *user, fault_plan *plan)
{
    (void)user;
    memset(&the, 0, sizeof the);
    the.plan = plan;
    CHECK_STATUS(fault_open(plan, NULL, &the.device), HAUL_OK);
    the.context = haul_device_context(the.device);
    make_types();
    make_data();
    CHECK_STATUS(haul_arena_create(the.context, &small, &the.arena), HAUL_OK);
    CHECK(haul_arena_new(the.arena, the.type, 1) != NULL);
    CHECK_STATUS(haul_ship(the.device, the.data, the.type, 1, NULL, &the.shipment), HAUL_OK);
}

static void drop_results(void *user)
{
    (void)user;
    haul_type_free(&the.new_type);
    haul_image_free(&the.new_image);
    haul_shipment_free(&the.new_shipment);
    haul_plan_free(&the.new_plan);
    haul_chain_free(&the.new_chain);
    haul_arena_free(&the.new_arena);
    haul_device_close(&the.new_device);
    haul_context_free(&the.new_context);
}

static void finish(void *user)
{
    drop_results(user);
    haul_shipment_free(&the.shipment);
    haul_arena_free(&the.arena);
    haul_type_free(&the.container);
    haul_type_free(&the.parameter);
    haul_type_free(&the.open);
    haul_type_free(&the.type);
    haul_device_close(&the.device);
    haul_context_free(&the.own);
}

static void check(void *user, haul_status status)
{
    (void)user;
    CHECK_BYTES(the.data, the.before, sizeof the.data);
    if (status == HAUL_OK)
        return;
    CHECK(!the.new_context && !the.new_device && !the.new_plan && !the.new_shipment &&
          !the.new_image && !the.new_arena && !the.new_type);
}

/* ---- The calls. */

#define CALL(name, ...)                                                                            \
    static haul_status call_##name(void *user)                                                     \
    {                                                                                              \
        (void)user;                                                                                \
        return __VA_ARGS__;                                                                        \
    }

static const size_t lengths[] = { 1, 2 }, places[] = { 0, 3 }, byte_places[] = { 0, 96 },
                    sizes[] = { 4, 4 }, parts[] = { 2, 2 }, starts[] = { 1, 1 };
static haul_type *const *two_types(void)
{
    static haul_type *types[2];
    types[0] = types[1] = the.type;
    return types;
}

static haul_count one_element(void)
{
    haul_count one;
    memset(&one, 0, sizeof one);
    return one;
}

static haul_status create_context(void *user)
{
    haul_context *before = the.plan->context;
    haul_status status = fault_open_context(the.plan, NULL, &the.new_context);
    (void)user;
    the.plan->context = before;
    return status;
}

static haul_status open_device(void *user)
{
    fault_device_settings settings = { the.plan, haul_host_device(), &ordinary_launches };
    (void)user;
    return haul_device_open(the.context, fault_device(haul_host_device()), &settings,
                            &the.new_device);
}

static haul_status describe(void *user)
{
    static haul_type *described;
    static const haul_field fields[] = { HAUL_OBJECT(node, next, &described) };
    static const haul_struct structs[] = { HAUL_STRUCT(node, &described, fields) };
    haul_status status = HAUL_DESCRIBE(the.context, structs);
    (void)user;
    the.new_type = described;
    described = NULL;
    return status;
}

static haul_status commit(void *user)
{
    haul_struct what = HAUL_STRUCT(node, NULL, node_fields);
    haul_type *type;
    haul_status status = haul_type_create(the.context, &what, &type);
    (void)user;
    if (status == HAUL_OK)
        status = haul_type_commit(type);
    haul_type_free(&type);
    return status;
}

static haul_status instance(void *user)
{
    (void)user;
    return haul_type_instance(the.container, 1, &the.parameter, &the.type, &the.new_type);
}

static haul_status make_policy(void *user)
{
    const haul_policy_row rows[] = {
        { .path = "", .action = HAUL_NONE },
        { .path = "next", .action = HAUL_COPYIN },
        { .type = &the.type, .path = "name", .action = HAUL_SHALLOW },
        { HAUL_MEMBER(node, value), .action = HAUL_COPYIN },
    };
    (void)user;
    return haul_policy_create(the.type, "some", rows, 4, &the.new_type);
}

static haul_status ship_arenas(void *user)
{
    (void)user;
    return haul_ship_arenas(the.device, &the.arena, 1, NULL, NULL, &the.new_shipment);
}

static haul_status create_arena(void *user)
{
    (void)user;
    return haul_arena_create(the.context, &small, &the.new_arena);
}

static haul_status audit(void *user)
{
    (void)user;
    return haul_audit(the.context, haul_from_object(the.data, the.type), NULL, NULL);
}

static haul_status audit_report(void *user)
{
    haul_audit_report *report;
    haul_status status = haul_audit_begin(the.context, NULL, &report), ended;
    (void)user;
    if (status != HAUL_OK)
        return status;
    status = haul_audit_add(report, haul_from_object(the.data, the.type));
    ended = haul_audit_end(&report, NULL);
    return status == HAUL_OK ? ended : status;
}

CALL(plan_create,
     haul_plan_create(the.context, haul_from_object(the.data, the.type), NULL, &the.new_plan))
CALL(chain_create, haul_chain_create(the.context, the.type, "next.name", &the.new_chain))

static haul_status fill_arguments(void *user)
{
    char *name = NULL;
    haul_argument one = { NULL, 0, 1, 0, 0 };
    haul_status status = call_chain_create(user);
    one.chain = the.new_chain;
    if (status == HAUL_OK)
        status = haul_chain_arguments(the.shipment, the.data, &one, 1, &name);
    CHECK_EQ(status == HAUL_OK, name != NULL);
    if (status != HAUL_OK)
        haul_chain_free(&the.new_chain);
    return status;
}

#define FIRST_POISON UINT64_C(0x5a5a000000000000)
static haul_status write_nowhere(void *user, const void *data, size_t bytes)
{
    (void)user;
    (void)data;
    (void)bytes;
    return HAUL_OK;
}

/* All calls on an environment, from nothing to nothing. */
static haul_status live_in_environment(void *user)
{
    const haul_exit_options back = { .copyout = 1 };
    const void *pointer;
    const haul_file nowhere = { NULL, write_nowhere, NULL };
    const haul_update_part parts[1] = { { .type = the.type, .bytes = sizeof the.data[1] } };
    haul_environment *e;
    haul_status status = haul_environment_create(the.device, &e);
    (void)user;
    CHECK_EQ(status == HAUL_OK, e != NULL);
    if (status == HAUL_OK)
        status = haul_environment_enter(e, the.data, the.type, 1, NULL, NULL);
    if (status == HAUL_OK)
        status = haul_environment_update_device(e, &the.data[1], sizeof the.data[1], NULL);
    if (status == HAUL_OK)
        status = haul_environment_update_host(e, &the.data[1], 0, NULL);
    if (status == HAUL_OK)
        status = haul_environment_update(e, parts, 1, HAUL_TO_DEVICE, NULL);
    if (status == HAUL_OK)
        status = haul_environment_update(e, parts, 1, HAUL_TO_HOST, NULL);
    if (status == HAUL_OK)
        status = haul_environment_track_writes(e, 0);
    if (status == HAUL_OK)
        status = haul_environment_sync(e, NULL);
    if (status == HAUL_OK)
        status = haul_environment_dump(e, &nowhere, 9);
    if (status == HAUL_OK)
        status = haul_environment_attach(e, &the.data[1].next);
    if (status == HAUL_OK && sizeof(void *) == 8)
        status = haul_environment_set_detached(e, HAUL_DETACHED_POISON);
    if (status == HAUL_OK)
        status = haul_environment_detach(e, &the.data[1].next);
    if (status == HAUL_OK && sizeof(void *) == 8)
        status = haul_environment_name_poison(e, FIRST_POISON, &pointer, NULL);
    if (status == HAUL_OK)
        status = haul_environment_exit(e, the.data, &back, NULL);
    if (status == HAUL_OK)
        status = haul_environment_poll(e);
    if (status == HAUL_OK)
        status = haul_environment_wait(e);
    haul_environment_free(&e);
    return status;
}

CALL(ship, haul_ship(the.device, the.data, the.type, 1, NULL, &the.new_shipment))
CALL(copy, haul_shipment_copy(the.shipment, the.device, &the.new_shipment))
CALL(update_device, haul_update_device(the.shipment, NULL, NULL))
CALL(update_host, haul_update_host(the.shipment, NULL, NULL))
CALL(reship, haul_reship(the.shipment, NULL))
CALL(type_create,
     haul_type_create(the.context, &(const haul_struct)HAUL_STRUCT(node, NULL, node_fields),
                      &the.new_type))
CALL(type_bytes, haul_type_bytes(the.context, "bytes", 8, &the.new_type))
CALL(type_pointer,
     haul_type_pointer(the.context, "pointer", &the.type, 0, one_element(), &the.new_type))
CALL(type_parameter, haul_type_parameter(the.context, "another", &the.new_type))
CALL(contiguous, haul_type_contiguous(3, the.type, &the.new_type))
CALL(vector, haul_type_vector(2, 1, 3, the.type, &the.new_type))
CALL(hvector, haul_type_create_hvector(2, 1, 96, the.type, &the.new_type))
CALL(indexed, haul_type_indexed(2, lengths, places, the.type, &the.new_type))
CALL(hindexed, haul_type_create_hindexed(2, lengths, byte_places, the.type, &the.new_type))
CALL(indexed_block, haul_type_create_indexed_block(2, 2, places, the.type, &the.new_type))
CALL(create_struct, haul_type_create_struct(2, lengths, byte_places, two_types(), &the.new_type))
CALL(subarray,
     haul_type_create_subarray(2, sizes, parts, starts, HAUL_ORDER_C, the.type, &the.new_type))
CALL(resized, haul_type_create_resized(the.type, 0, 96, &the.new_type))
CALL(dup, haul_type_dup(the.type, &the.new_type))

/* The device does what was ordered when it is waited for. */
static haul_status ordered(haul_shipment **s)
{
    return haul_ship_from(the.device, haul_from_object(the.data, the.type), NULL,
                          &(const haul_async){ NULL, NULL }, s);
}

static haul_status wait_for(void *user)
{
    haul_status status = ordered(&the.new_shipment);
    (void)user;
    if (status == HAUL_OK)
        status = haul_wait(the.new_shipment);
    if (status != HAUL_OK)
        haul_shipment_free(&the.new_shipment);
    return status;
}

static haul_status poll_for(void *user)
{
    haul_status status = ordered(&the.new_shipment);
    (void)user;
    while (status == HAUL_OK && (status = haul_poll(the.new_shipment)) == HAUL_ERROR_PENDING)
        status = the.plan->first;
    if (status != HAUL_OK)
        haul_shipment_free(&the.new_shipment);
    return status;
}

/* Answers memory of an arena that is new: NULL says that the arena's record holds the status. */
static haul_status in_new_arena(void *(*allocate)(haul_arena *arena))
{
    haul_status status = create_arena(NULL);
    if (status == HAUL_OK && !allocate(the.new_arena)) {
        status = haul_arena_error(the.new_arena)->status;
        haul_arena_free(&the.new_arena);
    }
    return status;
}

#define IN_ARENA(name, ...)                                                                        \
    static void *allocate_##name(haul_arena *arena)                                                \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    CALL(name, in_new_arena(allocate_##name))

IN_ARENA(arena_bytes, haul_arena_bytes(arena, 1000, 256))
IN_ARENA(arena_new, haul_arena_new(arena, the.type, 100))
IN_ARENA(arena_tail, haul_arena_new_tail(arena, the.type, 64))
IN_ARENA(arena_pointers, haul_arena_new_pointers(arena, 100))
IN_ARENA(arena_malloc, haul_arena_malloc(arena, 1000))
IN_ARENA(arena_calloc, haul_arena_calloc(arena, 10, 100))
IN_ARENA(arena_realloc, haul_arena_realloc(arena, NULL, 1000))
IN_ARENA(arena_nursery, haul_arena_new_nursery(arena, 100))

/* Of an open type, the rows are gone through for the answer. */
static haul_status get_true_extent(void *user)
{
    size_t low, extent;
    (void)user;
    return haul_type_get_true_extent(the.open, &low, &extent);
}

static size_t a_size;
CALL(type_size, haul_type_size(the.open, &a_size))
CALL(type_add, haul_type_add(the.open, &(const haul_field)HAUL_RAW(node, value), 1))
CALL(add_static, haul_context_add_static(the.context, &the.data[1], sizeof(node), HAUL_STATIC_KEEP))
CALL(add_translation, haul_context_add_translation(the.context, 4096, 8192))

static haul_status swallow(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return HAUL_OK;
}

static haul_status write_table(void *user)
{
    haul_file file;
    (void)user;
    memset(&file, 0, sizeof file);
    file.write = swallow;
    return haul_graph_write_table(the.context, haul_from_object(the.data, the.type), &file);
}

static haul_status write_places(void *user)
{
    haul_file file;
    (void)user;
    memset(&file, 0, sizeof file);
    file.write = swallow;
    return haul_shipment_write_places(the.shipment, &file);
}

static haul_status write_dot(void *user)
{
    haul_file file;
    (void)user;
    memset(&file, 0, sizeof file);
    file.write = swallow;
    return haul_graph_write_dot(the.context, haul_from_object(the.data, the.type), NULL, &file);
}

static int pass(void *user, const haul_shipped_range *range)
{
    (void)user, (void)range;
    return 0;
}

CALL(ranges, haul_shipment_ranges(the.shipment, pass, NULL))

static haul_status keep_image(void *user, const void *data, size_t bytes)
{
    (void)user;
    check_written(data, bytes);
    if (bytes > sizeof the.image - the.image_bytes)
        return HAUL_ERROR_FILE;
    memcpy(the.image + the.image_bytes, data, bytes);
    the.image_bytes += bytes;
    return HAUL_OK;
}

static haul_status write_image(void *user)
{
    const haul_file file = { NULL, keep_image, NULL };
    (void)user;
    the.image_bytes = 0;
    return haul_image_write(the.context, haul_from_object(the.data, the.type), &file);
}

static haul_status image_to_bytes(void *user)
{
    (void)user;
    return haul_image_to_bytes(the.context, haul_from_object(the.data, the.type), NULL, the.image,
                               sizeof the.image, &the.image_bytes);
}

/* Of objects; and of a shipment, compressed if the library can. */
static haul_status write_images(void *user)
{
    const haul_image_write_options compressing = { .compression = haul__can_compress() };
    const haul_file file = { NULL, keep_image, NULL };
    const haul_status status = write_image(user);
    if (status != HAUL_OK)
        return status;
    the.image_bytes = 0;
    return haul_image_write_as(the.context, haul_from_device(the.shipment), &compressing, &file);
}

static const char *image_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, P_tmpdir "/haul-calls-%ld", (long)getpid());
    return path;
}

CALL(image_save, haul_image_save(the.context, haul_from_object(the.data, the.type), image_path()))

static haul_status save_for_address(void)
{
    const haul_image_write_options options = { .address = world_free_address(1 << 20) };
    return haul_image_save_as(the.context, haul_from_object(the.data, the.type), &options,
                              image_path());
}

static void prepare_image(void *user, fault_plan *plan)
{
    prepare_context(user, plan);
    CHECK_STATUS(write_image(user), HAUL_OK);
    CHECK_STATUS(save_for_address(), HAUL_OK);
}

static haul_status some_bytes(void *user, void *data, size_t bytes, size_t *got)
{
    size_t *done = user;
    *got = the.image_bytes - *done < bytes ? the.image_bytes - *done : bytes;
    memcpy(data, the.image + *done, *got);
    *done += *got;
    return HAUL_OK;
}

static haul_status read_image(void *user)
{
    size_t done = 0;
    haul_file file = { NULL, NULL, some_bytes };
    (void)user;
    file.user = &done;
    return haul_image_read(the.context, &file, &the.type, 1, NULL, &the.new_image);
}

CALL(image_from_bytes, haul_image_from_bytes(the.context, the.image, the.image_bytes, &the.type, 1,
                                             NULL, &the.new_image))
CALL(image_load, haul_image_load(the.context, image_path(), &the.type, 1, NULL, &the.new_image))
CALL(image_map, haul_image_map(the.context, image_path(), &the.type, 1, &the.new_image))
CALL(image_map_shared,
     haul_image_map_shared(the.context, image_path(), &the.type, 1, &the.new_image))

/* ---- The table. */

typedef struct call {
    const char *name; /* of the exported function */
    haul_status (*run)(void *user);
    int has_device; /* 1: it has all modes; else those of memory; 2: it reads an image */
    int keeps;      /* what stays is looked for at the end (fault_operation) */
} call;

static const call calls[] = {
    { "haul_context_create_sized", create_context, 0, 0 },
    { "haul_device_open_sized", open_device, 1, 1 },
    { "haul_describe_sized", describe, 0, 0 },
    { "haul_type_create_sized", call_type_create, 0, 0 },
    { "haul_type_commit", commit, 0, 0 },
    { "haul_type_bytes", call_type_bytes, 0, 0 },
    { "haul_type_pointer", call_type_pointer, 0, 0 },
    { "haul_type_parameter", call_type_parameter, 0, 0 },
    { "haul_type_instance", instance, 0, 1 },
    { "haul_policy_create_sized", make_policy, 0, 1 },
    { "haul_type_contiguous", call_contiguous, 0, 0 },
    { "haul_type_vector", call_vector, 0, 0 },
    { "haul_type_create_hvector", call_hvector, 0, 0 },
    { "haul_type_indexed", call_indexed, 0, 0 },
    { "haul_type_create_hindexed", call_hindexed, 0, 0 },
    { "haul_type_create_indexed_block", call_indexed_block, 0, 0 },
    { "haul_type_create_struct", call_create_struct, 0, 0 },
    { "haul_type_create_subarray", call_subarray, 0, 0 },
    { "haul_type_create_resized", call_resized, 0, 0 },
    { "haul_type_dup", call_dup, 0, 0 },
    { "haul_plan_create_sized", call_plan_create, 0, 1 },
    { "haul_chain_create_checked", call_chain_create, 0, 0 },
    { "haul_chain_arguments_sized", fill_arguments, 1, 0 },
    { "haul_audit_sized", audit, 0, 0 },
    { "haul_audit_begin_sized", audit_report, 0, 0 },
    { "haul_audit_add_sized", audit_report, 0, 0 },
    { "haul_audit_end_sized", audit_report, 0, 0 },
    { "haul_arena_create_sized", create_arena, 0, 0 },
    { "haul_ship_from_sized", call_ship, 1, 1 },
    { "haul_ship_arenas_sized", ship_arenas, 1, 1 },
    { "haul_shipment_copy", call_copy, 1, 1 },
    { "haul_update_device_sized", call_update_device, 1, 1 },
    { "haul_update_host_sized", call_update_host, 1, 1 },
    { "haul_reship_sized", call_reship, 1, 1 },
    { "haul_shipment_ranges", call_ranges, 1, 1 },
    { "haul_environment_create", live_in_environment, 1, 1 },
    { "haul_environment_enter_sized", live_in_environment, 1, 1 },
    { "haul_environment_exit_sized", live_in_environment, 1, 1 },
    { "haul_environment_dump", live_in_environment, 1, 1 },
    { "haul_environment_sync", live_in_environment, 1, 1 },
    { "haul_environment_track_writes", live_in_environment, 1, 1 },
    { "haul_environment_update_sized", live_in_environment, 1, 1 },
    { "haul_environment_update_device_sized", live_in_environment, 1, 1 },
    { "haul_environment_update_host_sized", live_in_environment, 1, 1 },
    { "haul_environment_wait", live_in_environment, 1, 1 },
    { "haul_environment_poll", live_in_environment, 1, 1 },
    { "haul_environment_attach", live_in_environment, 1, 1 },
    { "haul_environment_detach", live_in_environment, 1, 1 },
    { "haul_environment_set_detached", live_in_environment, 1, 1 },
    { "haul_environment_name_poison", live_in_environment, 1, 1 },
    { "haul_wait", wait_for, 1, 1 },
    { "haul_poll", poll_for, 1, 1 },
    { "haul_arena_bytes_slowly", call_arena_bytes, 0, 0 },
    { "haul_arena_new_slowly", call_arena_new, 0, 0 },
    { "haul_arena_new_tail", call_arena_tail, 0, 0 },
    { "haul_arena_new_pointers", call_arena_pointers, 0, 0 },
    { "haul_arena_malloc", call_arena_malloc, 0, 0 },
    { "haul_arena_calloc", call_arena_calloc, 0, 0 },
    { "haul_arena_realloc", call_arena_realloc, 0, 0 },
    { "haul_arena_new_nursery", call_arena_nursery, 0, 0 },
    { "haul_type_size", call_type_size, 0, 0 },
    { "haul_type_get_true_extent", get_true_extent, 0, 0 },
    { "haul_type_add_sized", call_type_add, 0, 1 },
    { "haul_context_add_static", call_add_static, 0, 1 },
    { "haul_context_add_translation", call_add_translation, 0, 1 },
    { "haul_graph_write_table_sized", write_table, 0, 0 },
    { "haul_shipment_write_places", write_places, 1, 1 },
    { "haul_graph_write_dot_sized", write_dot, 0, 0 },
    { "haul_image_to_bytes_sized", image_to_bytes, 1, 1 },
    { "haul_image_write_sized", write_images, 1, 1 },
    { "haul_image_save_sized", call_image_save, 0, 1 },
    { "haul_image_read_sized", read_image, 2, 0 },
    { "haul_image_from_bytes_sized", call_image_from_bytes, 2, 0 },
    { "haul_image_load_sized", call_image_load, 2, 0 },
    { "haul_image_map", call_image_map, 2, 0 },
    { "haul_image_map_shared", call_image_map_shared, 2, 0 },
};

TEST(calls, each_survives_every_fault_and_works_afterwards_H1_H2_D1_D4_D5_D6_D13)
{
    size_t i;
    for (i = 0; i < sizeof calls / sizeof *calls; i++) {
        fault_operation operation = {
            .prepare = prepare_context, .check = check, .undo = drop_results, .finish = finish
        };
        if (calls[i].has_device)
            operation.prepare = calls[i].has_device == 1 ? prepare_device : prepare_image;
        operation.name = calls[i].name;
        operation.run = calls[i].run;
        operation.keeps = calls[i].keeps;
        operation.modes = calls[i].has_device == 1 ? 0 : FAULT_MEMORY;
        CHECK(fault_everywhere(&operation) > 0);
    }
    CHECK(unlink(image_path()) == 0);
}

/* ---- The exported names that need no row. */

/* No memory and no device; one writes to a file, whose failures test_dump.c has. */
static const char *const reads_or_sets[] = {
    "haul_any_type",
    "haul_arena_block_bytes",
    "haul_arena_checkpoint",
    "haul_arena_contains",
    "haul_arena_error",
    "haul_arena_get_info_sized",
    "haul_chain_resolve", /* memory only for many ancestors: test_chain_rules.c */
    "haul_chain_resolve_on",
    "haul_context_error",
    "haul_cuda_count",
    "haul_cuda_find",
    "haul_cuda_device",
    "haul_device_context",
    "haul_device_fail",
    "haul_device_fail_at",
    "haul_device_get_info_sized",
    "haul_device_layout_of",
    "haul_device_pointer",
    "haul_device_state",
    "haul_environment_device_pointer",
    "haul_environment_find_sized",
    "haul_environment_get_info_sized",
    "haul_environment_host_pointer",
    "haul_environment_presence",
    "haul_environment_set_finder",
    "haul_environment_watch",
    "haul_device_where", /* without memory it tells the address and no path */
    "haul_file_descriptor",
    "haul_host_device",
    "haul_host_get_counters_sized",
    "haul_host_pointer",
    "haul_image_memory",
    "haul_image_roots",
    "haul_plan_address",
    "haul_plan_get_info_sized",
    "haul_plan_offset",
    "haul_plan_pack",
    "haul_plan_relocate",
    "haul_plan_unpack",
    "haul_return_directly", /* the return itself: test_ship_arena_faults.c */
    "haul_shipment_extents",
    "haul_shipment_get_info_sized",
    "haul_shipment_get_source_sized",
    "haul_shipment_write_table",
    "haul_status_name",
    "haul_status_text",
    "haul_this_process", /* its verbs fail in the audit's row */
    "haul_type_combiner",
    "haul_type_committed",
    "haul_type_dump",
    "haul_type_field_count", /* 0 where there is no memory: test_type_faults.c */
    "haul_type_get_extent",
    "haul_type_get_field",
    "haul_type_name",
    "haul_type_set_rebuild", /* the commit needs memory for it: test_rebuild.c */
    "haul_uses_read",
    "haul_uses_write",
    "haul_version",
};

/* They are part of each row, after which nothing may be live. */
static const char *const gives_back[] = {
    "haul_arena_free",     "haul_arena_free_block", "haul_arena_release", "haul_arena_reset",
    "haul_arena_rollback", "haul_chain_free",       "haul_context_free",  "haul_context_trim",
    "haul_device_close",   "haul_environment_free", "haul_forget_sized",  "haul_image_free",
    "haul_plan_free",      "haul_shipment_free",    "haul_type_free",
};

/* Faults of launches: test_strict.c. */
static const char *const runs_a_kernel[] = { "haul_host_launch" };

static size_t rows_of(const char *name)
{
    size_t i, count = 0;
    for (i = 0; i < sizeof calls / sizeof *calls; i++)
        count += strcmp(calls[i].name, name) == 0;
    return count;
}

TEST(calls, those_without_a_row_have_none)
{
    size_t i;
    for (i = 0; i < sizeof reads_or_sets / sizeof *reads_or_sets; i++)
        CHECK_EQ(rows_of(reads_or_sets[i]), 0);
    for (i = 0; i < sizeof gives_back / sizeof *gives_back; i++)
        CHECK_EQ(rows_of(gives_back[i]), 0);
    CHECK_EQ(rows_of(runs_a_kernel[0]), 0);
    for (i = 0; i < sizeof calls / sizeof *calls; i++)
        CHECK_EQ(rows_of(calls[i].name), 1);
}
