/* The limits on images: those of the context, with their defaults, as docs/image-format.md has them
 * in its table.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "context/context.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"

/* A list of two, each with an array and a text: six objects. `owns`: by a rule, so that the walk
 * reads the image, and no scan. */
typedef struct page {
    struct page *next;
    char *text;
    double *numbers;
    size_t count;
    int owns;
} page;

enum { OBJECTS = 6, NUMBERS = 21 };

static haul_type *page_type, *ruled_type;
static char text[] = "a text of twenty bytes, or so";
static double numbers[2][NUMBERS];
static image_bytes image, ruled;

static void make_types(void)
{
    const haul_field plain[] = { HAUL_OBJECT(page, next, &page_type), HAUL_STRING(page, text),
                                 HAUL_ARRAY(page, numbers, HAUL_COUNT(page, count)) };
    const haul_field rules[] = { HAUL_OBJECT(page, next, &ruled_type), HAUL_STRING(page, text),
                                 HAUL_ARRAY(page, numbers, HAUL_COUNT(page, count),
                                            .when = HAUL_EQUALS(page, owns, 1)) };
    CHECK_STATUS(type_make("page", sizeof(page), plain, 3, &page_type), HAUL_OK);
    CHECK_STATUS(type_make("page", sizeof(page), rules, 3, &ruled_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(page_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(ruled_type), HAUL_OK);
}

static void write_image(image_bytes *to, page *first, const haul_type *type)
{
    const haul_file file = bytes_file(to);
    bytes_resize(to, 0);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(first, type), &file), HAUL_OK);
}

static void open_images(void)
{
    static char other[sizeof text];
    page pages[2];
    int i;
    memset(pages, 0, sizeof pages);
    memcpy(other, text, sizeof text);
    pages[0].next = &pages[1];
    for (i = 0; i < 2; i++) {
        pages[i].text = i ? other : text;
        pages[i].numbers = numbers[i];
        pages[i].count = NUMBERS;
        pages[i].owns = 1;
    }
    make_types();
    write_image(&image, pages, page_type);
    write_image(&ruled, pages, ruled_type);
}

static void close_images(void)
{
    bytes_free(&image);
    bytes_free(&ruled);
    haul_type_free(&page_type);
    haul_type_free(&ruled_type);
}

static haul_status load_within(const haul_context_options *limits, int is_ruled, int is_trusted)
{
    const haul_image_options options = { .is_trusted = is_trusted };
    const image_bytes *from = is_ruled ? &ruled : &image;
    haul_context *context;
    haul_image *loaded;
    haul_status status;
    CHECK_STATUS(haul_context_create(limits, &context), HAUL_OK);
    status = haul_image_from_bytes(context, from->at, from->count,
                                   is_ruled ? &ruled_type : &page_type, 1, &options, &loaded);
    CHECK((loaded != NULL) == (status == HAUL_OK));
    if (status != HAUL_OK)
        CHECK_HAS(haul_context_error(context)->text, "limit");
    haul_image_free(&loaded);
    haul_context_free(&context);
    return status;
}

/* The arena's bytes. */
static size_t arena_of(int is_ruled)
{
    image_parts parts;
    size_t bytes;
    memset(&parts, 0, sizeof parts);
    image_split(is_ruled ? &ruled : &image, &parts);
    bytes = parts.part[HAUL__SECTION_ARENA].count;
    image_parts_free(&parts);
    return bytes;
}

/* Holds `limit`, a member of `limits`, at `enough`, and one below? */
static void check_limit(haul_context_options *limits, size_t *limit, size_t enough, int is_ruled,
                        int trusted_too)
{
    *limit = enough;
    CHECK_STATUS(load_within(limits, is_ruled, 0), HAUL_OK);
    CHECK_STATUS(load_within(limits, is_ruled, 1), HAUL_OK);
    *limit = enough - 1;
    CHECK_STATUS(load_within(limits, is_ruled, 0), HAUL_ERROR_LIMIT);
    CHECK_STATUS(load_within(limits, is_ruled, 1), trusted_too ? HAUL_ERROR_LIMIT : HAUL_OK);
    *limit = 0; /* the default */
    CHECK_STATUS(load_within(limits, is_ruled, 0), HAUL_OK);
}

TEST(image_limits, each_holds_for_what_a_scan_and_a_walk_read)
{
    haul_context_options limits;
    int is_ruled;
    memset(&limits, 0, sizeof limits);
    open_images();
    for (is_ruled = 0; is_ruled < 2; is_ruled++) {
        check_note(is_ruled ? "a walk" : "a scan");
        check_limit(&limits, &limits.max_bytes, arena_of(is_ruled), is_ruled, 1);
        check_limit(&limits, &limits.max_objects, OBJECTS, is_ruled, 0);
        check_limit(&limits, &limits.max_array_elements, sizeof text, is_ruled, 0);
        check_limit(&limits, &limits.max_scan_bytes, sizeof text, is_ruled, 0);
    }
    check_note(NULL);
    close_images();
}

TEST(image_limits, a_mapped_image_has_that_of_bytes)
{
    char path[64];
    haul_context_options limits;
    haul_context *context;
    haul_image *mapped;
    FILE *file;
    memset(&limits, 0, sizeof limits);
    open_images();
    snprintf(path, sizeof path, "%s/haul-limits-%ld", P_tmpdir, (long)getpid());
    file = fopen(path, "wb");
    CHECK(file && fwrite(image.at, 1, image.count, file) == image.count && fclose(file) == 0);
    limits.max_bytes = arena_of(0) - 1;
    CHECK_STATUS(haul_context_create(&limits, &context), HAUL_OK);
    CHECK_STATUS(haul_image_map(context, path, &page_type, 1, &mapped), HAUL_ERROR_LIMIT);
    CHECK(!mapped);
    haul_context_free(&context);
    remove(path);
    close_images();
}

TEST(image_limits, the_defaults_are_those_of_the_table)
{
    haul_context *context;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_EQ(context->options.max_bytes, SIZE_MAX / 2);
    CHECK_EQ(context->options.max_objects, SIZE_MAX);
    CHECK_EQ(context->options.max_array_elements, SIZE_MAX);
    CHECK_EQ(context->options.max_scan_bytes, (size_t)1 << 30);
    haul_context_free(&context);
}
