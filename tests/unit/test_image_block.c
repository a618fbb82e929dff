/* Where a loaded graph lies: in a buffer of the caller, in an arena, or in pages of a file.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"

typedef struct node {
    struct node *next;
    double *data;
    uintptr_t count, value;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_ARRAY(node, data, HAUL_COUNT(node, count)),
};
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

enum { NODES = 3, LARGE = 4000 }; /* doubles; fewer make a small arena */

typedef struct graph {
    haul_context *context;
    node at[NODES];
    double data[LARGE];
    image_bytes image;
    char path[64];
} graph;

/* A ring, of which each node has `count` doubles; as bytes and as a file. */
static void graph_open(graph *g, size_t count)
{
    haul_file file = bytes_file(&g->image);
    size_t i;
    memset(g, 0, sizeof *g);
    for (i = 0; i < count; i++)
        g->data[i] = (double)i;
    for (i = 0; i < NODES; i++) {
        g->at[i].next = &g->at[(i + 1) % NODES];
        g->at[i].data = g->data;
        g->at[i].count = count;
        g->at[i].value = i;
    }
    snprintf(g->path, sizeof g->path, P_tmpdir "/haul-block-%ld", (long)getpid());
    CHECK_STATUS(haul_context_create(NULL, &g->context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(g->context, structs), HAUL_OK);
    CHECK_STATUS(haul_image_write(g->context, haul_from_object(g->at, node_type), &file), HAUL_OK);
    CHECK_STATUS(haul_image_save(g->context, haul_from_object(g->at, node_type), g->path), HAUL_OK);
}

static void graph_close(graph *g)
{
    unlink(g->path);
    bytes_free(&g->image);
    HAUL_FORGET(structs);
    haul_context_free(&g->context);
}

static const char *error_of(const graph *g)
{
    return haul_context_error(g->context)->text;
}

static void check_nodes(const graph *g, const node *first)
{
    const node *n = first;
    size_t i;
    for (i = 0; i < NODES; i++, n = n->next) {
        CHECK_EQ(n->value, i);
        CHECK_EQ(n->count, g->at[0].count);
        CHECK_PTR(n->data, first->data);
        CHECK_BYTES(n->data, g->data, n->count * sizeof *n->data);
    }
    CHECK_PTR(n, first);
}

static node *root_of(const haul_image *image)
{
    return haul_image_roots(image, NULL)->address;
}

static haul_status load_into(graph *g, void *buffer, size_t bytes, haul_image **image)
{
    haul_image_options options;
    memset(&options, 0, sizeof options);
    options.buffer = buffer;
    options.buffer_bytes = bytes;
    return haul_image_from_bytes(g->context, g->image.at, g->image.count, &node_type, 1, &options,
                                 image);
}

/* ---- Buffers. */

TEST(image_block, a_graph_in_the_caller_s_buffer_stays_when_its_image_is_freed)
{
    graph g;
    haul_image *image;
    unsigned char *buffer = NULL;
    size_t bytes;
    node *first;
    graph_open(&g, 5);
    CHECK_STATUS(haul_image_load(g.context, g.path, &node_type, 1, NULL, &image), HAUL_OK);
    haul_image_memory(image, &bytes);
    haul_image_free(&image);
    CHECK(posix_memalign((void **)&buffer, 64, bytes + 1) == 0);
    buffer[bytes] = 99;
    CHECK_STATUS(load_into(&g, buffer, bytes, &image), HAUL_OK);
    CHECK_PTR(haul_image_memory(image, NULL), buffer);
    CHECK_EQ(buffer[bytes], 99);
    first = root_of(image);
    haul_image_free(&image);
    check_nodes(&g, first);
    free(buffer);
    graph_close(&g);
}

TEST(image_block, a_buffer_that_does_not_suit_is_told_what_is_needed)
{
    graph g;
    haul_image *image;
    unsigned char *buffer = NULL;
    char wanted[64];
    size_t bytes;
    graph_open(&g, 5);
    CHECK_STATUS(haul_image_load(g.context, g.path, &node_type, 1, NULL, &image), HAUL_OK);
    haul_image_memory(image, &bytes);
    haul_image_free(&image);
    CHECK(posix_memalign((void **)&buffer, 64, bytes + 64) == 0);
    memset(buffer, 0x55, bytes + 64);
    snprintf(wanted, sizeof wanted, "needs %zu bytes at a multiple of %zu", bytes,
             2 * sizeof(void *));
    CHECK_STATUS(load_into(&g, buffer, bytes - 1, &image), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&g), wanted);
    CHECK(image == NULL);
    CHECK_STATUS(load_into(&g, buffer + sizeof(void *), bytes, &image), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&g), "begins elsewhere");
    CHECK_EQ(buffer[0], 0x55);
    free(buffer);
    graph_close(&g);
}

