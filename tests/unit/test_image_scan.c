/* Images as haul_image_write lays them out are checked by a scan, in little memory. Whatever the
 * scan does not know, the walk checks: it is accepted or refused as well.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

typedef struct named_node {
    struct named_node *next;
    char *name;
} named_node;

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
    CHECK(bytes_of_load(&image) < image.count + image.count / 100);
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

/* 254 kinds have a number. The types behind as many have strings, which then have none either. */
TEST(image_scan, more_kinds_than_the_scan_numbers_are_left_to_the_walk)
{
    enum { TYPES = 300, NUMBERED = 254 };
    static haul_type *types[TYPES];
    static named_node objects[TYPES];
    haul_context *context;
    haul_image *loaded;
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    const named_node *at;
    char name[32];
    size_t i;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    for (i = 0; i < TYPES; i++) {
        haul_field fields[] = { HAUL_OBJECT(named_node, next, &types[(i + 1) % TYPES]),
                                HAUL_STRING(named_node, name) };
        const size_t count = i + 1 < NUMBERED ? 1 : 2;
        sprintf(name, "type %zu", i);
        CHECK_STATUS(type_make(name, sizeof *objects, fields, count, &types[i]), HAUL_OK);
        objects[i].next = &objects[(i + 1) % TYPES];
        objects[i].name = count == 2 ? (char *)"a string of more than 16 bytes" : NULL;
    }
    CHECK_STATUS(haul_type_commit(types[0]), HAUL_OK);
    CHECK_STATUS(haul_image_write(context, haul_from_object(objects, types[0]), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(context, image.at, image.count, types, 1, NULL, &loaded),
                 HAUL_OK);
    at = haul_image_roots(loaded, NULL)[0].address;
    for (i = 0; i < TYPES; i++, at = at->next)
        CHECK(objects[i].name ? !strcmp(at->name, objects[i].name) : !at->name);
    haul_image_free(&loaded);
    bytes_free(&image);
    for (i = 0; i < TYPES; i++)
        haul_type_free(&types[i]);
    haul_context_free(&context);
}

/* Into a buffer before a page that nobody may read. */
static haul_status load_before_a_wall(haul_context *context, const image_bytes *image,
                                      haul_type *type)
{
    enum { PAGE = 65536 };
    size_t count;
    const haul__image_section *s = image_sections(image, &count);
    haul_image_options options = { .is_trusted = 0 };
    haul_image *loaded;
    haul_status status;
    unsigned char *room;
    size_t bytes;
    while (s->kind != HAUL__SECTION_ARENA)
        s++;
    bytes = (size_t)s->bytes;
    count = (bytes + PAGE - 1) / PAGE * PAGE;
    room = mmap(NULL, count + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(room != MAP_FAILED);
    CHECK_EQ(mprotect(room + count, PAGE, PROT_NONE), 0);
    options.buffer = room + count - bytes;
    options.buffer_bytes = bytes;
    status = haul_image_from_bytes(context, image->at, image->count, &type, 1, &options, &loaded);
    haul_image_free(&loaded);
    munmap(room, count + PAGE);
    return status;
}

/* So many kinds take a byte of codes for each granule. The codes of a large array are 1 MiB, so
 * those of targets are fetched ahead where an object has several; each fourth type has one. */
TEST(image_scan, in_a_large_arena_of_many_kinds_each_object_comes_back)
{
    enum { TYPES = 20, COUNT = 50 * TYPES, BYTES = 17 << 20 };
    static haul_type *types[TYPES];
    static node objects[COUNT];
    haul_context *context;
    haul_image *loaded;
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    const node *at, *next;
    double *xyz = calloc(1, BYTES);
    char name[32];
    size_t i;
    CHECK(xyz != NULL);
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    for (i = 0; i < TYPES; i++) {
        haul_field fields[] = {
            HAUL_OBJECT(node, next, &types[(i + 1) % TYPES]),
            HAUL_OBJECT(node, other, &types[i]),
            HAUL_ARRAY(node, xyz, HAUL_COUNT(node, count)),
        };
        sprintf(name, "type %zu", i);
        CHECK_STATUS(type_make_in(context, name, sizeof(node), fields, i % 4 ? 3 : 1, &types[i]),
                     HAUL_OK);
    }
    for (i = 0; i < COUNT; i++) {
        objects[i].next = &objects[(i + 1) % COUNT];
        objects[i].other = i % 4 ? &objects[(i + 7 * TYPES) % COUNT] : NULL;
        objects[i].data[0] = (char)i;
    }
    objects[1].xyz = xyz;
    objects[1].count = BYTES / sizeof *xyz;
    CHECK_STATUS(haul_type_commit(types[0]), HAUL_OK);
    CHECK_STATUS(haul_image_write(context, haul_from_object(objects, types[0]), &file), HAUL_OK);
    CHECK_STATUS(haul_image_from_bytes(context, image.at, image.count, types, 1, NULL, &loaded),
                 HAUL_OK);
    at = haul_image_roots(loaded, NULL)[0].address;
    for (i = 0; i < COUNT; i++, at = next) {
        next = at->next;
        CHECK_EQ(at->data[0], (char)i);
        if (i % 4)
            CHECK_EQ(at->other->data[0], (char)((i + 7 * TYPES) % COUNT));
    }
    CHECK(at == haul_image_roots(loaded, NULL)[0].address);
    haul_image_free(&loaded);
    CHECK_STATUS(load_before_a_wall(context, &image, types[0]), HAUL_OK);
    bytes_free(&image);
    for (i = 0; i < TYPES; i++)
        haul_type_free(&types[i]);
    haul_context_free(&context);
    free(xyz);
}

/* ---- Left to the walk, which accepts or refuses. */

static haul_status load_as(haul_type *type, const image_bytes *image)
{
    haul_image *loaded;
    const haul_status status =
        haul_image_from_bytes(type_context(), image->at, image->count, &type, 1, NULL, &loaded);
    haul_image_free(&loaded);
    return status;
}

static void write_as(void *object, haul_type *type, image_bytes *image, image_parts *parts)
{
    haul_file file = bytes_file(image);
    memset(image, 0, sizeof *image);
    memset(parts, 0, sizeof *parts);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(object, type), &file), HAUL_OK);
    image_split(image, parts);
}

