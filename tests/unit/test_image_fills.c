/* No byte in an image is one that nobody has written: a graph makes the same image whatever its
 * memory held before, whatever the allocator's memory holds, and whatever image was written before.
 *
 * The structs have no padding: that travels (haul/image.h). Bytes around objects, behind counts and
 * terminators, in dead arms and in skipped fields do not.
 *
 * Faults by number (docs/testing.md): G22, H6.
 */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/open.h"
#include "support/written.h"

enum { CELLS = 40, ROOM = 12, NAME = 24 };
enum { ID, NUMBER, CELL, ARMS };

typedef struct tail {
    uint32_t used, room;
    char at[16];
} tail;

typedef struct cell {
    struct cell *next;
    double *numbers;
    char *name;
    struct tail *tail;
    union {
        uint32_t id; /* leaves bytes of the union out */
        double number;
        struct cell *cell;
    } is;
    uint32_t kind, count;
    uint32_t cache[2];
} cell;

static haul_type *cell_type, *tail_type;
static const haul_field tail_fields[] = { HAUL_TAIL(tail, at, HAUL_COUNT(tail, used)) };
static const haul_field cell_fields[] = {
    HAUL_OBJECT(cell, next, &cell_type),
    HAUL_ARRAY(cell, numbers, HAUL_COUNT(cell, count)),
    HAUL_STRING(cell, name),
    HAUL_OBJECT(cell, tail, &tail_type),
    HAUL_RAW(cell, is.id, .when = HAUL_EQUALS(cell, kind, ID)),
    HAUL_RAW(cell, is.number, .when = HAUL_EQUALS(cell, kind, NUMBER)),
    HAUL_OBJECT(cell, is.cell, &cell_type, .when = HAUL_EQUALS(cell, kind, CELL)),
    HAUL_SKIP(cell, cache),
};
static const haul_struct structs[] = { HAUL_STRUCT(tail, &tail_type, tail_fields),
                                       HAUL_STRUCT(cell, &cell_type, cell_fields) };

/* ---- Memory that is filled, and a graph in it. */

static struct memory {
    unsigned char at[1 << 16];
    size_t used;
} memory;

static void *take(size_t bytes)
{
    void *taken = memory.at + memory.used;
    memory.used += (bytes + 40) / 16 * 16; /* with a gap */
    CHECK(memory.used <= sizeof memory.at);
    return taken;
}

static void set_arm(cell *c, cell *other, uint32_t i)
{
    c->kind = i % ARMS;
    if (c->kind == ID)
        c->is.id = 1000 + i;
    else if (c->kind == NUMBER)
        c->is.number = i + 0.25;
    else
        c->is.cell = other;
}

/* Each number is written by itself, and nothing else is. */
static cell *make_graph(int fill)
{
    cell *all[CELLS];
    uint32_t i, k;
    memory.used = 0;
    memset(memory.at, fill, sizeof memory.at);
    for (i = 0; i < CELLS; i++)
        all[i] = take(sizeof(cell));
    for (i = 0; i < CELLS; i++) {
        cell *c = all[i];
        c->next = i + 1 < CELLS ? all[i + 1] : NULL;
        c->count = i % ROOM;
        c->numbers = take(ROOM * sizeof *c->numbers);
        for (k = 0; k < c->count; k++)
            c->numbers[k] = k * 1.5 + i;
        c->name = take(NAME);
        for (k = 0; k < i % NAME; k++)
            c->name[k] = (char)('a' + k);
        c->name[k] = '\0';
        c->tail = take(sizeof *c->tail);
        c->tail->used = i % 16;
        c->tail->room = 16;
        for (k = 0; k < c->tail->used; k++)
            c->tail->at[k] = (char)k;
        set_arm(c, all[(i * 7) % CELLS], i);
    }
    return all[0];
}

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    void *block = NULL;
    if (posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes))
        return NULL;
    return memset(block, *(const int *)user, bytes);
}

static void release(void *user, void *block, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(block);
}

/* ---- The ways to write. */

typedef enum way { OBJECTS, PLAN, MEMORY, ADDRESS, COMPRESSED, DEVICE, WAYS } way;

