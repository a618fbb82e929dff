/* An arena written as it lies (haul_image_write_options.as_it_lies): the image has the graph that
 * the arena has, whatever way it is written, and is accepted by readers that do not trust it. What
 * cannot be written so is refused.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul.h"
#include "haul/experimental.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/types.h"

/* One with arrays that are as long as some pieces of an image. */
typedef struct field {
    struct field *next;
    double *values; /* count */
    struct field **others;
    int64_t count, other_count;
} field;

typedef struct one_way {
    struct one_way *next;
    int64_t in, out;
} one_way;

typedef struct homed {
    struct homed *next;
    void *home; /* stays at home */
    int64_t number;
} homed;

static haul_type *field_type, *one_way_type, *homed_type;

static haul_context *context_open(unsigned threads)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(field, next, &field_type),
        HAUL_ARRAY(field, values, HAUL_COUNT(field, count)),
        HAUL_POINTERS(field, others, &field_type, HAUL_COUNT(field, other_count)),
    };
    static const haul_field ways[] = {
        HAUL_OBJECT(one_way, next, &one_way_type),
        HAUL_RAW(one_way, in, .transfer = HAUL_COPYIN),
    };
    static const haul_field homes[] = {
        HAUL_OBJECT(homed, next, &homed_type),
        HAUL_SKIP(homed, home),
    };
    haul_context_options options;
    haul_context *context;
    memset(&options, 0, sizeof options);
    options.threads = threads;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    homed_type = TYPE_NEW(homed, homes);
    CHECK_STATUS(haul_type_commit(homed_type), HAUL_OK);
    field_type = TYPE_NEW(field, fields);
    CHECK_STATUS(haul_type_commit(field_type), HAUL_OK);
    one_way_type = TYPE_NEW(one_way, ways);
    CHECK_STATUS(haul_type_commit(one_way_type), HAUL_OK);
    return context;
}

static void context_close(haul_context *context)
{
    haul_type_free(&one_way_type);
    haul_type_free(&field_type);
    haul_type_free(&homed_type);
    haul_context_free(&context);
}

static haul_arena *arena_open(haul_context *context)
{
    haul_arena *arena;
    CHECK_STATUS(haul_arena_create(context, NULL, &arena), HAUL_OK);
    return arena;
}

/* `long_ones` arrays of 30,000 numbers, behind others of any length. */
static field *fields_make(haul_arena *arena, int count, int long_ones)
{
    field *first = NULL;
    int64_t i, k;
    for (i = 0; i < count; i++) {
        field *f = haul_arena_new(arena, field_type, 1);
        CHECK(f != NULL);
        f->next = first;
        f->count = i < long_ones ? 30000 + i : i % 7;
        if (f->count > 0)
            CHECK((f->values = haul_arena_bytes(arena, (size_t)f->count * 8, 0)) != NULL);
        for (k = 0; k < f->count; k++)
            f->values[k] = (double)(i + k);
        f->other_count = i % 3;
        if (f->other_count > 0)
            CHECK((f->others = haul_arena_new_pointers(arena, (size_t)f->other_count)) != NULL);
        for (k = 0; k < f->other_count; k++)
            f->others[k] = k ? f : first;
        first = f;
    }
    return first;
}

static const haul_image_write_options as_it_lies = { .as_it_lies = 1 };

static haul_status write_to(haul_context *context, haul_source source,
                            const haul_image_write_options *options, image_bytes *image)
{
    haul_file file = bytes_file(image);
    bytes_resize(image, 0);
    return haul_image_write_as(context, source, options, &file);
}

/* The image of what another one holds, by an ordered plan, as of any graph. */
static void write_again(haul_context *context, const image_bytes *from, haul_type *type,
                        image_bytes *image)
{
    haul_image *loaded;
    CHECK_STATUS(haul_image_from_bytes(context, from->at, from->count, &type, 1, NULL, &loaded),
                 HAUL_OK);
    CHECK_STATUS(write_to(context, haul_from_roots(haul_image_roots(loaded, NULL), 1), NULL, image),
                 HAUL_OK);
    haul_image_free(&loaded);
}

static void expect_bytes(const image_bytes *expected, const void *at, size_t count)
{
    CHECK_EQ(count, expected->count);
    CHECK_BYTES(at, expected->at, count);
}

