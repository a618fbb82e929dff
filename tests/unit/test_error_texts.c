/* Each failure of a call that creates something leaves a sentence that names the culprit, in the
 * record of the context or the arena.
 */
#include <stdio.h>
#include <string.h>

#include "haul/host.h"
#include "haul/ship.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"

#define MOST (SIZE_MAX / 4)

typedef struct pair {
    struct pair *first;
    int64_t count;
} pair;

static haul_type *made(const char *name, int committed)
{
    haul_type *type;
    CHECK_STATUS(type_make(name, 8, NULL, 0, &type), HAUL_OK);
    if (committed)
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    return type;
}

/* The words of an error, and that they are a sentence with the given part. */
static void check_words(const haul_error *error, haul_status status, const char *path,
                        const char *words)
{
    check_note("\"%s\": \"%s\"", error->path, error->text);
    CHECK_EQ(error->status, status);
    CHECK_STR(error->path, path);
    CHECK_HAS(error->text, words);
    check_note(NULL);
}

/* ---- Constructors: one row for each error of each. */

typedef haul_status constructing(haul_type *old, haul_type **new_type);

static const size_t one[] = { 1, 1, 1 }, most[] = { 1, 1, MOST }, zero[] = { 0, 0, 0 };

static haul_status too_many(haul_type *old, haul_type **new_type)
{
    return haul_type_contiguous(SIZE_MAX, old, new_type);
}

static haul_status too_far_apart(haul_type *old, haul_type **new_type)
{
    return haul_type_vector(2, 1, MOST, old, new_type);
}

static haul_status too_many_bytes_apart(haul_type *old, haul_type **new_type)
{
    return haul_type_create_hvector(3, 1, MOST, old, new_type);
}

static haul_status long_block(haul_type *old, haul_type **new_type)
{
    return haul_type_indexed(3, most, zero, old, new_type);
}

static haul_status far_block(haul_type *old, haul_type **new_type)
{
    return haul_type_create_hindexed(3, one, most, old, new_type);
}

static haul_status far_equal_block(haul_type *old, haul_type **new_type)
{
    return haul_type_create_indexed_block(3, 1, most, old, new_type);
}

static haul_status far_member(haul_type *old, haul_type **new_type)
{
    haul_type *types[3];
    types[0] = types[1] = types[2] = old;
    return haul_type_create_struct(3, one, most, types, new_type);
}

static haul_status no_member(haul_type *old, haul_type **new_type)
{
    haul_type *types[3];
    types[0] = types[1] = old;
    types[2] = NULL;
    return haul_type_create_struct(3, one, zero, types, new_type);
}

static haul_status outside(haul_type *old, haul_type **new_type)
{
    static const size_t sizes[] = { 4, 5 }, subsizes[] = { 2, 3 }, starts[] = { 2, 3 };
    return haul_type_create_subarray(2, sizes, subsizes, starts, HAUL_ORDER_C, old, new_type);
}

static haul_status large_array(haul_type *old, haul_type **new_type)
{
    static const size_t sizes[] = { MOST, 5 }, starts[] = { 0, 0 };
    return haul_type_create_subarray(2, sizes, one, starts, HAUL_ORDER_C, old, new_type);
}

static haul_status no_dimension(haul_type *old, haul_type **new_type)
{
    return haul_type_create_subarray(0, one, one, one, HAUL_ORDER_C, old, new_type);
}

static haul_status no_extent(haul_type *old, haul_type **new_type)
{
    return haul_type_create_resized(old, 3, 0, new_type);
}

static haul_status large_extent(haul_type *old, haul_type **new_type)
{
    return haul_type_create_resized(old, 3, MOST, new_type);
}

static haul_status no_lengths(haul_type *old, haul_type **new_type)
{
    return haul_type_indexed(1, NULL, one, old, new_type);
}

static haul_status no_displacements(haul_type *old, haul_type **new_type)
{
    return haul_type_create_hindexed(1, one, NULL, old, new_type);
}

static haul_status no_result(haul_type *old, haul_type **new_type)
{
    *new_type = NULL;
    return haul_type_dup(old, NULL);
}

