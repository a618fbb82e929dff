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
#include "json_survey.h"
#include <haul/experimental.h>

static const char *const default_document[] = { "/usr/share/iso-codes/json/iso_639-3.json" };

const char *survey_on_gpu(void *survey, long containers); /* json_survey.cu */

HAUL_ARENA_HOOKS(json);

static haul_context *haul;

/* What the kernel is asked, in the arena too. */
static survey *ask(haul_arena *arena, cJSON *root)
{
    long count = 0;
    cJSON **containers = json_containers(root, &count);
    survey *all = haul_arena_bytes(arena, sizeof(survey), 0);
    if (containers && all) {
        all->count = count;
        all->add = 1;
        all->containers = haul_arena_bytes(arena, (size_t)count * sizeof(cJSON *), 0);
        all->findings = haul_arena_bytes(arena, (size_t)count * sizeof(finding), 0);
    }
    if (containers && all && all->containers && all->findings)
        memcpy(all->containers, containers, (size_t)count * sizeof(cJSON *));
    else
        all = NULL;
    free(containers);
    return all;
}

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

static int check(haul_device *device, haul_arena *arena, cJSON *root, cJSON *expected)
{
    survey *all = ask(arena, root);
    haul_shipment *shipment = NULL;
    haul_shipment_info told;
    haul_status status = all ? travel(device, arena, all, &shipment) : HAUL_ERROR_MEMORY;
    int right;
    if (status)
        return failed("the journey", status,
                      all ? haul_context_error(haul) : haul_arena_error(arena));
    haul_shipment_get_info(shipment, &told);
    printf("%ld objects and arrays of cJSON's in %lu bytes: %.3f ms there, %.3f ms back\n",
           all->count, (unsigned long)told.bytes_to, 1e3 * told.transfer_seconds,
           1e3 * told.return_seconds);
    json_add(expected, 1);
    right = claim("the tree lies there where it lies here",
                  haul_device_pointer(shipment, root) == (void *)root);
    right &= claim("every number is one more, as cJSON makes it", json_equal(root, expected));
    haul_shipment_free(&shipment);
    return right ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    const char *const *paths =
        argument_count > 1 ? (const char *const *)arguments + 1 : default_document;
    haul_arena_options options = { .mirrored = 1, .reserve_bytes = (size_t)256 << 20 };
    cJSON_Hooks hooks = { json_malloc, json_free };
    haul_device *device = NULL;
    haul_arena *arena = NULL;
    cJSON *root, *expected;
    size_t bytes;
    int result = 1;
    haul_status status = open_device(&haul, &device);
    options.device = device;
    if (status || (status = haul_arena_create(haul, &options, &arena)))
        return failed("making the arena", status, haul_context_error(haul));
    json_use(arena);
    cJSON_InitHooks(&hooks);
    root = json_read(paths, argument_count > 1 ? argument_count - 1 : 1, &bytes);
    cJSON_InitHooks(NULL);
    json_use(NULL);
    expected = cJSON_Duplicate(root, 1);
    if (root && expected)
        result = check(device, arena, root, expected);
    cJSON_Delete(expected);
    haul_arena_free(&arena); /* and the tree with it */
    haul_device_close(&device);
    haul_context_free(&haul);
    return result;
}
