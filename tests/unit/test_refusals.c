/* Every public call with each argument that it refuses: the status, and a sentence that names the
 * argument if the call has an object with a record. For a NULL handle, the function that gives the
 * record says that there is no object.
 */
#include <string.h>

#include "haul.h"
#include "haul/host.h"
#include "support/check.h"
#include "support/inside.h"
#include "support/lists.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

static struct {
    haul_context *context, *other_context;
    haul_device *device, *far_device; /* the far one is of the other context */
    haul_type *type, *open, *box, *parameter;
    haul_arena *arena, *empty;
    haul_plan *plan, *far_plan;
    haul_chain *chain, *far_chain, *many; /* to the next node */
    haul_shipment *shipment, *arena_shipment;
    list_node data[2], *in_arena;
    unsigned char bytes[256];
    uint64_t bitmap[4];
} the;

/* ---- What calls write their results to. */

static haul_device *a_device;
static haul_plan *a_plan;
static haul_chain *a_chain;
static haul_audit_report *a_report;
static haul_shipment *a_shipment, *shipments[2];
static haul_arena *an_arena;
static haul_type *a_type;
static haul_image *an_image;
static haul_environment *an_environment;
static void *an_address;
static size_t a_size, another_size;
static haul_device_layout a_stamp;
static haul_field_info a_field;

/* ---- Calls. */

#define CALL(name, ...)                                                                            \
    static haul_status name(void)                                                                  \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

static haul_status root(void *address, const haul_type *type, size_t count)
{
    haul_root one;
    one.address = address;
    one.type = type;
    one.count = count;
    return haul_plan_create(the.context, haul_from_roots(&one, 1), NULL, &a_plan);
}
CALL(context_no_result, haul_context_create(NULL, NULL))
CALL(trim_null, haul_context_trim(NULL))
CALL(plan_null, haul_plan_create(NULL, haul_from_roots(NULL, 0), NULL, &a_plan))
CALL(plan_no_result, haul_plan_create(the.context, haul_from_roots(NULL, 1), NULL, NULL))
CALL(ordered_no_result, haul_plan_create(the.context, haul_from_roots(NULL, 1), ORDERED, NULL))
CALL(plan_no_list, haul_plan_create(the.context, haul_from_roots(NULL, 1), NULL, &a_plan))
CALL(ordered_no_list, haul_plan_create(the.context, haul_from_roots(NULL, 1), ORDERED, &a_plan))
static haul_status plan_no_roots(void)
{
    static const haul_root none;
    return haul_plan_create(the.context, haul_from_roots(&none, 0), NULL, &a_plan);
}
CALL(plan_no_objects, haul_plan_create(the.context, haul_from_arena(the.arena), NULL, &a_plan))
static haul_status plan_no_source(void)
{
    haul_source source;
    memset(&source, 0, sizeof source);
    return haul_plan_create(the.context, source, NULL, &a_plan);
}
/* Structs of a later version, which has one member more. */
typedef struct later {
    haul_source source;
    haul_plan_options plan;
    haul_ship_options ship;
    haul_update_options update;
    haul_async async;
    haul_audit_options audit;
    haul_image_options image;
    haul_image_write_options image_write;
    haul_enter_options enter;
    haul_exit_options exit;
    int more;
} later;
#define LATER(member) (sizeof(later) - offsetof(later, member))
static later a_later;
static const later *later_of(void)
{
    memset(&a_later, 0, sizeof a_later);
    a_later.source = haul_from_object(the.data, the.type);
    a_later.more = 1;
    return &a_later;
}
static haul_status plan_of_later(void)
{
    const haul_source source = haul_from_object(the.data, the.type);
    return haul_plan_create_sized(the.context, &source, sizeof source, &later_of()->plan,
                                  LATER(plan), &a_plan);
}
static haul_status source_of_later(void)
{
    return haul_plan_create_sized(the.context, &later_of()->source, LATER(source), NULL, 0,
                                  &a_plan);
}
static haul_status audit_of_later(void)
{
    const haul_source source = haul_from_object(the.data, the.type);
    return haul_audit_sized(the.context, NULL, &source, sizeof source, &later_of()->audit,
                            LATER(audit), NULL, 0);
}
/* In an environment where nothing is present. */
static haul_status in_environment(haul_status (*call)(haul_environment *e))
{
    haul_status status;
    if (haul_environment_create(the.device, &an_environment) != HAUL_OK)
        return HAUL_OK;
    status = call(an_environment);
    haul_environment_free(&an_environment);
    return status;
}
#define IN_ENVIRONMENT(name, ...)                                                                  \
    static haul_status do_##name(haul_environment *e)                                              \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    CALL(name, in_environment(do_##name))
CALL(environment_null, haul_environment_create(NULL, &an_environment))
CALL(environment_no_result, haul_environment_create(the.device, NULL))
CALL(enter_null, haul_environment_enter(NULL, the.data, the.type, 1, NULL, NULL))
CALL(exit_null, haul_environment_exit(NULL, the.data, NULL, NULL))
CALL(bring_null, haul_environment_update_host(NULL, the.data, 8, NULL))
CALL(send_null, haul_environment_update_device(NULL, the.data, 8, NULL))
CALL(update_null, haul_environment_update(NULL, NULL, 0, HAUL_TO_HOST, NULL))
CALL(dump_no_environment, haul_environment_dump(NULL, NULL, 0))
CALL(sync_null, haul_environment_sync(NULL, NULL))
CALL(track_null, haul_environment_track_writes(NULL, 1))
CALL(environment_wait_null, haul_environment_wait(NULL))
CALL(environment_poll_null, haul_environment_poll(NULL))
CALL(attach_null, haul_environment_attach(NULL, &the.data[0].next))
CALL(detach_null, haul_environment_detach(NULL, &the.data[0].next))
static const void *a_pointer;
CALL(set_detached_null, haul_environment_set_detached(NULL, HAUL_DETACHED_RAW))
CALL(name_poison_null, haul_environment_name_poison(NULL, 1, &a_pointer, NULL))
CALL(watch_null, haul_environment_watch(NULL, NULL, NULL, NULL))
static haul_status find_null(void)
{
    haul_present_range range;
    return haul_environment_find(NULL, the.data, &range);
}
IN_ENVIRONMENT(find_no_result, haul_environment_find(e, the.data, NULL))
IN_ENVIRONMENT(enter_nothing, haul_environment_enter(e, NULL, the.type, 1, NULL, NULL))
IN_ENVIRONMENT(enter_none, haul_environment_enter(e, the.data, the.type, 0, NULL, NULL))
IN_ENVIRONMENT(enter_no_type, haul_environment_enter(e, the.data, NULL, 1, NULL, NULL))
IN_ENVIRONMENT(enter_open, haul_environment_enter(e, the.data, the.open, 1, NULL, NULL))
IN_ENVIRONMENT(enter_of_later,
               haul_environment_enter_sized(e, the.data, the.type, 1, &later_of()->enter,
                                            LATER(enter), NULL, 0))
IN_ENVIRONMENT(attach_absent, haul_environment_attach(e, &the.data[0].next))
IN_ENVIRONMENT(set_no_form, haul_environment_set_detached(e, (haul_detached)9))
IN_ENVIRONMENT(name_no_poison, haul_environment_name_poison(e, 1, &a_pointer, NULL))
IN_ENVIRONMENT(name_no_result, haul_environment_name_poison(e, 1, NULL, NULL))
IN_ENVIRONMENT(exit_absent, haul_environment_exit(e, the.data, NULL, NULL))
IN_ENVIRONMENT(exit_of_later,
               haul_environment_exit_sized(e, the.data, &later_of()->exit, LATER(exit), NULL, 0))
IN_ENVIRONMENT(exit_under_open,
               haul_environment_enter(e, the.data, the.type, 1, NULL, NULL)
                   ? HAUL_OK
                   : haul_environment_exit(e, the.data,
                                           &(haul_exit_options){ .copyout = 1, .policy = the.open },
                                           NULL))
IN_ENVIRONMENT(send_absent, haul_environment_update_device(e, the.data, 8, NULL))
IN_ENVIRONMENT(bring_absent, haul_environment_update_host(e, the.data, 8, NULL))
IN_ENVIRONMENT(bring_absent_group, haul_environment_update_host(e, the.data, 0, NULL))
IN_ENVIRONMENT(dump_nowhere, haul_environment_dump(e, NULL, 0))
IN_ENVIRONMENT(sync_absent, haul_environment_sync(e, the.data))
IN_ENVIRONMENT(update_no_parts, haul_environment_update(e, NULL, 1, HAUL_TO_HOST, NULL))
IN_ENVIRONMENT(update_nowhere, haul_environment_update(e, NULL, 0, (haul_direction)7, NULL))
IN_ENVIRONMENT(update_nothing, haul_environment_update(e, &(haul_update_part){ .host = the.data },
                                                       1, HAUL_TO_HOST, NULL))

