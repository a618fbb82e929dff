/* Arenas of which little is sent: what is sent is there, the rest is zeros, and only the former
 * crosses. Random structs whose bytes travel in all ways are compared with a model of bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/random.h"
#include "support/types.h"

enum {
    WORD = sizeof(void *),
    MOST = 1 << 18, /* bytes of a struct */
    ELEMENTS = 24,
    FIELDS = 24,
    LEAST = 512 << 10, /* that must be saved */
    GAP = 4096 + 2 * 512 +
          2 * WORD, /* a gap of so many bytes does not cross, with less at its ends */
    GRAPHS = LARGE(60, 6)
};

static random_source dice;
static haul_device *device;
static haul_type *type;

/* A struct: a pointer to any element, and fields behind it. */
static size_t size, count;
static unsigned char is_sent[MOST];
static size_t spared; /* of the bytes of an element: in long gaps, without their ends */
static unsigned char *elements;

static size_t pick(size_t below)
{
    return random_below(&dice, below);
}

static unsigned char **link_of(size_t i)
{
    return (unsigned char **)(void *)(elements + i * size);
}

/* Fields of one way each, with bytes between them that travel. */
static void describe(void)
{
    static const haul_transfer ways[] = { HAUL_COPY, HAUL_COPYIN, HAUL_COPYOUT, HAUL_CREATE };
    haul_field fields[FIELDS + 1];
    size_t at = WORD, n = 0;
    spared = 0;
    memset(fields, 0, sizeof fields);
    memset(is_sent, 1, sizeof is_sent);
    size = (WORD + pick(MOST - WORD)) / WORD * WORD;
    fields[n].name = "link";
    fields[n].kind = HAUL_FIELD_POINTER;
    fields[n].bytes = WORD;
    fields[n].target = &type;
    fields[n++].levels = 1;
    while (n < FIELDS && at < size) {
        const size_t bytes = 1 + pick(pick(2) ? 40 : pick(4) ? size - at : size / 4);
        haul_field *f = &fields[n];
        if (bytes > size - at)
            break;
        f->name = "field";
        f->offset = at;
        f->bytes = bytes;
        f->kind = pick(2) ? HAUL_FIELD_SKIP : HAUL_FIELD_RAW;
        if (f->kind == HAUL_FIELD_RAW)
            f->transfer = ways[pick(4)];
        if (f->kind == HAUL_FIELD_SKIP || f->transfer == HAUL_COPYOUT || f->transfer == HAUL_CREATE)
            memset(is_sent + at, 0, bytes);
        if (!is_sent[at] && bytes > GAP)
            spared += bytes - (GAP - 4096);
        n++;
        at += bytes + (pick(2) ? pick(100) : 0);
    }
    type = type_new(&(const haul_struct){ .name = "squeezed",
                                          .bytes = size,
                                          .fields = fields,
                                          .field_count = n,
                                          .field_bytes = sizeof(haul_field) });
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
}

static void fill(void)
{
    size_t i;
    random_fill(&dice, elements, size * count);
    for (i = 0; i < count; i++)
        *link_of(i) = pick(4) ? elements + pick(count) * size : NULL;
}

typedef struct look {
    unsigned char *there;
    size_t wrong; /* bytes */
} look;

/* Compares, and then spoils all data. */
static void look_at(void *argument)
{
    look *l = argument;
    size_t i, k;
    for (i = 0; i < count; i++) {
        unsigned char *at = l->there + i * size, *link = *link_of(i), *is;
        memcpy(&is, at, WORD);
        if (is != (link ? l->there + (link - elements) : NULL))
            l->wrong++;
        for (k = WORD; k < size; k++) {
            l->wrong += at[k] != (is_sent[k] ? elements[i * size + k] : 0);
            at[k] = 0xa5;
        }
    }
}

static void check_there(haul_shipment *s)
{
    look l = { haul_device_pointer(s, elements), 0 };
    CHECK_STATUS(haul_host_launch(device, look_at, &l), HAUL_OK);
    CHECK_EQ(l.wrong, 0);
}

/* At least what is sent; and not what lies in long gaps, if that is worth it. */
static void check_crossed(const haul_shipment_info *info, uint64_t bytes)
{
    size_t sent = 0, k;
    for (k = 0; k < size; k++)
        sent += is_sent[k];
    CHECK(bytes >= sent * count);
    if (info->to_device == HAUL_ROUTE_WHOLE && spared * count > LEAST + size * count / 128)
        CHECK(bytes <= (size - spared) * count + 256);
}

