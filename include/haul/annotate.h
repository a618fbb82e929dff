/* Words for haul-describe beside the members of your structs. Compilers see nothing of them.
 *
 *     typedef struct mesh {
 *         int nv, dim;
 *         double *xyz HAUL_COUNTED_BY(nv * dim);
 *         char *name HAUL_STRING_FIELD;
 *         struct mesh **parts HAUL_ANSWER(count n each one);
 *         int n, kind;
 *         union {
 *             struct mesh *child HAUL_CASE(kind, BRANCH);
 *             double number HAUL_CASE(kind, LEAF);
 *         } u;
 *     } mesh;
 *
 * They are the words of answers files: docs/describing-with-the-tool.md lists them.
 */
#ifndef HAUL_ANNOTATE_H
#define HAUL_ANNOTATE_H

/* haul-describe defines HAUL_ANNOTATE while it reads. */
#if defined(HAUL_ANNOTATE)
#define HAUL__ANNOTATION(text) __attribute__((annotate("haul: " text)))
#else
#define HAUL__ANNOTATION(text)
#endif

/* Any answer. */
#define HAUL_ANSWER(...) HAUL__ANNOTATION(#__VA_ARGS__)
/* The number of elements: an expression over members of the struct. */
#define HAUL_COUNTED_BY(...) HAUL__ANNOTATION("count " #__VA_ARGS__)
/* A string, terminator included. */
#define HAUL_STRING_FIELD HAUL__ANNOTATION("string")
/* An arm of a union: it holds while the member `tag` has this value. */
#define HAUL_CASE(tag, value) HAUL__ANNOTATION("case " #tag " " #value)
/* A word that means something elsewhere: it travels as it is. */
#define HAUL_OPAQUE_FIELD HAUL__ANNOTATION("opaque")

#endif
