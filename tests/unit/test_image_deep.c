/* Images of long lists, of graphs with very many paths, images in a row, and images in images.
 */
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "images/image_bytes.h"
#include "support/check.h"

typedef struct node {
    struct node *next, *other;
} node;

static haul_type *node_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(node, next, &node_type),
    HAUL_OBJECT(node, other, &node_type),
};
static const haul_struct structs[] = { HAUL_STRUCT(node, &node_type, node_fields) };

typedef struct graph {
    haul_context *context;
    image_bytes image;
    node *nodes;
} graph;

static void graph_open(graph *g, size_t count)
{
    memset(g, 0, sizeof *g);
    CHECK_STATUS(haul_context_create(NULL, &g->context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(g->context, structs), HAUL_OK);
    g->nodes = calloc(count, sizeof *g->nodes);
    CHECK(g->nodes != NULL);
}

static void graph_close(graph *g)
{
    HAUL_FORGET(structs);
    haul_context_free(&g->context);
    bytes_free(&g->image);
    free(g->nodes);
}

/* Written and loaded; the root. */
static node *load(graph *g, haul_image **image)
{
    haul_file file = bytes_file(&g->image);
    CHECK_STATUS(haul_image_write(g->context, haul_from_object(g->nodes, node_type), &file),
                 HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(g->context, g->image.at, g->image.count, &node_type, 1, NULL, image),
        HAUL_OK);
    return haul_image_roots(*image, NULL)->address;
}

TEST(image_deep, an_object_that_leads_to_itself_loads_F17)
{
    graph g;
    haul_image *image;
    node *root;
    graph_open(&g, 1);
    g.nodes->next = g.nodes;
    root = load(&g, &image);
    CHECK_PTR(root->next, root);
    CHECK_PTR(root->other, NULL);
    haul_image_free(&image);
    graph_close(&g);
}

/* HAUL_DEEP_NODES; else 300,000, which serves in every build. */
static size_t node_count(void)
{
    const char *wish = getenv("HAUL_DEEP_NODES");
    return wish ? strtoul(wish, NULL, 10) : 300000;
}

TEST(image_deep, a_list_longer_than_any_stack_loads_F17)
{
    const size_t count = node_count();
    graph g;
    haul_image *image;
    node *n;
    size_t i;
    graph_open(&g, count);
    for (i = 0; i + 1 < count; i++) {
        g.nodes[i].next = &g.nodes[i + 1];
        g.nodes[i].other = g.nodes;
    }
    n = load(&g, &image);
    for (i = 1; n->next; n = n->next)
        i++;
    CHECK_EQ(i, count);
    haul_image_free(&image);
    graph_close(&g);
}

TEST(image_deep, a_ladder_with_2_to_60_paths_loads_at_once_F18)
{
    enum { STEPS = 60 };
    graph g;
    haul_image *image;
    node *n;
    size_t i;
    graph_open(&g, STEPS + 1);
    for (i = 0; i < STEPS; i++)
        g.nodes[i].next = g.nodes[i].other = &g.nodes[i + 1];
    n = load(&g, &image);
    for (i = 0; n->next; n = n->next, i++)
        CHECK_PTR(n->next, n->other);
    CHECK_EQ(i, STEPS);
    haul_image_free(&image);
    graph_close(&g);
}

TEST(image_deep, one_byte_behind_an_image_is_refused_F2)
{
    graph g;
    haul_image *image;
    graph_open(&g, 1);
    load(&g, &image);
    haul_image_free(&image);
    bytes_resize(&g.image, g.image.count + 1);
    CHECK_STATUS(
        haul_image_from_bytes(g.context, g.image.at, g.image.count, &node_type, 1, NULL, &image),
        HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(g.context)->text, "other bytes follow it");
    CHECK_PTR(image, NULL);
    graph_close(&g);
}

/* ---- An image in a field of bytes. */

typedef struct box {
    unsigned char *bytes;
    size_t count;
} box;

static haul_type *box_type;
static const haul_field box_fields[] = { HAUL_ARRAY(box, bytes, HAUL_COUNT(box, count)) };
static const haul_struct box_structs[] = { HAUL_STRUCT(box, &box_type, box_fields) };

/* The image of a box with these bytes takes their place. */
static void put_into_box(haul_context *context, image_bytes *image)
{
    box b = { image->at, image->count };
    image_bytes outer = { NULL, 0, 0 };
    haul_file file = bytes_file(&outer);
    CHECK_STATUS(haul_image_write(context, haul_from_object(&b, box_type), &file), HAUL_OK);
    bytes_free(image);
    *image = outer;
}

static haul_status load_box(haul_context *context, const void *bytes, size_t count,
                            haul_image **image)
{
    return haul_image_from_bytes(context, bytes, count, &box_type, 1, NULL, image);
}

/* A load looks at nothing within the bytes: damage there is no damage, and an image that is whole
 * is loaded from there by a call of its own. */
TEST(image_deep, an_image_in_a_field_of_bytes_is_data_F20)
{
    enum { DEPTH = 40 };
    haul_image *opened[DEPTH], *image;
    const box *b = NULL;
    unsigned char *byte;
    graph g;
    size_t i, layers = 0;
    graph_open(&g, 1);
    g.nodes->next = g.nodes;
    load(&g, &image);
    haul_image_free(&image);
    CHECK_STATUS(HAUL_DESCRIBE(g.context, box_structs), HAUL_OK);
    for (i = 0; i < DEPTH; i++)
        put_into_box(g.context, &g.image);
    for (i = 0; i < DEPTH; i++) {
        CHECK_STATUS(load_box(g.context, b ? b->bytes : g.image.at, b ? b->count : g.image.count,
                              &opened[i]),
                     HAUL_OK);
        b = haul_image_roots(opened[i], NULL)->address;
    }
    CHECK_STATUS(haul_image_from_bytes(g.context, b->bytes, b->count, &node_type, 1, NULL, &image),
                 HAUL_OK);
    haul_image_free(&image);
    /* the version of the last image but one, in a byte of the outer one's data */
    byte = g.image.at + g.image.count - sizeof(haul__image_head);
    while (layers < 2)
        layers += memcmp(--byte, HAUL__IMAGE_MAGIC, 4) == 0;
    byte += offsetof(haul__image_head, version);
    CHECK(byte > g.image.at + 100);
    *byte ^= 0x40;
    image_sign(&g.image);
    CHECK_STATUS(load_box(g.context, g.image.at, g.image.count, &image), HAUL_OK);
    haul_image_free(&image);
    for (i = 0; i < DEPTH; i++)
        haul_image_free(&opened[i]);
    HAUL_FORGET(box_structs);
    graph_close(&g);
}