static void ship_and_refresh(const haul_async *async)
{
    haul_shipment_info info;
    haul_shipment *s;
    haul_route route;
    uint64_t before;
    CHECK_STATUS(haul_ship_from(device, haul_from_array(elements, type, count), NULL, async, &s),
                 HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    check_there(s);
    haul_shipment_get_info(s, &info);
    before = info.bytes_to;
    route = info.to_device;
    check_crossed(&info, before);
    CHECK_STATUS(haul_update_device(s, NULL, async), HAUL_OK);
    CHECK_STATUS(haul_wait(s), HAUL_OK);
    check_there(s); /* what is out is zeros again */
    haul_shipment_get_info(s, &info);
    check_crossed(&info, info.bytes_to - before);
    if (info.to_device == route) /* a gap that the end of a piece cuts may cross with the whole */
        CHECK(info.bytes_to - before <= before);
    haul_shipment_free(&s);
}

/* `chunk`: bytes of a piece; 0: as the device likes it. */
static void try_graphs(int graphs, size_t chunk, int is_late)
{
    static const haul_async own = { NULL, NULL };
    fault_plan plan = { .deferred = is_late, .chunk_bytes = chunk };
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    while (graphs-- > 0) {
        describe();
        count = 1 + pick(ELEMENTS);
        elements = malloc(size * count);
        fill();
        ship_and_refresh(is_late ? &own : NULL);
        free(elements);
        haul_type_free(&type);
    }
    haul_device_close(&device);
    fault_check_clean(&plan);
}

TEST(squeeze, what_is_sent_is_there_and_the_rest_is_zeros)
{
    dice = random_start("squeezed arenas agree with the model");
    try_graphs(GRAPHS, 0, 0);
    try_graphs(GRAPHS, 0, 1);
}

TEST(squeeze, it_is_so_in_pieces)
{
    dice = random_start("squeezed pieces agree with the model");
    try_graphs(GRAPHS / 4, 1, 0);
    try_graphs(GRAPHS / 2, 1 << 20, 0);
    try_graphs(GRAPHS / 2, 3 << 20, 1);
}

typedef struct wide {
    double used[8], unused[80000];
} wide;

static void ship_wide(const haul_device_table *table, uint64_t *bytes_to)
{
    static const haul_field fields[] = { HAUL_SKIP(wide, unused) };
    static wide w;
    haul_type *wide_type = TYPE_NEW(wide, fields);
    haul_shipment_info info;
    haul_shipment *s;
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
    CHECK_STATUS(test_open(table, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, &w, wide_type, 1, NULL, &s), HAUL_OK);
    haul_shipment_get_info(s, &info);
    *bytes_to = info.bytes_to;
    CHECK_EQ(info.transfers_to, 1);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&wide_type);
}

TEST(squeeze, zeros_cross_to_a_device_that_makes_none_or_scatters_none)
{
    haul_device_table table = *haul_host_device();
    uint64_t bytes_to;
    ship_wide(&table, &bytes_to);
    CHECK(bytes_to <= 1024);
    table.clear = NULL;
    ship_wide(&table, &bytes_to);
    CHECK(bytes_to >= sizeof(wide));
    table.clear = haul_host_device()->clear;
    table.gather_strips = NULL;
    table.scatter_strips = NULL;
    ship_wide(&table, &bytes_to);
    CHECK(bytes_to >= sizeof(wide));
}

/* ---- Faults. */

static wide source;
static haul_shipment *shipped;

static void prepare(void *user, fault_plan *plan)
{
    static const haul_field fields[] = { HAUL_SKIP(wide, unused) };
    (void)user;
    CHECK_STATUS(fault_open(plan, NULL, &device), HAUL_OK);
    type = TYPE_NEW(wide, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    source.used[7] = 7;
}

static haul_status ship_source(void *user)
{
    (void)user;
    return haul_ship(device, &source, type, 1, NULL, &shipped);
}

static int is_right;

static void look_at_wide(void *argument)
{
    const wide *w = argument;
    is_right = w->used[7] == 7 && w->unused[0] == 0 && w->unused[79999] == 0;
}

static void check_shipped(void *user, haul_status status)
{
    (void)user;
    CHECK((shipped != NULL) == (status == HAUL_OK));
    if (!shipped)
        return;
    is_right = 0;
    CHECK_STATUS(haul_host_launch(device, look_at_wide, haul_device_pointer(shipped, &source)),
                 HAUL_OK);
    CHECK(is_right);
}

static void free_shipped(void *user)
{
    (void)user;
    haul_shipment_free(&shipped);
}

static void end(void *user)
{
    (void)user;
    haul_type_free(&type);
    haul_device_close(&device);
}

TEST(squeeze, a_ship_survives_every_fault)
{
    fault_operation operation = { .name = "squeezed ship",
                                  .prepare = prepare,
                                  .run = ship_source,
                                  .check = check_shipped,
                                  .undo = free_shipped,
                                  .finish = end,
                                  .keeps = 1 };
    CHECK(fault_everywhere(&operation) > 20);
}
