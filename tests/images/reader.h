/* A naive reader of a loaded graph. It knows the C structs, not their descriptions: each shape
 * (shapes.h) follows its own pointers, and says of each byte what the program takes it for.
 *
 * A graph that may be written through its types has no byte that is data for one object, and a
 * pointer or a count for another one. Objects are visited once, so whatever the graph is, the
 * reader ends.
 */
#ifndef IMAGES_READER_H
#define IMAGES_READER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a byte is; bits, because objects may overlap. */
enum {
    ROLE_DATA = 1,
    ROLE_NUMBER = 2, /* counts or selects */
    ROLE_WORD = 4,   /* the first byte of a pointer */
    ROLE_IN_WORD = 8,
    ROLE_DISTANCE = 16, /* the first byte of a distance */
    ROLE_IN_DISTANCE = 32,
    ROLE_END = 64 /* of a string: data, too */
};

#define READER_OBJECTS 16384u

typedef struct reader_object {
    unsigned char *at;
    unsigned kind;
} reader_object;

typedef struct reader {
    unsigned char *block;
    size_t bytes;
    uint8_t *role;          /* a byte of the block */
    uint32_t *seen;         /* a byte of the block: bits of the kinds that begin there */
    reader_object *objects; /* that were met; READER_OBJECTS */
    size_t object_count, visited;
    const char *wrong; /* the first thing; NULL: nothing */
    size_t wrong_at;   /* the byte of the block, or of what was outside of it */
} reader;

/* The function of a shape: the roles of one object, and visits to those that it leads to. */
typedef void reader_visitor(reader *r, unsigned kind, unsigned char *object);

/* Reads everything from `root` on. The reader's memory is zeroed first, `wrong` too. */
void reader_run(reader *r, reader_visitor *visitor, unsigned kind, void *root);

/* For visitors. NULL and 0 bytes are allowed. */
int reader_holds(reader *r, const void *at, size_t bytes); /* 0: it is not in the block: wrong */
void reader_role(reader *r, const void *at, size_t bytes, unsigned first, unsigned others);
void reader_string(reader *r, const void *string);
void reader_visit(reader *r, unsigned kind, const void *object, size_t bytes);
void reader_wrong(reader *r, const void *at, const char *why);

#define READ_DATA(r, at, S, m) reader_role(r, (at) + offsetof(S, m), sizeof((S *)0)->m, 1, 1)
#define READ_NUMBER(r, at, S, m) reader_role(r, (at) + offsetof(S, m), sizeof((S *)0)->m, 2, 2)
#define READ_WORD(r, at, S, m) reader_role(r, (at) + offsetof(S, m), sizeof((S *)0)->m, 4, 8)

#endif
