/* A large JSON document goes to a device and back, in the nodes of a library that knows nothing of devices.
 *
 *     json_on_device [document.json ...]      default: Debian's table of the world's languages
 *
 * cJSON parses the documents. Its node has five pointers: three to other nodes, two to strings. Five rows describe
 * it. haul_ship sends the whole tree in one transfer; there a plain C function walks it with ordinary pointers,
 * counts what it sees and adds 1 to every number; haul_unmarshal brings the numbers back into cJSON's own nodes.
 * cJSON is the judge: the result must equal a duplicate in which cJSON itself has changed the numbers, and nothing
 * else.
 *
 * The documents hold few numbers. So each object is first given one, through cJSON's own functions: the member
 * "bytes", the length of the object's text.
 */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <time.h>

#include "common.h"
#include "json_documents.h"

static const char *const default_document[] = { "/usr/share/iso-codes/json/iso_639-3.json" };

/* The description: what a cJSON node points to. Types, lengths and values are bytes and travel by themselves. */
static haul_type *node_type;
static const haul_ref node_refs[] = {
    HAUL_OBJECT(cJSON, next, &node_type),
    HAUL_OBJECT(cJSON, prev, &node_type),
    HAUL_OBJECT(cJSON, child, &node_type),
    HAUL_STRING(cJSON, valuestring),
    HAUL_STRING(cJSON, string),
};

/* ------------------------------------------------------------------------------------------------------------------
 * The work on the device. It uses nothing but its argument and the pointers that it finds in the tree.
 */

/* Kinds are the bits of cJSON's `type`, in their order. */
enum { FALSES, TRUES, NULLS, NUMBERS, STRINGS, ARRAYS, OBJECTS, RAWS, KINDS };

typedef struct survey {
    cJSON *root;     /* in: an address on the device */
    double add;      /* in: to every number */
    unsigned long kind[KINDS], names, text_bytes;
    int depth;
    double sum;      /* of the numbers as they arrived */
    json_walk walk;
} survey;

/* What cJSON_SetNumberValue does. */
static void set_number(cJSON *number, double value)
{
    number->valuedouble = value;
    number->valueint = value >= INT_MAX ? INT_MAX : value <= INT_MIN ? INT_MIN : (int)value;
}

static void visit(survey *found, cJSON *node)
{
    for (int kind = 0; kind < KINDS; kind++)
        found->kind[kind] += (unsigned long)(node->type >> kind & 1);
    if (node->string)
        found->names++;
    if (node->valuestring)
        found->text_bytes += (unsigned long)strlen(node->valuestring);
    if (node->type & cJSON_Number) {
        found->sum += node->valuedouble;
        set_number(node, node->valuedouble + found->add);
    }
}

