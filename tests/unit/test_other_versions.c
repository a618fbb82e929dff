/* Programs of other versions: each call that takes the size of a struct is made with the struct of
 * an older header, which is shorter, and of a newer one, which is longer.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"

enum { MORE = 16 }; /* bytes that a newer header has appended */

static haul_context *context;
static haul_device *device;
static haul_arena *arena;

static void start(void)
{
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
}

static void end(void)
{
    haul_arena_free(&arena);
    haul_device_close(&device);
    haul_context_free(&context);
}

/* One call with `bytes` bytes of options; undoes what it has made. */
typedef haul_status reader(const void *options, size_t bytes);

static haul_status create_context(const void *options, size_t bytes)
{
    haul_context *made;
    haul_status status = haul_context_create_sized(options, bytes, &made);
    CHECK_EQ(made != NULL, status == HAUL_OK);
    haul_context_free(&made);
    return status;
}

static haul_status open_host(const void *options, size_t bytes)
{
    haul_device *made;
    haul_status status = haul_device_open_sized(context, haul_host_device(), options, bytes, &made);
    CHECK_EQ(made != NULL, status == HAUL_OK);
    haul_device_close(&made);
    return status;
}

static haul_status create_arena(const void *options, size_t bytes)
{
    haul_arena *made;
    haul_status status = haul_arena_create_sized(context, options, bytes, HAUL_ARENA_LAYOUT, &made);
    CHECK_EQ(made != NULL, status == HAUL_OK);
    haul_arena_free(&made);
    return status;
}

static const struct {
    reader *call;
    size_t bytes;
} readers[] = { { create_context, sizeof(haul_context_options) },
                { open_host, sizeof(haul_host_options) },
                { create_arena, sizeof(haul_arena_options) } };

TEST(other_versions, options_of_any_length_are_read_if_nothing_unknown_is_set)
{
    size_t i, byte;
    start();
    for (i = 0; i < sizeof readers / sizeof *readers; i++) {
        const size_t bytes = readers[i].bytes;
        unsigned char *options = calloc(1, bytes + MORE);
        CHECK(options != NULL);
        CHECK_STATUS(readers[i].call(NULL, bytes), HAUL_OK);
        for (byte = 0; byte <= bytes + MORE; byte++)
            CHECK_STATUS(readers[i].call(options, byte), HAUL_OK);
        for (byte = bytes; byte < bytes + MORE; byte++) {
            options[byte] = 1;
            CHECK_STATUS(readers[i].call(options, byte), HAUL_OK);
            CHECK_STATUS(readers[i].call(options, byte + 1), HAUL_ERROR_VERSION);
            options[byte] = 0;
        }
        free(options);
    }
    end();
}

typedef void writer(void *info, size_t bytes);

static void device_info(void *info, size_t bytes)
{
    haul_device_get_info_sized(device, info, bytes);
}

static void arena_info(void *info, size_t bytes)
{
    haul_arena_get_info_sized(arena, info, bytes);
}

static void counters(void *info, size_t bytes)
{
    CHECK_STATUS(haul_host_get_counters_sized(device, info, bytes), HAUL_OK);
}

static const struct {
    writer *call;
    size_t bytes;
} writers[] = { { device_info, sizeof(haul_device_info) },
                { arena_info, sizeof(haul_arena_info) },
                { counters, sizeof(haul_host_counters) } };

TEST(other_versions, results_of_any_length_are_filled_and_no_byte_behind_them)
{
    size_t i, byte, at;
    start();
    for (i = 0; i < sizeof writers / sizeof *writers; i++) {
        const size_t bytes = writers[i].bytes;
        unsigned char *whole = malloc(bytes), *info = malloc(bytes + MORE + 1);
        CHECK(whole && info);
        writers[i].call(whole, bytes);
        for (byte = 0; byte <= bytes + MORE; byte++) {
            memset(info, 'x', bytes + MORE + 1);
            writers[i].call(info, byte);
            CHECK_BYTES(info, whole, byte < bytes ? byte : bytes);
            for (at = bytes; at < byte; at++)
                CHECK_EQ(info[at], 0);
            CHECK_EQ(info[byte], 'x');
        }
        free(whole);
        free(info);
    }
    end();
}
