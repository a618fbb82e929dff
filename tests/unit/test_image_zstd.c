/* Compressed images: the same graph as without compression, from any input, and nothing that a
 * frame made with malice could gain. A library without zstd refuses them, and says what to do.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>

#include "image/compression.h"
#include "images/image_bytes.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/types.h"

typedef struct node {
    struct node *next;
    int64_t *data;
    uint64_t count;
    int64_t value;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_ARRAY(node, data, HAUL_COUNT(node, count)),
};
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

enum { NODES = 300, DATA = 30000 }; /* several pieces of 64 KiB */

typedef struct graph {
    haul_context *context;
    node at[NODES];
    int64_t data[DATA];
    image_bytes plain, image;
    size_t piece, read; /* of the stream: bytes at a time, and so far */
} graph;

static graph the_graph;

static haul_status write_at_level(graph *g, int level, image_bytes *bytes)
{
    const haul_image_write_options options = { .compression = level };
    const haul_file file = bytes_file(bytes);
    bytes_resize(bytes, 0);
    return haul_image_write_as(g->context, haul_from_object(g->at, node_type), &options, &file);
}

static graph *graph_start(void)
{
    graph *g = &the_graph;
    size_t i;
    memset(g, 0, sizeof *g);
    for (i = 0; i < DATA; i++)
        g->data[i] = (int64_t)(i * i % 1000003);
    for (i = 0; i < NODES; i++) {
        g->at[i].next = &g->at[(i + 1) % NODES];
        g->at[i].data = g->data + i * (DATA / NODES);
        g->at[i].count = DATA / NODES;
        g->at[i].value = (int64_t)i;
    }
    CHECK_STATUS(haul_context_create(NULL, &g->context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(g->context, structs), HAUL_OK);
    CHECK_STATUS(write_at_level(g, 0, &g->plain), HAUL_OK);
    if (haul__can_compress())
        CHECK_STATUS(write_at_level(g, 3, &g->image), HAUL_OK);
    return g;
}

static void graph_end(graph *g)
{
    bytes_free(&g->plain);
    bytes_free(&g->image);
    HAUL_FORGET(structs);
    haul_context_free(&g->context);
}

/* Checks the graph, and frees the image. */
static void check_graph(haul_image **image)
{
    const node *n = haul_image_roots(*image, NULL)[0].address;
    size_t i;
    for (i = 0; i < NODES; i++, n = n->next) {
        CHECK_EQ(n->value, i);
        CHECK_BYTES(n->data, the_graph.at[i].data, DATA / NODES * sizeof *n->data);
    }
    CHECK_PTR(n, haul_image_roots(*image, NULL)[0].address);
    haul_image_free(image);
}

static haul_status load_as(graph *g, const haul_image_options *options, haul_image **image)
{
    return haul_image_from_bytes(g->context, g->image.at, g->image.count, &node_type, 1, options,
                                 image);
}

static haul_status give_piece(void *user, void *to, size_t count, size_t *got)
{
    graph *g = user;
    *got = g->image.count - g->read < count ? g->image.count - g->read : count;
    *got = *got < g->piece ? *got : g->piece;
    memcpy(to, g->image.at + g->read, *got);
    g->read += *got;
    return HAUL_OK;
}

TEST(image_zstd, a_compressed_graph_is_loaded_wherever_a_graph_can_lie)
{
    static char buffer[4096 + (DATA + 4 * NODES + 100) * 8];
    const haul_image_options trusted = { .is_trusted = 1 };
    haul_image_options options = { .is_trusted = 0 };
    graph *g = graph_start();
    haul_arena *arena;
    haul_image *image;
    if (!haul__can_compress()) {
        graph_end(g);
        return;
    }
    CHECK(g->image.count < g->plain.count * 3 / 4);
    CHECK_STATUS(load_as(g, NULL, &image), HAUL_OK);
    check_graph(&image);
    CHECK_STATUS(load_as(g, &trusted, &image), HAUL_OK);
    check_graph(&image);
    CHECK_STATUS(
        haul_image_from_bytes(g->context, g->image.at, g->image.count, NULL, 0, NULL, &image),
        HAUL_OK);
    check_graph(&image);
    options.buffer = (void *)(((uintptr_t)buffer + 4095) & ~(uintptr_t)4095);
    options.buffer_bytes = sizeof buffer - 4096;
    CHECK_STATUS(load_as(g, &options, &image), HAUL_OK);
    CHECK_PTR(haul_image_memory(image, NULL), options.buffer);
    check_graph(&image);
    memset(&options, 0, sizeof options);
    CHECK_STATUS(haul_arena_create(g->context, NULL, &arena), HAUL_OK);
    options.arena = arena;
    CHECK_STATUS(load_as(g, &options, &image), HAUL_OK);
    CHECK(haul_arena_contains(arena, haul_image_memory(image, NULL)));
    check_graph(&image);
    haul_arena_free(&arena);
    graph_end(g);
}

TEST(image_zstd, a_stream_may_give_its_bytes_in_any_pieces)
{
    static const size_t pieces[] = { 1, 7, 4096, 65536, SIZE_MAX };
    graph *g = graph_start();
    haul_file file;
    haul_image *image;
    size_t i;
    memset(&file, 0, sizeof file);
    file.user = g;
    file.read = give_piece;
    for (i = 0; haul__can_compress() && i < sizeof pieces / sizeof *pieces; i++) {
        g->piece = pieces[i];
        g->read = 0;
        CHECK_STATUS(haul_image_read(g->context, &file, &node_type, 1, NULL, &image), HAUL_OK);
        CHECK_EQ(g->read, g->image.count);
        check_graph(&image);
    }
    graph_end(g);
}

TEST(image_zstd, a_saved_file_is_loaded_and_mapped)
{
    const haul_image_write_options options = { .compression = 19 };
    const char *path = P_tmpdir "/haul_image_zstd";
    graph *g = graph_start();
    haul_image *image;
    if (haul__can_compress()) {
        CHECK_STATUS(
            haul_image_save_as(g->context, haul_from_object(g->at, node_type), &options, path),
            HAUL_OK);
        CHECK_STATUS(haul_image_load(g->context, path, &node_type, 1, NULL, &image), HAUL_OK);
        check_graph(&image);
        CHECK_STATUS(haul_image_map(g->context, path, &node_type, 1, &image), HAUL_OK);
        check_graph(&image);
        CHECK_EQ(remove(path), 0);
    }
    graph_end(g);
}

/* A byte with seven bits of chance is packed a little: a block is longer than a piece of 64 KiB. */
TEST(image_zstd, a_block_of_a_frame_may_be_longer_than_a_piece)
{
    graph *g = graph_start();
    unsigned char *byte = (unsigned char *)g->data;
    uint64_t random = 1;
    haul_image *image;
    size_t i;
    for (i = 0; i < sizeof g->data; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        byte[i] = (unsigned char)(random >> 57);
    }
    if (haul__can_compress()) {
        CHECK_STATUS(write_at_level(g, 3, &g->image), HAUL_OK);
        CHECK_STATUS(load_as(g, NULL, &image), HAUL_OK);
        check_graph(&image);
    }
    graph_end(g);
}

/* Pieces that lie in the source as they are, and others, are compressed alike. */
TEST(image_zstd, a_large_array_is_compressed_as_it_lies_in_the_source)
{
    graph *g = graph_start();
    haul_image *image;
    const node *n;
    g->at[0].next = NULL;
    g->at[0].data = g->data;
    g->at[0].count = DATA;
    if (haul__can_compress()) {
        CHECK_STATUS(write_at_level(g, 3, &g->image), HAUL_OK);
        CHECK_STATUS(load_as(g, NULL, &image), HAUL_OK);
        n = haul_image_roots(image, NULL)[0].address;
        CHECK_BYTES(n->data, g->data, sizeof g->data);
        haul_image_free(&image);
    }
    graph_end(g);
}

TEST(image_zstd, memory_that_holds_a_compressed_image_is_enough_and_one_byte_fewer_is_not)
{
    static unsigned char memory[sizeof the_graph];
    const haul_image_write_options options = { .compression = 3 };
    graph *g = graph_start();
    const haul_source source = haul_from_object(g->at, node_type);
    size_t bytes;
    if (haul__can_compress()) {
        CHECK_STATUS(
            haul_image_to_bytes(g->context, source, &options, memory, g->image.count, &bytes),
            HAUL_OK);
        CHECK_EQ(bytes, g->image.count);
        CHECK_BYTES(memory, g->image.at, bytes);
        CHECK_STATUS(
            haul_image_to_bytes(g->context, source, &options, memory, g->image.count - 1, &bytes),
            HAUL_ERROR_ARGUMENT);
        CHECK_EQ(bytes, g->image.count);
        CHECK_HAS(haul_context_error(g->context)->text, "the image needs");
    }
    graph_end(g);
}

TEST(image_zstd, memory_that_runs_out_is_told_and_given_back_H1)
{
    graph *g = graph_start();
    int fired = haul__can_compress();
    uint64_t at;
    for (at = 1; fired; at++) {
        fault_plan doors = { 0 };
        haul_context *context;
        haul_image *image;
        haul_status status;
        CHECK_STATUS(fault_open_context(&doors, NULL, &context), HAUL_OK);
        fault_arm(&doors, FAULT_ONCE, at);
        status = haul_image_from_bytes(context, g->image.at, g->image.count, &node_type, 1, NULL,
                                       &image);
        fired = doors.fired + doors.fell_back != 0;
        CHECK(status == (doors.fired ? HAUL_ERROR_MEMORY : HAUL_OK));
        CHECK((image != NULL) == (status == HAUL_OK));
        fault_disarm(&doors);
        haul_image_free(&image);
        haul_context_free(&context);
        fault_check_clean(&doors);
    }
    CHECK(!haul__can_compress() || at > 5);
    graph_end(g);
}

/* ---- Damage. */

static haul__image_head *head_of(image_bytes *image)
{
    return (haul__image_head *)(void *)image->at;
}

static haul__image_section *arena_section(image_bytes *image)
{
    size_t count;
    haul__image_section *s = image_sections(image, &count);
    return s + count - 1;
}

static void check_refused(graph *g, haul_status status, const char *why)
{
    haul_image *image;
    CHECK_STATUS(load_as(g, NULL, &image), status);
    CHECK_HAS(haul_context_error(g->context)->text, why);
    CHECK(image == NULL);
}

TEST(image_zstd, flipped_bits_and_cuts_are_found)
{
    graph *g = graph_start();
    haul_image *image;
    size_t i;
    for (i = 0; i < g->image.count; i += i < 2048 ? 1 : 97) {
        const size_t count = g->image.count;
        g->image.at[i] ^= (unsigned char)(1u << i % 8);
        CHECK(load_as(g, NULL, &image) != HAUL_OK);
        g->image.at[i] ^= (unsigned char)(1u << i % 8);
        g->image.count = i;
        CHECK_STATUS(load_as(g, NULL, &image), HAUL_ERROR_FORMAT);
        g->image.count = count;
    }
    graph_end(g);
}

/* Signed again, so the frame's own checks alone are left. */
TEST(image_zstd, a_signed_frame_that_is_damaged_never_gives_another_graph)
{
    graph *g = graph_start();
    haul_image *image;
    size_t i;
    if (haul__can_compress()) {
        haul__image_section arena = *arena_section(&g->image);
        for (i = 0; i < arena.bytes; i += i < 64 ? 1 : 211) {
            g->image.at[arena.offset + i] ^= 0x10;
            image_sign(&g->image);
            if (load_as(g, NULL, &image) == HAUL_OK)
                check_graph(&image); /* a bit that zstd does not use */
            g->image.at[arena.offset + i] ^= 0x10;
        }
        memset(g->image.at + arena.offset, 0, 4);
        image_sign(&g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "its arena cannot be decompressed");
    }
    graph_end(g);
}

/* Sets the size of the arena, and that of the bitmap, and signs the image. */
static void claim(graph *g, uint64_t bytes)
{
    static image_parts parts;
    image_split(&g->image, &parts);
    parts.head.arena_bytes = bytes;
    bytes_resize(&parts.part[HAUL__SECTION_BITS], (size_t)((bytes / sizeof(void *) + 63) / 64 * 8));
    image_join(&parts, &g->image);
    image_parts_free(&parts);
}

TEST(image_zstd, a_frame_of_another_size_than_the_head_says_is_refused)
{
    graph *g = graph_start();
    if (haul__can_compress()) {
        const uint64_t bytes = head_of(&g->image)->arena_bytes;
        claim(g, bytes + 64);
        check_refused(g, HAUL_ERROR_FORMAT, "fewer bytes than its head says");
        claim(g, bytes - 64);
        check_refused(g, HAUL_ERROR_GRAPH, ""); /* the last range leads out */
        claim(g, bytes);
        head_of(&g->image)->arena_bytes = (uint64_t)1 << 40;
        image_sign(&g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "bitmap has not the size");
        head_of(&g->image)->arena_bytes = UINT64_MAX;
        image_sign(&g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "no size that an arena can have");
        head_of(&g->image)->arena_bytes = 0; /* the frame is taken for the arena */
        image_sign(&g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "");
    }
    graph_end(g);
}

TEST(image_zstd, a_trusted_frame_with_more_bytes_is_refused)
{
    const haul_image_options trusted = { .is_trusted = 1 };
    graph *g = graph_start();
    haul_image *image;
    if (haul__can_compress()) {
        static image_parts parts;
        image_split(&g->image, &parts);
        bytes_resize(&parts.part[HAUL__SECTION_ARENA], parts.part[HAUL__SECTION_ARENA].count + 1);
        image_join(&parts, &g->image);
        image_parts_free(&parts);
        CHECK_STATUS(load_as(g, &trusted, &image), HAUL_ERROR_FORMAT);
        CHECK_HAS(haul_context_error(g->context)->text, "more bytes than its head says");
    }
    graph_end(g);
}

/* The frame's end, of which its last 4 bytes are a checksum, comes behind all of the arena. */
TEST(image_zstd, a_frame_without_its_end_or_with_more_in_it_than_the_arena_is_refused)
{
    const haul_image_options trusted = { .is_trusted = 1 };
    graph *g = graph_start();
    haul_image *image;
    if (haul__can_compress()) {
        const uint64_t bytes = head_of(&g->image)->arena_bytes;
        static image_parts parts;
        image_bytes *frame = &parts.part[HAUL__SECTION_ARENA];
        claim(g, bytes - 64);
        CHECK_STATUS(load_as(g, &trusted, &image), HAUL_ERROR_FORMAT);
        CHECK_HAS(haul_context_error(g->context)->text, "more bytes than its head says");
        claim(g, bytes);
        image_split(&g->image, &parts);
        frame->at[frame->count - 1] ^= 1;
        image_join(&parts, &g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "its arena cannot be decompressed");
        bytes_resize(frame, frame->count - 4);
        image_join(&parts, &g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "its compressed arena has no end");
        bytes_resize(frame, frame->count / 2);
        image_join(&parts, &g->image);
        check_refused(g, HAUL_ERROR_FORMAT, "its compressed arena has no end");
        image_parts_free(&parts);
    }
    graph_end(g);
}

TEST(image_zstd, a_stream_that_ends_within_a_frame_is_refused)
{
    graph *g = graph_start();
    haul_image *image;
    haul_file file;
    memset(&file, 0, sizeof file);
    file.user = g;
    file.read = give_piece;
    g->piece = SIZE_MAX;
    if (haul__can_compress()) {
        g->image.count -= 1000;
        CHECK_STATUS(haul_image_read(g->context, &file, &node_type, 1, NULL, &image),
                     HAUL_ERROR_FORMAT);
        CHECK_HAS(haul_context_error(g->context)->text, "before it is complete");
        CHECK_PTR(image, NULL);
    }
    graph_end(g);
}

TEST(image_zstd, the_limit_of_a_context_is_compared_before_memory_is_taken)
{
    haul_context_options options;
    graph *g = graph_start();
    fault_plan doors;
    haul_context *limited;
    haul_image *image;
    memset(&options, 0, sizeof options);
    memset(&doors, 0, sizeof doors);
    options.max_bytes = 100000;
    CHECK_STATUS(fault_open_context(&doors, &options, &limited), HAUL_OK);
    if (haul__can_compress()) {
        CHECK_STATUS(
            haul_image_from_bytes(limited, g->image.at, g->image.count, NULL, 0, NULL, &image),
            HAUL_ERROR_LIMIT);
        CHECK(doors.host_most < 100000);
    }
    haul_context_free(&limited);
    fault_check_clean(&doors);
    graph_end(g);
}

/* ---- Without zstd. */

TEST(image_zstd, a_library_without_zstd_says_what_to_do)
{
    graph *g = graph_start();
    if (!haul__can_compress()) {
        CHECK_STATUS(write_at_level(g, 3, &g->image), HAUL_ERROR_UNSUPPORTED);
        CHECK_HAS(haul_context_error(g->context)->text, "-DHAUL_ZSTD=ON");
        bytes_set(&g->image, g->plain.at, g->plain.count);
        head_of(&g->image)->arena_bytes = arena_section(&g->image)->bytes;
        image_sign(&g->image);
        check_refused(g, HAUL_ERROR_UNSUPPORTED, "-DHAUL_ZSTD=ON");
    }
    graph_end(g);
}