static void expect_saved(haul_context *context, haul_source source, const image_bytes *expected)
{
    char path[] = P_tmpdir "/haul_lying_XXXXXX";
    unsigned char *read = malloc(expected->count + 1);
    FILE *file;
    int made = mkstemp(path);
    CHECK(made >= 0 && read != NULL);
    close(made);
    CHECK_STATUS(haul_image_save_as(context, source, &as_it_lies, path), HAUL_OK);
    CHECK((file = fopen(path, "rb")) != NULL);
    expect_bytes(expected, read, fread(read, 1, expected->count + 1, file));
    fclose(file);
    unlink(path);
    free(read);
}

/* By a function, in memory that begins anywhere and has no byte to spare, and to a file; and the
 * graph is what an image that is packed has. */
static void check_image(haul_context *context, haul_arena *arena, void *root, haul_type *type)
{
    const haul_source source = haul_from_arena_root(arena, root, type);
    image_bytes image = { NULL, 0, 0 }, packed = { NULL, 0, 0 }, again = { NULL, 0, 0 };
    unsigned char *memory;
    size_t bytes, at;
    CHECK_STATUS(write_to(context, source, &as_it_lies, &image), HAUL_OK);
    CHECK_STATUS(write_to(context, source, NULL, &packed), HAUL_OK);
    write_again(context, &image, type, &again);
    expect_bytes(&packed, again.at, again.count);
    CHECK((memory = malloc(image.count + 8)) != NULL);
    for (at = 0; at < 8; at += 3) {
        memset(memory, 0xa5, image.count + 8);
        CHECK_STATUS(
            haul_image_to_bytes(context, source, &as_it_lies, memory + at, image.count, &bytes),
            HAUL_OK);
        expect_bytes(&image, memory + at, bytes);
        CHECK_EQ(memory[at + bytes], 0xa5);
    }
    CHECK_STATUS(haul_image_to_bytes(context, source, &as_it_lies, memory, image.count - 1, &bytes),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(bytes, image.count);
    CHECK_STATUS(haul_image_to_bytes(context, source, &as_it_lies, NULL, 0, &bytes),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(bytes, image.count);
    expect_saved(context, source, &image);
    free(memory);
    bytes_free(&again);
    bytes_free(&packed);
    bytes_free(&image);
}

TEST(image_lying, an_arena_as_it_lies_is_an_image_of_its_graph)
{
    unsigned threads;
    int count;
    for (threads = 0; threads < 4; threads += 3)
        for (count = 1; count < 3000; count = 3 * count + 1) {
            haul_context *context = context_open(threads);
            haul_arena *arena = arena_open(context);
            field *f = fields_make(arena, count, 0);
            check_image(context, arena, f, field_type);
            haul_arena_free(&arena);
            context_close(context);
        }
}

/* Pieces without pointers are not copied. */
TEST(image_lying, large_arrays_are_written_where_they_lie)
{
    haul_context *context = context_open(3);
    haul_arena *arena = arena_open(context);
    field *f = fields_make(arena, 12, 4);
    check_image(context, arena, f, field_type);
    haul_arena_free(&arena);
    context_close(context);
}

TEST(image_lying, skipped_fields_are_zeros)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    homed *first = NULL;
    int i;
    for (i = 0; i < 5000; i++) {
        homed *h = haul_arena_new(arena, homed_type, 1);
        CHECK(h != NULL);
        h->next = first;
        h->home = h;
        h->number = i;
        first = h;
    }
    check_image(context, arena, first, homed_type);
    CHECK_PTR(first->home, first);
    haul_arena_free(&arena);
    context_close(context);
}

typedef struct seat {
    void *home; /* stays at home */
    int64_t number;
} seat;

typedef struct hall {
    seat *seats;
    int64_t count;
} hall;

/* Pieces without pointers of which a file does not get all bytes as they lie. */
TEST(image_lying, skipped_fields_of_large_arrays_are_zeros)
{
    static haul_type *seat_type;
    static const haul_field of_seat[] = { HAUL_SKIP(seat, home) };
    static const haul_field of_hall[] = { HAUL_OBJECTS(hall, seats, &seat_type,
                                                       HAUL_COUNT(hall, count)) };
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    haul_type *hall_type;
    hall *h;
    int i;
    seat_type = TYPE_NEW(seat, of_seat);
    hall_type = TYPE_NEW(hall, of_hall);
    CHECK_STATUS(haul_type_commit(hall_type), HAUL_OK);
    CHECK((h = haul_arena_new(arena, hall_type, 1)) != NULL);
    h->count = 20000;
    CHECK((h->seats = haul_arena_new(arena, seat_type, (size_t)h->count)) != NULL);
    for (i = 0; i < h->count; i++) {
        h->seats[i].home = h;
        h->seats[i].number = i;
    }
    check_image(context, arena, h, hall_type);
    haul_arena_free(&arena);
    haul_type_free(&hall_type);
    haul_type_free(&seat_type);
    context_close(context);
}

TEST(image_lying, alignments_are_kept)
{
    size_t alignment;
    for (alignment = 32; alignment <= HAUL_ALIGNMENT_MAX; alignment *= 2) {
        haul_context *context = context_open(0);
        haul_arena *arena = arena_open(context);
        field *f = fields_make(arena, 3, 0), *last;
        image_bytes image = { NULL, 0, 0 };
        haul_image *loaded;
        CHECK((last = haul_arena_new(arena, field_type, 1)) != NULL);
        last->next = f;
        CHECK((last->values = haul_arena_bytes(arena, 16, alignment)) != NULL);
        last->count = 2;
        f = last;
        check_image(context, arena, f, field_type);
        CHECK_STATUS(
            write_to(context, haul_from_arena_root(arena, f, field_type), &as_it_lies, &image),
            HAUL_OK);
        CHECK_STATUS(
            haul_image_from_bytes(context, image.at, image.count, &field_type, 1, NULL, &loaded),
            HAUL_OK);
        f = haul_image_roots(loaded, NULL)[0].address;
        CHECK_EQ((uintptr_t)f->values % alignment, 0);
        haul_image_free(&loaded);
        bytes_free(&image);
        haul_arena_free(&arena);
        context_close(context);
    }
}

/* Loaded into an arena, added to, and written again. */
TEST(image_lying, an_image_in_an_arena_grows_and_is_written_as_it_lies)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context), *other = arena_open(context);
    haul_image_options options;
    image_bytes image = { NULL, 0, 0 };
    haul_image *loaded;
    field *f = fields_make(arena, 50, 0), *more;
    memset(&options, 0, sizeof options);
    options.arena = other;
    CHECK_STATUS(write_to(context, haul_from_arena_root(arena, f, field_type), &as_it_lies, &image),
                 HAUL_OK);
    CHECK(haul_arena_bytes(other, 48, 0) != NULL);
    CHECK_STATUS(
        haul_image_from_bytes(context, image.at, image.count, &field_type, 1, &options, &loaded),
        HAUL_OK);
    CHECK((more = haul_arena_new(other, field_type, 1)) != NULL);
    more->next = haul_image_roots(loaded, NULL)[0].address;
    check_image(context, other, more, field_type);
    haul_image_free(&loaded);
    bytes_free(&image);
    haul_arena_free(&other);
    haul_arena_free(&arena);
    context_close(context);
}

