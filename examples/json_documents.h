/* The documents of the json examples: made, changed and compared by cJSON alone. */
#ifndef EXAMPLES_JSON_DOCUMENTS_H
#define EXAMPLES_JSON_DOCUMENTS_H

#include <cjson/cJSON.h>

/* One array with every document that the command line names; it names none: Debian's table of the
 * world's languages. Because documents may hold few numbers, each object is given one, "bytes": the
 * length of its text. NULL, after a message, when one cannot be read. */
cJSON *json_read(int argument_count, char **arguments);

/* A duplicate with so much more in every number; NULL: no memory. */
cJSON *json_plus(const cJSON *root, double add);

/* Prints the first object that begins with a plain member. */
void json_print_example(const char *label, cJSON *root);

/* Equal for cJSON_Compare, and the same text when printed: alike in every name, value and order. */
int json_equal(const cJSON *a, const cJSON *b);

#endif
