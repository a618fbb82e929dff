/* Images with an address of their own: processes that map them there have the same pages and the
 * same pointers. Anywhere else they are images as any.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"
#include "support/world.h"

typedef struct node {
    struct node *next;
    double *data;
    uintptr_t count;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_ARRAY(node, data, HAUL_COUNT(node, count)),
};
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

enum { NODES = 3, DATA = 3000, ROOM = 1 << 20 };

/* A ring of nodes with an array each, in a file. */
typedef struct graph {
    node at[NODES];
    double data[NODES][DATA];
    uintptr_t address;
    char path[128];
} graph;

static graph the_graph;

static haul_status save_at(graph *g, uintptr_t address)
{
    const haul_image_write_options options = { .address = address };
    return haul_image_save_as(type_context(), haul_from_object(g->at, node_type), &options,
                              g->path);
}

static graph *graph_start(void)
{
    graph *g = &the_graph;
    size_t i, k;
    memset(g, 0, sizeof *g);
    for (i = 0; i < NODES; i++) {
        g->at[i].next = &g->at[(i + 1) % NODES];
        g->at[i].data = g->data[i];
        g->at[i].count = DATA;
        for (k = 0; k < DATA; k++)
            g->data[i][k] = (double)(i * DATA + k);
    }
    snprintf(g->path, sizeof g->path, "%s/haul-shared-%ld", P_tmpdir, (long)getpid());
    CHECK_STATUS(HAUL_DESCRIBE(type_context(), structs), HAUL_OK);
    g->address = world_free_address(ROOM);
    CHECK_STATUS(save_at(g, g->address), HAUL_OK);
    return g;
}

static void graph_end(graph *g)
{
    unlink(g->path);
    HAUL_FORGET(structs);
}

static node *root_of(const haul_image *image)
{
    return haul_image_roots(image, NULL)[0].address;
}

static int is_right(const graph *g, const node *first)
{
    const node *n = first;
    size_t i;
    for (i = 0; i < NODES; i++, n = n->next)
        if (n->count != DATA || memcmp(n->data, g->data[i], sizeof g->data[i]) != 0)
            return 0;
    return n == first;
}

static int is_in_place(const graph *g, const haul_image *image)
{
    return (uintptr_t)haul_image_memory(image, NULL) - g->address < ROOM;
}

/* In a process of its own, which tells its root when it has mapped the image, and ends when it is
 * told: 0, if all is right. */
static pid_t map_in_child(const graph *g, const int tells[2], const int waits[2])
{
    const pid_t child = fork();
    haul_context *context = NULL;
    haul_image *image = NULL;
    node *root = NULL;
    char word;
    if (child != 0)
        return child;
    close(waits[1]);
    if (haul_context_create(NULL, &context) == HAUL_OK &&
        haul_image_map_shared(context, g->path, &node_type, 1, &image) == HAUL_OK)
        root = root_of(image);
    if (write(tells[1], &root, sizeof root) != (ssize_t)sizeof root ||
        read(waits[0], &word, 1) != 0)
        _exit(2);
    _exit(root && is_in_place(g, image) && is_right(g, root) ? 0 : 1);
}

TEST(image_shared, two_processes_map_one_image_and_have_the_same_pointers)
{
    graph *g = graph_start();
    node *roots[2] = { NULL, NULL };
    pid_t child[2];
    int tells[2], waits[2], ended[2], i;
    CHECK(pipe(tells) == 0 && pipe(waits) == 0);
    for (i = 0; i < 2; i++)
        child[i] = map_in_child(g, tells, waits);
    for (i = 0; i < 2; i++)
        CHECK(read(tells[0], &roots[i], sizeof roots[i]) == (ssize_t)sizeof roots[i]);
    close(waits[1]); /* both have it now */
    for (i = 0; i < 2; i++)
        CHECK(waitpid(child[i], &ended[i], 0) == child[i]);
    close(waits[0]);
    close(tells[0]);
    close(tells[1]);
    CHECK(WIFEXITED(ended[0]) && WEXITSTATUS(ended[0]) == 0);
    CHECK(WIFEXITED(ended[1]) && WEXITSTATUS(ended[1]) == 0);
    CHECK(roots[0] != NULL);
    CHECK_PTR(roots[0], roots[1]);
    graph_end(g);
}

