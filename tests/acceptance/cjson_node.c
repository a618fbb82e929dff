/* cJSON's node, described, and operations on trees of it.
 *
 * The flags of a node's `type` say who owns what it points to. A reference (cJSON_IsReference)
 * shares child and value with the node it was made from, and deletes neither: both are aliases.
 * They must lead to something that the graph owns or, for a string, to registered memory. A name
 * under cJSON_StringIsConst is the caller's; any other is the node's own.
 */
#include "cjson_node.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

haul_type *node_type;

#define OWN .when = HAUL_NO_BIT(cJSON, type, cJSON_IsReference)
#define SHARED .when = HAUL_ANY_BIT(cJSON, type, cJSON_IsReference), .ownership = HAUL_BORROWED
#define OWN_NAME .when = HAUL_NO_BIT(cJSON, type, cJSON_StringIsConst)
#define CONSTANT_NAME                                                                              \
    .when = HAUL_ANY_BIT(cJSON, type, cJSON_StringIsConst), .ownership = HAUL_BORROWED

const haul_field node_fields[NODE_ROWS] = {
    [ROW_NEXT] = HAUL_OBJECT(cJSON, next, &node_type),
    [ROW_PREV] = HAUL_OBJECT(cJSON, prev, &node_type),
    [ROW_OWN_CHILD] = HAUL_OBJECT(cJSON, child, &node_type, OWN),
    [ROW_OTHERS_CHILD] = HAUL_OBJECT(cJSON, child, &node_type, SHARED),
    [ROW_OWN_VALUE] = HAUL_STRING(cJSON, valuestring, OWN),
    [ROW_OTHERS_VALUE] = HAUL_STRING(cJSON, valuestring, SHARED, .maybe_static = 1),
    [ROW_OWN_NAME] = HAUL_STRING(cJSON, string, OWN_NAME),
    [ROW_CONSTANT_NAME] = HAUL_STRING(cJSON, string, CONSTANT_NAME, .maybe_static = 1),
};

/* Both in memory that cannot be written: what comes back as it went is left alone. The copy has its
 * own `interned`, once, whoever leads there; `literal` stays where it is, for the host device lies
 * in the same process. */
const char interned[8] = "unit";
const char literal[16] = "a literal";
haul_status node_tell(haul_context *context)
{
    haul_status status =
        haul_context_add_static(context, interned, sizeof interned, HAUL_STATIC_COPY);
    return status ? status
                  : haul_context_add_static(context, literal, sizeof literal, HAUL_STATIC_KEEP);
}

/* -------------------------------------------------------------------------------------------------
 * Making trees
 */
static void add_plain(cJSON *root)
{
    static const double numbers[] = { 0, -1, 0.1, 1e300, 2147483648.0, -2.5e-7 };
    cJSON_AddItemToObject(root, "numbers", cJSON_CreateDoubleArray(numbers, 6));
    cJSON_AddStringToObject(root, "text", "a \"text\" with\ttabs, \\ and \xE2\x82\xAC");
    cJSON_AddStringToObject(root, "", "");
    cJSON_AddTrueToObject(root, "true");
    cJSON_AddFalseToObject(root, "false");
    cJSON_AddNullToObject(root, "null");
    cJSON_AddRawToObject(root, "raw", "[1,  2,3.0]");
    cJSON_AddItemToObject(root, "nested", cJSON_Parse("[[], [[null]], {\"a\": [{}]}]"));
    cJSON_AddArrayToObject(root, "empty array");
    cJSON_AddObjectToObject(root, "empty object");
}

static cJSON *add_shared(cJSON *root)
{
    cJSON *shared = cJSON_AddObjectToObject(root, "shared");
    cJSON_AddNumberToObject(shared, "answer", 42);
    cJSON_AddStringToObject(shared, "said", "once");
    cJSON_AddItemToObjectCS(shared, interned, cJSON_CreateString("metre"));
    return shared;
}

static void add_references(cJSON *root, cJSON *shared)
{
    cJSON *references = cJSON_AddArrayToObject(root, "references");
    cJSON *said = cJSON_GetObjectItemCaseSensitive(shared, "said");
    cJSON_AddItemReferenceToArray(references, shared);
    cJSON_AddItemReferenceToArray(references, said);
    cJSON_AddItemReferenceToArray(references, cJSON_GetObjectItemCaseSensitive(root, "nested"));
    cJSON_AddItemToArray(references, cJSON_CreateObjectReference(said));
    cJSON_AddItemToArray(references, cJSON_CreateStringReference(literal));
    cJSON_AddItemReferenceToObject(root, "by reference", shared);
}

cJSON *tree_of_every_kind(void)
{
    cJSON *root = cJSON_CreateObject(), *shared;
    add_plain(root);
    shared = add_shared(root);
    add_references(root, shared);
    cJSON_AddItemToObjectCS(root, interned, cJSON_CreateNumber(1));
    cJSON_AddItemToObjectCS(root, literal, cJSON_CreateStringReference(interned));
    return root;
}

char *text_of_depth(int depth)
{
    char *text = malloc(2 * (size_t)depth + 2);
    if (text) {
        memset(text, '[', (size_t)depth);
        text[depth] = '1';
        memset(text + depth + 1, ']', (size_t)depth);
        text[2 * depth + 1] = '\0';
    }
    return text;
}

