/* libyaml's document, described, and what is done with documents.
 *
 *     document   nodes.start ... top | unused ... end
 *     node       a union by type of
 *                  a scalar's bytes, which may hold zeros: `length` counts
 *                  a sequence's items, numbers of nodes: start, top, end
 *                  a mapping's pairs of them: start, top, end
 *
 * Numbers stand for nodes, so the graph is flat. Of a stack's capacity items and pairs keep all:
 * there may be pushed until it is used up, there as here. Nodes cannot: the unused ones are
 * uninitialised, pointers and all. So `nodes.end` does not travel, and no node can be added there.
 */
#include "yaml_document.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

haul_type *yaml_type, *yaml_node_type, *yaml_directive_type;

#define IS_SCALAR .when = HAUL_EQUALS(yaml_node_t, type, YAML_SCALAR_NODE)
#define IS_SEQUENCE .when = HAUL_EQUALS(yaml_node_t, type, YAML_SEQUENCE_NODE)
#define IS_MAPPING .when = HAUL_EQUALS(yaml_node_t, type, YAML_MAPPING_NODE)

const haul_field yaml_node_fields[NODE_ROWS] = {
    [ROW_TAG] = HAUL_STRING(yaml_node_t, tag),
    [ROW_VALUE] = HAUL_ARRAY(yaml_node_t, data.scalar.value,
                             HAUL_COUNT_PLUS(yaml_node_t, data.scalar.length, 1), IS_SCALAR),
    [ROW_LENGTH] = HAUL_RAW(yaml_node_t, data.scalar.length, IS_SCALAR),
    [ROW_SCALAR_STYLE] = HAUL_RAW(yaml_node_t, data.scalar.style, IS_SCALAR),
    [ROW_ITEMS] = HAUL_ARRAY(yaml_node_t, data.sequence.items.start,
                             HAUL_UNTIL(yaml_node_t, data.sequence.items.end), IS_SEQUENCE),
    [ROW_ITEMS_TOP] =
        HAUL_ADDRESS(yaml_node_t, data.sequence.items.top, IS_SEQUENCE, .ownership = HAUL_BORROWED),
    [ROW_PAIRS] = HAUL_ARRAY(yaml_node_t, data.mapping.pairs.start,
                             HAUL_UNTIL(yaml_node_t, data.mapping.pairs.end), IS_MAPPING),
    [ROW_PAIRS_TOP] =
        HAUL_ADDRESS(yaml_node_t, data.mapping.pairs.top, IS_MAPPING, .ownership = HAUL_BORROWED),
};

const haul_field yaml_directive_fields[2] = {
    HAUL_STRING(yaml_tag_directive_t, handle),
    HAUL_STRING(yaml_tag_directive_t, prefix),
};

const haul_field yaml_fields[DOCUMENT_ROWS] = {
    [ROW_NODES] = HAUL_OBJECTS(yaml_document_t, nodes.start, &yaml_node_type,
                               HAUL_UNTIL(yaml_document_t, nodes.top)),
    [ROW_NODES_END] = HAUL_SKIP(yaml_document_t, nodes.end),
    [ROW_VERSION] = HAUL_ARRAY(yaml_document_t, version_directive, HAUL_ONE),
    [ROW_DIRECTIVES] = HAUL_OBJECTS(yaml_document_t, tag_directives.start, &yaml_directive_type,
                                    HAUL_UNTIL(yaml_document_t, tag_directives.end)),
};

haul_status yaml_describe(haul_context *context, const haul_field *document, size_t document_rows,
                          const haul_field *node)
{
    const haul_struct structs[] = {
        { .name = "yaml_document",
          .bytes = sizeof(yaml_document_t),
          .type = &yaml_type,
          .fields = document,
          .field_count = document_rows,
          .field_bytes = sizeof *document },
        { .name = "yaml_node",
          .bytes = sizeof(yaml_node_t),
          .type = &yaml_node_type,
          .fields = node,
          .field_count = NODE_ROWS,
          .field_bytes = sizeof *node },
        HAUL_STRUCT(yaml_tag_directive_t, &yaml_directive_type, yaml_directive_fields),
    };
    return HAUL_DESCRIBE(context, structs);
}

