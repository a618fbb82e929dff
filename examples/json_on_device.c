/* A large JSON document goes to a device and back, in the nodes of a library that knows nothing of
 * devices.
 *
 *     json_on_device [document.json ...]      default: Debian's table of the world's languages
 *
 * cJSON parses the documents. Its node has five pointers: three to other nodes, two to strings.
 * Five fields describe it; two more describe the request that goes with it (json_types.h).
 * haul_ship sends the whole tree in one transfer. A C function (json_survey.h; in a CUDA kernel on
 * a GPU) follows the pointers, counts, and adds 1 to every number. haul_unmarshal brings the counts
 * back, and the numbers into cJSON's own nodes.
 *
 * Prints the counts, sizes and times, and an object before and after, then one claim with yes or
 * NO: the tree equals a duplicate in which cJSON itself has changed the numbers.
 */
#include "common.h"
#include "json_documents.h"
#include "json_report.h"
#include "json_request.h"
#include "json_types.h"

const char *survey_on_gpu(void *survey, long containers); /* json_survey.cu */

static haul_context *haul;

static haul_status travel(haul_device *device, survey *all)
{
    haul_shipment *shipment = NULL;
    double started = 0, function_ms = 0;
    haul_status status = haul_ship(device, all, survey_type, 1, NULL, &shipment);
    if (!status) {
        started = milliseconds();
        status = launch(device, survey_container, ON_GPU(survey_on_gpu),
                        haul_device_pointer(shipment, all), all->count);
        function_ms = milliseconds() - started;
    }
    if (!status)
        status = haul_unmarshal(shipment);
    if (!status) {
        json_report_findings(all);
        json_report_journey(shipment, function_ms);
    }
    haul_shipment_free(&shipment);
    return status;
}

int main(int argument_count, char **arguments)
{
    cJSON *root = json_read(argument_count, arguments);
    cJSON *before = cJSON_Duplicate(root, 1), *expected = json_plus(root, 1);
    survey *all = before && expected ? json_request(root, 1) : NULL;
    haul_device *device = NULL;
    int right;
    haul_status status;
    if (!all)
        return root ? failed("copying the tree", HAUL_ERROR_MEMORY, NULL) : 1;
    status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, json_types);
    if (!status)
        status = travel(device, all);
    if (status)
        return failed("the journey", status, haul_context_error(haul));
    printf("\nProof, by cJSON's own functions\n");
    json_print_example("before", before);
    json_print_example("after ", root);
    right = claim("the tree equals a duplicate to whose numbers cJSON has added 1",
                  json_equal(root, expected));
    haul_device_close(&device);
    HAUL_FORGET(json_types);
    haul_context_free(&haul);
    json_request_free(all);
    cJSON_Delete(before);
    cJSON_Delete(expected);
    cJSON_Delete(root);
    return right ? 0 : 1;
}
