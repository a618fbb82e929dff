/* cJSON: a tree of every kind of node, read there by its flags. */
#include <string.h>

#include "acceptance/cjson_node.h"
#include "library.h"
#include "support/check.h"

typedef struct seen {
    const cJSON *root;
    int is_linked;
    uint64_t digest;
} seen;

static void digest_text(uint64_t *digest, const char *text)
{
    library_digest(digest, text, strlen(text));
}

/* By the flags of its type, a node has a value, a name, or children of another node. */
static void digest_node(uint64_t *digest, const cJSON *node)
{
    library_digest(digest, &node->type, sizeof node->type);
    library_digest(digest, &node->valuedouble, sizeof node->valuedouble);
    if (cJSON_IsString(node) || cJSON_IsRaw(node))
        digest_text(digest, node->valuestring);
    if (node->string)
        digest_text(digest, node->string);
    if (node->type & cJSON_IsReference && (cJSON_IsArray(node) || cJSON_IsObject(node)))
        library_digest(digest, &node->child->type, sizeof node->child->type);
}

/* cJSON finds the last node of a list by the first one's `prev`. */
static int is_linked(const cJSON *node)
{
    return (!node->next || node->next->prev == node) &&
           (!node->child || node->type & cJSON_IsReference ||
            (node->child->prev && !node->child->prev->next));
}

static void look(void *argument)
{
    static tree_walk walk;
    seen *s = argument;
    const cJSON *node;
    walk.depth = 0;
    s->is_linked = 1;
    for (node = s->root; node; node = tree_next(&walk, node)) {
        digest_node(&s->digest, node);
        s->is_linked &= is_linked(node);
    }
}

TEST(libraries_cjson, a_tree_of_every_kind_of_node)
{
    static const haul_struct structs[] = { HAUL_STRUCT(cJSON, &node_type, node_fields) };
    cJSON *tree = tree_of_every_kind();
    haul_device *device = library_device();
    haul_shipment *shipment;
    haul_root root = { tree, NULL, 1 };
    seen here = { tree, 0, 0 }, there = { NULL, 0, 0 };
    CHECK_STATUS(node_tell(haul_device_context(device)), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(haul_device_context(device), structs), HAUL_OK);
    root.type = node_type;
    shipment = library_ship(device, &root, 1, NULL);
    there.root = haul_device_pointer(shipment, tree);
    look(&here);
    CHECK(here.is_linked);
    CHECK_STATUS(haul_host_launch(device, look, &there), HAUL_OK);
    CHECK(there.is_linked);
    CHECK_EQ(there.digest, here.digest);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    cJSON_Delete(tree);
}
