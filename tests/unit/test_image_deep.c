/* Images of long lists, of graphs with very many paths, and images in a row.
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

TEST(image_deep, a_list_longer_than_any_stack_loads_F17)
{
    enum { NODES = 300000 };
    graph g;
    haul_image *image;
    node *n;
    size_t i;
    graph_open(&g, NODES);
    for (i = 0; i + 1 < NODES; i++) {
        g.nodes[i].next = &g.nodes[i + 1];
        g.nodes[i].other = g.nodes;
    }
    n = load(&g, &image);
    for (i = 1; n->next; n = n->next)
        i++;
    CHECK_EQ(i, NODES);
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

/* Bytes that hold an image, and one that is damaged, are data: nobody reads them as images. */
typedef struct letter {
    unsigned char *sealed;
    uint64_t bytes;
} letter;

TEST(image_deep, an_image_in_a_field_of_bytes_is_data_F20)
{
    static haul_type *letter_type;
    static const haul_field fields[] = { HAUL_BYTES(letter, sealed, HAUL_COUNT(letter, bytes)) };
    static const haul_struct table[] = { HAUL_STRUCT(letter, &letter_type, fields) };
    image_bytes outer = { NULL, 0, 0 };
    const haul_file file = bytes_file(&outer);
    graph g;
    haul_image *image, *inner;
    letter l;
    int is_damaged;
    graph_open(&g, 1);
    CHECK_STATUS(HAUL_DESCRIBE(g.context, table), HAUL_OK);
    load(&g, &image);
    haul_image_free(&image);
    for (is_damaged = 0; is_damaged < 2; is_damaged++) {
        const letter *read;
        g.image.at[g.image.count - 1] ^= (unsigned char)is_damaged;
        l.sealed = g.image.at;
        l.bytes = g.image.count;
        bytes_resize(&outer, 0);
        CHECK_STATUS(haul_image_write(g.context, haul_from_object(&l, letter_type), &file),
                     HAUL_OK);
        CHECK_STATUS(
            haul_image_from_bytes(g.context, outer.at, outer.count, &letter_type, 1, NULL, &image),
            HAUL_OK);
        read = haul_image_roots(image, NULL)->address;
        CHECK_EQ(read->bytes, g.image.count);
        CHECK_BYTES(read->sealed, g.image.at, g.image.count);
        CHECK_STATUS(haul_image_from_bytes(g.context, read->sealed, read->bytes, &node_type, 1,
                                           NULL, &inner),
                     is_damaged ? HAUL_ERROR_FORMAT : HAUL_OK);
        haul_image_free(&inner);
        haul_image_free(&image);
    }
    HAUL_FORGET(table);
    bytes_free(&outer);
    graph_close(&g);
}
