/* The host's side of json_on_device: documents made, changed and compared by cJSON alone. */
#ifndef EXAMPLES_JSON_DOCUMENTS_H
#define EXAMPLES_JSON_DOCUMENTS_H

#include <stddef.h>

#include <cjson/cJSON.h>

/* Deeper than any tree that cJSON parses, the array around the documents and a member added within included. */
#define JSON_DEPTH_MAX (CJSON_NESTING_LIMIT + 8)

/* A walk in the order of the text, without recursion: json_next answers the next node, NULL behind the last. Plain
 * pointers and nothing else, so it works wherever the tree lies. */
typedef struct json_walk {
    cJSON *above[JSON_DEPTH_MAX];
    int depth;
} json_walk;
cJSON *json_next(json_walk *walk, cJSON *node);

/* One array with every document in it, and their bytes in all; NULL, after a message, when one cannot be read. */
cJSON *json_read(const char *const *paths, int count, size_t *bytes);

/* Gives each object the number member "bytes": the length of its text. */
void json_measure_objects(cJSON *root);

/* Adds to every number. */
void json_add(cJSON *root, double add);

/* Sets every number to the one at the same place of another tree of the same form. */
void json_copy_numbers(cJSON *root, cJSON *from);

/* Prints the first object that begins with a plain member. */
void json_print_example(const char *label, cJSON *root);

/* Equal for cJSON_Compare, and the same text when printed: alike in every name, value and order. */
int json_equal(const cJSON *a, const cJSON *b);

#endif
