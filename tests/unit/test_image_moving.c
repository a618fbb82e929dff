/* Numbers that a graph depends on belong to an object, and lie in no pointer: else their value
 * would depend on where a block lies, or on what lies beside it.
 */
#include <string.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"

typedef struct link {
    union {
        struct link *next;
        uint8_t byte[sizeof(void *)];
    } to;
    uintptr_t *data;
    uintptr_t arm; /* the last granule is half free */
} link;

static haul_type *link_type, *leaf_type;

/* Writes an image of an object of the type, and loads it. */
static haul_status save_and_load(void *object, haul_type *type)
{
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    haul_image *loaded;
    haul_status status;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(object, type), &file), HAUL_OK);
    status = haul_image_from_bytes(type_context(), image.at, image.count, &type, 1, NULL, &loaded);
    haul_image_free(&loaded);
    bytes_free(&image);
    return status;
}

#if UINTPTR_MAX > 0xffffffffu
/* The highest byte of an address is 0 in any process, but not for all addresses. */
static size_t highest_byte(void)
{
    const uint16_t order = 0x0102;
    uint8_t first;
    memcpy(&first, &order, 1);
    return first == 1 ? 0 : sizeof(void *) - 1;
}

TEST(image_moving, a_count_in_the_bytes_of_a_pointer_is_refused_though_it_is_0)
{
    static uintptr_t data[4];
    haul_field fields[] = { HAUL_OBJECT(link, to.next, &link_type,
                                        .when = HAUL_EQUALS(link, arm, 1), .else_raw = 1),
                            HAUL_ARRAY(link, data, HAUL_COUNT(link, to.byte[0])) };
    link at[2];
    memset(at, 0, sizeof at);
    fields[1].count.field[0].offset = offsetof(link, to) + highest_byte();
    at[0].to.next = &at[1];
    at[0].data = at[1].data = data;
    CHECK_STATUS(type_make("link", sizeof(link), fields, 2, &link_type), HAUL_OK);
    CHECK_STATUS(save_and_load(at, link_type), HAUL_OK); /* the arm is no pointer */
    at[0].arm = 1;
    CHECK_STATUS(save_and_load(at, link_type), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(type_context())->text, "lies in a pointer");
    haul_type_free(&link_type);
}
#endif

typedef struct leaf {
    uintptr_t value[2];
} leaf;

typedef struct tagged {
    uintptr_t tag;
    leaf is;
} tagged;

TEST(image_moving, a_number_that_no_object_has_is_refused_though_it_is_0)
{
    static const haul_case cases[] = { { 0, &leaf_type, offsetof(tagged, is) } };
    const haul_field field =
        HAUL_ADDRESS(link, to.next, .type_switch = HAUL_SWITCH_TARGET(tagged, tag, cases));
    tagged target = { 0, { { 1, 2 } } };
    link at;
    memset(&at, 0, sizeof at);
    at.to.next = (link *)(void *)&target;
    CHECK_STATUS(type_make("leaf", sizeof(leaf), NULL, 0, &leaf_type), HAUL_OK);
    CHECK_STATUS(type_make("link", sizeof(link), &field, 1, &link_type), HAUL_OK);
    CHECK_STATUS(save_and_load(&at, link_type), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(type_context())->text, "belongs to no object");
    haul_type_free(&link_type);
    haul_type_free(&leaf_type);
}
