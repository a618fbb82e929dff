/* A library's data on a device without packing: cJSON parses into an arena.
 *
 *     json_in_arena [document.json ...]       default: Debian's table of the world's languages
 *
 * cJSON can be told its malloc and free. Bound to an arena (HAUL_ARENA_HOOKS, in json_request.c),
 * it puts every node and string there. haul_from_arena_root discovers the pointers in place. The
 * arena's bytes are sent as they lie, without packing. (json_on_device sends the same tree from the
 * heap.)
 *
 * Prints sizes and times, then two claims with yes or NO.
 */
#include "common.h"
#include "json_documents.h"
#include "json_request.h"
#include "json_types.h"

const char *survey_on_gpu(void *survey, long containers); /* json_survey.cu */

static haul_context *haul;

static haul_status travel(haul_device *device, haul_arena *arena, survey *all,
                          haul_shipment_info *told)
{
    const haul_source tree = haul_from_arena_root(arena, all, survey_type);
    haul_shipment *shipment = NULL;
    haul_status status = haul_ship_from(device, tree, NULL, NULL, &shipment);
    if (!status)
        status = launch(device, survey_container, ON_GPU(survey_on_gpu),
                        haul_device_pointer(shipment, all), all->count);
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_get_info(shipment, told);
    haul_shipment_free(&shipment);
    return status;
}

int main(int argument_count, char **arguments)
{
    /* reuse: of the texts that cJSON prints and frees */
    const haul_arena_options options = { .reuse = 1, .reserve_bytes = (size_t)256 << 20 };
    haul_device *device = NULL;
    haul_arena *arena = NULL;
    haul_shipment_info told;
    cJSON *root, *expected;
    survey *all;
    int right;
    haul_status status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, json_types);
    if (!status)
        status = haul_arena_create(haul, &options, &arena);
    if (status)
        return failed("making the arena", status, haul_context_error(haul));
    all = json_request_in(arena, argument_count, arguments);
    if (!all)
        return haul_arena_error(arena)->status
                   ? failed("parsing", haul_arena_error(arena)->status, haul_arena_error(arena))
                   : 1;
    root = all->containers[0];
    expected = json_plus(root, 1);
    status = travel(device, arena, all, &told);
    if (status)
        return failed("the journey", status, haul_context_error(haul));
    printf("%lu objects with %lu pointers in %lu bytes: %.3f ms there, %.3f ms back\n",
           (unsigned long)told.objects, (unsigned long)told.pointers, (unsigned long)told.bytes_to,
           1e3 * told.transfer_seconds, 1e3 * told.return_seconds);
    right = claim("nothing was packed", told.pack_seconds <= 0);
    right &= claim("every number is one more, as cJSON makes it", json_equal(root, expected));
    cJSON_Delete(expected);
    haul_arena_free(&arena); /* and the tree with it */
    haul_device_close(&device);
    HAUL_FORGET(json_types);
    haul_context_free(&haul);
    return right ? 0 : 1;
}
