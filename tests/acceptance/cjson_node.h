/* cJSON's node, described, and what the program about cJSON does to trees.
 *
 * Everything that changes a tree is one function, made of cJSON's own calls and used on both sides:
 * on a copy, and on a second tree of the same text on the host, which is then what the first must
 * look like.
 */
#ifndef ACCEPTANCE_CJSON_NODE_H
#define ACCEPTANCE_CJSON_NODE_H

#include <cjson/cJSON.h>

#include "accept.h"

/* The rows, for descriptions that are wrong in one of them. The names say which; rows of one word
 * exclude each other by the node's flags. */
enum {
    ROW_NEXT,
    ROW_PREV,
    ROW_OWN_CHILD,
    ROW_OTHERS_CHILD,
    ROW_OWN_VALUE,
    ROW_OTHERS_VALUE,
    ROW_OWN_NAME,
    ROW_CONSTANT_NAME,
    NODE_ROWS
};
extern haul_type *node_type;
extern const haul_field node_fields[NODE_ROWS];

/* Constant texts of the program's, handed to cJSON as names and values that are not its own.
 * node_tell registers both: `interned` is copied, `literal` is kept. */
extern const char interned[8], literal[16];
haul_status node_tell(haul_context *context);

/* One of each: every type, every flag, empty and nested, names and values of all owners. */
cJSON *tree_of_every_kind(void);
/* So many arrays in one another, around a number; so many numbers in an array. Release with free;
 * NULL: no memory. */
char *text_of_depth(int depth);
char *text_of_numbers(int count);

/* A walk over the nodes that are the tree's own, in the order of the text: tree_next answers the
 * next one, NULL behind the last. It begins with depth 0. */
typedef struct tree_walk {
    const cJSON *above[CJSON_NESTING_LIMIT + 8];
    int depth;
} tree_walk;
cJSON *tree_next(tree_walk *walk, const cJSON *node);

size_t tree_count(const cJSON *root);
/* The array of most items; NULL: none has four. */
cJSON *tree_largest_array(const cJSON *root);

/* Every number by 1, every value of a string with the case of its ASCII letters turned round.
 * Answers how many. */
size_t tree_change_values(cJSON *root);
/* Moves items within the largest array, exchanges members of two items, and replaces the fourth
 * item by the third. Answers the one that was replaced, which cJSON_Delete has taken. NULL: there
 * is no such array. */
cJSON *tree_change_links(cJSON *root);
/* Adds, inserts and replaces, by new nodes of cJSON's allocator: in a tree of every kind. */
void tree_grow(cJSON *root);

/* Of every description that is wrong: what is said. */
void refuse_wrong_nodes(heap *originals);

#endif
