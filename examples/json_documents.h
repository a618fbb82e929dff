/* The host's side of json_on_device: documents made, changed and compared by cJSON alone. */
#ifndef EXAMPLES_JSON_DOCUMENTS_H
#define EXAMPLES_JSON_DOCUMENTS_H

#include <stddef.h>

#include <cjson/cJSON.h>

/* One array with every document in it, and their bytes in all; NULL, after a message, when one
 * cannot be read. */
cJSON *json_read(const char *const *paths, int count, size_t *bytes);

/* Gives each object the number member "bytes": the length of its text. */
void json_measure_objects(cJSON *root);

/* Every array and object of the tree, parents before children; release with free. NULL: no
 * memory. */
cJSON **json_containers(cJSON *root, long *count);

/* Adds to every number, and answers how many there are. */
long json_add(cJSON *root, double add);

/* Sets every number to the one at the same place of another tree of the same form. */
void json_copy_numbers(cJSON *root, cJSON *from);

/* Prints the first object that begins with a plain member. */
void json_print_example(const char *label, cJSON *root);

/* Equal for cJSON_Compare, and the same text when printed: alike in every name, value and order. */
int json_equal(const cJSON *a, const cJSON *b);

#endif
