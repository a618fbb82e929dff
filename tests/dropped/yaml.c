/* libyaml: a document with directives, and nodes of each kind. */
#include <string.h>

#include "acceptance/yaml_document.h"
#include "library.h"
#include "support/check.h"

static const char text[] = "%YAML 1.1\n"
                           "%TAG !haul! tag:haul,2026:\n"
                           "---\n"
                           "name: &name value\n"
                           "list: [one, 'two', \"three\", *name]\n"
                           "map: {of: one, and: !haul!kind another}\n";

typedef struct seen {
    yaml_document_t *document;
    uint64_t digest;
} seen;

/* A stack and its room: what is pushed next goes to its top. */
#define DIGEST_STACK(digest, stack)                                                                \
    do {                                                                                           \
        const size_t room[2] = { (size_t)((stack).top - (stack).start),                            \
                                 (size_t)((stack).end - (stack).start) };                          \
        library_digest(digest, room, sizeof room);                                                 \
        library_digest(digest, (stack).start, room[0] * sizeof *(stack).start);                    \
    } while (0)

static void digest_text(uint64_t *digest, const yaml_char_t *at)
{
    library_digest(digest, at, at ? strlen((const char *)at) : 0);
}

static void digest_node(uint64_t *digest, const yaml_node_t *node)
{
    library_digest(digest, &node->type, sizeof node->type);
    digest_text(digest, node->tag);
    if (node->type == YAML_SCALAR_NODE) {
        library_digest(digest, &node->data.scalar.style, sizeof node->data.scalar.style);
        library_digest(digest, &node->data.scalar.length, sizeof node->data.scalar.length);
        library_digest(digest, node->data.scalar.value, node->data.scalar.length);
    } else if (node->type == YAML_SEQUENCE_NODE) {
        library_digest(digest, &node->data.sequence.style, sizeof node->data.sequence.style);
        DIGEST_STACK(digest, node->data.sequence.items);
    } else if (node->type == YAML_MAPPING_NODE) {
        library_digest(digest, &node->data.mapping.style, sizeof node->data.mapping.style);
        DIGEST_STACK(digest, node->data.mapping.pairs);
    }
}

static void look(void *argument)
{
    seen *s = argument;
    const yaml_tag_directive_t *t;
    const yaml_node_t *node;
    int i;
    for (i = 1; (node = yaml_document_get_node(s->document, i)) != NULL; i++)
        digest_node(&s->digest, node);
    library_digest(&s->digest, s->document->version_directive,
                   sizeof *s->document->version_directive);
    for (t = s->document->tag_directives.start; t < s->document->tag_directives.end; t++) {
        digest_text(&s->digest, t->handle);
        digest_text(&s->digest, t->prefix);
    }
}

TEST(libraries_yaml, a_document_with_directives_and_nodes_of_each_kind)
{
    heap *mine = heap_open();
    haul_device *device = library_device();
    haul_shipment *shipment;
    haul_root root = { NULL, NULL, 1 };
    seen here = { NULL, 0 }, there = { NULL, 0 };
    heap_use(mine);
    here.document = yaml_load(text, sizeof text - 1, 0);
    CHECK(here.document && here.document->version_directive);
    CHECK_STATUS(
        yaml_describe(haul_device_context(device), yaml_fields, DOCUMENT_ROWS, yaml_node_fields),
        HAUL_OK);
    root.address = here.document;
    root.type = yaml_type;
    shipment = library_ship(device, &root, 1, heap_find);
    there.document = haul_device_pointer(shipment, here.document);
    look(&here);
    CHECK_STATUS(haul_host_launch(device, look, &there), HAUL_OK);
    CHECK_EQ(there.digest, here.digest);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    yaml_forget();
    yaml_delete(here.document);
    heap_close(mine);
}