CALL(root_null, root(NULL, the.type, 1))
CALL(root_of_none, root(the.data, the.type, 0))
CALL(root_no_type, root(the.data, NULL, 1))
CALL(root_open, root(the.data, the.open, 1))
CALL(pack_null, haul_plan_pack(NULL, the.bytes, 256, 0, the.bitmap))
CALL(pack_nowhere, haul_plan_pack(the.plan, NULL, 256, 0, the.bitmap))
CALL(pack_no_bitmap, haul_plan_pack(the.plan, the.bytes, 256, 0, NULL))
CALL(pack_little, haul_plan_pack(the.plan, the.bytes, 8, 0, the.bitmap))
CALL(pack_on_source, haul_plan_pack(the.plan, the.data, 256, 0, the.bitmap))
CALL(unpack_null, haul_plan_unpack(NULL, the.bytes, 256, 0))
CALL(unpack_nothing, haul_plan_unpack(the.plan, NULL, 256, 0))
CALL(unpack_little, haul_plan_unpack(the.plan, the.bytes, 8, 0))
CALL(relocate_null, haul_plan_relocate(NULL, 8, the.bitmap, 8))
CALL(relocate_no_bitmap, haul_plan_relocate(the.bytes, 8, NULL, 8))
CALL(offset_null, haul_plan_offset(NULL, the.data, &a_size))
CALL(offset_elsewhere, haul_plan_offset(the.plan, &the.far_plan, &a_size))
CALL(offset_no_result, haul_plan_offset(the.plan, the.data, NULL))
CALL(address_null, haul_plan_address(NULL, 16, &an_address))
CALL(address_elsewhere, haul_plan_address(the.plan, SIZE_MAX / 2, &an_address))
CALL(address_no_result, haul_plan_address(the.plan, 16, NULL))
CALL(audit_null, haul_audit(NULL, haul_from_roots(NULL, 0), NULL, NULL))
CALL(audit_no_list, haul_audit(the.context, haul_from_roots(NULL, 1), NULL, NULL))
CALL(audit_no_objects, haul_audit(the.context, haul_from_plan(the.plan), NULL, NULL))
CALL(report_null, haul_audit_begin(NULL, NULL, &a_report))
CALL(report_nowhere, haul_audit_begin(the.context, NULL, NULL))
CALL(report_none, haul_audit_add(NULL, haul_from_object(the.data, the.type)))
CALL(report_end_none, haul_audit_end(NULL, NULL))
static haul_status report_of_later(void)
{
    return haul_audit_begin_sized(the.context, NULL, &later_of()->audit, LATER(audit), &a_report);
}
static haul_status report_no_objects(void)
{
    haul_audit_report *report;
    haul_status status = haul_audit_begin(the.context, NULL, &report);
    haul_error error;
    if (status != HAUL_OK)
        return status;
    status = haul_audit_add(report, haul_from_plan(the.plan));
    error = *haul_context_error(the.context);
    CHECK_STATUS(haul_audit_end(&report, NULL), HAUL_OK);
    CHECK_HAS(error.text, "the source is no objects");
    return status;
}
static haul_status graph_of(haul_context *context, haul_source source, const haul_file *file)
{
    const haul_status status = haul_graph_write_table(context, source, file);
    CHECK_EQ(haul_graph_write_dot(context, source, NULL, file), status);
    return status;
}
static haul_status graph_no_arena_root(void)
{
    const haul_file file = haul_file_descriptor(1);
    return graph_of(the.context, haul_from_arena(the.arena), &file);
}
static haul_status graph_far_plan(void)
{
    const haul_file file = haul_file_descriptor(1);
    return graph_of(the.context, haul_from_plan(the.far_plan), &file);
}
CALL(graph_null, graph_of(NULL, haul_from_object(the.data, the.type), NULL))
CALL(graph_no_file, graph_of(the.context, haul_from_object(the.data, the.type), NULL))
CALL(where_elsewhere, haul_device_where(the.device, &the, NULL, NULL))
static haul_status audit_no_write(void)
{
    static const haul_file file;
    const haul_audit_options options = { .file = &file };
    return haul_audit(the.context, haul_from_object(the.data, the.type), &options, NULL);
}
static haul_status image_of_later(void)
{
    return haul_image_from_bytes_sized(the.context, the.bytes, 8, &the.type, 1, &later_of()->image,
                                       LATER(image), &an_image);
}
static haul_status image_write_of_later(void)
{
    const haul_source source = haul_from_object(the.data, the.type);
    const haul_file file = haul_file_descriptor(-1);
    return haul_image_write_sized(the.context, &source, sizeof source, &later_of()->image_write,
                                  LATER(image_write), &file);
}
static haul_status image_level(void)
{
    const haul_image_write_options options = { .compression = 20 };
    return haul_image_save_as(the.context, haul_from_object(the.data, the.type), &options, "x");
}
static haul_status image_renames(const haul_image_rename *renames, haul_type *const *types)
{
    const haul_image_options options = { .renames = renames, .rename_count = 1 };
    return haul_image_from_bytes(the.context, the.bytes, 8, types, types != NULL, &options,
                                 &an_image);
}
static haul_status image_growths(const haul_image_growth *growths, haul_type *const *types)
{
    const haul_image_options options = { .growths = growths, .growth_count = 1 };
    return haul_image_from_bytes(the.context, the.bytes, 8, types, types != NULL, &options,
                                 &an_image);
}
static const haul_image_growth half_a_growth = { "mesh", 0, 8 };
static const haul_image_rename half_a_rename = { "mesh", NULL };
static haul_status image_no_write(void)
{
    static const haul_file file;
    return haul_image_write(the.context, haul_from_object(the.data, the.type), &file);
}
static haul_status image_no_read(void)
{
    static const haul_file file;
    return haul_image_read(the.context, &file, &the.type, 1, NULL, &an_image);
}
static haul_status image_to(haul_source source)
{
    const haul_file file = haul_file_descriptor(-1);
    return haul_image_write(the.context, source, &file);
}
static haul_status image_from(const void *bytes, haul_type *const *types, size_t count)
{
    return haul_image_from_bytes(the.context, bytes, 8, types, count, NULL, &an_image);
}
static haul_type *const no_type;
CALL(image_null, haul_image_save(NULL, haul_from_object(the.data, the.type), "x"))
CALL(image_no_path, haul_image_save(the.context, haul_from_object(the.data, the.type), NULL))
CALL(image_full_file, image_to(haul_from_object(the.data, the.type)))
CALL(image_of_arena, image_to(haul_from_arena(the.arena)))
CALL(image_of_far_plan, image_to(haul_from_plan(the.far_plan)))
CALL(image_of_compacted_plan, image_to(haul_from_plan(the.plan)))
CALL(image_of_no_shipment, image_to(haul_from_device(NULL)))
CALL(image_of_far_root, image_to(haul_from_device_root(the.shipment, &the.far_plan, the.type)))
CALL(ship_from_device,
     haul_ship_from(the.device, haul_from_device(the.shipment), NULL, NULL, &a_shipment))
CALL(image_no_renames, image_renames(NULL, &the.type))
CALL(image_half_a_rename, image_renames(&half_a_rename, &the.type))
CALL(image_renames_alone, image_renames(&half_a_rename, NULL))
CALL(image_no_growths, image_growths(NULL, &the.type))
CALL(image_half_a_growth, image_growths(&half_a_growth, &the.type))
CALL(image_growths_alone, image_growths(&half_a_growth, NULL))
CALL(image_no_result, haul_image_from_bytes(the.context, the.bytes, 8, &the.type, 1, NULL, NULL))
CALL(image_no_bytes, image_from(NULL, &the.type, 1))
CALL(image_no_types, image_from(the.bytes, NULL, 1))
CALL(image_of_none, image_from(the.bytes, &the.type, 0))
CALL(image_no_type, image_from(the.bytes, &no_type, 1))
CALL(image_open_type, image_from(the.bytes, &the.open, 1))
CALL(image_short, image_from(the.bytes, &the.type, 1))
CALL(image_load_no_path, haul_image_load(the.context, NULL, &the.type, 1, NULL, &an_image))
CALL(image_load_nowhere, haul_image_load(the.context, "", &the.type, 1, NULL, &an_image))
CALL(image_map_null, haul_image_map(NULL, "x", &the.type, 1, &an_image))
CALL(image_map_no_path, haul_image_map(the.context, NULL, &the.type, 1, &an_image))
CALL(image_map_nowhere, haul_image_map(the.context, "no/such/file", &the.type, 1, &an_image))
CALL(image_map_no_result, haul_image_map(the.context, "x", &the.type, 1, NULL))
CALL(image_map_no_types, haul_image_map(the.context, "/proc/self/exe", NULL, 1, &an_image))
CALL(image_share_null, haul_image_map_shared(NULL, "x", &the.type, 1, &an_image))
CALL(image_share_no_path, haul_image_map_shared(the.context, NULL, &the.type, 1, &an_image))
CALL(image_share_no_result, haul_image_map_shared(the.context, "x", &the.type, 1, NULL))
static haul_status image_address(void)
{
    const haul_image_write_options options = { .address = 4096 };
    return haul_image_save_as(the.context, haul_from_object(the.data, the.type), &options, "x");
}
CALL(open_no_context, haul_host_open(NULL, NULL, &a_device))
CALL(open_no_result, haul_host_open(the.context, NULL, NULL))
CALL(open_no_table, haul_device_open(the.context, NULL, NULL, &a_device))
CALL(static_no_context, haul_context_add_static(NULL, &the, sizeof the, HAUL_STATIC_KEEP))
CALL(static_nowhere, haul_context_add_static(the.context, NULL, 1, HAUL_STATIC_KEEP))
CALL(static_wraps, haul_context_add_static(the.context, &the, SIZE_MAX, HAUL_STATIC_KEEP))
CALL(static_policy, haul_context_add_static(the.context, &the, 1, (haul_static_policy)7))
CALL(translation_no_context, haul_context_add_translation(NULL, 1, 2))

CALL(launch_null, haul_host_launch(NULL, NULL, NULL))
CALL(launch_nothing, haul_host_launch(the.device, NULL, NULL))
CALL(counters_null, haul_host_get_counters(NULL, NULL))
CALL(counters_nowhere, haul_host_get_counters(the.device, NULL))

