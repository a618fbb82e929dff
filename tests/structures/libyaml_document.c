/* libyaml's document. Three pointers bound each stack: where it starts, where its memory
 * ends, and its top. Of the nodes only those below the top travel; of a sequence's items all, so
 * that there is room on the device too.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

enum { SCALAR = 1, SEQUENCE = 2, MAPPING = 3, NODES = 600 };

typedef struct yaml_scalar {
    char *value;
    size_t length;
    int32_t style;
} yaml_scalar;

typedef struct yaml_sequence {
    struct {
        int32_t *start, *end, *top;
    } items;
    int32_t style;
} yaml_sequence;

typedef struct yaml_pair {
    int32_t key, value;
} yaml_pair;

typedef struct yaml_mapping {
    struct {
        yaml_pair *start, *end, *top;
    } pairs;
    int32_t style;
} yaml_mapping;

typedef struct yaml_node {
    int32_t type;
    char *tag;
    union {
        yaml_scalar scalar;
        yaml_sequence sequence;
        yaml_mapping mapping;
    } data;
    size_t start_mark[3], end_mark[3];
} yaml_node;

typedef struct yaml_directive {
    char *handle, *prefix;
} yaml_directive;

typedef struct yaml_document {
    struct {
        yaml_node *start, *end, *top;
    } nodes;
    int32_t *version_directive;
    struct {
        yaml_directive *start, *end;
    } tag_directives;
    int32_t start_implicit, end_implicit;
} yaml_document;

static haul_type *scalar_type, *sequence_type, *mapping_type, *yaml_type, *directive_type;

static haul_type *yaml_open(const haul_field *nodes)
{
    static const haul_field scalar_fields[] = { HAUL_ARRAY(yaml_scalar, value,
                                                           HAUL_COUNT(yaml_scalar, length)) };
    static const haul_field sequence_fields[] = {
        HAUL_ARRAY(yaml_sequence, items.start, HAUL_UNTIL(yaml_sequence, items.end)),
        HAUL_ADDRESS(yaml_sequence, items.top, .ownership = HAUL_BORROWED),
    };
    static const haul_field mapping_fields[] = {
        HAUL_ARRAY(yaml_mapping, pairs.start, HAUL_UNTIL(yaml_mapping, pairs.top)),
        HAUL_END_OF(yaml_mapping, pairs.end, pairs.start),
    };
    const haul_field node_fields[] = {
        HAUL_STRING(yaml_node, tag),
        HAUL_EMBED(yaml_node, data.scalar, &scalar_type,
                   .when = HAUL_EQUALS(yaml_node, type, SCALAR)),
        HAUL_EMBED(yaml_node, data.sequence, &sequence_type,
                   .when = HAUL_EQUALS(yaml_node, type, SEQUENCE)),
        HAUL_EMBED(yaml_node, data.mapping, &mapping_type,
                   .when = HAUL_EQUALS(yaml_node, type, MAPPING)),
    };
    static const haul_field directive_fields[] = { HAUL_STRING(yaml_directive, handle),
                                                   HAUL_STRING(yaml_directive, prefix) };
    static const haul_field document_fields[] = {
        HAUL_ARRAY(yaml_document, version_directive, HAUL_FIXED(2)),
        HAUL_OBJECTS(yaml_document, tag_directives.start, &directive_type,
                     HAUL_UNTIL(yaml_document, tag_directives.end)),
    };
    haul_type *type;
    scalar_type = OPEN(yaml_scalar, scalar_fields);
    sequence_type = OPEN(yaml_sequence, sequence_fields);
    mapping_type = OPEN(yaml_mapping, mapping_fields);
    yaml_type = OPEN(yaml_node, node_fields);
    directive_type = OPEN(yaml_directive, directive_fields);
    type = OPEN(yaml_document, document_fields);
    CHECK_STATUS(haul_type_add(type, nodes, 2), HAUL_OK);
    type_close(type);
    return type;
}

static void yaml_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&scalar_type);
    haul_type_free(&sequence_type);
    haul_type_free(&mapping_type);
    haul_type_free(&yaml_type);
    haul_type_free(&directive_type);
    site_end();
}

static void scalar_fill(yaml_scalar *s, int number)
{
    char text[32];
    s->length = (size_t)snprintf(text, sizeof text, "scalar %d", number);
    s->value = put_text(text);
    s->style = number % 5;
    the.told += (int64_t)s->length + s->style;
}

static void sequence_fill(yaml_sequence *s)
{
    int used = chance(0, 24), i;
    s->items.start = put_room(24 * sizeof *s->items.start);
    s->items.end = s->items.start + 24;
    for (i = 0, s->items.top = s->items.start; i < used; i++) {
        the.told += *s->items.top = chance(1, NODES);
        s->items.top++;
    }
}

static void mapping_fill(yaml_mapping *m)
{
    int used = chance(4, 8), i;
    m->pairs.start = put_room(8 * sizeof *m->pairs.start);
    m->pairs.end = m->pairs.start + 8;
    for (i = 0, m->pairs.top = m->pairs.start; i < used; i++, m->pairs.top++) {
        m->pairs.top->key = chance(1, NODES);
        m->pairs.top->value = chance(1, NODES);
        the.told += 3 * m->pairs.top->key + m->pairs.top->value;
    }
}

static void yaml_fill(yaml_node *n, int number)
{
    memset(n, 0, sizeof *n);
    n->type = number == 0 ? SEQUENCE : chance(SCALAR, MAPPING);
    n->tag = put_text(n->type == SCALAR ? "tag:yaml.org,2002:str" : "tag:yaml.org,2002:any");
    if (n->type == SCALAR)
        scalar_fill(&n->data.scalar, number);
    else if (n->type == SEQUENCE)
        sequence_fill(&n->data.sequence);
    else
        mapping_fill(&n->data.mapping);
}

static yaml_document *yaml_make(void)
{
    yaml_document *d = put_elements(1, sizeof *d);
    int n;
    d->version_directive = put_elements(2, sizeof *d->version_directive);
    d->tag_directives.start = put_elements(2, sizeof *d->tag_directives.start);
    d->tag_directives.end = d->tag_directives.start + 2;
    for (n = 0; n < 2; n++) {
        d->tag_directives.start[n].handle = put_text("!haul!");
        d->tag_directives.start[n].prefix = put_text("tag:haul,2026:");
    }
    d->nodes.start = put_room(1024 * sizeof *d->nodes.start);
    d->nodes.end = d->nodes.start + 1024;
    for (n = 0; n < NODES; n++)
        yaml_fill(&d->nodes.start[n], n);
    d->nodes.top = d->nodes.start + NODES;
    return d;
}

/* Every scalar shouts, and every sequence that has room gets one more item. The last place stays
 * free: a pointer that the device moves to the very end of a block comes back as the start of the
 * arena's next one (ship.h). */
