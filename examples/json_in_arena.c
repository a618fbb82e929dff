/* A JSON document on the device in two ways: packed from the heap, and from an arena that cJSON has
 * parsed into.
 *
 *     json_in_arena [document.json ...]       default: Debian's table of the world's languages
 *
 * cJSON can be told its malloc and free. Bound to an arena (HAUL_ARENA_HOOKS), it puts every node
 * and string there. haul_from_arena_root discovers the pointers in place and packs nothing; the
 * arena's bytes are sent as they lie. The kernel is the same in both ways.
 *
 * Prints sizes and times of both ways side by side, then claims with yes or NO: both must find the
 * same and bring the same back.
 */
#include "common.h"
#include "json_documents.h"
#include "json_survey.h"

static const char *const default_document[] = { "/usr/share/iso-codes/json/iso_639-3.json" };

const char *survey_on_gpu(void *survey, long containers); /* json_survey.cu */

HAUL_ARENA_HOOKS(json);

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
 * One way of the two.
 */
typedef struct way {
    const char *name;
    haul_arena *arena; /* NULL: the heap */
    cJSON *root;
    survey *all;
    double parse_ms, ship_ms, function_ms, back_ms;
    haul_shipment_info statistics;
} way;

/* While an arena is used, cJSON allocates there and nowhere else. */
static void use(haul_arena *arena)
{
    cJSON_Hooks hooks = { json_malloc, json_free };
    json_use(arena);
    cJSON_InitHooks(arena ? &hooks : NULL);
}

static void *take(way *w, size_t bytes)
{
    return w->arena ? haul_arena_bytes(w->arena, bytes, 0) : calloc(1, bytes);
}

/* The request, which lies where the tree does. */
static int make_survey(way *w)
{
    long count = 0;
    cJSON **containers = json_containers(w->root, &count);
    w->all = take(w, sizeof(survey));
    if (containers && w->all) {
        w->all->count = count;
        w->all->add = 1;
        w->all->containers = take(w, (size_t)count * sizeof(cJSON *));
        w->all->findings = take(w, (size_t)count * sizeof(finding));
    }
    if (containers && w->all && w->all->containers && w->all->findings)
        memcpy(w->all->containers, containers, (size_t)count * sizeof(cJSON *));
    else
        count = -1;
    free(containers);
    return count >= 0;
}

static int parse(way *w, const char *const *paths, int count)
{
    double started = milliseconds();
    size_t bytes;
    int made;
    use(w->arena);
    w->root = json_read(paths, count, &bytes);
    w->parse_ms = milliseconds() - started;
    if (w->root)
        json_measure_objects(w->root);
    use(NULL);
    made = w->root && make_survey(w);
    if (!made && w->arena)
        failed("parsing into the arena", haul_arena_error(w->arena)->status,
               haul_arena_error(w->arena));
    return made;
}

static haul_status ship(way *w, haul_device *device, haul_shipment **shipment)
{
    if (w->arena)
        return haul_ship_from(device, haul_from_arena_root(w->arena, w->all, survey_type), NULL,
                              NULL, shipment);
    return haul_ship(device, w->all, survey_type, 1, NULL, shipment);
}

static haul_status travel(way *w, haul_device *device)
{
    haul_shipment *shipment = NULL;
    double started = milliseconds(), shipped, done;
    haul_status status = ship(w, device, &shipment);
    shipped = milliseconds();
    if (!status)
        status = launch(device, survey_container, ON_GPU(survey_on_gpu),
                        haul_device_pointer(shipment, w->all), w->all->count);
    done = milliseconds();
    if (!status)
        status = haul_unmarshal(shipment);
    w->ship_ms = shipped - started;
    w->function_ms = done - shipped;
    w->back_ms = milliseconds() - done;
    haul_shipment_get_info(shipment, &w->statistics);
    haul_shipment_free(&shipment);
    return status;
}

/* An arena's tree goes with the arena. */
static void drop(way *w)
{
    if (!w->arena) {
        cJSON_Delete(w->root);
        if (w->all) {
            free(w->all->containers);
            free(w->all->findings);
        }
        free(w->all);
    }
    haul_arena_free(&w->arena);
}