CALL(ship_null, haul_ship(NULL, the.data, the.type, 1, NULL, &a_shipment))
CALL(ship_no_result, haul_ship(the.device, the.data, the.type, 1, NULL, NULL))
CALL(ship_no_root, haul_ship(the.device, NULL, the.type, 1, NULL, &a_shipment))
CALL(ship_no_type, haul_ship(the.device, the.data, NULL, 1, NULL, &a_shipment))
CALL(ship_open_type, haul_ship(the.device, the.data, the.open, 1, NULL, &a_shipment))
CALL(ship_of_none, haul_ship(the.device, the.data, the.type, 0, NULL, &a_shipment))
CALL(roots_no_result, haul_ship_from(the.device, haul_from_roots(NULL, 1), NULL, NULL, NULL))
CALL(roots_no_list, haul_ship_from(the.device, haul_from_roots(NULL, 1), NULL, NULL, &a_shipment))
CALL(ship_plan_null, haul_ship_from(NULL, haul_from_plan(the.plan), NULL, NULL, &a_shipment))
CALL(ship_plan_no_result, haul_ship_from(the.device, haul_from_plan(the.plan), NULL, NULL, NULL))
CALL(ship_no_plan, haul_ship_from(the.device, haul_from_plan(NULL), NULL, NULL, &a_shipment))
CALL(ship_far_plan,
     haul_ship_from(the.device, haul_from_plan(the.far_plan), NULL, NULL, &a_shipment))

CALL(async_no_result,
     haul_ship_from(the.device, haul_from_object(the.data, the.type), NULL, OWN_STREAM, NULL))

CALL(async_no_root,
     haul_ship_from(the.device, haul_from_object(NULL, the.type), NULL, OWN_STREAM, &a_shipment))

CALL(plan_async_no_result,
     haul_ship_from(the.device, haul_from_plan(the.plan), NULL, OWN_STREAM, NULL))

CALL(plan_async_no_plan,
     haul_ship_from(the.device, haul_from_plan(NULL), NULL, OWN_STREAM, &a_shipment))
static haul_status ship_strange_stream(void)
{
    haul_async on = { &the, NULL };
    return haul_ship_from(the.device, haul_from_object(the.data, the.type), NULL, &on, &a_shipment);
}
static haul_status refresh_strange_stream(void)
{
    haul_async on = { &the, NULL };
    return haul_update_device(the.shipment, NULL, &on);
}
CALL(refresh_null, haul_update_device(NULL, NULL, NULL))
CALL(refresh_async_null, haul_update_device(NULL, NULL, OWN_STREAM))
CALL(replan_null, haul_reship(NULL, NULL))
CALL(unmarshal_null, haul_unmarshal(NULL))
CALL(table_null, haul_shipment_write_table(NULL, NULL))
CALL(table_no_file, haul_shipment_write_table(the.shipment, NULL))
CALL(places_null, haul_shipment_write_places(NULL, NULL))
CALL(places_no_file, haul_shipment_write_places(the.shipment, NULL))
CALL(unmarshal_async_null, haul_update_host(NULL, NULL, OWN_STREAM))
CALL(refresh_with_pointers, haul_update_device(the.shipment, WITH_POINTERS, NULL))
CALL(refresh_whole, haul_update_device(the.shipment, ALL_OR_NOTHING, NULL))
static haul_status range_with_pointers(void)
{
    const haul_update_options how = { .host = the.data, .bytes = 8, .pointers = 1 };
    return haul_update_host(the.shipment, &how, NULL);
}
static haul_status ship_of_later(void)
{
    const haul_source source = haul_from_object(the.data, the.type);
    return haul_ship_from_sized(the.device, &source, sizeof source, &later_of()->ship, LATER(ship),
                                NULL, 0, &a_shipment);
}
static haul_status ship_async_of_later(void)
{
    const haul_source source = haul_from_object(the.data, the.type);
    return haul_ship_from_sized(the.device, &source, sizeof source, NULL, 0, &later_of()->async,
                                LATER(async), &a_shipment);
}
static haul_status arenas_of_later(void)
{
    return haul_ship_arenas_sized(the.device, &the.arena, 1, &later_of()->ship, LATER(ship), NULL,
                                  0, &a_shipment);
}
static haul_status update_device_of_later(void)
{
    return haul_update_device_sized(the.shipment, &later_of()->update, LATER(update), NULL, 0);
}
static haul_status update_host_of_later(void)
{
    return haul_update_host_sized(the.shipment, NULL, 0, &later_of()->async, LATER(async));
}
static haul_status reship_of_later(void)
{
    return haul_reship_sized(the.shipment, &later_of()->async, LATER(async));
}
CALL(pointers_null, haul_update_host(NULL, WITH_POINTERS, NULL))
CALL(pointers_async_null, haul_update_host(NULL, WITH_POINTERS, OWN_STREAM))
CALL(wait_null, haul_wait(NULL))
CALL(poll_null, haul_poll(NULL))
CALL(update_device_null, haul_update_device(NULL, RANGE(the.data, 8), NULL))
CALL(update_device_async_null, haul_update_device(NULL, RANGE(the.data, 8), OWN_STREAM))
CALL(update_host_null, haul_update_host(NULL, RANGE(the.data, 8), NULL))
CALL(update_host_async_null, haul_update_host(NULL, RANGE(the.data, 8), OWN_STREAM))
CALL(update_device_nothing, haul_update_device(the.shipment, RANGE(NULL, 8), NULL))
CALL(update_device_no_bytes, haul_update_device(the.shipment, RANGE(the.data, 0), NULL))
CALL(update_device_wraps, haul_update_device(the.shipment, RANGE(the.data, SIZE_MAX), NULL))
CALL(update_device_elsewhere, haul_update_device(the.shipment, RANGE(&the.far_plan, 8), OWN_STREAM))
CALL(update_host_nothing, haul_update_host(the.shipment, RANGE(NULL, 8), NULL))
CALL(update_host_wraps, haul_update_host(the.shipment, RANGE(the.data, SIZE_MAX), OWN_STREAM))
CALL(update_arena_elsewhere, haul_update_host(the.arena_shipment, RANGE(the.data, 8), NULL))
CALL(copy_null, haul_shipment_copy(NULL, the.device, &a_shipment))
CALL(copy_no_result, haul_shipment_copy(the.shipment, the.device, NULL))
CALL(copy_nowhere, haul_shipment_copy(the.shipment, NULL, &a_shipment))
CALL(copy_far, haul_shipment_copy(the.shipment, the.far_device, &a_shipment))

/* ---- Arenas. */

static haul_status why(const void *given)
{
    return given ? HAUL_OK : haul_arena_error(the.arena)->status;
}

static haul_status arena_huge(void)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = SIZE_MAX - 5;
    return haul_arena_create(the.context, &options, &an_arena);
}
static haul_status arena_huge_for(void)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.reserve_bytes = SIZE_MAX - 5;
    return test_arena(the.device, &options, &an_arena);
}
CALL(arena_null, haul_arena_create(NULL, NULL, &an_arena))
CALL(arena_no_result, haul_arena_create(the.context, NULL, NULL))
CALL(arena_for_null, test_arena(NULL, NULL, &an_arena))
static haul_status arena_pinned_nowhere(void)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.pinned = 1;
    return haul_arena_create(the.context, &options, &an_arena);
}
static haul_status arena_far(void)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.device = the.far_device;
    return haul_arena_create(the.context, &options, &an_arena);
}
CALL(arena_other_layout,
     haul_arena_create_sized(the.context, NULL, 0, HAUL_ARENA_LAYOUT + 1, &an_arena))
CALL(arena_for_no_result, test_arena(the.device, NULL, NULL))
CALL(new_no_type, why(haul_arena_new(the.arena, NULL, 1)))
CALL(new_open_type, why(haul_arena_new(the.arena, the.open, 1)))
CALL(new_of_none, why(haul_arena_new(the.arena, the.type, 0)))
CALL(new_too_many, why(haul_arena_new(the.arena, the.type, SIZE_MAX / 8)))
CALL(tail_no_type, why(haul_arena_new_tail(the.arena, NULL, 1)))
CALL(tail_too_long, why(haul_arena_new_tail(the.arena, the.type, SIZE_MAX)))
CALL(pointers_none, why(haul_arena_new_pointers(the.arena, 0)))
CALL(pointers_too_many, why(haul_arena_new_pointers(the.arena, SIZE_MAX / 2)))
CALL(bytes_none, why(haul_arena_bytes(the.arena, 0, 0)))
CALL(bytes_too_many, why(haul_arena_bytes(the.arena, SIZE_MAX, 0)))
CALL(aligned_oddly, why(haul_arena_bytes(the.arena, 8, 3)))
CALL(aligned_widely, why(haul_arena_bytes(the.arena, 8, 8192)))
CALL(aligned_none, why(haul_arena_bytes(the.arena, 0, 16)))
CALL(nursery_none, why(haul_arena_new_nursery(the.arena, 0)))
CALL(nursery_huge, why(haul_arena_new_nursery(the.arena, SIZE_MAX)))
CALL(malloc_huge, why(haul_arena_malloc(the.arena, SIZE_MAX)))
CALL(calloc_huge, why(haul_arena_calloc(the.arena, SIZE_MAX, 16)))
CALL(realloc_foreign, why(haul_arena_realloc(the.arena, the.data, 16)))
CALL(free_foreign, haul_arena_free_block(the.arena, the.data))
CALL(free_null, haul_arena_free_block(NULL, the.data))
CALL(release_null, haul_arena_release(NULL, the.data, 8))
CALL(release_foreign, haul_arena_release(the.arena, the.data, 8))
CALL(release_too_many, haul_arena_release(the.arena, the.in_arena, 100000))
CALL(release_none, haul_arena_release(the.arena, the.in_arena, 0))
CALL(rollback_null, haul_arena_rollback(NULL, haul_arena_checkpoint(NULL)))
CALL(rollback_to_nothing, haul_arena_rollback(the.arena, haul_arena_checkpoint(NULL)))
CALL(reset_null, haul_arena_reset(NULL))
CALL(stamp_null, haul_device_layout_of(NULL, &a_stamp))
CALL(stamp_no_result, haul_device_layout_of(the.type, NULL))
CALL(stamp_open, haul_device_layout_of(the.open, &a_stamp))