TEST(image_shared, a_shared_graph_cannot_be_written_and_is_written_as_the_image_that_it_was)
{
    graph *g = graph_start();
    image_bytes one = { NULL, 0, 0 }, other = { NULL, 0, 0 };
    const haul_file to_one = bytes_file(&one), to_other = bytes_file(&other);
    haul_image *image;
    const int zeros = open("/dev/zero", O_RDONLY);
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, &node_type, 1, &image), HAUL_OK);
    CHECK(is_in_place(g, image) && is_right(g, root_of(image)));
    CHECK(read(zeros, root_of(image), 8) == -1 && errno == EFAULT);
    CHECK_STATUS(
        haul_image_write(type_context(), haul_from_object(root_of(image), node_type), &to_one),
        HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(g->at, node_type), &to_other),
                 HAUL_OK);
    CHECK_EQ(one.count, other.count);
    CHECK_BYTES(one.at, other.at, one.count);
    haul_image_free(&image);
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, NULL, 0, &image), HAUL_OK);
    CHECK(is_right(g, root_of(image)));
    haul_image_free(&image);
    close(zeros);
    bytes_free(&one);
    bytes_free(&other);
    graph_end(g);
}

TEST(image_shared, a_private_mapping_takes_the_address_if_it_is_free_and_any_other_if_not)
{
    graph *g = graph_start();
    haul_image *image, *second, *shared;
    CHECK_STATUS(haul_image_map(type_context(), g->path, &node_type, 1, &image), HAUL_OK);
    CHECK(is_in_place(g, image) && is_right(g, root_of(image)));
    CHECK_STATUS(haul_image_map(type_context(), g->path, &node_type, 1, &second), HAUL_OK);
    CHECK(!is_in_place(g, second) && is_right(g, root_of(second)));
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, &node_type, 1, &shared),
                 HAUL_ERROR_FILE);
    CHECK_HAS(type_error()->text, "where this process has other memory");
    CHECK_PTR(shared, NULL);
    root_of(image)->data[0] = -1;
    haul_image_free(&image);
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, &node_type, 1, &shared), HAUL_OK);
    CHECK(is_right(g, root_of(shared)));
    haul_image_free(&shared);
    haul_image_free(&second);
    graph_end(g);
}

TEST(image_shared, an_image_with_an_address_is_loaded_anywhere_and_checked)
{
    graph *g = graph_start();
    const haul_image_options trusted = { .is_trusted = 1 };
    haul_image *image;
    CHECK_STATUS(haul_image_load(type_context(), g->path, &node_type, 1, NULL, &image), HAUL_OK);
    CHECK(!is_in_place(g, image) && is_right(g, root_of(image)));
    haul_image_free(&image);
    CHECK_STATUS(haul_image_load(type_context(), g->path, &node_type, 1, &trusted, &image),
                 HAUL_OK);
    CHECK(is_right(g, root_of(image)));
    haul_image_free(&image);
    CHECK_STATUS(save_at(g, 0), HAUL_OK);
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, &node_type, 1, &image),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "no address of its own");
    graph_end(g);
}

/* High tags of pointers are in the words of the file, too. */
typedef struct tagged {
    uintptr_t other; /* a tagged, and 8 bits */
} tagged;

TEST(image_shared, tagged_pointers_are_addresses_with_tags)
{
    const uintptr_t bits = (uintptr_t)0xff << (sizeof(void *) * 8 - 8), tag = bits / 255 * 5;
    graph *g = graph_start();
    haul_type *type;
    const haul_field fields[] = { HAUL_ADDRESS(tagged, other, .target = &type, .tag_bits = bits) };
    haul_image_write_options options = { .address = g->address };
    haul_image *image;
    static tagged two[2];
    const tagged *at;
    if (((uintptr_t)two & bits) || (g->address & bits)) { /* pointers of 4 bytes */
        graph_end(g);
        return;
    }
    two[0].other = (uintptr_t)&two[1] | tag;
    type = TYPE_NEW(tagged, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_save_as(type_context(), haul_from_object(two, type), &options, g->path),
                 HAUL_OK);
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, &type, 1, &image), HAUL_OK);
    at = haul_image_roots(image, NULL)[0].address;
    CHECK_EQ(at->other & bits, tag);
    CHECK_EQ(((const tagged *)(at->other & ~bits))->other, 0);
    haul_image_free(&image);
    CHECK_STATUS(haul_image_load(type_context(), g->path, &type, 1, NULL, &image), HAUL_OK);
    at = haul_image_roots(image, NULL)[0].address;
    CHECK_EQ(at->other & bits, tag);
    CHECK_EQ(((const tagged *)(at->other & ~bits))->other, 0);
    haul_image_free(&image);
    options.address = tag;
    CHECK_STATUS(haul_image_save_as(type_context(), haul_from_object(two, type), &options, g->path),
                 HAUL_ERROR_LIMIT);
    CHECK_HAS(type_error()->text, "has bits of its tag");
    haul_type_free(&type);
    graph_end(g);
}

