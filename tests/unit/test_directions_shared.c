/* Directions of what an array of pointers leads to, if several rows lead to the array: what one row
 * promises is kept, whichever row found the array first.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "ship_graphs.h"
#include "support/check.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

enum { EACH = 2, MANY = 600 };

typedef struct sharing {
    double **a, **b;
    int64_t a_count, b_count;
} sharing;

typedef struct mesh {
    double **pointers, *numbers;
    size_t count;
} mesh;

static void make(mesh *m, size_t count)
{
    size_t i;
    m->count = count;
    m->pointers = malloc(count * sizeof *m->pointers);
    m->numbers = malloc(count * EACH * sizeof *m->numbers);
    CHECK(m->pointers && m->numbers);
    for (i = 0; i < count; i++)
        m->pointers[i] = &m->numbers[i * EACH];
    for (i = 0; i < count * EACH; i++)
        m->numbers[i] = 1;
}

static void drop(mesh *m)
{
    free(m->pointers);
    free(m->numbers);
}

static int goes(haul_transfer transfer)
{
    return transfer == HAUL_COPY || transfer == HAUL_COPYIN;
}

static int comes(haul_transfer transfer)
{
    return transfer == HAUL_COPY || transfer == HAUL_COPYOUT;
}

/* Row a leads to all pointers, row b to all but the first and the last one. */
static void check_pair(haul_device *device, haul_transfer a, haul_transfer b, size_t count,
                       int ordered)
{
    haul_ship_options options;
    haul_shipment *s;
    haul_type *type;
    sharing two;
    mesh m;
    size_t i;
    make(&m, count);
    two.a = m.pointers;
    two.b = m.pointers + 1;
    two.a_count = (int64_t)count;
    two.b_count = (int64_t)count - 2;
    {
        const haul_field fields[] = {
            HAUL_ARRAYS(sharing, a, HAUL_COUNT(sharing, a_count), HAUL_FIXED(EACH), .transfer = a),
            HAUL_ARRAYS(sharing, b, HAUL_COUNT(sharing, b_count), HAUL_FIXED(EACH), .transfer = b)
        };
        CHECK_STATUS(type_make("sharing", sizeof(sharing), fields, 2, &type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    }
    memset(&options, 0, sizeof options);
    options.ordered = ordered;
    CHECK_STATUS(haul_ship(device, &two, type, 1, &options, &s), HAUL_OK);
    for (i = 0; i < count; i++) {
        const int is_both = i > 0 && i < count - 1;
        const double there[EACH] = { 5, 5 };
        double seen[EACH];
        device_read(device, seen, device_address(s, m.pointers[i]), sizeof seen);
        CHECK(seen[0] == (goes(a) && (goes(b) || !is_both)) && seen[1] == seen[0]);
        device_write(device, device_address(s, m.pointers[i]), there, sizeof there);
    }
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    for (i = 0; i < count * EACH; i++) {
        const int is_both = i >= EACH && i < (count - 1) * EACH;
        CHECK(m.numbers[i] == (comes(a) && (comes(b) || !is_both) ? 5 : 1));
        CHECK_PTR(m.pointers[i / EACH], &m.numbers[i / EACH * EACH]);
    }
    haul_shipment_free(&s);
    haul_type_free(&type);
    drop(&m);
}

TEST(directions_shared, rows_that_share_an_array_of_pointers_keep_both_promises)
{
    static const haul_transfer ways[] = { HAUL_COPY, HAUL_COPYIN, HAUL_COPYOUT, HAUL_CREATE };
    haul_device *device = ordinary_device();
    int i;
    for (i = 0; i < 64; i++)
        check_pair(device, ways[i % 4], ways[i / 4 % 4], i & 16 ? MANY : 3, i >= 32);
    haul_device_close(&device);
}

/* ---- Three levels. */

typedef struct deep {
    double ***a, ***b;
} deep;

TEST(directions_shared, pointers_behind_shared_pointers_keep_both_promises)
{
    haul_device *device = ordinary_device();
    int which, ordered;
    for (which = 0; which < 2; which++)
        for (ordered = 0; ordered < 2; ordered++) {
            const double news[EACH] = { 5, 5 };
            double numbers[EACH] = { 1, 1 }, *inner[1], **outer[1];
            haul_ship_options options;
            haul_shipment *s;
            haul_type *type;
            deep d;
            const haul_field fields[] = {
                HAUL_ADDRESS(deep, a, .levels = 3, .element_bytes = sizeof(double),
                             .count = HAUL_FIXED(1), .count2 = HAUL_FIXED(1),
                             .count3 = HAUL_FIXED(EACH),
                             .transfer = which ? HAUL_COPY : HAUL_COPYIN),
                HAUL_ADDRESS(deep, b, .levels = 3, .element_bytes = sizeof(double),
                             .count = HAUL_FIXED(1), .count2 = HAUL_FIXED(1),
                             .count3 = HAUL_FIXED(EACH),
                             .transfer = which ? HAUL_COPYIN : HAUL_COPY),
            };
            inner[0] = numbers;
            outer[0] = inner;
            d.a = d.b = outer;
            CHECK_STATUS(type_make("deep", sizeof(deep), fields, 2, &type), HAUL_OK);
            CHECK_STATUS(haul_type_commit(type), HAUL_OK);
            memset(&options, 0, sizeof options);
            options.ordered = ordered;
            CHECK_STATUS(haul_ship(device, &d, type, 1, &options, &s), HAUL_OK);
            device_write(device, device_address(s, numbers), news, sizeof news);
            CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
            CHECK(numbers[0] == 1 && numbers[1] == 1);
            haul_shipment_free(&s);
            haul_type_free(&type);
        }
    haul_device_close(&device);
}

/* ---- Wrong pointers. */

typedef struct numbers {
    int64_t count;
    int64_t values[];
} numbers;

typedef struct holder {
    numbers *held;
} holder;

TEST(directions_shared, a_pointer_that_leads_nowhere_is_refused_before_its_target_tells_a_size)
{
    static const uintptr_t nowhere[] = { 16, 4095, (uintptr_t)0 - 64 };
    haul_context *context = type_context();
    haul_type *numbers_type, *holder_type;
    haul_plan *plan;
    size_t i;
    const haul_field fields[] = { HAUL_RAW(numbers, count),
                                  HAUL_TAIL(numbers, values, HAUL_COUNT(numbers, count)) };
    const haul_field held[] = { HAUL_OBJECT(holder, held, &numbers_type, .transfer = HAUL_COPYIN) };
    CHECK_STATUS(type_make("numbers", sizeof(numbers), fields, 2, &numbers_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(numbers_type), HAUL_OK);
    CHECK_STATUS(type_make("holder", sizeof(holder), held, 1, &holder_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
    for (i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        holder root;
        root.held = (numbers *)nowhere[i];
        CHECK_STATUS(haul_plan_create(context, haul_from_object(&root, holder_type), NULL, &plan),
                     HAUL_ERROR_GRAPH);
        CHECK_STR(haul_context_error(context)->path, "root.held");
    }
    haul_type_free(&holder_type);
    haul_type_free(&numbers_type);
}
