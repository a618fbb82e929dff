/* A large JSON document goes to a device and back, in the nodes of a library that knows nothing of
 * devices.
 *
 *     json_on_device [document.json ...]      default: Debian's table of the world's languages
 *
 * cJSON parses the documents. Its node has five pointers: three to other nodes, two to strings.
 * Five fields describe it; two more describe the request that goes with it. haul_ship sends the
 * whole tree in one transfer. A C function (json_survey.h; in a CUDA kernel on a GPU) follows the
 * pointers, counts, and adds 1 to every number. haul_unmarshal brings the counts back, and the
 * numbers into cJSON's own nodes.
 *
 * cJSON checks the result: it must equal a duplicate in which cJSON itself has changed the numbers.
 * Because such documents hold few numbers, cJSON first gives each object one, "bytes": the length
 * of the object's text.
 *
 * Prints the counts, sizes and times, then the claims with yes or NO.
 */
#include "common.h"
#include "json_documents.h"
#include "json_survey.h"

static const char *const default_document[] = { "/usr/share/iso-codes/json/iso_639-3.json" };

const char *survey_on_gpu(void *survey, long containers); /* json_survey.cu */

/* The description: what a cJSON node points to, and what the request does. Types, lengths, values
 * and counts are bytes and travel by themselves. */
static haul_context *haul;
static haul_type *node_type, *survey_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(cJSON, next, &node_type),
    HAUL_OBJECT(cJSON, prev, &node_type),
    HAUL_OBJECT(cJSON, child, &node_type),
    HAUL_STRING(cJSON, valuestring),
    HAUL_STRING(cJSON, string),
};
static const haul_field survey_fields[] = {
    HAUL_POINTERS(survey, containers, &node_type, HAUL_COUNT(survey, count)),
    HAUL_ARRAY(survey, findings, HAUL_COUNT(survey, count)),
};
static const haul_struct structs[] = {
    HAUL_STRUCT(cJSON, &node_type, node_fields),
    HAUL_STRUCT(survey, &survey_type, survey_fields),
};

/* -------------------------------------------------------------------------------------------------
 * The journey, and what is said about it.
 */
static finding total(const survey *all)
{
    finding sum;
    memset(&sum, 0, sizeof(sum));
    for (long i = 0; i < all->count; i++) {
        for (int kind = 0; kind < KINDS; kind++)
            sum.kind[kind] += all->findings[i].kind[kind];
        sum.names += all->findings[i].names;
        sum.text_bytes += all->findings[i].text_bytes;
        sum.sum += all->findings[i].sum;
    }
    return sum;
}

static void report_survey(const survey *all)
{
    static const char *const names[KINDS] = { "false",   "true",   "null",    "numbers",
                                              "strings", "arrays", "objects", "raw" };
    const finding found = total(all);
    printf("\nSeen by %ld calls of the device function, one for each array or object\n",
           all->count);
    for (int kind = 0; kind < KINDS; kind++)
        if (found.kind[kind] > 0)
            printf("  %10d %s\n", found.kind[kind], names[kind]);
    printf("  %10d names; %d bytes in the strings; the numbers' sum was %.0f\n", found.names,
           found.text_bytes, found.sum);
}

static void report_journey(const haul_shipment_info *s, double function_ms)
{
    printf("\nShipped\n");
    printf("  %10lu objects (nodes, strings, arrays) with %lu pointers\n",
           (unsigned long)s->objects, (unsigned long)s->pointers);
    printf("  %10lu bytes in them, in one arena of %lu bytes\n", (unsigned long)s->graph_bytes,
           (unsigned long)s->arena_bytes);
    printf("  %10lu transfer to the device, %lu back\n", (unsigned long)s->transfers_to,
           (unsigned long)s->transfers_from);
    printf("\nMilliseconds\n");
    printf("  there:    discover %.2f, layout %.2f, pack %.2f, transfer %.2f, relocate %.2f\n",
           1e3 * s->discover_seconds, 1e3 * s->layout_seconds, 1e3 * s->pack_seconds,
           1e3 * s->transfer_seconds, 1e3 * s->relocate_seconds);
    printf("  function: %.2f\n", function_ms);
    printf("  back:     transfer %.2f, scatter %.2f\n", 1e3 * s->return_seconds,
           1e3 * s->scatter_seconds);
}

static haul_status there_and_back(haul_device *device, haul_shipment *shipment, survey *all)
{
    haul_shipment_info statistics;
    double started = milliseconds(), function_ms;
    haul_status status = launch(device, survey_container, ON_GPU(survey_on_gpu),
                                haul_device_pointer(shipment, all), all->count);
    function_ms = milliseconds() - started;
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_get_info(shipment, &statistics);
    if (!status) {
        report_survey(all);
        report_journey(&statistics, function_ms);
    }
    return status;
}

static int travel(survey *all)
{
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    int result = 0;
    haul_status status;
    printf("\n");
    status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("opening the device", status, haul_context_error(haul));
    status = haul_ship(device, all, survey_type, 1, NULL, &shipment);
    if (!status)
        status = there_and_back(device, shipment, all);
    if (status)
        result = failed("the journey", status, haul_context_error(haul));
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return result;
}

/* The request: a call for each container of the tree. */
static int send_survey(cJSON *root, double add)
{
    survey all = { NULL, NULL, 0, 0 };
    int result;
    all.add = add;
    all.containers = json_containers(root, &all.count);
    all.findings = calloc((size_t)all.count, sizeof(finding));
    result =
        all.containers && all.findings ? travel(&all) : failed("asking", HAUL_ERROR_MEMORY, NULL);
    free(all.containers);
    free(all.findings);
    return result;
}

/* -------------------------------------------------------------------------------------------------
 * Proof by cJSON.
 */
static int prove(cJSON *root)
{
    const double add = 1;
    cJSON *before = cJSON_Duplicate(root, 1), *expected = cJSON_Duplicate(root, 1);
    int right = before && expected && send_survey(root, add) == 0;
    if (right) {
        const long numbers = json_add(expected, add);
        printf("\nProof, by cJSON's own functions\n");
        json_print_example("before", before);
        json_print_example("after ", root);
        right &= claim("the tree equals a duplicate to whose numbers cJSON has added 1",
                       json_equal(root, expected));
        if (numbers > 0)
            right &= claim("it differs from an untouched duplicate", !json_equal(root, before));
        json_copy_numbers(root, before);
        right &= claim("and equals that too, once cJSON has put the old numbers back",
                       json_equal(root, before));
    }
    cJSON_Delete(before);
    cJSON_Delete(expected);
    return right ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    const double started = milliseconds();
    size_t bytes;
    cJSON *root;
    int result = 1;
    printf("Documents\n");
    root = argument_count > 1
               ? json_read((const char *const *)arguments + 1, argument_count - 1, &bytes)
               : json_read(default_document, 1, &bytes);
    if (root) {
        printf("  read and parsed by cJSON: %lu bytes in %.2f ms; each "
               "object was then given a number, \"bytes\"\n",
               (unsigned long)bytes, milliseconds() - started);
        json_measure_objects(root);
        result = prove(root);
    }
    cJSON_Delete(root);
    return result;
}