static haul_status ship_with(int outside, const haul_shipment *const *into, size_t count)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.outside = (haul_outside)outside;
    options.beside = into;
    options.beside_count = count;
    return haul_ship_from(the.device, haul_from_arena(the.arena), &options, NULL, &a_shipment);
}
static haul_status ship_into_a_graph(void)
{
    const haul_shipment *into[2];
    into[0] = the.arena_shipment;
    into[1] = the.shipment;
    return ship_with(0, into, 2);
}
static haul_status from_with_rule(void)
{
    haul_ship_options options;
    memset(&options, 0, sizeof options);
    options.outside = HAUL_OUTSIDE_NULL;
    return haul_ship_from(the.device, haul_from_arena_root(the.arena, the.in_arena, the.type),
                          &options, NULL, &a_shipment);
}
CALL(ship_arena_null, haul_ship_from(NULL, haul_from_arena(the.arena), NULL, NULL, &a_shipment))
CALL(ship_arena_no_result, haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, NULL))
CALL(ship_no_arena, haul_ship_from(the.device, haul_from_arena(NULL), NULL, NULL, &a_shipment))
CALL(ship_empty, haul_ship_from(the.device, haul_from_arena(the.empty), NULL, NULL, &a_shipment))
CALL(ship_no_rule, ship_with(7, NULL, 0))
CALL(ship_into_nothing, ship_with(0, NULL, 1))
CALL(arenas_no_result, haul_ship_arenas(the.device, &the.arena, 1, NULL, NULL, NULL))
CALL(arenas_no_list, haul_ship_arenas(the.device, NULL, 1, NULL, NULL, shipments))
CALL(arenas_none, haul_ship_arenas(the.device, &the.arena, 0, NULL, NULL, shipments))
CALL(from_null, haul_ship_from(NULL, haul_from_arena_root(the.arena, the.in_arena, the.type), NULL,
                               NULL, &a_shipment))

CALL(from_no_result,
     haul_ship_from(the.device, haul_from_arena_root(the.arena, the.in_arena, the.type), NULL, NULL,
                    NULL))

CALL(from_no_arena, haul_ship_from(the.device, haul_from_arena_root(NULL, the.in_arena, the.type),
                                   NULL, NULL, &a_shipment))

CALL(from_no_root, haul_ship_from(the.device, haul_from_arena_root(the.arena, NULL, the.type), NULL,
                                  NULL, &a_shipment))

CALL(from_no_type, haul_ship_from(the.device, haul_from_arena_root(the.arena, the.in_arena, NULL),
                                  NULL, NULL, &a_shipment))

/* ---- Types. */
CALL(type_no_result, type_make("t", 8, NULL, 0, NULL))
CALL(type_no_rows, type_make("t", 8, NULL, 1, &a_type))
static haul_status pointer_no_result(void)
{
    static const haul_count shape = HAUL_ONE;
    return haul_type_pointer(type_context(), "p", NULL, 8, shape, NULL);
}
CALL(parameter_no_result, haul_type_parameter(type_context(), "p", NULL))
CALL(bytes_no_result, haul_type_bytes(type_context(), "b", 8, NULL))
CALL(add_null, haul_type_add(NULL, NULL, 0))
CALL(add_no_rows, haul_type_add(the.open, NULL, 1))
CALL(add_closed, haul_type_add(the.type, NULL, 0))
CALL(rebuild_null, haul_type_set_rebuild(NULL, NULL, NULL))
CALL(rebuild_closed, haul_type_set_rebuild(the.type, NULL, NULL))
CALL(commit_null, haul_type_commit(NULL))
CALL(dup_null, haul_type_dup(NULL, &a_type))
CALL(dup_no_result, haul_type_dup(the.type, NULL))
CALL(contiguous_null, haul_type_contiguous(1, NULL, &a_type))
CALL(contiguous_no_result, haul_type_contiguous(1, the.type, NULL))
CALL(vector_no_result, haul_type_vector(1, 1, 1, the.type, NULL))
CALL(hvector_no_result, haul_type_create_hvector(1, 1, 1, the.type, NULL))
CALL(indexed_no_lists, haul_type_indexed(1, NULL, NULL, the.type, &a_type))
CALL(hindexed_no_lists, haul_type_create_hindexed(1, NULL, NULL, the.type, &a_type))
CALL(indexed_block_no_list, haul_type_create_indexed_block(1, 1, NULL, the.type, &a_type))
CALL(struct_no_types, haul_type_create_struct(1, NULL, NULL, NULL, &a_type))
CALL(struct_no_lists, haul_type_create_struct(1, NULL, NULL, &the.type, &a_type))
CALL(subarray_no_lists,
     haul_type_create_subarray(1, NULL, NULL, NULL, HAUL_ORDER_C, the.type, &a_type))
CALL(resized_to_none, haul_type_create_resized(the.type, 0, 0, &a_type))
CALL(instance_null, haul_type_instance(NULL, 1, &the.parameter, &the.type, &a_type))
CALL(instance_no_result, haul_type_instance(the.box, 1, &the.parameter, &the.type, NULL))
CALL(instance_no_parameter, haul_type_instance(the.box, 1, NULL, &the.type, &a_type))
CALL(policy_null, haul_policy_create(NULL, "p", NULL, 0, &a_type))
CALL(policy_no_result, haul_policy_create(the.type, "p", NULL, 0, NULL))
CALL(policy_no_name, haul_policy_create(the.type, NULL, NULL, 0, &a_type))
CALL(policy_no_rows, haul_policy_create(the.type, "p", NULL, 1, &a_type))
CALL(policy_open, haul_policy_create(the.box, "p", NULL, 0, &a_type))
CALL(type_size_null, haul_type_size(NULL, &a_size))
CALL(type_size_no_result, haul_type_size(the.type, NULL))
CALL(extent_null, haul_type_get_extent(NULL, &a_size, &another_size))
CALL(extent_no_result, haul_type_get_extent(the.type, &a_size, NULL))
CALL(true_extent_no_result, haul_type_get_true_extent(the.type, NULL, &a_size))
CALL(field_null, haul_type_get_field(NULL, 0, &a_field))
CALL(field_no_result, haul_type_get_field(the.type, 0, NULL))
CALL(field_none, haul_type_get_field(the.type, 9, &a_field))
CALL(dump_null, haul_type_dump(NULL, NULL))
CALL(dump_no_file, haul_type_dump(the.type, NULL))
static haul_status takes_nothing(void *user, const void *data, size_t bytes)
{
    (void)user, (void)data, (void)bytes;
    return HAUL_ERROR_FILE;
}
static haul_status dump_full_file(void)
{
    haul_file file;
    memset(&file, 0, sizeof file);
    file.write = takes_nothing;
    return haul_type_dump(the.type, &file);
}
static haul_status uses_full_file(void)
{
    haul_file file;
    memset(&file, 0, sizeof file);
    file.write = takes_nothing;
    return haul_uses_write(the.context, NULL, 0, &file);
}
static haul_place_hint a_hint;
CALL(uses_write_null, haul_uses_write(NULL, NULL, 0, NULL))
CALL(uses_no_file, haul_uses_write(the.context, NULL, 0, NULL))
CALL(uses_read_null, haul_uses_read(NULL, "", 0, NULL, 0))
CALL(uses_no_text, haul_uses_read(the.context, NULL, 0, NULL, 0))
CALL(uses_no_hints, haul_uses_read(the.context, "", 0, NULL, 1))
CALL(uses_no_type, haul_uses_read(the.context, "", 0, &a_hint, 1))
CALL(uses_no_head, haul_uses_read(the.context, "haul-uses-2\n", 12, NULL, 0))
static haul_status audit_full_file(void)
{
    haul_file file;
    const haul_audit_options options = { .file = &file };
    memset(&file, 0, sizeof file);
    file.write = takes_nothing;
    return haul_audit(the.context, haul_from_object(the.data, the.type), &options, NULL);
}

/* ---- Chains. */

static haul_status make_chain(const haul_type *type, const char *path, size_t root_bytes,
                              size_t bytes)
{
    return haul_chain_create_checked(the.context, type, path, root_bytes, bytes, &a_chain);
}
CALL(chain_null, haul_chain_create(NULL, the.type, "next", &a_chain))
CALL(chain_no_result, haul_chain_create(the.context, the.type, "next", NULL))
CALL(chain_no_path, make_chain(the.type, NULL, 0, 0))
CALL(chain_no_type, make_chain(NULL, "next", 0, 0))
CALL(chain_open, make_chain(the.open, "next", 0, 0))
CALL(chain_empty, make_chain(the.type, "", 0, 0))
CALL(chain_elsewhere, make_chain(the.type, "next.previous", 0, 0))
CALL(chain_far_index, make_chain(the.type, "next[1][2]", 0, 0))
CALL(chain_too_many, make_chain(the.type, "next[*].next[*].next[*].next[*].next[*]", 0, 0))
CALL(chain_other_root, make_chain(the.type, "next", 1, 0))
CALL(chain_other_end, make_chain(the.type, "next", sizeof(list_node), 1))

static haul_root a_target;
CALL(resolve_null, haul_chain_resolve(NULL, the.data, &a_target, 1, &a_size))
CALL(resolve_no_root, haul_chain_resolve(the.chain, NULL, &a_target, 1, &a_size))
CALL(resolve_no_targets, haul_chain_resolve(the.chain, the.data, NULL, 1, &a_size))
CALL(resolve_no_count, haul_chain_resolve(the.chain, the.data, &a_target, 1, NULL))
static haul_status resolve_on(const haul_shipment *shipment, const haul_chain *chain, void *root)
{
    return haul_chain_resolve_on(shipment, chain, root, &a_target, 1, &a_size);
}
CALL(resolve_on_null, resolve_on(NULL, the.chain, the.data))
CALL(resolve_on_no_chain, resolve_on(the.shipment, NULL, the.data))
CALL(resolve_on_far_chain, resolve_on(the.shipment, the.far_chain, the.data))
CALL(resolve_on_no_root, resolve_on(the.shipment, the.chain, NULL))
CALL(resolve_on_other_shipment, resolve_on(the.arena_shipment, the.chain, the.data))
CALL(resolve_on_no_count,
     haul_chain_resolve_on(the.shipment, the.chain, the.data, &a_target, 1, NULL))
