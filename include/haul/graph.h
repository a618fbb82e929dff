/* Seeing a graph: a table of its objects, and a picture.
 *
 *     haul_file out = haul_file_descriptor(1);
 *     haul_graph_write_table(context, haul_from_object(mesh, mesh_type), &out);
 *     haul_graph_write_dot(context, haul_from_object(mesh, mesh_type), NULL, &out);
 *
 * Graphviz draws the picture: `dot -Tsvg mesh.dot >mesh.svg`. docs/describing.md shows both.
 *
 * Both calls walk the graph as haul_plan_create does, in a recording walk, and read its pointers
 * once more. What they write depends on the graph alone, not on addresses: the same graph gives the
 * same bytes in any process. They write nothing but the file, and do not recurse. Working memory:
 * that of a plan, and about 200 bytes for each object and array found.
 *
 * Sources: objects; a plan; an arena with its root (haul_from_arena_root); a shipment of one of
 * these (haul_from_shipment, ship.h). The graph is the host's, as it is now. An arena without a
 * root keeps no types, so nothing tells its objects: HAUL_ERROR_ARGUMENT.
 *
 * Errors of both: those of haul_plan_create, with the path; HAUL_ERROR_ARGUMENT: another source, a
 * plan of another context, a file that cannot be written; HAUL_ERROR_FILE: the file refuses, and
 * has only the beginning of the table or picture. HAUL_ERROR_MEMORY. HAUL_ERROR_BUSY: also if the
 * file's function calls into the same context.
 */
#ifndef HAUL_GRAPH_H
#define HAUL_GRAPH_H

#include "haul/file.h"
#include "haul/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes two tables: ranges, objects and bytes of each type; and for each field that points, its
 * pointers, how many of them are null or shared, and the objects and bytes found through it.
 *
 *     ranges  objects  bytes  type
 *          4        4     96  node
 *          1        1     24  (data)
 *          5        5    120  in all
 *
 *     pointers  null  shared  objects  bytes  field
 *            4     1       1        2     48  node.next
 *            ...
 *
 * A range is an array or a single object, as a pointer leads to it; its objects are its elements.
 * Bytes that lie in two ranges count in both. A shared pointer leads to objects that were found
 * before. A field of several levels has a line for each: "grid.rows", "grid.rows[]". Lines are in
 * the order of bytes, the most first. Plain elements are (data), arrays of pointers (pointers). */
static inline haul_status haul_graph_write_table(haul_context *context, haul_source source,
                                                 const haul_file *file);

/* What is drawn. Zeros mean the defaults. */
typedef struct haul_graph_options {
    size_t depth;         /* the most pointers between a root and a range; 0: any number */
    size_t nodes;         /* the most ranges; 0: 100 */
    size_t nodes_of_type; /* the most ranges of one type; 0: any number */
    /* `type_count` types: ranges of other types are left out, except roots and arrays of pointers.
     * NULL: all are drawn. */
    const haul_type *const *types;
    size_t type_count;
    int addresses; /* 1: nodes have their host addresses, so each process writes other bytes */
    int reserved;
} haul_graph_options;

/* Writes the graph in Graphviz's language. Each range is a node with its type, its number of
 * objects if there are several, and its bytes; each pointer is an edge with its field's name. Roots
 * have a double frame, plain data a round one; pointers that are not followed (HAUL_BORROWED) are
 * dashed. Nodes are numbered in the order of discovery. Pointers of one range's elements that lead
 * to the same place by the same field are one edge: "[0].owner and 7 more".
 *
 * A range is drawn if the one that led to it is drawn and the limits allow it. The ranges that a
 * drawn one would have led to, directly or not, are one node beside it: "... 12 more". `options`
 * may be NULL. HAUL_ERROR_VERSION: an option that the library lacks. */
static inline haul_status haul_graph_write_dot(haul_context *context, haul_source source,
                                               const haul_graph_options *options,
                                               const haul_file *file);

/* ---- The functions behind the inline forms, which pass the sizes of structs. */

HAUL_API haul_status haul_graph_write_table_sized(haul_context *context, const haul_source *source,
                                                  size_t source_bytes, const haul_file *file);
HAUL_API haul_status haul_graph_write_dot_sized(haul_context *context, const haul_source *source,
                                                size_t source_bytes,
                                                const haul_graph_options *options,
                                                size_t options_bytes, const haul_file *file);

static inline haul_status haul_graph_write_table(haul_context *context, haul_source source,
                                                 const haul_file *file)
{
    return haul_graph_write_table_sized(context, &source, sizeof source, file);
}

static inline haul_status haul_graph_write_dot(haul_context *context, haul_source source,
                                               const haul_graph_options *options,
                                               const haul_file *file)
{
    return haul_graph_write_dot_sized(context, &source, sizeof source, options, sizeof *options,
                                      file);
}

#ifdef __cplusplus
}
#endif
#endif