TEST(image_lying, several_root_elements_are_refused)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    haul_source source = haul_from_arena_root(arena, fields_make(arena, 3, 0), field_type);
    image_bytes image = { NULL, 0, 0 };
    source.root.count = 1000; /* more than the arena has */
    CHECK_STATUS(write_to(context, source, &as_it_lies, &image), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "several root elements");
    bytes_free(&image);
    haul_arena_free(&arena);
    context_close(context);
}

TEST(image_lying, compressed_and_with_an_address)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    field *f = fields_make(arena, 400, 2);
    const haul_source source = haul_from_arena_root(arena, f, field_type);
    haul_image_write_options options = as_it_lies;
    image_bytes image = { NULL, 0, 0 }, packed = { NULL, 0, 0 }, again = { NULL, 0, 0 };
    haul_status status;
    CHECK_STATUS(write_to(context, source, NULL, &packed), HAUL_OK);
    options.address = (uintptr_t)0x20000000;
    CHECK_STATUS(write_to(context, source, &options, &image), HAUL_OK);
    write_again(context, &image, field_type, &again);
    expect_bytes(&packed, again.at, again.count);
    options.address = 0;
    options.compression = 3;
    status = write_to(context, source, &options, &image);
    if (status != HAUL_ERROR_UNSUPPORTED) { /* the library has zstd */
        CHECK_STATUS(status, HAUL_OK);
        write_again(context, &image, field_type, &again);
        expect_bytes(&packed, again.at, again.count);
    }
    bytes_free(&again);
    bytes_free(&packed);
    bytes_free(&image);
    haul_arena_free(&arena);
    context_close(context);
}