/* ---- Arenas. */

static haul_status load_into_arena(graph *g, haul_arena *arena, haul_image **image)
{
    haul_image_options options;
    memset(&options, 0, sizeof options);
    options.arena = arena;
    return haul_image_from_bytes(g->context, g->image.at, g->image.count, &node_type, 1, &options,
                                 image);
}

static size_t used_bytes(const haul_arena *arena)
{
    haul_arena_info info;
    haul_arena_get_info(arena, &info);
    return info.used_bytes;
}

/* Adds the values of a ring to the first one, and 1 to each of the first node's doubles. */
static void add_values(void *first)
{
    node *f = first, *n;
    uintptr_t i;
    for (n = f->next; n != f; n = n->next)
        f->value += n->value;
    for (i = 0; i < f->count; i++)
        f->data[i] += 1;
}

/* `before`: granules of the arena that lie before the image. */
static void check_part_of_arena(size_t before)
{
    graph g;
    haul_arena *arena;
    haul_image *image;
    haul_device *device;
    haul_shipment *shipment;
    node *first, *head;
    graph_open(&g, 5);
    CHECK_STATUS(haul_arena_create(g.context, NULL, &arena), HAUL_OK);
    CHECK_STATUS(haul_host_open(g.context, NULL, &device), HAUL_OK);
    CHECK(haul_arena_bytes(arena, before * HAUL_ARENA_GRANULE, 0) != NULL);
    CHECK_STATUS(load_into_arena(&g, arena, &image), HAUL_OK);
    CHECK(haul_arena_contains(arena, haul_image_memory(image, NULL)));
    first = root_of(image);
    haul_image_free(&image);
    check_nodes(&g, first);
    head = haul_arena_new(arena, node_type, 1);
    head->next = first;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, add_values, haul_device_pointer(shipment, first)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_EQ(first->value, 0 + 1 + 2);
    CHECK(first->data[4] == 5.0);
    CHECK_PTR(first->next->next->next, first);
    CHECK_PTR(head->next, first);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_arena_free(&arena);
    graph_close(&g);
}

/* Its pointers' bits are those of the arena, at any place in a word of bits. */
TEST(image_block, an_image_becomes_a_part_of_an_arena_that_is_shipped_as_it_lies_and_grows)
{
    size_t before;
    for (before = 1; before < 64; before += 4)
        check_part_of_arena(before);
}

TEST(image_block, an_image_that_is_refused_leaves_an_arena_as_it_was)
{
    const haul_arena_options small = { .reserve_bytes = 1u << 20 };
    graph g;
    haul_arena *arena;
    haul_image *image;
    size_t before;
    graph_open(&g, LARGE);
    CHECK_STATUS(haul_arena_create(g.context, &small, &arena), HAUL_OK);
    CHECK(haul_arena_bytes(arena, 100, 0) != NULL);
    before = used_bytes(arena);
    g.image.at[g.image.count - 9] ^= 1;
    CHECK_STATUS(load_into_arena(&g, arena, &image), HAUL_ERROR_FORMAT);
    CHECK_PTR(image, NULL);
    CHECK_EQ(used_bytes(arena), before);
    g.image.at[g.image.count - 9] ^= 1;
    CHECK(haul_arena_bytes(arena, (1u << 20) - before - 4096, 0) != NULL);
    before = used_bytes(arena);
    CHECK_STATUS(load_into_arena(&g, arena, &image), HAUL_ERROR_LIMIT);
    CHECK_HAS(error_of(&g), "the arena is full");
    CHECK_EQ(used_bytes(arena), before);
    haul_arena_free(&arena);
    graph_close(&g);
}