static haul_status fill(const haul_chain *chain, size_t element_bytes, size_t count_bytes,
                        size_t count)
{
    static struct {
        void *pointer;
        int64_t count;
    } arguments;
    const haul_argument one = { chain, 0, element_bytes, sizeof(void *), count_bytes };
    return haul_chain_arguments(the.shipment, the.data, &one, count, &arguments);
}
CALL(arguments_no_chain, fill(NULL, sizeof(list_node), 0, 1))
CALL(arguments_of_many, fill(the.many, sizeof(list_node), 0, 1))
CALL(arguments_of_bytes, fill(the.chain, 1, 0, 1))
CALL(arguments_odd_count, fill(the.chain, sizeof(list_node), 5, 1))
CALL(arguments_none, fill(the.chain, sizeof(list_node), 0, 0))
static const haul_argument no_argument;
CALL(arguments_null, haul_chain_arguments(NULL, the.data, &no_argument, 1, the.bytes))
CALL(arguments_no_list, haul_chain_arguments(the.shipment, the.data, NULL, 1, the.bytes))
CALL(arguments_nowhere, haul_chain_arguments(the.shipment, the.data, &no_argument, 1, NULL))
static haul_status arguments_of_later(void)
{
    static const struct {
        haul_argument argument;
        int64_t more;
    } one = { { NULL, 0, 0, 0, 0 }, 1 };
    return haul_chain_arguments_sized(the.shipment, the.data, &one.argument, 1, sizeof one,
                                      the.bytes);
}
static haul_status plan_of_chains(void *root, haul_chain *chain, size_t count)
{
    return haul_plan_create(the.context, haul_from_chains(root, &chain, count), NULL, &a_plan);
}
CALL(plan_no_chain_root, plan_of_chains(NULL, the.chain, 1))
CALL(plan_no_chains, plan_of_chains(the.data, the.chain, 0))
CALL(plan_no_chain, plan_of_chains(the.data, NULL, 1))
CALL(plan_far_chain, plan_of_chains(the.data, the.far_chain, 1))
CALL(plan_no_target, plan_of_chains(&the.data[1], the.chain, 1))
CALL(plan_no_chain_list,
     haul_plan_create(the.context, haul_from_chains(the.data, NULL, 1), NULL, &a_plan))
static haul_status audit_chains(void)
{
    return haul_audit(the.context, haul_from_chains(the.data, &the.chain, 1), NULL, NULL);
}

/* ---- The table. */

typedef enum holder {
    ON_CONTEXT,
    ON_DEVICE,
    ON_ARENA,
    ON_TYPE,
    NO_CONTEXT, /* the call had no object: what is told of a NULL one */
    NO_DEVICE,
    NO_ARENA,
    NOTHING /* a look-up, or a call without objects: the status says all */
} holder;

typedef struct refusal {
    haul_status (*call)(void);
    holder where;
    haul_status status;
    const char *words;
} refusal;

#define ARGUMENT HAUL_ERROR_ARGUMENT