void yaml_forget(void)
{
    haul_type_free(&yaml_type);
    haul_type_free(&yaml_node_type);
    haul_type_free(&yaml_directive_type);
}

/* -------------------------------------------------------------------------------------------------
 * In and out
 */
static int load_number(yaml_parser_t *parser, yaml_document_t *document, int number)
{
    for (int i = 0; yaml_parser_load(parser, document); i++) {
        if (!yaml_document_get_root_node(document) || i == number)
            return i == number && yaml_document_get_root_node(document) != NULL;
        yaml_document_delete(document);
    }
    memset(document, 0, sizeof *document);
    return 0;
}

yaml_document_t *yaml_load(const char *text, size_t bytes, int number)
{
    yaml_parser_t parser;
    yaml_document_t *document = heap_malloc(sizeof *document);
    int loaded;
    if (!document || !yaml_parser_initialize(&parser))
        return NULL;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    loaded = load_number(&parser, document, number);
    yaml_parser_delete(&parser);
    if (!loaded) {
        yaml_delete(document);
        return NULL;
    }
    return document;
}

void yaml_delete(yaml_document_t *document)
{
    if (document && document->nodes.start)
        yaml_document_delete(document);
    heap_free(document);
}

typedef struct output {
    char *text;
    size_t used;
} output;

static int append(void *data, unsigned char *buffer, size_t size)
{
    output *to = data;
    char *longer = realloc(to->text, to->used + size + 1);
    if (!longer)
        return 0;
    to->text = longer;
    memcpy(longer + to->used, buffer, size);
    to->used += size;
    longer[to->used] = '\0';
    return 1;
}

char *yaml_dump(yaml_document_t *document)
{
    yaml_emitter_t emitter;
    output to = { NULL, 0 };
    int good = yaml_emitter_initialize(&emitter);
    if (!good)
        return NULL;
    yaml_emitter_set_output(&emitter, append, &to);
    yaml_emitter_set_unicode(&emitter, 1);
    good = yaml_emitter_open(&emitter) && yaml_emitter_dump(&emitter, document) &&
           yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    if (!good) {
        free(to.text);
        return NULL;
    }
    return to.text;
}

/* -------------------------------------------------------------------------------------------------
 * Walking
 */
static void digest(yaml_sight *sight, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        sight->digest = (sight->digest ^ at[i]) * UINT64_C(0x100000001b3);
}

static void digest_number(yaml_sight *sight, size_t number)
{
    digest(sight, &number, sizeof number);
}

/* Each node counts its references in `seen`. */
static void refer(yaml_document_t *document, yaml_sight *sight, unsigned char *seen, int number)
{
    const yaml_node_t *node = yaml_document_get_node(document, number);
    sight->references++;
    digest_number(sight, (size_t)number);
    if (!node)
        sight->broken++;
    else if (seen[number] < 2 && ++seen[number] == 2)
        sight->shared++;
}

static void see(yaml_document_t *document, yaml_sight *sight, unsigned char *seen,
                const yaml_node_t *node)
{
    digest_number(sight, (size_t)node->type);
    digest(sight, node->tag, strlen((const char *)node->tag));
    digest_number(sight, node->start_mark.index);
    if (node->type == YAML_SCALAR_NODE) {
        sight->scalars++;
        digest_number(sight, (size_t)node->data.scalar.style);
        digest(sight, node->data.scalar.value, node->data.scalar.length + 1);
    } else if (node->type == YAML_SEQUENCE_NODE) {
        sight->sequences++;
        digest_number(sight, (size_t)node->data.sequence.style);
        for (const yaml_node_item_t *i = node->data.sequence.items.start;
             i < node->data.sequence.items.top; i++)
            refer(document, sight, seen, *i);
    } else if (node->type == YAML_MAPPING_NODE) {
        sight->mappings++;
        digest_number(sight, (size_t)node->data.mapping.style);
        for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
             p < node->data.mapping.pairs.top; p++) {
            refer(document, sight, seen, p->key);
            refer(document, sight, seen, p->value);
        }
    } else
        sight->others++;
}

