/* Nodes for suites of the map: kinds that differ in their length and in where their links stand, so
 * that nodes and links fall anywhere in cells and blocks.
 */
#ifndef HAUL_TESTS_NODE_KINDS_H
#define HAUL_TESTS_NODE_KINDS_H

#include "core_graphs.h"

/* A node of so many words with links at two of them; the rest is data. */
typedef struct node_kind {
    size_t words, first, second;
    haul_type *type;
} node_kind;

enum { STEP = LARGE(1, 5) }; /* slow builds do every fifth case */

typedef struct link {
    void *to;
} link;

static inline size_t bytes_of(const node_kind *kind)
{
    return kind->words * WORD;
}

/* A type for each; links lead to nodes of the same kind. */
static inline void node_kinds_open(node_kind *kinds, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        haul_field fields[2] = { HAUL_ADDRESS(link, to), HAUL_ADDRESS(link, to) };
        fields[0].name = "first";
        fields[1].name = "second";
        fields[0].offset = kinds[i].first * WORD;
        fields[1].offset = kinds[i].second * WORD;
        fields[0].target = fields[1].target = &kinds[i].type;
        CHECK_STATUS(type_make("node", bytes_of(&kinds[i]), fields, 2, &kinds[i].type), HAUL_OK);
        CHECK_STATUS(haul_type_commit(kinds[i].type), HAUL_OK);
    }
}

static inline void node_kinds_close(node_kind *kinds, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        haul_type_free(&kinds[i].type);
}

static inline void link_at(unsigned char *node, size_t word, const void *to)
{
    memcpy(node + word * WORD, &to, sizeof to);
    points(node + word * WORD);
}

/* A node in the lab's memory that leads nowhere. */
static inline unsigned char *node_at(size_t at, const node_kind *kind)
{
    unsigned char *node = take_at(at, bytes_of(kind));
    fill(node, bytes_of(kind));
    link_at(node, kind->first, NULL);
    link_at(node, kind->second, NULL);
    return node;
}

#endif