static void *root_in(const image_parts *parts)
{
    const haul__image_root *root = (const void *)parts->part[HAUL__SECTION_ROOTS].at;
    return parts->part[HAUL__SECTION_ARENA].at + root->offset;
}

static void check_refused(haul_type *type, image_bytes *image, const image_parts *parts,
                          haul_status expected, const char *words)
{
    image_join(parts, image);
    CHECK_STATUS(load_as(type, image), expected);
    CHECK_HAS(haul_context_error(type_context())->text, words);
}

typedef struct numbers {
    int32_t count, most;
    int32_t *at, *but_one;
    char *name;
} numbers;

TEST(image_scan, counts_below_0_and_strings_without_an_end_are_refused)
{
    const haul_field fields[] = { HAUL_ARRAY(numbers, at, HAUL_COUNT(numbers, count)),
                                  HAUL_ARRAY(numbers, but_one, HAUL_COUNT_PLUS(numbers, most, -1)),
                                  HAUL_STRING(numbers, name) };
    int32_t all[4] = { -1, -1, -1, -1 }; /* they end the arena */
    numbers n = { 4, 5, all, all, NULL };
    haul_type *type = TYPE_NEW(numbers, fields);
    image_bytes image;
    image_parts parts;
    write_as(&n, type, &image, &parts);
    CHECK_STATUS(load_as(type, &image), HAUL_OK);
    ((numbers *)root_in(&parts))->count = -1;
    check_refused(type, &image, &parts, HAUL_ERROR_GRAPH, "-1");
    ((numbers *)root_in(&parts))->count = 4;
    ((numbers *)root_in(&parts))->most = 0;
    check_refused(type, &image, &parts, HAUL_ERROR_GRAPH, "-1");
    ((numbers *)root_in(&parts))->most = 5;
    ((numbers *)root_in(&parts))->name = (char *)((numbers *)root_in(&parts))->at;
    check_refused(type, &image, &parts, HAUL_ERROR_LIMIT, "no terminator");
    image_parts_free(&parts);
    bytes_free(&image);
    haul_type_free(&type);
}

