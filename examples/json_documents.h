/* The documents of the json examples: made, changed and compared by cJSON alone. */
#ifndef EXAMPLES_JSON_DOCUMENTS_H
#define EXAMPLES_JSON_DOCUMENTS_H

#include <cjson/cJSON.h>

extern const char json_default[]; /* Debian's table of the world's languages */

/* One document as it is. NULL, after a message, when it cannot be read. */
cJSON *json_parse(const char *path);

/* One array with every document that the command line names; it names none: json_default.
 * Because documents may hold few numbers, each object is given one, "bytes": the length of its
 * text. NULL, after a message, when one cannot be read. */
cJSON *json_read(int argument_count, char **arguments);

/* A duplicate with so much more in every number; NULL: no memory. */
cJSON *json_plus(const cJSON *root, double add);

/* How many nodes there are: this one, those behind it and all below. */
long json_nodes(const cJSON *node);

/* Prints the first object that begins with a plain member. */
void json_print_example(const char *label, cJSON *root);

/* Equal for cJSON_Compare, and the same text when printed: alike in every name, value and order. */
int json_equal(const cJSON *a, const cJSON *b);

#endif