static int64_t yaml_walk_node(yaml_node *n)
{
    int64_t sum = 0;
    int32_t *item;
    yaml_pair *pair;
    if (n->type == SCALAR) {
        n->data.scalar.value[0] = 'S';
        return (int64_t)n->data.scalar.length + n->data.scalar.style;
    }
    if (n->type == MAPPING) {
        for (pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++)
            sum += 3 * pair->key + pair->value;
        return sum;
    }
    for (item = n->data.sequence.items.start; item < n->data.sequence.items.top; item++)
        sum += *item;
    if (n->data.sequence.items.end - n->data.sequence.items.top > 1)
        *n->data.sequence.items.top++ = 1;
    return sum;
}

static int64_t yaml_walk(void *root, size_t count)
{
    yaml_document *d = root;
    yaml_node *n;
    yaml_directive *t;
    int64_t sum = 0;
    (void)count;
    for (n = d->nodes.start; n < d->nodes.top; n++)
        sum += strncmp(n->tag, "tag:", 4) == 0 ? yaml_walk_node(n) : -1;
    for (t = d->tag_directives.start; t < d->tag_directives.end; t++)
        t->handle[1] = t->prefix[4];
    d->version_directive[1]++;
    return sum;
}

TEST(structures_libyaml, stacks_that_are_bounded_by_pointers_to_their_tops_and_ends)
{
    static const haul_field nodes[] = {
        HAUL_OBJECTS(yaml_document, nodes.start, &yaml_type, HAUL_UNTIL(yaml_document, nodes.top)),
        HAUL_SKIP(yaml_document, nodes.end),
    };
    haul_type *type;
    site_start(13);
    type = yaml_open(nodes);
    the.returns_pointers = 1;
    travel_and_sum(yaml_make(), type, 1, yaml_walk);
    yaml_close(&type);
}

TEST(structures_libyaml,
     a_stack_that_is_described_up_to_the_end_of_its_memory_is_refused_at_the_first_stale_node)
{
    static const haul_field nodes[] = {
        HAUL_OBJECTS(yaml_document, nodes.start, &yaml_type, HAUL_UNTIL(yaml_document, nodes.end)),
        HAUL_SKIP(yaml_document, nodes.top),
    };
    haul_type *type;
    site_start(14);
    type = yaml_open(nodes);
    refuse_ship(yaml_make(), type, 1, HAUL_ERROR_GRAPH, "root.nodes.start[600].tag",
                "it points outside any process's address range");
    yaml_close(&type);
}

TEST(structures_libyaml, a_pair_the_wrong_way_round_is_refused)
{
    static const haul_field nodes[] = {
        HAUL_OBJECTS(yaml_document, nodes.top, &yaml_type, HAUL_UNTIL(yaml_document, nodes.start)),
        HAUL_SKIP(yaml_document, nodes.end),
    };
    haul_type *type;
    site_start(15);
    type = yaml_open(nodes);
    refuse_ship(yaml_make(), type, 1, HAUL_ERROR_GRAPH, "root.nodes.top",
                "its end lies before its begin");
    yaml_close(&type);
}