TEST(image_scan, many_pointers_to_one_long_string_take_no_more_than_its_bytes_some_times)
{
    enum { COUNT = 2000, BYTES = 1 << 20 };
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(named_node, next, &type),
                                  HAUL_STRING(named_node, name) };
    named_node *all = calloc(COUNT, sizeof *all);
    char *name = malloc(BYTES);
    image_bytes image;
    image_parts parts;
    size_t i;
    CHECK(all && name);
    memset(name, 'n', BYTES);
    name[BYTES - 1] = '\0';
    for (i = 0; i < COUNT; i++) {
        all[i].next = i + 1 < COUNT ? &all[i + 1] : NULL;
        all[i].name = name;
    }
    type = TYPE_NEW(named_node, fields);
    write_as(all, type, &image, &parts);
    CHECK_STATUS(load_as(type, &image), HAUL_OK);
    image_parts_free(&parts);
    bytes_free(&image);
    for (i = 0; i < COUNT; i++)
        all[i].name = name + BYTES / 2 + i; /* all have one end */
    write_as(all, type, &image, &parts);
    CHECK_STATUS(load_as(type, &image), HAUL_OK);
    image_parts_free(&parts);
    bytes_free(&image);
    free(name);
    free(all);
    haul_type_free(&type);
}

/* A file that refuses to give what lies behind `end`. */
typedef struct cut_file {
    const image_bytes *image;
    size_t at, end;
} cut_file;

static haul_status give_until(void *user, void *to, size_t count, size_t *got)
{
    cut_file *f = user;
    if (f->at + count > f->end)
        return HAUL_ERROR_FILE;
    memcpy(to, f->image->at + f->at, count);
    f->at += count;
    *got = count;
    return HAUL_OK;
}

TEST(image_scan, a_string_that_does_not_come_whole_is_refused)
{
    enum { BYTES = 1 << 19 }; /* some pieces of 64 KiB */
    const haul_field fields[] = { HAUL_STRING(named_node, name) };
    named_node one = { NULL, malloc(BYTES) };
    haul_type *type = TYPE_NEW(named_node, fields);
    image_bytes image;
    image_parts parts;
    haul_image *loaded;
    size_t end;
    CHECK(one.name != NULL);
    memset(one.name, 'n', BYTES);
    one.name[BYTES - 1] = '\0';
    write_as(&one, type, &image, &parts);
    for (end = image.count; end > image.count - BYTES + (1 << 17); end -= 1 << 16) {
        cut_file cut = { &image, 0, end };
        const haul_file file = { .user = &cut, .read = give_until };
        CHECK_STATUS(haul_image_read(type_context(), &file, &type, 1, NULL, &loaded),
                     end == image.count ? HAUL_OK : HAUL_ERROR_FILE);
        haul_image_free(&loaded);
    }
    image.at[image.count - BYTES / 2] ^= 1; /* the string's last piece has not the right sum */
    CHECK_STATUS(load_as(type, &image), HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "checksum");
    /* letters in the middle of it are called a pointer */
    parts.part[HAUL__SECTION_BITS].at[BYTES / 2 / sizeof(void *) / 8] |= 1;
    check_refused(type, &image, &parts, HAUL_ERROR_FORMAT, "leads out of it");
    image_parts_free(&parts);
    bytes_free(&image);
    free(one.name);
    haul_type_free(&type);
}

typedef struct shelf {
    char **names;
    size_t count;
} shelf;

TEST(image_scan, strings_in_later_pieces_are_judged_when_they_have_come)
{
    enum { COUNT = 20000, BYTES = 16 };
    const haul_field fields[] = { HAUL_STRINGS(shelf, names, HAUL_COUNT(shelf, count)) };
    haul_type *type = TYPE_NEW(shelf, fields);
    shelf it = { calloc(COUNT, sizeof *it.names), COUNT };
    char *text = calloc(COUNT, BYTES);
    haul_image_options options = { .is_trusted = 0 };
    haul_image *loaded;
    image_bytes image;
    image_parts parts;
    size_t i;
    CHECK(it.names && text);
    for (i = 0; i < COUNT; i++) {
        it.names[i] = text + i * BYTES;
        memset(it.names[i], 'n', 3);
    }
    write_as(&it, type, &image, &parts);
    options.buffer_bytes = parts.part[HAUL__SECTION_ARENA].count;
    options.buffer = calloc(1, options.buffer_bytes); /* as if all strings ended at once */
    CHECK(options.buffer != NULL);
    parts.part[HAUL__SECTION_ARENA].at[options.buffer_bytes - 20 * BYTES - 1] = 'x';
    image_join(&parts, &image);
    CHECK_STATUS(
        haul_image_from_bytes(type_context(), image.at, image.count, &type, 1, &options, &loaded),
        HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "it belongs to no object, and is not 0");
    free(options.buffer);
    image_parts_free(&parts);
    bytes_free(&image);
    free(text);
    free(it.names);
    haul_type_free(&type);
}

typedef struct large {
    struct large *next;
    char bytes[100000 - sizeof(void *)];
} large;

