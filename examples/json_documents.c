/* Documents are read and walked by recursion: cJSON bounds the depth of what it parses. */
#define _POSIX_C_SOURCE 200809L
#include "json_documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char json_default[] = "/usr/share/iso-codes/json/iso_639-3.json";

cJSON *json_parse(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    const long bytes = file ? (long)getdelim(&text, &room, '\0', file) : -1; /* all of it */
    cJSON *document = bytes > 0 ? cJSON_Parse(text) : NULL;
    if (!document)
        fprintf(stderr, "%s: %s\n", path, bytes > 0 ? "this is not JSON" : "cannot be read");
    else
        printf("Document: %s, %ld bytes\n", path, bytes);
    if (file)
        fclose(file);
    free(text);
    return document;
}

static void measure_objects(cJSON *node)
{
    char *text = cJSON_IsObject(node) ? cJSON_PrintUnformatted(node) : NULL;
    if (text)
        cJSON_AddNumberToObject(node, "bytes", (double)strlen(text));
    cJSON_free(text);
    for (cJSON *child = node->child; child; child = child->next)
        measure_objects(child);
}

cJSON *json_read(int argument_count, char **arguments)
{
    cJSON *root = cJSON_CreateArray();
    for (int i = 1; root && (i < argument_count || i == 1); i++) {
        cJSON *document = json_parse(argument_count > 1 ? arguments[i] : json_default);
        if (!document) {
            cJSON_Delete(root);
            return NULL;
        }
        cJSON_AddItemToArray(root, document);
    }
    if (root)
        measure_objects(root);
    return root;
}

long json_nodes(const cJSON *node)
{
    long count = 0;
    for (; node; node = node->next)
        count += 1 + json_nodes(node->child);
    return count;
}

static void add_to(cJSON *node, double add)
{
    if (cJSON_IsNumber(node))
        cJSON_SetNumberValue(node, node->valuedouble + add);
    for (cJSON *child = node->child; child; child = child->next)
        add_to(child, add);
}

cJSON *json_plus(const cJSON *root, double add)
{
    cJSON *sum = cJSON_Duplicate(root, 1);
    if (sum)
        add_to(sum, add);
    return sum;
}

static cJSON *find_example(cJSON *node)
{
    cJSON *found = cJSON_IsObject(node) && node->child && !node->child->child ? node : NULL;
    for (cJSON *child = node->child; child && !found; child = child->next)
        found = find_example(child);
    return found;
}

void json_print_example(const char *label, cJSON *root)
{
    cJSON *example = find_example(root);
    char *text = example ? cJSON_PrintUnformatted(example) : NULL;
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