static void survey_on_device(void *argument)
{
    survey *found = argument;
    for (cJSON *node = found->root; node; node = json_next(&found->walk, node)) {
        visit(found, node);
        if (found->walk.depth > found->depth)
            found->depth = found->walk.depth;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The journey, and what is said about it.
 */
static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void report_survey(const survey *found)
{
    static const char *const names[KINDS] = { "false", "true", "null", "numbers", "strings", "arrays", "objects",
                                              "raw" };
    printf("\nSeen by the device function\n");
    for (int kind = 0; kind < KINDS; kind++)
        if (found->kind[kind] > 0)
            printf("  %10lu %s\n", found->kind[kind], names[kind]);
    printf("  %10lu names; %lu bytes in the strings; nested %d deep; the numbers' sum was %.0f\n", found->names,
           found->text_bytes, found->depth, found->sum);
}

static void report_journey(const haul_shipment_statistics *s, double function_ms)
{
    printf("\nShipped\n");
    printf("  %10lu objects (nodes and strings) with %lu pointers\n", (unsigned long)s->plan.objects,
           (unsigned long)s->plan.pointers);
    printf("  %10lu bytes in them, in one arena of %lu bytes\n", (unsigned long)s->plan.graph_bytes,
           (unsigned long)s->plan.arena_bytes);
    printf("  %10lu transfer to the device, %lu back\n", (unsigned long)s->transfers_to,
           (unsigned long)s->transfers_from);
    printf("\nMilliseconds\n");
    printf("  there:    discover %.2f, layout %.2f, pack %.2f, transfer %.2f, relocate %.2f\n",
           1e3 * s->plan.discover_seconds, 1e3 * s->plan.layout_seconds, 1e3 * s->pack_seconds,
           1e3 * s->transfer_seconds, 1e3 * s->relocate_seconds);
    printf("  function: %.2f\n", function_ms);
    printf("  back:     transfer %.2f, scatter %.2f\n", 1e3 * s->return_seconds, 1e3 * s->scatter_seconds);
}

static haul_status there_and_back(haul_device *device, haul_shipment *shipment, cJSON *root, survey *found)
{
    haul_shipment_statistics statistics;
    double started = milliseconds(), function_ms;
    haul_status status;
    found->root = haul_device_pointer(shipment, root);
    status = haul_host_launch(device, survey_on_device, found);
    function_ms = milliseconds() - started;
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_get_statistics(shipment, &statistics);
    if (!status) {
        report_survey(found);
        report_journey(&statistics, function_ms);
    }
    return status;
}

static int travel(cJSON *root, survey *found)
{
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    haul_host_counters counters = { 0, 0, 0, 0, 0, 0, 0, 0 };
    int result = 0;
    haul_status status = haul_device_open(haul_host_device(), NULL, &device);
    if (status)
        return failed("opening the device", status, NULL);
    status = haul_ship(device, root, node_type, 1, NULL, &shipment);
    if (!status)
        status = there_and_back(device, shipment, root, found);
    if (!status)
        status = haul_host_get_counters(device, &counters);
    if (status)
        result = failed("the journey", status, haul_device_error(device));
    else
        printf("\nCounted by the device: %lu bytes arrived, %lu left\n", (unsigned long)counters.bytes_to,
               (unsigned long)counters.bytes_from);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Proof by cJSON.
 */
static int prove(cJSON *root, survey *found)
{
    cJSON *before = cJSON_Duplicate(root, 1), *expected = cJSON_Duplicate(root, 1);
    int right = before && expected && travel(root, found) == 0;
    if (right) {
        json_add(expected, found->add);
        printf("\nProof, by cJSON's own functions\n");
        json_print_example("before", before);
        json_print_example("after ", root);
        right &= claim("the tree equals a duplicate to whose numbers cJSON has added 1", json_equal(root, expected));
        if (found->kind[OBJECTS] > 0)
            right &= claim("it differs from an untouched duplicate", !json_equal(root, before));
        json_copy_numbers(root, before);
        right &= claim("and equals that too, once cJSON has put the old numbers back", json_equal(root, before));
    }
    cJSON_Delete(before);
    cJSON_Delete(expected);
    return right ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    static survey found;
    double started = milliseconds();
    size_t bytes;
    cJSON *root;
    int result = 1;
    haul_status status = haul_type_create("cJSON", sizeof(cJSON), node_refs, 5, &node_type);
    if (!status)
        status = haul_type_commit(node_type);
    if (status)
        return failed("describing a cJSON node", status, node_type ? haul_type_error(node_type) : NULL);
    printf("Documents\n");
    root = argument_count > 1 ? json_read((const char *const *)arguments + 1, argument_count - 1, &bytes)
                              : json_read(default_document, 1, &bytes);
    if (root) {
        printf("  read and parsed by cJSON: %lu bytes in %.2f ms; each object was then given a number, \"bytes\"\n",
               (unsigned long)bytes, milliseconds() - started);
        json_measure_objects(root);
        found.add = 1;
        result = prove(root, &found);
    }
    cJSON_Delete(root);
    haul_type_free(&node_type);
    return result;
}
