/* Uses that kernels count in a profile build, and what they are good for (haul/uses.h). */
#define HAUL_COUNT_USES
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

enum { PAGE = 4096, VALUES = 32 * PAGE / sizeof(int32_t), HOT = 0, COLD, FIELDS };

typedef struct table {
    int32_t *cold, *hot;
    uint64_t uses[FIELDS];
} table;

static const haul_field fields[] = {
    HAUL_ARRAY(table, cold, HAUL_FIXED(VALUES)),
    HAUL_ARRAY(table, hot, HAUL_FIXED(VALUES)),
};

static void add_up(void *argument)
{
    table *t = argument;
    int i, turn;
    for (turn = 0; turn < 3; turn++)
        for (i = 1; i < VALUES; i++)
            HAUL_USE(&t->uses[HOT], t->hot[i]) += HAUL_USE(&t->uses[HOT], t->hot[i - 1]);
    for (i = 0; i < VALUES; i++)
        HAUL_USE(&t->uses[COLD], t->cold[i]) = i;
}

TEST(uses, are_counted_in_bytes_and_leave_the_expression_as_it_is)
{
    struct {
        double wide;
        char narrow[3];
    } one = { 1.5, "ab" };
    uint64_t uses = 7;
    const char *const word = "word";
    double *at = &HAUL_USE(&uses, one.wide); /* an lvalue */
    CHECK(at == &one.wide);
    CHECK_EQ(uses, 7 + sizeof(double));
    HAUL_USE(&uses, one.narrow[1])++;
    CHECK_EQ(one.narrow[1], 'c');
    CHECK_EQ(uses, 7 + sizeof(double) + 1);
    CHECK_EQ(HAUL_USE(&uses, word[2]), 'r');
    CHECK_EQ(uses, 7 + sizeof(double) + 2);
}

typedef struct near_bytes {
    const table *of;
    size_t near[FIELDS];
} near_bytes;

static int add_range(void *user, const haul_shipped_range *range)
{
    near_bytes *n = user;
    if (range->host == n->of->hot || range->host == n->of->cold)
        n->near[range->host == n->of->hot ? HOT : COLD] = range->bytes - range->host_bytes;
    return 0;
}

/* As addresses say, the array that is used less would be near. */
TEST(uses, of_a_profile_run_keep_the_array_near_that_kernels_use_more)
{
    haul_context *context;
    haul_device *device;
    haul_shipment *shipment;
    haul_type *type;
    haul_place_hint hints[FIELDS];
    haul_ship_options options;
    int32_t *values = calloc(2 * VALUES, sizeof *values);
    table t;
    near_bytes bytes = { NULL, { 0, 0 } };
    CHECK(values != NULL);
    memset(&t, 0, sizeof t);
    memset(hints, 0, sizeof hints);
    memset(&options, 0, sizeof options);
    t.cold = values;
    t.hot = values + VALUES;
    bytes.of = &t;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    type = TYPE_NEW(table, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &t, type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, add_up, haul_device_pointer(shipment, &t)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    haul_shipment_free(&shipment);
    CHECK_EQ(t.uses[HOT], 3 * 2 * (VALUES - 1) * sizeof(int32_t));
    CHECK_EQ(t.uses[COLD], VALUES * sizeof(int32_t));
    hints[HOT].type = hints[COLD].type = type;
    hints[HOT].field = "hot";
    hints[COLD].field = "cold";
    hints[HOT].uses = t.uses[HOT];
    hints[COLD].uses = t.uses[COLD];
    options.hints = hints;
    options.hint_count = FIELDS;
    options.spill = HAUL_PLACE_HOST;
    options.budget_bytes = (32 + 4) * PAGE;
    CHECK_STATUS(haul_ship(device, &t, type, 1, &options, &shipment), HAUL_OK);
    CHECK_STATUS(haul_shipment_ranges(shipment, add_range, &bytes), HAUL_OK);
    CHECK(bytes.near[HOT] + PAGE >= VALUES * sizeof(int32_t)); /* but for a shared page */
    CHECK(bytes.near[COLD] <= 5 * PAGE);                       /* what is left, and a shared page */
    haul_shipment_free(&shipment);
    haul_type_free(&type);
    haul_device_close(&device);
    haul_context_free(&context);
    free(values);
}