static const refusal refusals[] = {
    { context_no_result, NO_CONTEXT, ARGUMENT, "no context" },
    { trim_null, NO_CONTEXT, ARGUMENT, "no context" },
    { plan_null, NO_CONTEXT, ARGUMENT, "no context" },
    { plan_no_result, ON_CONTEXT, ARGUMENT, "address of the new plan" },
    { ordered_no_result, ON_CONTEXT, ARGUMENT, "address of the new plan" },
    { plan_no_list, ON_CONTEXT, ARGUMENT, "list of roots is NULL" },
    { ordered_no_list, ON_CONTEXT, ARGUMENT, "list of roots is NULL" },
    { plan_no_roots, ON_CONTEXT, ARGUMENT, "number of roots is 0" },
    { root_null, ON_CONTEXT, ARGUMENT, "root 0 is NULL" },
    { root_of_none, ON_CONTEXT, ARGUMENT, "root 0 is 0 objects" },
    { root_no_type, ON_CONTEXT, ARGUMENT, "type of root 0" },
    { root_open, ON_CONTEXT, HAUL_ERROR_STATE, "call haul_type_commit" },
    { pack_null, NO_CONTEXT, ARGUMENT, "no context" },
    { pack_nowhere, ON_CONTEXT, ARGUMENT, "arena to pack into is NULL" },
    { pack_no_bitmap, ON_CONTEXT, ARGUMENT, "bitmap is NULL" },
    { pack_little, ON_CONTEXT, ARGUMENT, "the arena has 8 bytes" },
    { pack_on_source, ON_CONTEXT, ARGUMENT, "overlaps the source" },
    { unpack_null, NO_CONTEXT, ARGUMENT, "no context" },
    { unpack_nothing, ON_CONTEXT, ARGUMENT, "arena to unpack is NULL" },
    { unpack_little, ON_CONTEXT, ARGUMENT, "the arena has 8 bytes" },
    { relocate_null, NOTHING, ARGUMENT, "" },
    { relocate_no_bitmap, NOTHING, ARGUMENT, "" },
    { offset_null, NOTHING, ARGUMENT, "" },
    { offset_elsewhere, NOTHING, ARGUMENT, "" },
    { offset_no_result, NOTHING, ARGUMENT, "" },
    { address_null, NOTHING, ARGUMENT, "" },
    { address_elsewhere, NOTHING, ARGUMENT, "" },
    { address_no_result, NOTHING, ARGUMENT, "" },
    { audit_null, NO_CONTEXT, ARGUMENT, "no context" },
    { audit_no_list, ON_CONTEXT, ARGUMENT, "list of roots is NULL" },
    { audit_no_objects, ON_CONTEXT, ARGUMENT, "the source is no objects" },
    { report_null, NO_CONTEXT, ARGUMENT, "no context" },
    { report_nowhere, ON_CONTEXT, ARGUMENT, "the address of the new report" },
    { report_none, NOTHING, ARGUMENT, "" },
    { report_end_none, NOTHING, ARGUMENT, "" },
    { report_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { report_no_objects, NOTHING, ARGUMENT, "" },
    { chain_null, NO_CONTEXT, ARGUMENT, "no context" },
    { chain_no_result, ON_CONTEXT, ARGUMENT, "address of the new chain" },
    { chain_no_path, ON_CONTEXT, ARGUMENT, "the path is NULL" },
    { chain_no_type, ON_CONTEXT, ARGUMENT, "type of the root is NULL" },
    { chain_open, ON_CONTEXT, HAUL_ERROR_STATE, "call haul_type_commit" },
    { chain_empty, ON_CONTEXT, ARGUMENT, "a path is made of names" },
    { chain_elsewhere, ON_CONTEXT, ARGUMENT, "no field previous" },
    { chain_far_index, ON_CONTEXT, ARGUMENT, "next has 2 indices, and 1 are possible" },
    { chain_too_many, ON_CONTEXT, HAUL_ERROR_LIMIT, "more than 4 times [*]" },
    { chain_other_root, ON_CONTEXT, ARGUMENT, "the root has 1 bytes" },
    { chain_other_end, ON_CONTEXT, ARGUMENT, "next has 1 bytes in the program" },
    { resolve_null, NOTHING, ARGUMENT, "" },
    { resolve_no_root, ON_CONTEXT, ARGUMENT, "the root is NULL" },
    { resolve_no_targets, ON_CONTEXT, ARGUMENT, "list of targets is NULL" },
    { resolve_no_count, ON_CONTEXT, ARGUMENT, "number of targets is NULL" },
    { resolve_on_null, NOTHING, ARGUMENT, "" },
    { resolve_on_no_chain, ON_CONTEXT, ARGUMENT, "the chain is NULL" },
    { resolve_on_far_chain, ON_CONTEXT, ARGUMENT, "of another context" },
    { resolve_on_no_root, ON_CONTEXT, ARGUMENT, "the root is NULL" },
    { resolve_on_other_shipment, ON_CONTEXT, HAUL_ERROR_STALE, "not in the shipment" },
    { resolve_on_no_count, ON_CONTEXT, ARGUMENT, "number of targets is NULL" },
    { arguments_null, NOTHING, ARGUMENT, "" },
    { arguments_no_list, ON_CONTEXT, ARGUMENT, "list of arguments is NULL" },
    { arguments_none, ON_CONTEXT, ARGUMENT, "number of arguments is 0" },
    { arguments_nowhere, ON_CONTEXT, ARGUMENT, "struct of arguments is NULL" },
    { arguments_no_chain, ON_CONTEXT, ARGUMENT, "the chain is NULL" },
    { arguments_of_many, ON_CONTEXT, ARGUMENT, "has many targets" },
    { arguments_of_bytes, ON_CONTEXT, ARGUMENT, "points to elements of 1 bytes" },
    { arguments_odd_count, ON_CONTEXT, ARGUMENT, "its count is no integer" },
    { arguments_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { plan_no_chain_root, ON_CONTEXT, ARGUMENT, "root of the chains is NULL" },
    { plan_no_chains, ON_CONTEXT, ARGUMENT, "number of chains is 0" },
    { plan_no_chain, ON_CONTEXT, ARGUMENT, "chain 0 is NULL" },
    { plan_no_chain_list, ON_CONTEXT, ARGUMENT, "list of chains is NULL" },
    { plan_far_chain, ON_CONTEXT, ARGUMENT, "of another context" },
    { plan_no_target, ON_CONTEXT, HAUL_ERROR_GRAPH, "no chain has a target" },
    { audit_chains, ON_CONTEXT, ARGUMENT, "the source is no objects" },
    { plan_no_objects, ON_CONTEXT, ARGUMENT, "the source is no objects" },
    { plan_no_source, ON_CONTEXT, ARGUMENT, "the source is of kind 0" },
    { plan_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { source_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { table_null, NOTHING, ARGUMENT, "" },
    { table_no_file, ON_CONTEXT, ARGUMENT, "the file is NULL" },
    { places_null, NOTHING, ARGUMENT, "" },
    { places_no_file, ON_CONTEXT, ARGUMENT, "the file is NULL" },
    { graph_null, NO_CONTEXT, ARGUMENT, "no context" },
    { graph_no_file, ON_CONTEXT, ARGUMENT, "the file is NULL" },
    { graph_no_arena_root, ON_CONTEXT, ARGUMENT, "haul_from_arena_root" },
    { graph_far_plan, ON_CONTEXT, ARGUMENT, "of another context" },
    { where_elsewhere, ON_CONTEXT, ARGUMENT, "no shipment of the device has" },
    { audit_no_write, ON_CONTEXT, ARGUMENT, "file to print to" },
    { audit_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { audit_full_file, ON_CONTEXT, HAUL_ERROR_FILE, "file did not take" },
    { image_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { image_write_of_later, ON_CONTEXT, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { image_level, ON_CONTEXT, ARGUMENT, "levels go from 1 to 19" },
    { image_no_write, ON_CONTEXT, ARGUMENT, "no function that writes" },
    { image_no_read, ON_CONTEXT, ARGUMENT, "no function that reads" },
    { image_null, NO_CONTEXT, ARGUMENT, "no context" },
    { image_no_path, ON_CONTEXT, ARGUMENT, "name is NULL" },
    { image_full_file, ON_CONTEXT, HAUL_ERROR_FILE, "refuses bytes" },
    { image_of_arena, ON_CONTEXT, ARGUMENT, "haul_from_arena_root names its root" },
    { image_of_far_plan, ON_CONTEXT, ARGUMENT, "of another context" },
    { image_of_compacted_plan, ON_CONTEXT, ARGUMENT, "ordered plan" },
    { image_of_no_shipment, ON_CONTEXT, ARGUMENT, "the shipment is NULL" },
    { image_of_far_root, ON_CONTEXT, ARGUMENT, "root 0 is no object of the shipment" },
    { ship_from_device, ON_CONTEXT, ARGUMENT, "the source is no objects" },
    { image_no_renames, ON_CONTEXT, ARGUMENT, "options->renames is NULL" },
    { image_half_a_rename, ON_CONTEXT, ARGUMENT, "a name that is NULL" },
    { image_renames_alone, ON_CONTEXT, ARGUMENT, "without types" },
    { image_no_growths, ON_CONTEXT, ARGUMENT, "options->growths is NULL" },
    { image_half_a_growth, ON_CONTEXT, ARGUMENT, "no .stored_bytes" },
    { image_growths_alone, ON_CONTEXT, ARGUMENT, "there are no other sizes" },
    { image_no_result, ON_CONTEXT, ARGUMENT, "address of the new image" },
    { image_no_bytes, ON_CONTEXT, ARGUMENT, "bytes of the image are NULL" },
    { image_no_types, ON_CONTEXT, ARGUMENT, "list of types is NULL" },
    { image_of_none, ON_CONTEXT, ARGUMENT, "number of types is 0" },
    { image_no_type, ON_CONTEXT, ARGUMENT, "type 0 is NULL" },
    { image_open_type, ON_CONTEXT, HAUL_ERROR_STATE, "is not committed" },
    { image_short, ON_CONTEXT, HAUL_ERROR_FORMAT, "ends after" },
    { image_load_no_path, ON_CONTEXT, ARGUMENT, "name is NULL" },
    { image_load_nowhere, ON_CONTEXT, HAUL_ERROR_FILE, "open of" },
    { image_share_null, NO_CONTEXT, ARGUMENT, "no context" },
    { image_share_no_path, ON_CONTEXT, ARGUMENT, "name is NULL" },
    { image_share_no_result, ON_CONTEXT, ARGUMENT, "address of the new image" },
    { image_address, ON_CONTEXT, ARGUMENT, "no multiple of 65536" },
    { image_map_null, NO_CONTEXT, ARGUMENT, "no context" },
    { image_map_no_path, ON_CONTEXT, ARGUMENT, "name is NULL" },
    { image_map_nowhere, ON_CONTEXT, HAUL_ERROR_FILE, "open of" },
    { image_map_no_result, ON_CONTEXT, ARGUMENT, "address of the new image" },
    { image_map_no_types, ON_CONTEXT, ARGUMENT, "list of types is NULL" },
    { open_no_context, NO_CONTEXT, ARGUMENT, "no context" },
    { open_no_result, ON_CONTEXT, ARGUMENT, "address of the new device" },
    { open_no_table, ON_CONTEXT, ARGUMENT, "table is NULL" },
    { static_no_context, NO_CONTEXT, ARGUMENT, "no context" },
    { static_nowhere, ON_CONTEXT, ARGUMENT, "NULL, or wraps" },
    { static_wraps, ON_CONTEXT, ARGUMENT, "NULL, or wraps" },
    { static_policy, ON_CONTEXT, ARGUMENT, "the policy 7, which does not exist" },
    { translation_no_context, NO_CONTEXT, ARGUMENT, "no context" },
    { launch_null, NO_DEVICE, ARGUMENT, "no context" },
    { launch_nothing, ON_DEVICE, ARGUMENT, "function to launch is NULL" },
    { counters_null, NO_DEVICE, ARGUMENT, "no context" },
    { counters_nowhere, ON_DEVICE, ARGUMENT, "address of the counters" },
    { ship_null, NO_DEVICE, ARGUMENT, "no context" },
    { ship_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { ship_no_root, ON_DEVICE, ARGUMENT, "root 0 is NULL" },
    { ship_no_type, ON_DEVICE, ARGUMENT, "type of root 0" },
    { ship_open_type, ON_DEVICE, HAUL_ERROR_STATE, "call haul_type_commit" },
    { ship_of_none, ON_DEVICE, ARGUMENT, "0 objects" },
    { roots_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { roots_no_list, ON_DEVICE, ARGUMENT, "list of roots is NULL" },
    { ship_plan_null, NO_DEVICE, ARGUMENT, "no context" },
    { ship_plan_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { ship_no_plan, ON_DEVICE, ARGUMENT, "plan is NULL" },
    { ship_far_plan, ON_DEVICE, ARGUMENT, "belongs to another context" },
    { async_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { async_no_root, ON_DEVICE, ARGUMENT, "root 0 is NULL" },
    { plan_async_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { plan_async_no_plan, ON_DEVICE, ARGUMENT, "plan is NULL" },
    { ship_strange_stream, ON_DEVICE, ARGUMENT, "stream" },
    { refresh_strange_stream, ON_DEVICE, ARGUMENT, "stream" },
    { refresh_with_pointers, ON_DEVICE, ARGUMENT, "options->pointers" },
    { refresh_whole, ON_DEVICE, ARGUMENT, "options->all_or_nothing" },
    { range_with_pointers, ON_DEVICE, ARGUMENT, "options->pointers" },
    { ship_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { ship_async_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { arenas_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { update_device_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { update_host_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { reship_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { refresh_null, NO_DEVICE, ARGUMENT, "no context" },
    { refresh_async_null, NO_DEVICE, ARGUMENT, "no context" },
    { replan_null, NO_DEVICE, ARGUMENT, "no context" },
    { unmarshal_null, NO_DEVICE, ARGUMENT, "no context" },
    { unmarshal_async_null, NO_DEVICE, ARGUMENT, "no context" },
    { pointers_null, NO_DEVICE, ARGUMENT, "no context" },
    { pointers_async_null, NO_DEVICE, ARGUMENT, "no context" },
    { wait_null, NO_DEVICE, ARGUMENT, "no context" },
    { poll_null, NO_DEVICE, ARGUMENT, "no context" },
    { update_device_null, NO_DEVICE, ARGUMENT, "no context" },
    { update_device_async_null, NO_DEVICE, ARGUMENT, "no context" },
    { update_host_null, NO_DEVICE, ARGUMENT, "no context" },
    { update_host_async_null, NO_DEVICE, ARGUMENT, "no context" },
    { update_device_nothing, ON_DEVICE, ARGUMENT, "no byte of the range" },
    { update_device_no_bytes, ON_DEVICE, ARGUMENT, "no byte of the range" },
    { update_device_wraps, ON_DEVICE, ARGUMENT, "wraps" },
    { update_device_elsewhere, ON_DEVICE, ARGUMENT, "no byte of the range" },
    { update_host_nothing, ON_DEVICE, ARGUMENT, "no byte of the range" },
    { update_host_wraps, ON_DEVICE, ARGUMENT, "wraps" },
    { update_arena_elsewhere, ON_DEVICE, ARGUMENT, "no byte of the range" },
    { environment_null, NOTHING, ARGUMENT, "" },
    { environment_no_result, ON_DEVICE, ARGUMENT, "address of the new environment" },
    { enter_null, NOTHING, ARGUMENT, "" },
    { exit_null, NOTHING, ARGUMENT, "" },
    { bring_null, NOTHING, ARGUMENT, "" },
    { send_null, NOTHING, ARGUMENT, "" },
    { update_null, NOTHING, ARGUMENT, "" },
    { dump_no_environment, NOTHING, ARGUMENT, "" },
    { dump_nowhere, ON_DEVICE, ARGUMENT, "the file is NULL" },
    { sync_null, NOTHING, ARGUMENT, "" },
    { track_null, NOTHING, ARGUMENT, "" },
    { environment_wait_null, NOTHING, ARGUMENT, "" },
    { environment_poll_null, NOTHING, ARGUMENT, "" },
    { sync_absent, ON_DEVICE, ARGUMENT, "is not on the device" },
    { watch_null, NOTHING, ARGUMENT, "" },
    { attach_null, NOTHING, ARGUMENT, "" },
    { detach_null, NOTHING, ARGUMENT, "" },
    { set_detached_null, NOTHING, ARGUMENT, "" },
    { name_poison_null, NOTHING, ARGUMENT, "" },
    { set_no_form, ON_DEVICE, ARGUMENT, "no such form" },
    { name_no_poison, ON_DEVICE, ARGUMENT, "poisoned with this address" },
    { name_no_result, ON_DEVICE, ARGUMENT, "NULL" },
    { attach_absent, ON_DEVICE, ARGUMENT, "no described pointer of a present object" },
    { find_null, NOTHING, ARGUMENT, "" },
    { find_no_result, NOTHING, ARGUMENT, "" },
    { enter_nothing, ON_DEVICE, ARGUMENT, "root 0 is NULL" },
    { enter_none, ON_DEVICE, ARGUMENT, "root 0 is 0 objects" },
    { enter_no_type, ON_DEVICE, ARGUMENT, "type of root 0" },
    { enter_open, ON_DEVICE, HAUL_ERROR_STATE, "haul_type_commit" },
    { enter_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { exit_absent, ON_DEVICE, ARGUMENT, "was not entered, and is not present" },
    { exit_of_later, ON_DEVICE, HAUL_ERROR_VERSION, "this version of the library lacks" },
    { exit_under_open, ON_DEVICE, HAUL_ERROR_STATE, "haul_type_commit" },
    { send_absent, ON_DEVICE, ARGUMENT, "are not on the device" },
    { bring_absent, ON_DEVICE, ARGUMENT, "are not on the device" },
    { bring_absent_group, ON_DEVICE, ARGUMENT, "is not on the device" },
    { update_no_parts, ON_DEVICE, ARGUMENT, "parts of an update are NULL" },
    { update_nowhere, ON_DEVICE, ARGUMENT, "the direction of an update is none" },
    { update_nothing, ON_DEVICE, ARGUMENT, "has no bytes" },
    { copy_null, NO_DEVICE, ARGUMENT, "no context" },
    { copy_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { copy_nowhere, ON_DEVICE, ARGUMENT, "device to copy to is NULL" },
    { copy_far, ON_DEVICE, ARGUMENT, "different contexts" },
    { arena_null, NO_CONTEXT, ARGUMENT, "no context" },
    { arena_no_result, ON_CONTEXT, ARGUMENT, "address of the new arena" },
    { arena_huge, ON_CONTEXT, ARGUMENT, "reserve_bytes" },
    { arena_for_null, NO_DEVICE, ARGUMENT, "no context" },
    { arena_pinned_nowhere, ON_CONTEXT, ARGUMENT, "needs a device" },
    { arena_far, ON_CONTEXT, ARGUMENT, "another context" },
    { arena_other_layout, ON_CONTEXT, HAUL_ERROR_VERSION, "another layout" },
    { arena_for_no_result, ON_DEVICE, ARGUMENT, "address of the new arena" },
    { arena_huge_for, ON_DEVICE, ARGUMENT, "reserve_bytes" },
    { new_no_type, ON_ARENA, ARGUMENT, "type is NULL" },
    { new_open_type, ON_ARENA, HAUL_ERROR_STATE, "haul_type_commit" },
    { new_of_none, ON_ARENA, ARGUMENT, "0 objects" },
    { new_too_many, ON_ARENA, HAUL_ERROR_LIMIT, "objects overflow" },
    { tail_no_type, ON_ARENA, ARGUMENT, "type is NULL" },
    { tail_too_long, ON_ARENA, HAUL_ERROR_LIMIT, "objects overflow" },
    { pointers_none, ON_ARENA, ARGUMENT, "0 bytes are asked for" },
    { pointers_too_many, ON_ARENA, HAUL_ERROR_LIMIT, "of the pointers overflow" },
    { bytes_none, ON_ARENA, ARGUMENT, "0 bytes are asked for" },
    { bytes_too_many, ON_ARENA, HAUL_ERROR_LIMIT, "bytes" },
    { aligned_oddly, ON_ARENA, ARGUMENT, "alignment" },
    { aligned_widely, ON_ARENA, ARGUMENT, "alignment" },
    { aligned_none, ON_ARENA, ARGUMENT, "0 bytes are asked for" },
    { nursery_none, ON_ARENA, ARGUMENT, "0 bytes are asked for" },
    { nursery_huge, ON_ARENA, HAUL_ERROR_LIMIT, "bytes" },
    { malloc_huge, ON_ARENA, HAUL_ERROR_LIMIT, "bytes" },
    { calloc_huge, ON_ARENA, HAUL_ERROR_LIMIT, "bytes" },
    { realloc_foreign, ON_ARENA, ARGUMENT, "no block of this arena" },
    { free_foreign, ON_ARENA, ARGUMENT, "no block of this arena" },
    { free_null, NO_ARENA, ARGUMENT, "no arena" },
    { release_null, NO_ARENA, ARGUMENT, "no arena" },
    { release_foreign, ON_ARENA, ARGUMENT, "this arena has not allocated" },
    { release_too_many, ON_ARENA, ARGUMENT, "100000 bytes" },
    { release_none, ON_ARENA, ARGUMENT, "0 bytes" },
    { rollback_null, NO_ARENA, ARGUMENT, "no arena" },
    { rollback_to_nothing, ON_ARENA, HAUL_ERROR_STATE, "checkpoint" },
    { reset_null, NO_ARENA, ARGUMENT, "no arena" },
    { stamp_null, NOTHING, ARGUMENT, "no type" },
    { stamp_no_result, NOTHING, ARGUMENT, "address of the layout" },
    { stamp_open, NOTHING, HAUL_ERROR_STATE, "haul_type_commit" },
    { ship_arena_null, NO_DEVICE, ARGUMENT, "no context" },
    { ship_arena_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { ship_no_arena, ON_DEVICE, ARGUMENT, "arena is NULL" },
    { ship_empty, ON_DEVICE, ARGUMENT, "nothing has been allocated" },
    { ship_no_rule, ON_DEVICE, ARGUMENT, "options->outside is 7" },
    { ship_into_nothing, ON_DEVICE, ARGUMENT, "options->beside is NULL" },
    { ship_into_a_graph, ON_DEVICE, ARGUMENT, "beside[1]" },
    { arenas_no_result, ON_DEVICE, ARGUMENT, "address of the new shipments" },
    { arenas_no_list, ON_DEVICE, ARGUMENT, "list of arenas" },
    { arenas_none, ON_DEVICE, ARGUMENT, "number of arenas" },
    { from_null, NO_DEVICE, ARGUMENT, "no context" },
    { from_no_result, ON_DEVICE, ARGUMENT, "address of the new shipment" },
    { from_no_arena, ON_DEVICE, ARGUMENT, "arena is NULL" },
    { from_no_root, ON_DEVICE, ARGUMENT, "root 0 is NULL" },
    { from_no_type, ON_DEVICE, ARGUMENT, "type of root 0" },
    { from_with_rule, ON_DEVICE, ARGUMENT, "options->outside" },
    { type_no_result, ON_TYPE, ARGUMENT, "address of the new type" },
    { type_no_rows, ON_TYPE, ARGUMENT, "fields are NULL" },
    { parameter_no_result, ON_TYPE, ARGUMENT, "address of the new type" },
    { pointer_no_result, ON_TYPE, ARGUMENT, "address of the new type" },
    { bytes_no_result, ON_TYPE, ARGUMENT, "address of the new type" },
    { add_null, NOTHING, ARGUMENT, "no type" },
    { add_no_rows, ON_TYPE, ARGUMENT, "fields are NULL" },
    { add_closed, ON_TYPE, HAUL_ERROR_STATE, "committed" },
    { rebuild_null, NOTHING, ARGUMENT, "no type" },
    { rebuild_closed, ON_TYPE, HAUL_ERROR_STATE, "committed" },
    { commit_null, NOTHING, ARGUMENT, "no type" },
    { dup_null, NOTHING, ARGUMENT, "old type" },
    { dup_no_result, ON_TYPE, ARGUMENT, "new type's address" },
    { contiguous_null, NOTHING, ARGUMENT, "old type" },
    { contiguous_no_result, ON_TYPE, ARGUMENT, "new type's address" },
    { vector_no_result, ON_TYPE, ARGUMENT, "new type's address" },
    { hvector_no_result, ON_TYPE, ARGUMENT, "new type's address" },
    { indexed_no_lists, ON_TYPE, ARGUMENT, "lists" },
    { hindexed_no_lists, ON_TYPE, ARGUMENT, "lists" },
    { indexed_block_no_list, ON_TYPE, ARGUMENT, "lists" },
    { struct_no_types, NOTHING, ARGUMENT, "no type" },
    { struct_no_lists, ON_TYPE, ARGUMENT, "lists" },
    { subarray_no_lists, ON_TYPE, ARGUMENT, "" },
    { resized_to_none, ON_TYPE, HAUL_ERROR_TYPE, "extent of 0" },
    { instance_null, NOTHING, ARGUMENT, "no type" },
    { instance_no_result, ON_TYPE, ARGUMENT, "instance's address" },
    { instance_no_parameter, ON_TYPE, ARGUMENT, "parameters are NULL" },
    { policy_null, NOTHING, ARGUMENT, "no type" },
    { policy_no_result, ON_TYPE, ARGUMENT, "an address" },
    { policy_no_name, ON_TYPE, ARGUMENT, "a name" },
    { policy_no_rows, ON_TYPE, ARGUMENT, "rows" },
    { policy_open, ON_TYPE, HAUL_ERROR_STATE, "commit it" },
    { type_size_null, NOTHING, ARGUMENT, "no type" },
    { type_size_no_result, NOTHING, ARGUMENT, "" },
    { extent_null, NOTHING, ARGUMENT, "no type" },
    { extent_no_result, NOTHING, ARGUMENT, "" },
    { true_extent_no_result, NOTHING, ARGUMENT, "" },
    { field_null, NOTHING, ARGUMENT, "no type" },
    { field_no_result, NOTHING, ARGUMENT, "" },
    { field_none, NOTHING, ARGUMENT, "" },
    { dump_null, NOTHING, ARGUMENT, "no type" },
    { dump_no_file, NOTHING, ARGUMENT, "" },
    { dump_full_file, NOTHING, HAUL_ERROR_FILE, "" },
    { uses_write_null, NOTHING, ARGUMENT, "" },
    { uses_no_file, ON_CONTEXT, ARGUMENT, "the file is NULL" },
    { uses_full_file, ON_CONTEXT, HAUL_ERROR_FILE, "did not take all" },
    { uses_read_null, NOTHING, ARGUMENT, "" },
    { uses_no_text, ON_CONTEXT, ARGUMENT, "the text of uses is NULL" },
    { uses_no_hints, ON_CONTEXT, ARGUMENT, "hints is NULL" },
    { uses_no_type, ON_CONTEXT, ARGUMENT, "hints[0] has no type" },
    { uses_no_head, ON_CONTEXT, HAUL_ERROR_FORMAT, "line 1 " },
};

static const haul_error *words_of(holder where)
{
    switch (where) {
    case ON_CONTEXT:
        return haul_context_error(the.context);
    case ON_DEVICE:
        return haul_context_error(haul_device_context(the.device));
    case ON_ARENA:
        return haul_arena_error(the.arena);
    case ON_TYPE:
        return type_error();
    case NO_CONTEXT:
        return haul_context_error(NULL);
    case NO_DEVICE:
        return haul_context_error(haul_device_context(NULL));
    case NO_ARENA:
        return haul_arena_error(NULL);
    default:
        return NULL;
    }
}

static haul_status succeed(void)
{
    haul_arena *more;
    haul_status status = haul_update_device(the.shipment, NULL, NULL);
    CHECK_STATUS(haul_arena_create(the.context, NULL, &more), HAUL_OK);
    haul_arena_free(&more);
    return status;
}

static void start(void)
{
    static const haul_field in_box[] = { HAUL_ADDRESS(list_node, next, .target = &the.parameter) };
    test_device options;
    haul_root one;
    memset(&the, 0, sizeof the);
    memset(&options, 0, sizeof options);
    the.type = list_type(NULL);
    CHECK_STATUS(type_make("open", 8, NULL, 0, &the.open), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &the.parameter), HAUL_OK);
    CHECK_STATUS(type_make("box", sizeof(list_node), in_box, 1, &the.box), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &the.context), HAUL_OK);
    CHECK_STATUS(haul_context_create(NULL, &the.other_context), HAUL_OK);
    options.context = the.context;
    CHECK_STATUS(test_open(haul_host_device(), &options, &the.device), HAUL_OK);
    options.context = the.other_context;
    CHECK_STATUS(test_open(haul_host_device(), &options, &the.far_device), HAUL_OK);
    CHECK_STATUS(test_arena(the.device, NULL, &the.arena), HAUL_OK);
    CHECK_STATUS(test_arena(the.device, NULL, &the.empty), HAUL_OK);
    CHECK((the.in_arena = haul_arena_new(the.arena, the.type, 1)) != NULL);
    the.data[0].next = &the.data[1];
    one.address = the.data;
    one.type = the.type;
    one.count = 1;
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&one, 1), NULL, &the.plan), HAUL_OK);
    CHECK_STATUS(haul_plan_create(the.other_context, haul_from_roots(&one, 1), NULL, &the.far_plan),
                 HAUL_OK);
    CHECK_STATUS(haul_chain_create(the.context, the.type, "next", &the.chain), HAUL_OK);
    CHECK_STATUS(haul_chain_create(the.context, the.type, "next[*]", &the.many), HAUL_OK);
    CHECK_STATUS(haul_chain_create(the.other_context, the.type, "next", &the.far_chain), HAUL_OK);
    CHECK_STATUS(haul_ship(the.device, the.data, the.type, 1, NULL, &the.shipment), HAUL_OK);
    CHECK_STATUS(
        haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &the.arena_shipment),
        HAUL_OK);
}

static void end(void)
{
    haul_shipment_free(&the.shipment);
    haul_shipment_free(&the.arena_shipment);
    haul_plan_free(&the.plan);
    haul_plan_free(&the.far_plan);
    haul_chain_free(&the.chain);
    haul_chain_free(&the.many);
    haul_chain_free(&the.far_chain);
    haul_arena_free(&the.arena);
    haul_arena_free(&the.empty);
    haul_device_close(&the.device);
    haul_device_close(&the.far_device);
    haul_context_free(&the.context);
    haul_context_free(&the.other_context);
    haul_type_free(&the.type);
    haul_type_free(&the.open);
    haul_type_free(&the.box);
    haul_type_free(&the.parameter);
}

TEST(refusals, name_the_argument_that_is_refused)
{
    size_t i;
    start();
    for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        const haul_error *error;
        CHECK_STATUS(succeed(), HAUL_OK);
        check_note("refusal %zu, \"%s\"", i, r->words);
        CHECK_STATUS(r->call(), r->status);
        CHECK(strlen(haul_status_text(r->status)) > 10);
        error = words_of(r->where);
        if (error) {
            CHECK_STATUS(error->status, r->where >= NO_CONTEXT ? HAUL_ERROR_ARGUMENT : r->status);
            CHECK_HAS(error->text, r->words);
            CHECK(strchr(error->text, ' ') != NULL);
        }
        check_note(NULL);
    }
    end();
}

/* ---- Inside another call. */

CALL(busy_device, haul_host_open(the.context, NULL, &a_device))
CALL(busy_static, haul_context_add_static(the.context, &the, sizeof the, HAUL_STATIC_KEEP))
CALL(busy_translation, haul_context_add_translation(the.context, 1, 2))
static haul_status busy_audit(void)
{
    haul_root one = { the.data, the.type, 1 };
    return haul_audit(the.context, haul_from_roots(&one, 1), NULL, NULL);
}
CALL(busy_report, haul_audit_begin(the.context, NULL, &a_report))
CALL(busy_trim, haul_context_trim(the.context))
CALL(busy_plan, root(the.data, the.type, 1))
CALL(busy_pack, haul_plan_pack(the.plan, the.bytes, 256, 0, the.bitmap))
CALL(busy_unpack, haul_plan_unpack(the.plan, the.bytes, 256, 0))
CALL(busy_ship, haul_ship(the.device, the.data, the.type, 1, NULL, &a_shipment))
CALL(busy_ship_plan, haul_ship_from(the.device, haul_from_plan(the.plan), NULL, NULL, &a_shipment))
CALL(busy_refresh, haul_update_device(the.shipment, NULL, NULL))
CALL(busy_replan, haul_reship(the.shipment, NULL))
CALL(busy_unmarshal, haul_unmarshal(the.shipment))
CALL(busy_pointers, haul_update_host(the.shipment, WITH_POINTERS, NULL))
CALL(busy_update_device, haul_update_device(the.shipment, RANGE(the.data, 8), NULL))
CALL(busy_update_host, haul_update_host(the.shipment, RANGE(the.data, 8), NULL))
CALL(busy_copy, haul_shipment_copy(the.shipment, the.device, &a_shipment))
CALL(busy_wait, haul_wait(the.shipment))
CALL(busy_poll, haul_poll(the.shipment))
CALL(busy_chain, make_chain(the.type, "next", 0, 0))
CALL(busy_resolve, haul_chain_resolve(the.chain, the.data, &a_target, 1, &a_size))
CALL(busy_resolve_on, resolve_on(the.shipment, the.chain, the.data))
CALL(busy_arguments, fill(the.chain, sizeof(list_node), 0, 1))
static haul_status busy_arena(void)
{
    haul_arena_options options;
    memset(&options, 0, sizeof options);
    options.pinned = 1;
    return test_arena(the.device, &options, &an_arena);
}
CALL(busy_ship_arena,
     haul_ship_from(the.device, haul_from_arena(the.arena), NULL, NULL, &a_shipment))

CALL(busy_ship_from,
     haul_ship_from(the.device, haul_from_arena_root(the.arena, the.in_arena, the.type), NULL, NULL,
                    &a_shipment))

static haul_status (*const busy[])(void) = {
    busy_device, busy_static, busy_translation, busy_audit, busy_report, busy_trim, busy_plan,
    busy_pack, busy_unpack, busy_ship, busy_ship_plan, busy_refresh, busy_replan, busy_unmarshal,
    busy_pointers, busy_copy, busy_wait, busy_poll, busy_arena, busy_ship_arena, busy_ship_from,
    busy_update_device, busy_update_host, busy_chain, busy_resolve, busy_resolve_on, busy_arguments,
    /* Refused before they enter, or inside: busy says more. */
    plan_no_result, ship_no_result, arenas_none, update_device_wraps
};

static int asked;

/* The record is the outer call's. */
static int call_inside(void *user, uint64_t done, uint64_t total)
{
    haul_error before = *haul_context_error(the.context);
    size_t i;
    (void)user, (void)done, (void)total;
    for (i = 0; i < sizeof busy / sizeof *busy; i++) {
        check_note("busy call %zu", i);
        CHECK_STATUS(busy[i](), HAUL_ERROR_BUSY);
    }
    check_note(NULL);
    CHECK_STATUS(arena_no_result(), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(launch_nothing(), HAUL_ERROR_ARGUMENT);
    CHECK(memcmp(&before, haul_context_error(the.context), sizeof before) == 0);
    asked++;
    return 0;
}

TEST(refusals, inside_another_call_are_busy_and_leave_its_record_alone)
{
    haul_shipment *shipment;
    start();
    listen_on(the.device, call_inside, NULL);
    asked = 0;
    CHECK_STATUS(haul_ship(the.device, the.data, the.type, 1, NULL, &shipment), HAUL_OK);
    CHECK(asked > 0);
    CHECK(strlen(haul_status_text(HAUL_ERROR_BUSY)) > 10);
    haul_shipment_free(&shipment);
    end();
}