/* What nothing leads to is in the image, and a stranger's would be refused for it. */
TEST(image_lying, what_the_root_does_not_reach_is_for_readers_that_trust)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    haul_image_options options;
    image_bytes image = { NULL, 0, 0 };
    haul_image *loaded;
    field *f = fields_make(arena, 3, 0), *lost = haul_arena_new(arena, field_type, 1);
    const haul_source source = haul_from_arena_root(arena, f, field_type);
    CHECK(lost != NULL);
    check_image(context, arena, f, field_type); /* it is zeros */
    lost->count = -1;
    CHECK_STATUS(write_to(context, source, &as_it_lies, &image), HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(context, image.at, image.count, &field_type, 1, NULL, &loaded),
        HAUL_ERROR_FORMAT);
    memset(&options, 0, sizeof options);
    options.is_trusted = 1;
    CHECK_STATUS(
        haul_image_from_bytes(context, image.at, image.count, &field_type, 1, &options, &loaded),
        HAUL_OK);
    haul_image_free(&loaded);
    CHECK_STATUS(haul_arena_release(arena, lost, sizeof *lost), HAUL_OK);
    check_image(context, arena, f, field_type);
    bytes_free(&image);
    haul_arena_free(&arena);
    context_close(context);
}

static void expect_refused(haul_context *context, haul_source source, haul_status expected,
                           const char *words)
{
    image_bytes image = { NULL, 0, 0 };
    CHECK_STATUS(write_to(context, source, &as_it_lies, &image), expected);
    CHECK_HAS(haul_context_error(context)->text, words);
    CHECK_EQ(image.count, 0);
    bytes_free(&image);
}

TEST(image_lying, what_cannot_be_written_as_it_lies_is_refused)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context), *empty = arena_open(context);
    haul_arena_options checked;
    field away, *f = fields_make(arena, 3, 0), *plain;
    one_way *way;
    memset(&away, 0, sizeof away);
    memset(&checked, 0, sizeof checked);
    expect_refused(context, haul_from_object(f, field_type), HAUL_ERROR_ARGUMENT, "as_it_lies");
    expect_refused(context, haul_from_arena(arena), HAUL_ERROR_ARGUMENT, "as_it_lies");
    expect_refused(context, haul_from_arena_root(empty, f, field_type), HAUL_ERROR_ARGUMENT,
                   "nothing has been allocated");
    expect_refused(context, haul_from_arena_root(arena, &away, field_type), HAUL_ERROR_ARGUMENT,
                   "does not lie in the arena");
    f->next->next = &away;
    expect_refused(context, haul_from_arena_root(arena, f, field_type), HAUL_ERROR_GRAPH,
                   "leads out of the arena");
    CHECK_HAS(haul_context_error(context)->path, "arena+");
    f->next->next = NULL;
    CHECK((plain = haul_arena_bytes(arena, sizeof *plain, 0)) != NULL);
    plain->next = f;
    expect_refused(context, haul_from_arena_root(arena, plain, field_type), HAUL_ERROR_ARGUMENT,
                   "has not noted the root's pointers");
    CHECK((way = haul_arena_new(arena, one_way_type, 1)) != NULL);
    expect_refused(context, haul_from_arena_root(arena, way, one_way_type), HAUL_ERROR_UNSUPPORTED,
                   "is not written as it lies");
    haul_arena_free(&empty);
    haul_arena_free(&arena);
    checked.checked = 1;
    CHECK_STATUS(haul_arena_create(context, &checked, &arena), HAUL_OK);
    f = fields_make(arena, 3, 0);
    CHECK((plain = haul_arena_bytes(arena, sizeof *plain, 0)) != NULL);
    plain->next = f;
    expect_refused(context, haul_from_arena_root(arena, f, field_type), HAUL_ERROR_GRAPH,
                   "plain bytes hold");
    haul_arena_free(&arena);
    CHECK((arena = arena_open(context)) != NULL);
    CHECK(haul_arena_new_nursery(arena, 256) != NULL);
    f = fields_make(arena, 3, 0);
    expect_refused(context, haul_from_arena_root(arena, f, field_type), HAUL_ERROR_UNSUPPORTED,
                   "nurseries");
    haul_arena_free(&arena);
    context_close(context);
}

TEST(image_lying, a_root_that_ends_behind_the_arena_is_refused)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    void *last;
    haul_type *narrow; /* its elements lie in one another */
    fields_make(arena, 3, 0);
    CHECK_STATUS(haul_type_create_resized(field_type, 0, sizeof(void *), &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_commit(narrow), HAUL_OK);
    CHECK((last = haul_arena_bytes(arena, 2 * sizeof(void *), 0)) != NULL);
    expect_refused(context, haul_from_arena_root(arena, last, field_type), HAUL_ERROR_ARGUMENT,
                   "does not lie in the arena");
    expect_refused(context, haul_from_arena_root(arena, last, narrow), HAUL_ERROR_ARGUMENT,
                   "does not lie in the arena");
    haul_type_free(&narrow);
    haul_arena_free(&arena);
    context_close(context);
}