TEST(image_block, an_arena_that_cannot_take_an_image_is_told)
{
    static haul_type *part_type;
    static const haul_field part_fields[] = { HAUL_OBJECT(node, next, &node_type),
                                              HAUL_SKIP(node, value) };
    static const haul_struct part_structs[] = { HAUL_STRUCT(node, &part_type, part_fields) };
    haul_image_options options;
    char buffer[64];
    graph g;
    haul_arena *arena;
    haul_image *image;
    graph_open(&g, 5);
    memset(&options, 0, sizeof options);
    CHECK_STATUS(haul_arena_create(g.context, NULL, &arena), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(g.context, part_structs), HAUL_OK);
    options.arena = arena;
    CHECK_STATUS(haul_image_load(g.context, g.path, &part_type, 1, &options, &image),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(error_of(&g), "fields that are skipped");
    options.buffer = buffer;
    options.buffer_bytes = sizeof buffer;
    CHECK_STATUS(haul_image_load(g.context, g.path, &node_type, 1, &options, &image),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error_of(&g), "both are given");
    HAUL_FORGET(part_structs);
    haul_arena_free(&arena);
    graph_close(&g);
}

#pragma pack(push, 1)
typedef struct odd {
    node *to;
    char more;
} odd;

typedef struct shifted {
    uint16_t number;
    node *to;
    uint16_t more[3];
} shifted;
#pragma pack(pop)

static void check_no_type_of_arenas(const graph *g, haul_arena *arena, haul_type *type,
                                    const char *why)
{
    haul_image_options options = { .arena = arena };
    haul_image *image;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_load(g->context, g->path, &type, 1, &options, &image),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(error_of(g), why);
    CHECK(image == NULL);
}

/* An arena tells its pointers by a bit for each word. */
TEST(image_block, types_whose_pointers_no_arena_can_tell_are_refused_for_one)
{
    static const char off_grid[] = "pointers that do not lie at multiples of their size";
    const haul_field sometimes =
        HAUL_OBJECT(node, next, &node_type, .when = HAUL_EQUALS(node, value, 1));
    const haul_field in_odd = HAUL_OBJECT(odd, to, &node_type, .packed = 1);
    const haul_field in_shifted = HAUL_OBJECT(shifted, to, &node_type, .packed = 1);
    haul_type *ruled, *odd_type, *shifted_type, *many_odd;
    haul_arena *arena;
    graph g;
    graph_open(&g, 5);
    CHECK_STATUS(haul_arena_create(g.context, NULL, &arena), HAUL_OK);
    CHECK_STATUS(type_make_in(g.context, "ruled", sizeof(node), &sometimes, 1, &ruled), HAUL_OK);
    CHECK_STATUS(type_make_in(g.context, "odd", sizeof(odd), &in_odd, 1, &odd_type), HAUL_OK);
    CHECK_STATUS(type_make_in(g.context, "shifted", sizeof(shifted), &in_shifted, 1, &shifted_type),
                 HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(sizeof(void *) << 10, odd_type, &many_odd), HAUL_OK);
    check_no_type_of_arenas(&g, arena, ruled, "members depend on the object");
    check_no_type_of_arenas(&g, arena, odd_type, off_grid);
    check_no_type_of_arenas(&g, arena, shifted_type, off_grid);
    check_no_type_of_arenas(&g, arena, many_odd, off_grid);
    haul_type_free(&many_odd);
    haul_type_free(&shifted_type);
    haul_type_free(&odd_type);
    haul_type_free(&ruled);
    haul_arena_free(&arena);
    graph_close(&g);
}

/* Flips the bit of the word at this place of the arena. */
static void flip_bit(image_bytes *image, size_t word)
{
    size_t count;
    uint64_t *bits;
    const haul__image_section *s = image_sections(image, &count);
    while (s->kind != HAUL__SECTION_BITS)
        s++;
    bits = (uint64_t *)(void *)(image->at + s->offset);
    bits[word / 64] ^= (uint64_t)1 << word % 64;
    image_sign(image);
}

/* The arena's pointers are those of the types, whatever bits the image has where it has zeros. */
TEST(image_block, a_stranger_s_image_cannot_tell_an_arena_wrong_pointers)
{
    graph g;
    haul_arena *arena;
    haul_image *image;
    haul_device *device;
    haul_shipment *shipment;
    node *first;
    size_t at;
    graph_open(&g, 5);
    g.at[NODES - 1].next = NULL;
    g.at[0].value = 0;
    g.image.count = 0;
    {
        haul_file file = bytes_file(&g.image);
        CHECK_STATUS(haul_image_write(g.context, haul_from_object(g.at, node_type), &file),
                     HAUL_OK);
    }
    CHECK_STATUS(haul_arena_create(g.context, NULL, &arena), HAUL_OK);
    CHECK_STATUS(haul_host_open(g.context, NULL, &device), HAUL_OK);
    CHECK_STATUS(load_into_arena(&g, arena, &image), HAUL_OK);
    first = root_of(image);
    at = (size_t)((unsigned char *)first - (unsigned char *)haul_image_memory(image, NULL)) /
         sizeof(void *);
    haul_image_free(&image);
    CHECK_STATUS(haul_arena_reset(arena), HAUL_OK);
    flip_bit(&g.image, at + 3); /* a number that is 0 is called a pointer */
    flip_bit(&g.image, at + 2 * sizeof(node) / sizeof(void *)); /* a null pointer is called none */
    CHECK_STATUS(load_into_arena(&g, arena, &image), HAUL_OK);
    first = root_of(image);
    haul_image_free(&image);
    CHECK_PTR(first->next->next->next, NULL);
    first->value = (uintptr_t)first;
    first->next->next->next = first;
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, add_values, haul_device_pointer(shipment, first)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_EQ(first->value, (uintptr_t)first + 1 + 2);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_arena_free(&arena);
    graph_close(&g);
}

/* A kernel there adds what it finds, and the source gets its results and then its old contents. */
static void check_on_device(haul_device *device, haul_shipment *shipment, node *first)
{
    const uintptr_t before = first->value;
    uintptr_t sum = before;
    const node *n;
    size_t i;
    for (n = first->next; n != first; n = n->next)
        sum += n->value;
    CHECK_STATUS(haul_host_launch(device, add_values, haul_device_pointer(shipment, first)),
                 HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_EQ(first->value, sum);
    first->value = before;
    for (i = 0; i < first->count; i++)
        first->data[i] -= 1;
}

TEST(image_block, one_load_into_a_pinned_arena_serves_several_devices)
{
    graph g;
    haul_device *device[3];
    haul_shipment *shipment[3];
    haul_arena_options pinned;
    haul_arena *arena;
    haul_image *image;
    node *first;
    size_t i;
    graph_open(&g, LARGE);
    memset(&pinned, 0, sizeof pinned);
    for (i = 0; i < 3; i++)
        CHECK_STATUS(haul_host_open(g.context, NULL, &device[i]), HAUL_OK);
    pinned.device = device[0];
    pinned.pinned = 1;
    CHECK_STATUS(haul_arena_create(g.context, &pinned, &arena), HAUL_OK);
    CHECK_STATUS(load_into_arena(&g, arena, &image), HAUL_OK);
    first = root_of(image);
    haul_image_free(&image);
    for (i = 0; i < 2; i++)
        CHECK_STATUS(haul_ship_from(device[i], haul_from_arena(arena), NULL, NULL, &shipment[i]),
                     HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(shipment[0], device[2], &shipment[2]), HAUL_OK);
    haul_arena_free(&arena);
    check_nodes(&g, first);
    for (i = 0; i < 3; i++) {
        check_on_device(device[i], shipment[i], first);
        check_nodes(&g, first);
    }
    for (i = 0; i < 3; i++) {
        haul_shipment_free(&shipment[i]);
        haul_device_close(&device[i]);
    }
    graph_close(&g);
}

/* A file that gives all bytes at once, up to an end that its reader does not know. */
static haul_status give_bytes(void *user, void *to, size_t count, size_t *got)
{
    image_bytes *rest = user;
    *got = count < rest->count ? count : rest->count;
    memcpy(to, rest->at, *got);
    rest->at += *got;
    rest->count -= *got;
    return HAUL_OK;
}

TEST(image_block, an_arena_does_not_grow_before_the_bytes_of_a_file_have_come)
{
    graph g;
    image_bytes rest;
    haul_file file;
    haul_image_options options;
    haul_arena *arena;
    haul_image *image;
    graph_open(&g, LARGE);
    memset(&options, 0, sizeof options);
    memset(&file, 0, sizeof file);
    file.user = &rest;
    file.read = give_bytes;
    CHECK_STATUS(haul_arena_create(g.context, NULL, &arena), HAUL_OK);
    options.arena = arena;
    rest = g.image;
    rest.count -= 100;
    CHECK_STATUS(haul_image_read(g.context, &file, &node_type, 1, &options, &image),
                 HAUL_ERROR_FORMAT);
    CHECK_EQ(used_bytes(arena), 0);
    rest = g.image;
    CHECK_STATUS(haul_image_read(g.context, &file, &node_type, 1, &options, &image), HAUL_OK);
    check_nodes(&g, root_of(image));
    haul_image_free(&image);
    haul_arena_free(&arena);
    graph_close(&g);
}

/* ---- Files. */

TEST(image_block, a_mapped_graph_is_that_of_the_file_and_changes_stay_in_the_process)
{
    graph g;
    haul_image *image, *again;
    node *first;
    graph_open(&g, LARGE);
    CHECK_STATUS(haul_image_map(g.context, g.path, &node_type, 1, &image), HAUL_OK);
    first = root_of(image);
    check_nodes(&g, first);
    first->data[7] = -1;
    first->next->value = 77;
    /* the file is as it was, also for another reader, and may be replaced */
    CHECK_STATUS(haul_image_map(g.context, g.path, &node_type, 1, &again), HAUL_OK);
    check_nodes(&g, root_of(again));
    CHECK_STATUS(haul_image_save(g.context, haul_from_object(first, node_type), g.path), HAUL_OK);
    check_nodes(&g, root_of(again));
    CHECK_EQ(first->next->value, 77);
    haul_image_free(&again);
    CHECK_STATUS(haul_image_load(g.context, g.path, &node_type, 1, NULL, &again), HAUL_OK);
    CHECK_EQ(root_of(again)->next->value, 77);
    haul_image_free(&again);
    haul_image_free(&image);
    graph_close(&g);
}

TEST(image_block, a_small_graph_is_mapped_too_with_types_or_without)
{
    graph g;
    haul_image *image;
    size_t count;
    graph_open(&g, 3);
    CHECK_STATUS(haul_image_map(g.context, g.path, &node_type, 1, &image), HAUL_OK);
    check_nodes(&g, root_of(image));
    haul_image_free(&image);
    CHECK_STATUS(haul_image_map(g.context, g.path, NULL, 0, &image), HAUL_OK);
    check_nodes(&g, root_of(image));
    haul_image_roots(image, &count);
    CHECK_EQ(count, 1);
    haul_image_free(&image);
    graph_close(&g);
}

/* The file has no arena at a multiple of 1024, so it is copied out of its pages. */
TEST(image_block, an_object_with_an_alignment_that_its_file_has_not_is_mapped_too)
{
    static uint64_t large[3 * 128];
    uint64_t *object = (uint64_t *)(((uintptr_t)large + 1023) & ~(uintptr_t)1023);
    const haul_struct what = { .name = "aligned", .bytes = 1024, .alignment = 1024 };
    haul_type *type = type_new(&what);
    haul_image *image;
    graph g;
    graph_open(&g, 3);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    object[127] = 127;
    CHECK_STATUS(haul_image_save(type_context(), haul_from_object(object, type), g.path), HAUL_OK);
    CHECK_STATUS(haul_image_map(type_context(), g.path, &type, 1, &image), HAUL_OK);
    object = haul_image_roots(image, NULL)[0].address;
    CHECK_EQ((uintptr_t)object % 1024, 0);
    CHECK_EQ(object[127], 127);
    haul_image_free(&image);
    haul_type_free(&type);
    graph_close(&g);
}

static void check_map_of(graph *g, size_t bytes, haul_status status, const char *why)
{
    haul_image *image;
    FILE *file = fopen(g->path, "wb");
    CHECK(file && fwrite(g->image.at, 1, bytes, file) == bytes && fclose(file) == 0);
    CHECK_STATUS(haul_image_map(g->context, g->path, &node_type, 1, &image), status);
    CHECK_HAS(error_of(g), why);
    CHECK(image == NULL);
}

TEST(image_block, what_is_no_whole_image_is_not_mapped)
{
    graph g;
    haul_image *image;
    graph_open(&g, LARGE);
    check_map_of(&g, 0, HAUL_ERROR_FILE, "is empty or no file");
    check_map_of(&g, 63, HAUL_ERROR_FORMAT, "ends after");
    check_map_of(&g, g.image.count - 1, HAUL_ERROR_FORMAT, "its end is missing");
    g.image.at[200] ^= 1; /* in the text of the types */
    check_map_of(&g, g.image.count, HAUL_ERROR_FORMAT, "checksum");
    CHECK_STATUS(haul_image_map(g.context, P_tmpdir, &node_type, 1, &image), HAUL_ERROR_FILE);
    CHECK_STATUS(haul_image_map(g.context, "/dev/null", &node_type, 1, &image), HAUL_ERROR_FILE);
    graph_close(&g);
}
