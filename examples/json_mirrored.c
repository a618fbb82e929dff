/* A library's data on a GPU without any description: cJSON parses into a mirrored arena.
 *
 *     json_mirrored [document.json ...]       default: Debian's table of the world's languages
 *
 * The device has memory at the arena's own addresses, so each pointer of cJSON's means the same
 * there. The arena crosses as it lies, in one copy each way; the kernel follows `child` and `next`.
 * Prints sizes and times, then two claims with yes or NO.
 */
#include "common.h"
#include "json_documents.h"
#include "json_request.h"
#include <haul/experimental.h>

const char *survey_on_gpu(void *survey, long containers); /* json_survey.cu */

static haul_context *haul;

static haul_status travel(haul_device *device, haul_arena *arena, survey *all,
                          haul_shipment **shipment)
{
    haul_status status = haul_ship_from(device, haul_from_arena(arena), NULL, NULL, shipment);
    if (!status)
        status = haul_return_directly(*shipment);
    if (!status)
        status = launch(device, survey_container, ON_GPU(survey_on_gpu),
                        haul_device_pointer(*shipment, all), all->count);
    return status ? status : haul_unmarshal(*shipment);
}

int main(int argument_count, char **arguments)
{
    haul_arena_options options = { .mirrored = 1, .reuse = 1, .reserve_bytes = (size_t)256 << 20 };
    haul_device *device = NULL;
    haul_arena *arena = NULL;
    haul_shipment *shipment = NULL;
    haul_shipment_info told;
    cJSON *root, *expected;
    survey *all;
    int right;
    haul_status status = open_device(&haul, &device);
    options.device = device;
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
    status = travel(device, arena, all, &shipment);
    if (status)
        return failed("the journey", status, haul_context_error(haul));
    haul_shipment_get_info(shipment, &told);
    printf("%ld objects and arrays of cJSON's in %lu bytes: %.3f ms there, %.3f ms back\n",
           all->count, (unsigned long)told.bytes_to, 1e3 * told.transfer_seconds,
           1e3 * told.return_seconds);
    right = claim("the tree lies there where it lies here",
                  haul_device_pointer(shipment, root) == (void *)root);
    right &= claim("every number is one more, as cJSON makes it", json_equal(root, expected));
    cJSON_Delete(expected);
    haul_shipment_free(&shipment);
    haul_arena_free(&arena); /* and the tree with it */
    haul_device_close(&device);
    haul_context_free(&haul);
    return right ? 0 : 1;
}
