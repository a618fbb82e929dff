/* Look-ups of single bytes: a byte that no field describes has no place, however near to an object.
 * And pointers without a place on the device, on the way back.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct link {
    struct link *next;
    int64_t value, more;
} link;

typedef struct spotted {
    struct spotted *next;
    int32_t seen, skipped;
    char text[5];
    char tail;
} spotted;

enum { BYTES = 4096, ROOTS = 24, ROUNDS = 300, KINDS = 5 };

static haul_type *byte_type, *link_type, *spotted_type, *gappy_type, *wide_type;

static void types_open(void)
{
    static const haul_field links[] = { HAUL_OBJECT(link, next, &link_type) };
    static const haul_field spots[] = { HAUL_OBJECT(spotted, next, &spotted_type),
                                        HAUL_SKIP(spotted, skipped), HAUL_SKIP(spotted, text) };
    haul_type *five;
    CHECK_STATUS(haul_type_bytes(type_context(), "byte", 1, &byte_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(byte_type), HAUL_OK);
    CHECK_STATUS(type_make("link", sizeof(link), links, 1, &link_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(link_type), HAUL_OK);
    CHECK_STATUS(type_make("spotted", sizeof(spotted), spots, 3, &spotted_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(spotted_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "five", 5, &five), HAUL_OK);
    CHECK_STATUS(haul_type_create_hvector(3, 1, 7, five, &gappy_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(gappy_type), HAUL_OK);
    haul_type_free(&five);
    wide_type = type_new(&(const haul_struct){ .name = "wide",
                                               .bytes = 64,
                                               .fields = links,
                                               .field_count = 1,
                                               .field_bytes = sizeof(haul_field),
                                               .alignment = 64 });
    CHECK_STATUS(haul_type_commit(wide_type), HAUL_OK);
}

static void types_close(void)
{
    haul_type_free(&byte_type);
    haul_type_free(&link_type);
    haul_type_free(&spotted_type);
    haul_type_free(&gappy_type);
    haul_type_free(&wide_type);
}

/* The reference: a mark for each byte of the memory that is an object's. */
typedef struct scene {
    unsigned char *memory, is_object[BYTES + 1];
    haul_root roots[ROOTS];
    size_t count;
} scene;

/* Objects at random places, one behind the other, often close together. */
static void scatter(random_source *random, scene *s)
{
    size_t at = random_below(random, 64);
    memset(s->is_object, 0, sizeof s->is_object);
    memset(s->memory, 0, BYTES);
    for (s->count = 0; s->count < ROOTS; s->count++) {
        haul_root *root = &s->roots[s->count];
        const size_t kind = random_below(random, KINDS);
        size_t bytes = 0;
        root->count = random_between(random, 1, 3);
        switch (kind) {
        case 0:
            root->type = byte_type;
            bytes = root->count = random_between(random, 1, 40);
            break;
        case 1:
            root->type = link_type;
            bytes = root->count * sizeof(link);
            break;
        case 2:
            root->type = spotted_type;
            bytes = root->count * sizeof(spotted);
            break;
        case 3:
            root->type = wide_type;
            root->count = 1;
            bytes = 64;
            break;
        default:
            root->type = gappy_type;
            bytes = root->count * 19;
        }
        if (kind == 1 || kind == 2)
            at = (at + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
        if (kind == 3)
            at = (at + 63) / 64 * 64;
        if (at + bytes > BYTES)
            return;
        root->address = s->memory + at;
        memset(s->is_object + at, 1, bytes);
        at += bytes + (random_one_in(random, 3) ? 0 : random_below(random, 40));
    }
}

static void check_each_byte(const scene *s, const haul_plan *plan)
{
    size_t i, offset;
    for (i = 0; i < BYTES; i++) {
        const int is_one_past = i > 0 && s->is_object[i - 1];
        const haul_status status = haul_plan_offset(plan, s->memory + i, &offset);
        void *address;
        check_note("byte %zu", i);
        CHECK_STATUS(status, s->is_object[i] || is_one_past ? HAUL_OK : HAUL_ERROR_ARGUMENT);
        if (!s->is_object[i])
            continue;
        CHECK_STATUS(haul_plan_address(plan, offset, &address), HAUL_OK);
        CHECK_PTR(address, s->memory + i);
    }
    check_note(NULL);
}

TEST(lookups, tell_an_objects_bytes_from_its_neighbours_to_the_byte)
{
    random_source random = random_start("look-ups of bytes");
    haul_context *context;
    haul_plan *plan;
    void *memory;
    scene s;
    int round;
    types_open();
    CHECK_EQ(posix_memalign(&memory, 4096, BYTES), 0);
    s.memory = memory;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    for (round = 0; round < ROUNDS; round++) {
        scatter(&random, &s);
        CHECK_STATUS(haul_plan_create(context, haul_from_roots(s.roots, s.count),
                                      round % 2 ? ORDERED : NULL, &plan),
                     HAUL_OK);
        check_each_byte(&s, plan);
        haul_plan_free(&plan);
    }
    haul_context_free(&context);
    free(s.memory);
    types_close();
}

/* ---- Pointers to nothing described. */

typedef struct bag {
    int32_t *numbers;
    struct bag *next;
    int32_t count;
} bag;

static void forget_both(void *argument)
{
    bag *b = argument;
    b->numbers = NULL;
    b->next = NULL;
}

TEST(lookups, a_pointer_to_no_elements_stays_where_the_device_holds_null_and_others_become_null)
{
    static haul_type *bag_type;
    static const haul_field rows[] = { HAUL_ARRAY(bag, numbers, HAUL_COUNT(bag, count)),
                                       HAUL_OBJECT(bag, next, &bag_type) };
    haul_device *device;
    haul_shipment *shipment;
    static int32_t none; /* far from the bags: not one past the end of one */
    bag b[2];
    memset(b, 0, sizeof b);
    b[0].numbers = &none;
    b[0].next = &b[1];
    CHECK_STATUS(type_make("bag", sizeof(bag), rows, 2, &bag_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(bag_type), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, b, bag_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, forget_both, haul_device_pointer(shipment, b)), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_PTR(b[0].numbers, &none);
    CHECK_PTR(b[0].next, NULL);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_type_free(&bag_type);
}