static const struct {
    constructing *call;
    haul_status status;
    const char *words;
} constructors[] = {
    { too_many, HAUL_ERROR_TYPE, "contiguous(18446744073709551615, old) would have more than" },
    { too_far_apart, HAUL_ERROR_TYPE,
      "vector(2, 1, 4611686018427387903, old) would have more than" },
    { too_many_bytes_apart, HAUL_ERROR_TYPE, "hvector(3, 1, 4611686018427387903, old) would have" },
    { long_block, HAUL_ERROR_TYPE, "Block 2 of the new type, of 4611686018427387903 elements" },
    { far_block, HAUL_ERROR_TYPE,
      "Block 2 of the new type, of 1 elements at displacement 4611686018427387903" },
    { far_equal_block, HAUL_ERROR_TYPE, "Block 2 of the new type, of 1 elements at displacement" },
    { far_member, HAUL_ERROR_TYPE, "Block 2 of the new type, of 1 elements at displacement" },
    { no_member, HAUL_ERROR_ARGUMENT, "Type 2 of the list is no living type" },
    { outside, HAUL_ERROR_TYPE,
      "Dimension 1 of a subarray has 3 elements from 3 on, of an array's 5" },
    { large_array, HAUL_ERROR_TYPE, "With the 4611686018427387903 elements of dimension 0" },
    { no_dimension, HAUL_ERROR_ARGUMENT, "no dimensions" },
    { no_extent, HAUL_ERROR_TYPE, "an extent of 0 bytes" },
    { large_extent, HAUL_ERROR_TYPE, "resized(3, 4611686018427387903, old) would have" },
    { no_lengths, HAUL_ERROR_ARGUMENT, "one of its lists" },
    { no_displacements, HAUL_ERROR_ARGUMENT, "one of its lists" },
    { no_result, HAUL_ERROR_ARGUMENT, "the new type's address" },
};

/* Where size_t has 32 bits the numbers are others. */
static const char *words_here(const char *words)
{
    return sizeof(size_t) == 8 || !strstr(words, "46") ? words : "can be described";
}

TEST(error_texts, of_a_constructor_that_fails_stand_on_its_old_type)
{
    size_t i;
    int committed;
    for (committed = 0; committed < 2; committed++)
        for (i = 0; i < sizeof constructors / sizeof *constructors; i++) {
            haul_type *old = made("old", committed), *new_type = old;
            CHECK_STATUS(constructors[i].call(old, &new_type), constructors[i].status);
            CHECK(new_type == NULL);
            check_words(type_error(), constructors[i].status, "old",
                        words_here(constructors[i].words));
            haul_type_free(&old);
        }
}

/* ---- Types of rows. */