/* -------------------------------------------------------------------------------------------------
 * Side by side.
 */
static void report(const way *heap, const way *arena)
{
    const haul_shipment_info *a = &heap->statistics, *b = &arena->statistics;
    printf("\n%-34s %14s %14s\n", "", heap->name, arena->name);
    printf("%-34s %14lu %14lu\n", "objects", (unsigned long)a->objects, (unsigned long)b->objects);
    printf("%-34s %14lu %14lu\n", "pointers", (unsigned long)a->pointers,
           (unsigned long)b->pointers);
    printf("%-34s %14lu %14lu\n", "bytes that crossed", (unsigned long)a->bytes_to,
           (unsigned long)b->bytes_to);
    printf("%-34s %14lu %14lu\n", "transfers there", (unsigned long)a->transfers_to,
           (unsigned long)b->transfers_to);
    printf("milliseconds\n");
    printf("%-34s %14.2f %14.2f\n", "  parse", heap->parse_ms, arena->parse_ms);
    printf("%-34s %14.2f %14.2f\n", "  ship", heap->ship_ms, arena->ship_ms);
    printf("%-34s %14.2f %14.2f\n", "    discover", 1e3 * a->discover_seconds,
           1e3 * b->discover_seconds);
    printf("%-34s %14.2f %14.2f\n", "    pack", 1e3 * a->pack_seconds, 1e3 * b->pack_seconds);
    printf("%-34s %14.2f %14.2f\n", "    transfer and patch",
           1e3 * (a->transfer_seconds + a->relocate_seconds),
           1e3 * (b->transfer_seconds + b->relocate_seconds));
    printf("%-34s %14.2f %14.2f\n", "  function", heap->function_ms, arena->function_ms);
    printf("%-34s %14.2f %14.2f\n", "  back", heap->back_ms, arena->back_ms);
}

static int same_findings(const survey *a, const survey *b)
{
    return a->count == b->count &&
           memcmp(a->findings, b->findings, (size_t)a->count * sizeof(finding)) == 0;
}

static int compare(way *heap, way *arena, haul_device *device)
{
    cJSON *expected = cJSON_Duplicate(heap->root, 1);
    haul_status status = travel(heap, device);
    int right;
    if (!status)
        status = travel(arena, device);
    if (status || !expected) {
        cJSON_Delete(expected);
        return failed("the journey", status ? status : HAUL_ERROR_MEMORY, haul_context_error(haul));
    }
    report(heap, arena);
    json_add(expected, 1);
    printf("\n");
    right =
        claim("both ways the function has found the same", same_findings(heap->all, arena->all));
    right &= claim("the tree on the heap is what cJSON makes of it by adding 1",
                   json_equal(heap->root, expected));
    right &= claim("so is the tree in the arena", json_equal(arena->root, expected));
    right &= claim("from the arena nothing was packed", arena->statistics.pack_seconds <= 0);
    cJSON_Delete(expected);
    return right ? 0 : 1;
}

static int both_ways(haul_device *device, const char *const *paths, int count)
{
    haul_arena_options options;
    way heap, arena;
    int result = 1;
    haul_status status;
    memset(&options, 0, sizeof(options));
    memset(&heap, 0, sizeof(heap));
    memset(&arena, 0, sizeof(arena));
    heap.name = "heap, packed";
    arena.name = "arena";
    options.reuse = 1; /* for the texts that cJSON prints and frees */
    options.pinned = !is_host(device);
    options.device = device;
    options.reserve_bytes = (size_t)256 << 20;
    status = haul_arena_create(haul, &options, &arena.arena);
    if (status)
        return failed("making the arena", status, haul_context_error(haul));
    printf("Documents\n");
    if (parse(&heap, paths, count) && parse(&arena, paths, count))
        result = compare(&heap, &arena, device);
    drop(&heap);
    drop(&arena);
    return result;
}

int main(int argument_count, char **arguments)
{
    haul_device *device = NULL;
    int result;
    haul_status status = open_device(&haul, &device);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("opening the device", status, haul_context_error(haul));
    result = argument_count > 1
                 ? both_ways(device, (const char *const *)arguments + 1, argument_count - 1)
                 : both_ways(device, default_document, 1);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return result;
}