char *text_of_numbers(int count)
{
    char *text = malloc(24 * (size_t)count + 3), *at = text;
    if (!text)
        return NULL;
    for (int i = 0; i < count; i++)
        at += sprintf(at, "%c%d.%d", i == 0 ? '[' : ',', i, i % 7);
    strcpy(at, "]");
    return text;
}

/* -------------------------------------------------------------------------------------------------
 * Walking
 */
static cJSON *own_child(const cJSON *node)
{
    return node->type & cJSON_IsReference ? NULL : node->child;
}

/* Down to the first child, else on to the next sibling, else up until there is one. */
cJSON *tree_next(tree_walk *walk, const cJSON *node)
{
    if (own_child(node)) {
        walk->above[walk->depth++] = node;
        return node->child;
    }
    while (!node->next && walk->depth > 0)
        node = walk->above[--walk->depth];
    return walk->depth > 0 ? node->next : NULL;
}

size_t tree_count(const cJSON *root)
{
    tree_walk walk = { .depth = 0 };
    size_t count = 0;
    for (const cJSON *node = root; node; node = tree_next(&walk, node))
        count++;
    return count;
}

cJSON *tree_largest_array(const cJSON *root)
{
    tree_walk walk = { .depth = 0 };
    const cJSON *largest = NULL;
    int most = 3;
    for (const cJSON *node = root; node; node = tree_next(&walk, node))
        if (cJSON_IsArray(node) && own_child(node) && cJSON_GetArraySize(node) > most) {
            most = cJSON_GetArraySize(node);
            largest = node;
        }
    return (cJSON *)(uintptr_t)largest;
}

/* -------------------------------------------------------------------------------------------------
 * Changing
 */
static void turn_case(cJSON *node)
{
    char text[512];
    size_t length = strlen(node->valuestring);
    if (length >= sizeof text)
        return;
    for (size_t i = 0; i <= length; i++) {
        const unsigned char c = (unsigned char)node->valuestring[i];
        text[i] = (char)(c >= 128 ? c : islower(c) ? toupper(c) : tolower(c));
    }
    cJSON_SetValuestring(node, text); /* fits in the old value's memory */
}

size_t tree_change_values(cJSON *root)
{
    tree_walk walk = { .depth = 0 };
    size_t count = 0;
    for (cJSON *node = root; node; node = tree_next(&walk, node))
        if (cJSON_IsNumber(node)) {
            cJSON_SetNumberValue(node, node->valuedouble + 1);
            count++;
        } else if (cJSON_IsString(node) && !(node->type & cJSON_IsReference)) {
            turn_case(node);
            count++;
        }
    return count;
}

/* Items are inserted in front only: where a distribution has mended cJSON 1.7.15 by the first of
 * two corrections, an insertion elsewhere does nothing. */

/* The first members of two objects change places; one that goes as an item keeps its name. */
static void exchange_members(cJSON *a, cJSON *b)
{
    cJSON *from_a = a->child, *from_b = b->child;
    if (!cJSON_IsObject(a) || !cJSON_IsObject(b) || strcmp(from_a->string, from_b->string) != 0)
        return;
    cJSON_AddItemToArray(a, cJSON_DetachItemViaPointer(b, from_b));
    cJSON_AddItemToArray(b, cJSON_DetachItemViaPointer(a, from_a));
}

cJSON *tree_change_links(cJSON *root)
{
    enum { TURNED_ROUND = 50 };
    cJSON *array = tree_largest_array(root), *replaced;
    int count;
    if (!array)
        return NULL;
    count = cJSON_GetArraySize(array);
    for (int i = 1; i < count && i < TURNED_ROUND; i++)
        cJSON_InsertItemInArray(array, 0, cJSON_DetachItemFromArray(array, i));
    cJSON_InsertItemInArray(array, 0, cJSON_DetachItemFromArray(array, count - 1));
    cJSON_AddItemToArray(array, cJSON_DetachItemFromArray(array, count / 2));
    exchange_members(array->child, array->child->next);
    replaced = cJSON_GetArrayItem(array, 3);
    cJSON_ReplaceItemViaPointer(array, replaced, cJSON_DetachItemFromArray(array, 2));
    return replaced;
}

void tree_grow(cJSON *root)
{
    cJSON *added = cJSON_AddArrayToObject(root, "added");
    for (int i = 0; i < 100; i++)
        cJSON_AddItemToArray(added, cJSON_CreateNumber(i));
    cJSON_AddItemReferenceToArray(added, cJSON_GetObjectItemCaseSensitive(root, "shared"));
    cJSON_InsertItemInArray(cJSON_GetObjectItemCaseSensitive(root, "numbers"), 0,
                            cJSON_CreateString("inserted"));
    cJSON_ReplaceItemInObjectCaseSensitive(root, "text", cJSON_CreateFalse());
    cJSON_DeleteItemFromObjectCaseSensitive(root, "raw");
    cJSON_SetValuestring(cJSON_GetObjectItemCaseSensitive(root, ""),
                         "no longer empty, and in new memory");
}