static haul_status write_plan(haul_context *context, haul_source source, const haul_file *file)
{
    const haul_plan_options ordered = { .ordered = 1 };
    haul_plan *plan;
    haul_status status = haul_plan_create(context, source, &ordered, &plan);
    if (status == HAUL_OK)
        status = haul_image_write(context, haul_from_plan(plan), file);
    haul_plan_free(&plan);
    return status;
}

static haul_status write_device(haul_device *device, cell *first, const haul_file *file)
{
    haul_shipment *shipment;
    haul_status status = haul_ship(device, first, cell_type, 1, NULL, &shipment);
    if (status == HAUL_OK)
        status = haul_image_write(haul_device_context(device), haul_from_device(shipment), file);
    haul_shipment_free(&shipment);
    return status;
}

static haul_status write_memory(haul_context *context, haul_source source, int fill,
                                image_bytes *to)
{
    const size_t room = 1 << 16;
    size_t bytes;
    haul_status status;
    bytes_resize(to, room);
    memset(to->at, fill, room);
    status = haul_image_to_bytes(context, source, NULL, to->at, room, &bytes);
    CHECK(bytes <= room);
    bytes_resize(to, bytes);
    return status;
}

static haul_status write_as(haul_device *device, cell *first, way how, int fill, image_bytes *to)
{
    const haul_image_write_options at = { .address = (uintptr_t)1 << 30 },
                                   small = { .compression = 3 };
    haul_context *context = haul_device_context(device);
    const haul_source source = haul_from_object(first, cell_type);
    const haul_file file = bytes_file(to);
    to->count = 0;
    switch (how) {
    case PLAN:
        return write_plan(context, source, &file);
    case MEMORY:
        return write_memory(context, source, fill, to);
    case ADDRESS:
        return haul_image_write_as(context, source, &at, &file);
    case COMPRESSED:
        return haul_image_write_as(context, source, &small, &file);
    case DEVICE:
        return write_device(device, first, &file);
    default:
        return haul_image_write(context, source, &file);
    }
}

/* `dirties`: a larger image was written with the context before, full of another byte. */
static haul_status make_image(way how, int fill, int dirties, image_bytes *to)
{
    test_device options;
    haul_device *device;
    haul_status status;
    memset(&options, 0, sizeof options);
    options.new_context.allocate = allocate;
    options.new_context.release = release;
    options.new_context.allocator_user = &fill;
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(haul_device_context(device), structs), HAUL_OK);
    if (dirties) {
        cell *first = make_graph(0x5c);
        memset(memory.at + memory.used, 0x5c, 30000);
        first->tail = NULL;
        first->kind = NUMBER;
        first->count = 3000;
        first->numbers = (double *)(void *)(memory.at + memory.used);
        CHECK_STATUS(write_as(device, first, how, fill, to), HAUL_OK);
    }
    status = write_as(device, make_graph(fill), how, fill, to);
    HAUL_FORGET(structs);
    haul_device_close(&device);
    return status;
}

static void compare(way how)
{
    static const struct {
        int fill, dirties;
    } others[] = { { 0xff, 0 }, { 0xa5, 0 }, { 0, 1 }, { 0xff, 1 } };
    image_bytes clean = { NULL, 0, 0 }, other = { NULL, 0, 0 };
    const haul_status status = make_image(how, 0, 0, &clean);
    size_t i;
    check_note("way %d", (int)how);
    if (how != COMPRESSED || status != HAUL_ERROR_UNSUPPORTED) {
        CHECK_STATUS(status, HAUL_OK);
        check_written(clean.at, clean.count);
        for (i = 0; i < sizeof others / sizeof *others; i++) {
            CHECK_STATUS(make_image(how, others[i].fill, others[i].dirties, &other), HAUL_OK);
            CHECK_EQ(other.count, clean.count);
            CHECK_BYTES(other.at, clean.at, clean.count);
        }
    }
    check_note(NULL);
    bytes_free(&clean);
    bytes_free(&other);
}

TEST(image_fills, an_image_holds_no_byte_of_what_memory_held_before_G22_H6)
{
    way how;
    for (how = OBJECTS; how < WAYS; how++)
        compare(how);
}
