/* The host's side of json_on_device: documents are made, changed and compared by cJSON alone. */
#include "json_documents.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any tree that cJSON parses, the array around the documents and a member added within
 * included. */
#define DEPTH_MAX (CJSON_NESTING_LIMIT + 8)

/* A walk in the order of the text, without recursion: json_next answers the next node, NULL behind
 * the last. */
typedef struct json_walk {
    cJSON *above[DEPTH_MAX];
    int depth;
} json_walk;

/* Down to the first child, else on to the next sibling, else up until there is one. */
static cJSON *json_next(json_walk *walk, cJSON *node)
{
    if (node->child) {
        walk->above[walk->depth++] = node;
        return node->child;
    }
    while (!node->next && walk->depth > 0)
        node = walk->above[--walk->depth];
    return node->next;
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size >= 0 && size < LONG_MAX ? malloc((size_t)size + 1) : NULL;
    *bytes = 0;
    if (text) {
        rewind(file);
        *bytes = fread(text, 1, (size_t)size, file);
        text[*bytes] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

static cJSON *read_document(const char *path, size_t *bytes)
{
    char *text = read_file(path, bytes);
    cJSON *document = text ? cJSON_Parse(text) : NULL;
    if (!document)
        fprintf(stderr, "%s: %s\n", path, text ? "this is not JSON" : "cannot be read");
    else
        printf("  %s, %lu bytes\n", path, (unsigned long)*bytes);
    free(text);
    return document;
}

cJSON *json_read(const char *const *paths, int count, size_t *bytes)
{
    cJSON *root = cJSON_CreateArray();
    *bytes = 0;
    for (int i = 0; i < count && root; i++) {
        size_t document_bytes;
        cJSON *document = read_document(paths[i], &document_bytes);
        if (!document) {
            cJSON_Delete(root);
            return NULL;
        }
        cJSON_AddItemToArray(root, document);
        *bytes += document_bytes;
    }
    return root;
}

void json_measure_objects(cJSON *root)
{
    json_walk walk;
    walk.depth = 0;
    for (cJSON *node = root; node; node = json_next(&walk, node)) {
        char *text = cJSON_IsObject(node) ? cJSON_PrintUnformatted(node) : NULL;
        if (text)
            cJSON_AddNumberToObject(node, "bytes", (double)strlen(text));
        cJSON_free(text);
    }
}

static long put_containers(cJSON *root, cJSON **containers)
{
    json_walk walk;
    long count = 0;
    walk.depth = 0;
    for (cJSON *node = root; node; node = json_next(&walk, node))
        if (cJSON_IsArray(node) || cJSON_IsObject(node)) {
            if (containers)
                containers[count] = node;
            count++;
        }
    return count;
}

cJSON **json_containers(cJSON *root, long *count)
{
    cJSON **containers;
    *count = put_containers(root, NULL);
    containers = malloc((size_t)(*count + 1) * sizeof(cJSON *));
    if (containers)
        put_containers(root, containers);
    return containers;
}

long json_add(cJSON *root, double add)
{
    json_walk walk;
    long count = 0;
    walk.depth = 0;
    for (cJSON *node = root; node; node = json_next(&walk, node))
        if (cJSON_IsNumber(node)) {
            cJSON_SetNumberValue(node, node->valuedouble + add);
            count++;
        }
    return count;
}

void json_copy_numbers(cJSON *root, cJSON *from)
{
    json_walk walk, from_walk;
    walk.depth = from_walk.depth = 0;
    for (cJSON *node = root; node && from;
         node = json_next(&walk, node), from = json_next(&from_walk, from))
        if (cJSON_IsNumber(node))
            cJSON_SetNumberValue(node, from->valuedouble);
}

void json_print_example(const char *label, cJSON *root)
{
    json_walk walk;
    cJSON *node = root;
    char *text;
    walk.depth = 0;
    while (node && !(cJSON_IsObject(node) && node->child && !node->child->child))
        node = json_next(&walk, node);
    text = node ? cJSON_PrintUnformatted(node) : NULL;
    if (text)
        printf("  %s %.200s\n", label, text);
    cJSON_free(text);
}

int json_equal(const cJSON *a, const cJSON *b)
{
    char *text_a = cJSON_PrintUnformatted(a), *text_b = cJSON_PrintUnformatted(b);
    int equal = cJSON_Compare(a, b, 1) && text_a && text_b && strcmp(text_a, text_b) == 0;
    cJSON_free(text_a);
    cJSON_free(text_b);
    return equal;
}