TEST(error_texts, name_the_row_and_the_type_that_has_no_name)
{
    static const haul_field rows[] = {
        HAUL_ARRAY(pair, first, HAUL_ONE),
        { .name = "", .kind = HAUL_FIELD_RAW, .offset = 8, .bytes = 8 }
    };
    haul_type *type;
    CHECK_STATUS(type_make("rows", 16, rows, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    check_words(type_error(), HAUL_ERROR_TYPE, "rows", "Field 1, at offset 8, has no name");
    haul_type_free(&type);
    CHECK_STATUS(type_make(NULL, 16, NULL, 0, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    check_words(type_error(), HAUL_ERROR_TYPE, "", "A type of 16 bytes has no name");
    haul_type_free(&type);
    type = made("open", 0);
    CHECK_STATUS(haul_type_add(type, rows, 2), HAUL_ERROR_ARGUMENT);
    check_words(type_error(), HAUL_ERROR_ARGUMENT, "open",
                "Field 1 of those to add, at offset 8, has no name");
    CHECK_STATUS(haul_type_add(type, NULL, 2), HAUL_ERROR_ARGUMENT);
    check_words(type_error(), HAUL_ERROR_ARGUMENT, "open", "the fields are NULL");
    haul_type_free(&type);
}

TEST(error_texts, of_an_instance_that_cannot_be_stand_on_its_container)
{
    haul_type *box = made("box", 0), *closed = made("closed", 1), *element, *nameless, *instance,
              *argument[2];
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    CHECK_STATUS(haul_type_parameter(type_context(), "", &nameless), HAUL_OK);
    argument[0] = closed;
    argument[1] = element;
    CHECK_STATUS(haul_type_instance(box, 0, &element, argument, &instance), HAUL_ERROR_ARGUMENT);
    check_words(type_error(), HAUL_ERROR_ARGUMENT, "box", "1 to 8 parameters, not 0");
    CHECK_STATUS(haul_type_instance(box, 1, &element, NULL, &instance), HAUL_ERROR_ARGUMENT);
    check_words(type_error(), HAUL_ERROR_ARGUMENT, "box", "The arguments are NULL");
    CHECK_STATUS(haul_type_instance(box, 1, &element, argument + 1, &instance),
                 HAUL_ERROR_ARGUMENT);
    check_words(type_error(), HAUL_ERROR_ARGUMENT, "box", "Parameter 0 is none");
    CHECK_STATUS(haul_type_instance(closed, 1, &element, argument, &instance), HAUL_ERROR_STATE);
    check_words(type_error(), HAUL_ERROR_STATE, "closed", "no container");
    CHECK_STATUS(haul_type_instance(box, 1, &nameless, argument, &instance), HAUL_OK);
    CHECK_STATUS(haul_type_commit(instance), HAUL_ERROR_TYPE);
    check_words(type_error(), HAUL_ERROR_TYPE, "box<closed>", "Parameter 0 has no name");
    haul_type_free(&instance);
    haul_type_free(&box);
    haul_type_free(&closed);
    haul_type_free(&element);
    haul_type_free(&nameless);
}

/* ---- Contexts and devices. */

static void *no_memory(void *user, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    return NULL;
}

static void no_release(void *user, void *memory, size_t bytes)
{
    (void)user, (void)memory, (void)bytes;
}

static void *no_range(void *user, size_t bytes)
{
    (void)user, (void)bytes;
    return NULL;
}

static void refuse_context(const haul_context_options *options, haul_status status)
{
    haul_context *context = (haul_context *)(void *)&context;
    CHECK_STATUS(haul_context_create(options, &context), status);
    CHECK_PTR(context, NULL);
}

/* There is no context to hold a record. */
TEST(error_texts, of_a_context_that_was_not_made_are_its_status)
{
    haul_context_options options;
    haul_allocator allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = no_memory;
    memset(&options, 0, sizeof options);
    test_allocator(&options, &allocator);
    refuse_context(&options, HAUL_ERROR_ARGUMENT);
    options.release = no_release;
    refuse_context(&options, HAUL_ERROR_MEMORY);
    options.reserve = no_range;
    refuse_context(&options, HAUL_ERROR_ARGUMENT);
    test_allocator(&options, NULL);
    options.reserve = no_range;
    refuse_context(&options, HAUL_ERROR_ARGUMENT);
    options.reserve = NULL;
    options.threads = HAUL_THREADS_MAX + 1;
    refuse_context(&options, HAUL_ERROR_ARGUMENT);
    options.threads = 0;
    options.spin_seconds = -1;
    refuse_context(&options, HAUL_ERROR_ARGUMENT);
    options.spin_seconds = 0;
    CHECK_STATUS(haul_context_create(&options, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(NULL)->text, "the call that was to make it has failed");
}

TEST(error_texts, of_a_device_that_was_not_opened_are_in_its_context)
{
    haul_device_table table = *haul_host_device();
    haul_context *context;
    haul_device *device;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_device_open(context, NULL, NULL, &device), HAUL_ERROR_ARGUMENT);
    check_words(haul_context_error(context), HAUL_ERROR_ARGUMENT, "", "the device's table is NULL");
    CHECK_STATUS(haul_device_open(context, &table, NULL, NULL), HAUL_ERROR_ARGUMENT);
    check_words(haul_context_error(context), HAUL_ERROR_ARGUMENT, "",
                "the address of the new device is NULL");
    table.wait = NULL;
    CHECK_STATUS(haul_device_open(context, &table, NULL, &device), HAUL_ERROR_ARGUMENT);
    check_words(haul_context_error(context), HAUL_ERROR_ARGUMENT, "", "the device's table lacks");
    haul_context_free(&context);
}
