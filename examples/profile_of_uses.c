/* Which array must be near? A profile run tells.
 *
 * A bar of metal cools: a step reads `heat` three times and writes it once; it writes and reads
 * `next` once. Each array has one pointer, so the graph does not say which is used more. HAUL_USE
 * counts in the kernel, and haul_uses_write keeps the counts as text. A second run reads them, and
 * has room for little more than one of them. Prints the text, then a claim with yes or NO.
 */
#undef HAUL_COUNT_USES
#define HAUL_COUNT_USES /* in a program: -DHAUL_COUNT_USES, for a profile build alone */
#include "common.h"

enum { POINTS = 1 << 18, STEPS = 4, NEXT = 0, HEAT, ARRAYS, TEXT = 256, ROOM = 1 << 16 };

typedef struct bar {
    float *next, *heat;
    uint64_t uses[ARRAYS]; /* the counters */
} bar;

static haul_context *context;
static haul_device *device;
static haul_type *bar_type;
static const haul_field bar_fields[ARRAYS] = {
    HAUL_ARRAY(bar, next, HAUL_FIXED(POINTS)),
    HAUL_ARRAY(bar, heat, HAUL_FIXED(POINTS)),
};
static const haul_struct structs[] = { HAUL_STRUCT(bar, &bar_type, bar_fields) };
static float next[POINTS], heat[POINTS];
static size_t near[ARRAYS]; /* bytes of them in device memory */

/* What runs on the device. */
static void cool(void *root)
{
    bar *b = root;
    uint64_t *of_next = &b->uses[NEXT], *of_heat = &b->uses[HEAT];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 1; i + 1 < POINTS; i++)
            HAUL_USE(of_next, b->next[i]) =
                HAUL_USE(of_heat, b->heat[i]) / 2 +
                (HAUL_USE(of_heat, b->heat[i - 1]) + HAUL_USE(of_heat, b->heat[i + 1])) / 4;
        for (int i = 1; i + 1 < POINTS; i++)
            HAUL_USE(of_heat, b->heat[i]) = HAUL_USE(of_next, b->next[i]);
    }
}

static int see_range(void *user, const haul_shipped_range *range)
{
    (void)user;
    if (range->host == next || range->host == heat)
        near[range->host == next ? NEXT : HEAT] = range->bytes - range->host_bytes;
    return 0;
}

static haul_status run(bar *b, const haul_ship_options *options)
{
    haul_shipment *shipment = NULL;
    haul_status status = haul_ship(device, b, bar_type, 1, options, &shipment);
    if (!status)
        status = haul_shipment_ranges(shipment, see_range, NULL);
    if (!status)
        status = haul_host_launch(device, cool, haul_device_pointer(shipment, b));
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_free(&shipment);
    return status;
}

static haul_status append(void *text, const void *bytes, size_t count)
{
    strncat(text, bytes, count); /* two short lines */
    return HAUL_OK;
}

int main(void)
{
    bar b = { next, heat, { 0 } };
    char text[TEXT] = "";
    haul_file file = { .user = text, .write = append };
    haul_place_hint hints[ARRAYS] = { { .field = "next" }, { .field = "heat" } };
    haul_ship_options half = { .spill = HAUL_PLACE_HOST, .hints = hints, .hint_count = ARRAYS };
    haul_status status = haul_context_create(NULL, &context);
    if (status || (status = HAUL_DESCRIBE(context, structs)) ||
        (status = haul_host_open(context, NULL, &device)) || (status = run(&b, NULL)))
        return failed("a profile run", status, haul_context_error(context));
    for (int i = 0; i < ARRAYS; i++) {
        hints[i].type = bar_type;
        hints[i].uses = b.uses[i];
    }
    half.budget_bytes = sizeof heat + ROOM;
    if ((status = haul_uses_write(context, hints, ARRAYS, &file)) ||
        (status = haul_uses_read(context, text, strlen(text), hints, ARRAYS)) ||
        (status = run(&b, &half)))
        return failed("a run with a budget", status, haul_context_error(context));
    printf("%s", text);
    const int right = claim("heat, which is used most, is near, and next is not",
                            near[HEAT] > sizeof heat - 2 * ROOM && near[NEXT] < 2 * ROOM);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return !right;
}
