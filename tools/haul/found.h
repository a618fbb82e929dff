/* All ranges of a graph, each once, with numbers in the order of discovery: breadth first.
 */
#ifndef HAUL_TOOL_FOUND_H
#define HAUL_TOOL_FOUND_H

#include "objects.h"

#define NOWHERE SIZE_MAX

/* Where an element stands: in a range, by number, and its index there. */
typedef struct place {
    size_t range, index;
} place;

typedef struct place_entry {
    const unsigned char *at;
    const void *what; /* the type, or what kind of range it is */
    place place;
} place_entry;

typedef struct found {
    block block;
    range *ranges;
    size_t count, room;
    place_entry *table;
    size_t used, places;     /* places: a power of two, or 0 */
    int is_short, is_broken; /* no memory; a pointer that leads to nothing right */
} found;

void find_all(found *f, const haul_image *image);
void release_found(found *f);
/* Loads the first file and shows all that it holds: `show` answers the exit code. */
int show_found(tool *t, int (*show)(const tool *t, const found *f, const haul_image *image));
/* Where a range begins; `range` NOWHERE if it has not been found. */
place place_of(const found *f, const range *to);
/* Where an object of the type stands. */
place place_of_object(const found *f, const unsigned char *at, const haul_type *type);
/* Is it short enough to be shown where its pointer stands? */
int is_inline(const range *to);

/* Calls visit for each pointer of the range, with its place. Elements that another range keeps are
 * left out. */
typedef void visitor(void *user, const unsigned char *at, const pointer *p);
void visit_pointers(const found *f, size_t number, visitor *visit, void *user);

/* ---- The fields of a range, embedded structs included, one by one. */

typedef enum step { BEGINS, FIELD, ENDS, DONE } step;

typedef struct frame {
    const unsigned char *at, *first; /* first: of its array */
    const haul_type *type;
    haul_field_info field; /* that holds it; unused in the lowest frame */
    size_t next, fields;   /* of the type */
    size_t left, stride;   /* elements behind this one */
    int is_array;
    enum { NEW, BEGUN, ENDED } state;
} frame;

typedef struct walk {
    frame frames[HAUL_EMBED_DEPTH_MAX + 2];
    unsigned depth; /* of frames; the top one is frames[depth - 1] */
} walk;

/* The element of a range of objects. */
void walk_begin(walk *w, const unsigned char *at, const haul_type *type);
/* BEGINS and ENDS: the struct in the top frame. FIELD: *field of it, which holds and embeds
 * nothing; a tail of structs is walked as if it were embedded. */
step walk_next(walk *w, const block *b, haul_field_info *field);

#endif
