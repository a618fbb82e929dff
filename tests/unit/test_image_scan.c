/* Images as haul_image_write lays them out are checked by a scan, in little memory. Whatever the
 * scan does not know, the walk checks: it is accepted or refused as well.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/image_bytes.h"
#include "support/counted.h"
#include "support/check.h"
#include "support/types.h"

typedef struct node {
    struct node *next, *other;
    double *xyz;
    size_t count;
    char data[96 - 3 * sizeof(void *) - sizeof(size_t)];
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_OBJECT(node, other, &node_type),
    HAUL_ARRAY(node, xyz, HAUL_COUNT(node, count)),
};
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

/* ---- Graphs. */

static node *make_list(size_t count)
{
    node *all = calloc(count, sizeof *all);
    size_t i;
    CHECK(all != NULL);
    for (i = 0; i < count; i++) {
        all[i].next = i + 1 < count ? &all[i + 1] : NULL;
        all[i].other = &all[i * 7 % count];
    }
    return all;
}

static void write_list(haul_context *context, node *first, image_bytes *image)
{
    haul_file file = bytes_file(image);
    memset(image, 0, sizeof *image);
    CHECK_STATUS(haul_image_write(context, haul_from_object(first, node_type), &file), HAUL_OK);
}

static haul_status load(haul_context *context, const image_bytes *image)
{
    haul_image *loaded;
    const haul_status status =
        haul_image_from_bytes(context, image->at, image->count, &node_type, 1, NULL, &loaded);
    haul_image_free(&loaded);
    return status;
}

/* Bytes of memory that a checked load takes, the block included. */
static size_t bytes_of_load(const image_bytes *image)
{
    counted c;
    haul_context *context;
    CHECK_STATUS(counted_open(&c, &context), HAUL_OK);
    CHECK_STATUS(load(context, image), HAUL_OK);
    haul_context_free(&context);
    CHECK_EQ(c.held, 0);
    return c.most;
}

TEST(image_scan, an_image_as_it_is_written_takes_little_more_than_its_block)
{
    enum { COUNT = 20000 };
    haul_context *context;
    image_bytes image;
    node *all = make_list(COUNT);
    double xyz[5] = { 1, 2, 3, 4, 5 };
    all[COUNT / 2].xyz = xyz;
    all[COUNT / 2].count = 5;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, structs), HAUL_OK);
    write_list(context, all, &image);
    CHECK(bytes_of_load(&image) < image.count + image.count / 20);
    bytes_free(&image);
    /* an array that begins within another one is the walk's */
    all[7].xyz = xyz + 1;
    all[7].count = 1;
    write_list(context, all, &image);
    CHECK(bytes_of_load(&image) > 2 * image.count);
    bytes_free(&image);
    free(all);
    HAUL_FORGET(structs);
    haul_context_free(&context);
}

TEST(image_scan, many_pointers_to_one_large_array_take_no_more_than_its_bytes_some_times)
{
    enum { COUNT = 2000, BYTES = 1 << 20 };
    haul_context *context;
    image_bytes image;
    node *all = make_list(COUNT);
    double *xyz = calloc(1, BYTES);
    size_t i;
    CHECK(xyz != NULL);
    for (i = 0; i < COUNT; i++) {
        all[i].xyz = xyz;
        all[i].count = BYTES / sizeof *xyz;
    }
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(context, structs), HAUL_OK);
    write_list(context, all, &image);
    CHECK_STATUS(load(context, &image), HAUL_OK);
    bytes_free(&image);
    free(xyz);
    free(all);
    HAUL_FORGET(structs);
    haul_context_free(&context);
}

TEST(image_scan, more_kinds_than_the_scan_numbers_are_left_to_the_walk)
{
    enum { TYPES = 300 };
    static haul_type *types[TYPES];
    static void *objects[TYPES][4];
    haul_context *context;
    haul_image *loaded;
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    char name[32];
    size_t i;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    for (i = 0; i < TYPES; i++) {
        haul_field field = HAUL_OBJECT(node, next, &types[(i + 1) % TYPES]);
        field.element_bytes = sizeof objects[0];
        sprintf(name, "type %zu", i);
        CHECK_STATUS(type_make(name, sizeof objects[0], &field, 1, &types[i]), HAUL_OK);
        objects[i][0] = objects[(i + 1) % TYPES];
    }
    CHECK_STATUS(haul_type_commit(types[0]), HAUL_OK);
    CHECK_STATUS(haul_image_write(context, haul_from_object(objects, types[0]), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(context, image.at, image.count, types, 1, NULL, &loaded),
                 HAUL_OK);
    haul_image_free(&loaded);
    bytes_free(&image);
    for (i = 0; i < TYPES; i++)
        haul_type_free(&types[i]);
    haul_context_free(&context);
}
