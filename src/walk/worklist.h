/* The worklist: single objects in a queue, or in buckets by address; arrays in wide entries.
 */
#ifndef HAUL_WALK_WORKLIST_H
#define HAUL_WALK_WORKLIST_H

#include "walk/discovery.h"

enum { HAUL__OBJECTS, HAUL__POINTERS, HAUL__PLAIN };

/* An array of objects or pointers, found and not yet visited. When recording, entries stay, and
 * `parent` makes them a tree that leads back to a root. */
typedef struct haul__entry {
    uintptr_t address, self; /* self: of the struct whose fields the shapes of `slot` read */
    size_t count, stride;
    const haul__slot *slot; /* that led here; NULL for roots and parts */
    const char *part;       /* the part's name that led here, or NULL */
    size_t parent;          /* entry, SIZE_MAX: a root */
    size_t parent_element;  /* which element of the parent */
    size_t index;           /* here->index; root number */
    haul__held held;        /* through whom it was found, where that must be known */
    haul__asked asked;      /* of pointers: by the row that led here */
    uint32_t kind;
    uint8_t what, level;
    uint8_t is_again; /* was visited before, but through other holders */
} haul__entry;

typedef struct haul__chunk {
    struct haul__chunk *next;
    size_t capacity, read, written;
    uint64_t entry[];
} haul__chunk;

/* A queue for itself, of objects that lie near one another. */
typedef struct haul__bucket {
    /* where the next entry goes, and the end of its chunk; both NULL: there is none */
    uint64_t *out, *end;
    haul__chunk *first, *last; /* `written` of the last one is behind; `out` is right */
} haul__bucket;

#define HAUL__BUCKETS 64u      /* a power of two */
#define HAUL__BUCKET_SHIFT 20u /* a lane has every 64th of the stretches of a mebibyte */

/* Single objects as address | kind << 48, first in first out. */
int haul__queue_open(haul__discovery *d);
int haul__queue_room(haul__discovery *d);     /* after the tail filled up: a new one */
void haul__queue_advance(haul__discovery *d); /* the head is read to its end: the next one */
/* after it filled up, or before its first entry */
int haul__bucket_room(haul__discovery *d, haul__bucket *lane);
/* The queue is empty: it becomes that of the next lane where something waits. 0: nothing does, and
 * there are no lanes any more. */
int haul__buckets_next(haul__discovery *d);
haul_status haul__push_entry(haul__discovery *d, const haul__entry *entry);
void haul__worklist_close(haul__discovery *d);

HAUL__INLINE int haul__queue_push(haul__discovery *d, uintptr_t address, uint32_t kind,
                                  size_t advance)
{
    haul__chunk *tail = d->tail;
    tail->entry[tail->written] = (uint64_t)address | (uint64_t)kind << 48;
    tail->written += advance;
    return HAUL__LIKELY(tail->written < tail->capacity) || haul__queue_room(d);
}

HAUL__INLINE haul__bucket *haul__bucket_of(haul__bucket *lanes, uint64_t entry)
{
    return &lanes[(entry >> HAUL__BUCKET_SHIFT) % HAUL__BUCKETS];
}

#endif
