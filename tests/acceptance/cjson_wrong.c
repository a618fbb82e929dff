/* Wrong descriptions of cJSON's node, each wrong in one field, and the library's answers.
 *
 * A wrong type takes the right one's place behind its handle, so that all other fields can stay as
 * they are.
 */
#include <string.h>

#include "cjson_node.h"

typedef struct trial {
    haul_device *device;
    haul_field rows[NODE_ROWS];
    size_t count;
    haul_type *right; /* put back afterwards */
} trial;

static void begin(trial *t)
{
    t->device = accept_device(1);
    accept_ok(node_tell(haul_device_context(t->device)), NULL, "constant names are registered");
    memcpy(t->rows, node_fields, sizeof node_fields);
    t->count = NODE_ROWS;
    t->right = node_type;
    node_type = NULL;
}

static haul_status describe(trial *t)
{
    const haul_struct what = { .name = "cJSON",
                               .bytes = sizeof(cJSON),
                               .type = &node_type,
                               .fields = t->rows,
                               .field_count = t->count,
                               .field_bytes = sizeof *t->rows };
    return haul_describe(haul_device_context(t->device), &what, 1);
}

/* Ships by the wrong rows, which no compiler and no commit can tell from right ones. */
static haul_status send(trial *t, cJSON *root)
{
    haul_shipment *shipment = NULL;
    haul_status status = describe(t);
    if (accept_ok(status, haul_context_error(haul_device_context(t->device)),
                  "a description that looks good by itself"))
        status = haul_ship(t->device, root, node_type, 1, NULL, &shipment);
    haul_shipment_free(&shipment);
    return status;
}

static void end(trial *t)
{
    haul_type_free(&node_type);
    node_type = t->right;
    haul_device_close(&t->device);
}

/* -------------------------------------------------------------------------------------------------
 * What commit or shipping refuses
 */
static const haul_field always_own_value = HAUL_STRING(cJSON, valuestring);
static const haul_field counted_name =
    HAUL_ARRAY(cJSON, string, HAUL_COUNT(cJSON, valueint),
               .when = HAUL_NO_BIT(cJSON, type, cJSON_StringIsConst));
static const haul_field nobodys_child =
    HAUL_OBJECT(cJSON, child, &node_type, .when = HAUL_NO_BIT(cJSON, type, cJSON_IsReference),
                .ownership = HAUL_BORROWED);
static const haul_field next_as_bytes = HAUL_BYTES(cJSON, next, HAUL_FIXED(sizeof(cJSON)));

static void refuse_two_owners(void)
{
    trial t;
    haul_status status;
    begin(&t);
    t.rows[ROW_OTHERS_VALUE] = always_own_value;
    status = describe(&t);
    accept_refused(status, HAUL_ERROR_TYPE, haul_context_error(haul_device_context(t.device)),
                   "valuestring", "", "two rows for the value, one of which always holds");
    end(&t);
}

static void refuse_row(int row, const haul_field *wrong, cJSON *root, const char *place,
                       const char *sentence)
{
    trial t;
    begin(&t);
    t.rows[row] = *wrong;
    accept_refused(send(&t, root), HAUL_ERROR_GRAPH,
                   haul_context_error(haul_device_context(t.device)), place, "", sentence);
    end(&t);
}

/* The tree has not changed, nor has its description; the program has forgotten to register its
 * names. */
static void refuse_unknown_name(cJSON *root)
{
    haul_device *device = accept_device(0);
    haul_shipment *shipment;
    accept_refused(haul_ship(device, root, node_type, 1, NULL, &shipment), HAUL_ERROR_GRAPH,
                   haul_context_error(haul_device_context(device)), "string", "registered",
                   "constant names and texts in memory that nobody has registered");
    haul_device_close(&device);
}

/* By the right description: the other tree would have to stay where it is for as long as this
 * one. */
static void refuse_foreign_child(heap *originals)
{
    trial t;
    cJSON *root, *other;
    heap *before = heap_use(originals);
    root = cJSON_CreateArray();
    other = cJSON_CreateIntArray((const int[]){ 1, 2, 3 }, 3);
    cJSON_AddItemReferenceToArray(root, other);
    heap_use(before);
    begin(&t);
    accept_refused(send(&t, root), HAUL_ERROR_GRAPH,
                   haul_context_error(haul_device_context(t.device)), "root.child.child", "",
                   "a reference to a child of another tree, which is not shipped");
    end(&t);
    cJSON_Delete(root);
    cJSON_Delete(other);
}

/* -------------------------------------------------------------------------------------------------
 * What shipping cannot see, and the audit does
 */
static void keep_finding(void *user, const haul_audit_finding *finding)
{
    if (finding->kind == HAUL_AUDIT_HIDDEN_POINTER)
        *(haul_audit_finding *)user = *finding;
}

static void find_forgotten_row(cJSON *root)
{
    trial t;
    haul_root from = { root, NULL, 1 };
    haul_audit_finding found;
    haul_audit_options options;
    haul_audit_info summary;
    memset(&found, 0, sizeof found);
    memset(&options, 0, sizeof options);
    options.finding = keep_finding;
    options.user = &found;
    begin(&t);
    t.rows[ROW_PREV] = t.rows[NODE_ROWS - 1];
    t.count = NODE_ROWS - 1;
    describe(&t);
    from.type = node_type;
    haul_audit(haul_device_context(t.device), haul_from_roots(&from, 1), &options, &summary);
    accept(summary.hidden_pointers == tree_count(root) - 1 && strstr(found.path, "+8"),
           "found: `prev` has no row; the audit names it in each of %zu nodes",
           summary.hidden_pointers);
    accept_note("%s -> %s", found.path, found.other_path);
    accept_note("%s", found.text);
    end(&t);
}

void refuse_wrong_nodes(heap *originals)
{
    heap *visible = heap_use(originals);
    cJSON *root = tree_of_every_kind();
    heap_use(visible);
    accept_title("Wrong descriptions");
    refuse_two_owners();
    refuse_row(ROW_OWN_NAME, &counted_name, root, ".string",
               "a name counted by a field that counts something else");
    refuse_row(ROW_OWN_CHILD, &nobodys_child, root, ".child", "children that nobody owns");
    refuse_row(ROW_NEXT, &next_as_bytes, root, ".next", "a sibling said to be plain bytes");
    refuse_unknown_name(root);
    refuse_foreign_child(originals);
    find_forgotten_row(root);
    cJSON_Delete(root);
    accept(heap_live(originals) == 0, "after all of which the tree is deleted as it was made");
}
