/* libyaml's document, described, and what the program about libyaml does with documents, on either
 * side.
 */
#ifndef ACCEPTANCE_YAML_DOCUMENT_H
#define ACCEPTANCE_YAML_DOCUMENT_H

#include <stdint.h>

#include <yaml.h>

#include "accept.h"

/* The rows, for descriptions that are wrong in one of them. */
enum { ROW_NODES, ROW_NODES_END, ROW_VERSION, ROW_DIRECTIVES, DOCUMENT_ROWS };
enum {
    ROW_TAG,
    ROW_VALUE,
    ROW_LENGTH,
    ROW_SCALAR_STYLE,
    ROW_ITEMS,
    ROW_ITEMS_TOP,
    ROW_PAIRS,
    ROW_PAIRS_TOP,
    NODE_ROWS
};
extern haul_type *yaml_type, *yaml_node_type, *yaml_directive_type;
extern const haul_field yaml_fields[DOCUMENT_ROWS], yaml_node_fields[NODE_ROWS],
    yaml_directive_fields[2];

/* Makes and commits the three types of so many rows. */
haul_status yaml_describe(haul_context *context, const haul_field *document, size_t document_rows,
                          const haul_field *node);
void yaml_forget(void);

/* The document of this number in a file's text, in memory of the heap in use; NULL: there are not
 * so many. */
yaml_document_t *yaml_load(const char *text, size_t bytes, int number);
void yaml_delete(yaml_document_t *document); /* what yaml_load gave, dumped or not */

/* What yaml_emitter_dump writes, with a 0 behind it; release with free. It takes the document: all
 * nodes are freed and its stacks are empty. NULL: the emitter failed. */
char *yaml_dump(yaml_document_t *document);

/* What is seen on a walk from the root and over all nodes, by yaml_document_get_root_node and
 * _get_node. */
typedef struct yaml_sight {
    int scalars, sequences, mappings, others;
    int references;  /* from sequences and mappings */
    int shared;      /* nodes with more than one of them */
    int broken;      /* references to no node */
    uint64_t digest; /* of all tags, values, styles, places and references */
} yaml_sight;
void yaml_walk(yaml_document_t *document, yaml_sight *sight);

/* Turns round the case of every ASCII letter of every scalar, and answers how many scalars have
 * changed. */
int yaml_change_values(yaml_document_t *document);
/* Two scalars exchange their values; where there is room, a sequence gets its first item once more,
 * and a mapping its first pair. Answers how many of the three were done. */
int yaml_change_links(yaml_document_t *document);

/* Of every description that is wrong: what is said. */
void refuse_wrong_documents(heap *originals);

#endif