static void see_head(yaml_document_t *document, yaml_sight *sight)
{
    const yaml_tag_directive_t *d;
    if (document->version_directive)
        digest(sight, document->version_directive, sizeof *document->version_directive);
    for (d = document->tag_directives.start; d < document->tag_directives.end; d++) {
        digest(sight, d->handle, strlen((const char *)d->handle));
        digest(sight, d->prefix, strlen((const char *)d->prefix));
    }
    digest_number(sight, (size_t)(document->start_implicit * 2 + document->end_implicit));
}

void yaml_walk(yaml_document_t *document, yaml_sight *sight)
{
    const yaml_node_t *node = yaml_document_get_root_node(document);
    unsigned char *seen = calloc((size_t)(document->nodes.top - document->nodes.start) + 1, 1);
    memset(sight, 0, sizeof *sight);
    see_head(document, sight);
    for (int i = 1; seen && node; i++) {
        see(document, sight, seen, node);
        node = yaml_document_get_node(document, i + 1);
    }
    free(seen);
}

/* -------------------------------------------------------------------------------------------------
 * Changing
 */
static int turn_case(yaml_node_t *node)
{
    int changed = 0;
    for (size_t i = 0; i < node->data.scalar.length; i++) {
        const unsigned char c = node->data.scalar.value[i];
        if (c < 128 && isalpha(c)) {
            node->data.scalar.value[i] = (unsigned char)(c ^ ('a' ^ 'A'));
            changed = 1;
        }
    }
    return changed;
}

int yaml_change_values(yaml_document_t *document)
{
    yaml_node_t *node;
    int changed = 0;
    for (int i = 1; (node = yaml_document_get_node(document, i)) != NULL; i++)
        if (node->type == YAML_SCALAR_NODE)
            changed += turn_case(node);
    return changed;
}

static void exchange(yaml_node_t *one, yaml_node_t *other)
{
    yaml_char_t *value = one->data.scalar.value;
    const size_t length = one->data.scalar.length;
    one->data.scalar.value = other->data.scalar.value;
    one->data.scalar.length = other->data.scalar.length;
    other->data.scalar.value = value;
    other->data.scalar.length = length;
}

/* The first and the last scalar. */
static int exchange_values(yaml_document_t *document)
{
    yaml_node_t *node, *first = NULL, *last = NULL;
    for (int i = 1; (node = yaml_document_get_node(document, i)) != NULL; i++)
        if (node->type == YAML_SCALAR_NODE) {
            first = first ? first : node;
            last = node;
        }
    if (first == last)
        return 0;
    exchange(first, last);
    return 1;
}

static int append_item(yaml_document_t *document)
{
    const yaml_node_t *node;
    for (int i = 1; (node = yaml_document_get_node(document, i)) != NULL; i++)
        if (node->type == YAML_SEQUENCE_NODE &&
            node->data.sequence.items.top < node->data.sequence.items.end &&
            node->data.sequence.items.top > node->data.sequence.items.start)
            return yaml_document_append_sequence_item(document, i,
                                                      *node->data.sequence.items.start);
    return 0;
}

static int append_pair(yaml_document_t *document)
{
    const yaml_node_t *node;
    for (int i = 1; (node = yaml_document_get_node(document, i)) != NULL; i++)
        if (node->type == YAML_MAPPING_NODE &&
            node->data.mapping.pairs.top < node->data.mapping.pairs.end &&
            node->data.mapping.pairs.top > node->data.mapping.pairs.start)
            return yaml_document_append_mapping_pair(document, i,
                                                     node->data.mapping.pairs.start->key,
                                                     node->data.mapping.pairs.start->value);
    return 0;
}

int yaml_change_links(yaml_document_t *document)
{
    return exchange_values(document) + append_item(document) + append_pair(document);
}
