/* Wrong descriptions of libyaml's document, each wrong in one row: what the library says about it.
 */
#include <string.h>

#include "yaml_document.h"

typedef struct trial {
    haul_device *device;
    haul_field document[DOCUMENT_ROWS], node[NODE_ROWS];
} trial;

static void begin(trial *t)
{
    t->device = accept_device(1);
    memcpy(t->document, yaml_fields, sizeof yaml_fields);
    memcpy(t->node, yaml_node_fields, sizeof yaml_node_fields);
}

static haul_status send(trial *t, yaml_document_t *document)
{
    haul_shipment *shipment = NULL;
    haul_status status =
        yaml_describe(haul_device_context(t->device), t->document, DOCUMENT_ROWS, t->node);
    if (accept_ok(status, haul_context_error(haul_device_context(t->device)),
                  "a description that looks good by itself"))
        status = haul_ship(t->device, document, yaml_type, 1, NULL, &shipment);
    haul_shipment_free(&shipment);
    return status;
}

static void end(trial *t)
{
    yaml_forget();
    haul_device_close(&t->device);
}

/* -------------------------------------------------------------------------------------------------
 * What commit or shipping refuses
 */
static const haul_field always_scalar =
    HAUL_ARRAY(yaml_node_t, data.scalar.value, HAUL_COUNT_PLUS(yaml_node_t, data.scalar.length, 1));
static const haul_field nodes_to_capacity = HAUL_OBJECTS(
    yaml_document_t, nodes.start, &yaml_node_type, HAUL_UNTIL(yaml_document_t, nodes.end));
static const haul_field without_top = HAUL_SKIP(yaml_document_t, nodes.top);
static const haul_field without_end = HAUL_SKIP(yaml_document_t, nodes.end);
static const haul_field nodes_backwards = HAUL_OBJECTS(yaml_document_t, nodes.top, &yaml_node_type,
                                                       HAUL_UNTIL(yaml_document_t, nodes.start));
HAUL_FUNCTION(node_count, yaml_document_t, self->nodes.top - self->nodes.start)
static const haul_field counted_nodes =
    HAUL_OBJECTS(yaml_document_t, nodes.start, &yaml_node_type, HAUL_COUNT_FN(node_count));
static const haul_field long_value = HAUL_ARRAY(
    yaml_node_t, data.scalar.value, HAUL_COUNT_PLUS(yaml_node_t, data.scalar.length, 100),
    .when = HAUL_EQUALS(yaml_node_t, type, YAML_SCALAR_NODE));

static void refuse_union_without_condition(void)
{
    trial t;
    haul_status status;
    begin(&t);
    t.node[ROW_VALUE] = always_scalar;
    status = yaml_describe(haul_device_context(t.device), t.document, DOCUMENT_ROWS, t.node);
    accept_refused(status, HAUL_ERROR_TYPE, haul_context_error(haul_device_context(t.device)),
                   "data.", "overlap", "an arm of the union that always holds");
    end(&t);
}

static void refuse_nodes(const haul_field *nodes, const haul_field *nodes_end,
                         yaml_document_t *document, const char *place, const char *words,
                         const char *sentence)
{
    trial t;
    begin(&t);
    t.document[ROW_NODES] = *nodes;
    t.document[ROW_NODES_END] = *nodes_end;
    accept_refused(send(&t, document), HAUL_ERROR_GRAPH,
                   haul_context_error(haul_device_context(t.device)), place, words, sentence);
    end(&t);
}

static void refuse_pairs_of_another_size(yaml_document_t *document)
{
    trial t;
    begin(&t);
    t.node[ROW_PAIRS].element_bytes = 3 * sizeof(int);
    accept_refused(send(&t, document), HAUL_ERROR_GRAPH,
                   haul_context_error(haul_device_context(t.device)), "pairs.start", "element",
                   "a mapping's pairs said to be of three numbers");
    end(&t);
}

/* -------------------------------------------------------------------------------------------------
 * What shipping cannot see, and the audit does
 */
static void keep_first(void *user, const haul_audit_finding *finding)
{
    haul_audit_finding *first = user;
    if (!finding->is_hint && !first->kind)
        *first = *finding;
}

static void find(trial *t, yaml_document_t *document, haul_audit_kind kind, const char *place,
                 const char *sentence)
{
    haul_root from = { document, NULL, 1 };
    haul_audit_finding first;
    haul_audit_options options;
    haul_audit_info summary;
    memset(&first, 0, sizeof first);
    memset(&options, 0, sizeof options);
    options.finding = keep_first;
    options.user = &first;
    options.block = heap_find;
    accept_ok(yaml_describe(haul_device_context(t->device), t->document, DOCUMENT_ROWS, t->node),
              haul_context_error(haul_device_context(t->device)),
              "a description that looks good by itself");
    from.type = yaml_type;
    haul_audit(haul_device_context(t->device), haul_from_roots(&from, 1), &options, &summary);
    accept(first.kind == kind && strstr(first.path, place), "found by the audit: %s", sentence);
    accept_note("%s -> %s", first.path, first.other_path);
    accept_note("%s", first.text);
}

static void find_forgotten_top(yaml_document_t *document)
{
    trial t;
    begin(&t);
    t.document[ROW_NODES] = counted_nodes;
    find(&t, document, HAUL_AUDIT_HIDDEN_POINTER, "root+16", "`nodes.top` has no row");
    end(&t);
}

static void find_long_value(yaml_document_t *document)
{
    trial t;
    begin(&t);
    t.node[ROW_VALUE] = long_value;
    find(&t, document, HAUL_AUDIT_BEYOND_BLOCK, "data.scalar.value",
         "a scalar said to be longer than it is");
    end(&t);
}

void refuse_wrong_documents(heap *originals)
{
    static const char text[] = "{name: value, list: [one, two], map: {of: one}}";
    yaml_document_t *document;
    heap_use(originals);
    document = yaml_load(text, sizeof text - 1, 0);
    heap_use(NULL);
    accept_title("Wrong descriptions");
    refuse_union_without_condition();
    refuse_nodes(&nodes_to_capacity, &without_top, document, "nodes.start", "",
                 "nodes up to the end of the capacity");
    refuse_nodes(&nodes_backwards, &without_end, document, "nodes.top", "",
                 "nodes with begin and end exchanged");
    refuse_pairs_of_another_size(document);
    find_forgotten_top(document);
    find_long_value(document);
    yaml_delete(document);
    accept(heap_live(originals) == 0,
           "after all of which the document is deleted as it was loaded");
}