TEST(image_lying, a_source_or_an_address_that_is_wrong_is_refused)
{
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    field *f = fields_make(arena, 3, 1);
    const haul_source source = haul_from_arena_root(arena, f, field_type);
    haul_image_write_options far = as_it_lies;
    image_bytes image = { NULL, 0, 0 };
    expect_refused(context, haul_from_arena_root(NULL, f, field_type), HAUL_ERROR_ARGUMENT, "");
    expect_refused(context, haul_from_arena_root(arena, f, NULL), HAUL_ERROR_ARGUMENT, "");
    expect_refused(context, haul_from_arena_root(arena, NULL, field_type), HAUL_ERROR_ARGUMENT, "");
    far.address = UINTPTR_MAX - 0xffff;
    CHECK_STATUS(write_to(context, source, &far, &image), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(context)->text, "does not fit behind it");
    CHECK_EQ(image.count, 0);
    check_image(context, arena, f, field_type);
    bytes_free(&image);
    haul_arena_free(&arena);
    context_close(context);
}

typedef struct crooked {
    uint16_t halves[16]; /* a pointer begins at the second */
} crooked;

TEST(image_lying, a_pointer_off_the_grid_of_words_is_refused)
{
    static haul_type *crooked_type;
    haul_field row = { .name = "next", .kind = HAUL_FIELD_POINTER, .offset = 2, .packed = 1 };
    haul_context *context = context_open(0);
    haul_arena *arena = arena_open(context);
    crooked *c;
    row.bytes = sizeof(void *);
    row.target = &crooked_type;
    row.count = (haul_count)HAUL_ONE;
    CHECK_STATUS(type_make("crooked", sizeof(crooked), &row, 1, &crooked_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(crooked_type), HAUL_OK);
    CHECK((c = haul_arena_new(arena, crooked_type, 1)) != NULL);
    expect_refused(context, haul_from_arena_root(arena, c, crooked_type), HAUL_ERROR_UNSUPPORTED,
                   "off the grid of words");
    haul_arena_free(&arena);
    haul_type_free(&crooked_type);
    context_close(context);
}

/* The first of several, whatever thread finds which. */
TEST(image_lying, the_first_pointer_that_leads_out_is_named)
{
    haul_context *context = context_open(4);
    haul_arena *arena = arena_open(context);
    haul_arena_info info;
    field away, *f = fields_make(arena, 20000, 2), *at;
    char path[40];
    uintptr_t lowest = UINTPTR_MAX;
    int i = 0;
    memset(&away, 0, sizeof away);
    for (at = f; at; at = at->next)
        if (i++ % 5000 == 77)
            lowest = (uintptr_t)&at->values < lowest ? (uintptr_t)&at->values : lowest;
    for (i = 0, at = f; at; at = at->next)
        if (i++ % 5000 == 77)
            at->values = (double *)(void *)&away;
    haul_arena_get_info(arena, &info);
    snprintf(path, sizeof path, "arena+%zu", (size_t)(lowest - (uintptr_t)info.base));
    expect_refused(context, haul_from_arena_root(arena, f, field_type), HAUL_ERROR_GRAPH,
                   "leads out");
    CHECK_STR(haul_context_error(context)->path, path);
    haul_arena_free(&arena);
    context_close(context);
}

TEST(image_lying, memory_that_runs_out_is_told_and_given_back)
{
    haul_context *types = context_open(0);
    uint64_t event;
    int fired = 1;
    for (event = 1; fired; event++) {
        fault_plan doors = { 0 };
        image_bytes image = { NULL, 0, 0 };
        haul_context *context;
        haul_arena *arena;
        haul_status status;
        field *f;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        arena = arena_open(context);
        f = fields_make(arena, 100, 1);
        fault_arm(&doors, FAULT_ONCE, event);
        status = write_to(context, haul_from_arena_root(arena, f, field_type), &as_it_lies, &image);
        fired = doors.fired != 0 || doors.fell_back != 0;
        fault_disarm(&doors);
        CHECK(status == (doors.fired ? HAUL_ERROR_MEMORY : HAUL_OK));
        bytes_free(&image);
        haul_arena_free(&arena);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK(event > 5);
    context_close(types);
}