TEST(image_scan, large_objects_with_pointers_come_back_and_need_all_their_bytes)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(large, next, &type) };
    large *one = calloc(1, sizeof *one);
    image_bytes image;
    image_parts parts;
    CHECK(one != NULL);
    one->next = one;
    type = TYPE_NEW(large, fields);
    write_as(one, type, &image, &parts);
    CHECK_STATUS(load_as(type, &image), HAUL_OK);
    bytes_resize(&parts.part[HAUL__SECTION_ARENA], 64 * 2 * sizeof(void *));
    bytes_resize(&parts.part[HAUL__SECTION_BITS], 16);
    check_refused(type, &image, &parts, HAUL_ERROR_GRAPH, "not readable");
    image_parts_free(&parts);
    bytes_free(&image);
    free(one);
    haul_type_free(&type);
}

typedef struct broad {
    struct broad *next, *within;
    char bytes[4096 - 2 * sizeof(void *)];
} broad;

/* The pointer `within` of the first object leads into the second one, two words from its beginning,
 * where its pointers would be plain bytes. */
static void check_within(void *objects, size_t bytes)
{
    haul_type *type = NULL;
    haul_field fields[] = { HAUL_OBJECT(broad, next, &type), HAUL_OBJECT(broad, within, &type) };
    char *const at = objects;
    broad *first = objects;
    image_bytes image;
    image_parts parts;
    fields[0].element_bytes = fields[1].element_bytes = bytes;
    first->next = first->within = (broad *)(void *)(at + bytes);
    first->next->next = (broad *)(void *)(at + 2 * bytes);
    CHECK_STATUS(type_make("broad", bytes, fields, 2, &type), HAUL_OK);
    write_as(objects, type, &image, &parts);
    CHECK_STATUS(load_as(type, &image), HAUL_OK);
    first = root_in(&parts);
    first->within = (broad *)((uintptr_t)first->within + 2 * sizeof(void *));
    check_refused(type, &image, &parts, HAUL_ERROR_GRAPH, "a pointer for one");
    image_parts_free(&parts);
    bytes_free(&image);
    haul_type_free(&type);
}

TEST(image_scan, objects_that_begin_within_small_and_large_ones_are_refused)
{
    broad *large = calloc(3, sizeof *large);
    void *small[3][8] = { { NULL } };
    CHECK(large != NULL);
    check_within(large, sizeof *large);
    check_within(small, sizeof small[0]);
    free(large);
}

typedef struct apart {
    struct apart *to, *back;
    char rest[64 - 2 * sizeof(void *)];
} apart;

/* The second object is moved, so that there is room for two between it and the first one. */
TEST(image_scan, a_pointer_back_to_zeros_between_objects_leads_to_an_object_of_zeros)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(apart, to, &type), HAUL_OBJECT(apart, back, &type) };
    apart at[2] = { { NULL, NULL, { 0 } }, { NULL, NULL, { 0 } } };
    image_bytes image;
    image_parts parts;
    apart *root, *second;
    uint64_t *bits;
    size_t bit;
    at[0].to = &at[1];
    at[1].back = &at[0];
    type = TYPE_NEW(apart, fields, .alignment = sizeof(void *));
    write_as(at, type, &image, &parts);
    bytes_resize(&parts.part[HAUL__SECTION_ARENA], parts.part[HAUL__SECTION_ARENA].count + 128);
    root = root_in(&parts);
    second = (apart *)(void *)(parts.part[HAUL__SECTION_ARENA].at + (uintptr_t)root->to);
    bit = (size_t)((unsigned char *)(second + 2) - parts.part[HAUL__SECTION_ARENA].at) /
          sizeof(void *);
    memcpy(second + 2, second, sizeof *second);
    memset(second, 0, sizeof *second);
    second[2].back = root->to; /* into the gap */
    root->to = (apart *)(void *)((uintptr_t)root->to + 2 * sizeof *root);
    bytes_resize(&parts.part[HAUL__SECTION_BITS],
                 (parts.part[HAUL__SECTION_ARENA].count / sizeof(void *) + 63) / 64 * 8);
    bits = (uint64_t *)(void *)parts.part[HAUL__SECTION_BITS].at;
    *bits |= (uint64_t)3 << bit; /* both pointers */
    image_join(&parts, &image);
    CHECK_STATUS(load_as(type, &image), HAUL_OK);
    image_parts_free(&parts);
    bytes_free(&image);
    haul_type_free(&type);
}