TEST(image_shared, an_arena_that_its_place_in_the_file_does_not_suit_is_refused)
{
    graph *g = graph_start();
    const haul_image_write_options options = { .address = g->address };
    node alone = { NULL, NULL, 0 };
    image_bytes bytes = { NULL, 0, 0 };
    const haul_file to = bytes_file(&bytes);
    haul_image *image;
    FILE *file;
    CHECK_STATUS(
        haul_image_write_as(type_context(), haul_from_object(&alone, node_type), &options, &to),
        HAUL_OK);
    ((haul__image_head *)(void *)bytes.at)->alignment = 4096;
    image_sign(&bytes);
    file = fopen(g->path, "wb");
    CHECK(file && fwrite(bytes.at, 1, bytes.count, file) == bytes.count && fclose(file) == 0);
    CHECK_STATUS(haul_image_map_shared(type_context(), g->path, &node_type, 1, &image),
                 HAUL_ERROR_FORMAT);
    CHECK_HAS(type_error()->text, "its arena has no place in its pages");
    bytes_free(&bytes);
    graph_end(g);
}

TEST(image_shared, addresses_that_no_image_can_have_are_refused)
{
    graph *g = graph_start();
    haul_image_write_options options = { .address = g->address, .compression = 3 };
    const haul_image_write_options highest = { .address = UINTPTR_MAX - 65535 };
    const haul_plan_options ordered = { .ordered = 1 };
    haul_plan *plan;
    static struct {
        uint64_t one[512] __attribute__((aligned(4096)));
    } large;
    image_bytes bytes = { NULL, 0, 0 };
    const haul_file file = bytes_file(&bytes);
    haul_image *image;
    haul_type *type;
    CHECK_STATUS(save_at(g, g->address + 4096), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "no multiple of 65536");
    CHECK_STATUS(save_at(g, UINTPTR_MAX - 65535), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "does not fit behind it");
    CHECK_STATUS(
        haul_plan_create(type_context(), haul_from_object(g->at, node_type), &ordered, &plan),
        HAUL_OK);
    CHECK_STATUS(haul_image_save_as(type_context(), haul_from_plan(plan), &highest, g->path),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "does not fit behind it");
    haul_plan_free(&plan);
    CHECK_STATUS(
        haul_image_save_as(type_context(), haul_from_object(g->at, node_type), &options, g->path),
        HAUL_ERROR_ARGUMENT);
    CHECK_HAS(type_error()->text, "options->address and options->compression");
    CHECK_STATUS(
        haul_image_write_as(type_context(), haul_from_object(g->at, node_type), NULL, &file),
        HAUL_OK);
    ((haul__image_head *)(void *)bytes.at)->address = UINTPTR_MAX - 65535;
    image_sign(&bytes);
    CHECK_STATUS(
        haul_image_from_bytes(type_context(), bytes.at, bytes.count, &node_type, 1, NULL, &image),
        HAUL_ERROR_FORMAT);
    CHECK_HAS(type_error()->text, "no address that an image can have");
    bytes_free(&bytes);
    options.compression = 0;
    CHECK_STATUS(haul_type_commit(type = type_new(&(const haul_struct){
                                      .name = "aligned", .bytes = 1024, .alignment = 1024 })),
                 HAUL_OK);
    CHECK_STATUS(
        haul_image_save_as(type_context(), haul_from_object(large.one, type), &options, g->path),
        HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(type_error()->text, "has no address of its own");
    haul_type_free(&type);
    graph_end(g);
}
