/* The worklist: single objects in a queue, or in buckets by address; arrays in wide entries.
 */
#ifndef HAUL_WALK_WORKLIST_H
#define HAUL_WALK_WORKLIST_H

#include "walk/discovery.h"

enum { HAUL__OBJECTS, HAUL__POINTERS, HAUL__PLAIN };

/* A found array of objects, pointers or plain bytes. In a recording run entries stay, and `parent`
 * makes them a tree that leads back to the roots. */
typedef struct haul__entry {
    uintptr_t address, self; /* self: the struct whose fields the shapes of `slot` read */
    size_t count, stride;
    const haul__slot *slot; /* that led here; NULL for roots and parts */
    const char *part;       /* the part's name that led here, or NULL */
    size_t parent;          /* the entry that led here; SIZE_MAX: none */
    size_t parent_element;  /* the element of that entry */
    size_t index;           /* here->index; of a root, its number */
    /* 1 + its number among the lines of a section of plain bytes, or among the elements of a
     * section of objects; else 0 */
    size_t line;
    size_t run; /* of a line: bytes of each of its elements, less than the stride; else 0 */
    haul__ancestor ancestor; /* if its type needs ancestors */
    haul__nearest nearest;   /* of pointers: for the callbacks of their row */
    uint32_t met_type;       /* number of the met type; of objects */
    uint8_t what, level;
    uint8_t is_again; /* visited before, with other ancestors or as another type */
    uint8_t is_asked; /* its size is asked for before its turn */
} haul__entry;

typedef struct haul__chunk {
    struct haul__chunk *next;
    size_t capacity, read, written;
    uint64_t entry[];
} haul__chunk;

/* A queue of objects that lie in the same mebibytes. */
typedef struct haul__bucket {
    /* where the next entry goes, and the end of its chunk; both NULL: there is no chunk */
    uint64_t *out, *end;
    haul__chunk *first, *last; /* `written` of the last one is stale: `out` counts */
} haul__bucket;

#define HAUL__BUCKETS 64u      /* a power of two */
#define HAUL__BUCKET_SHIFT 20u /* a bucket holds every 64th mebibyte */

/* An entry of the queue is address | number of the met type << 48. Functions that answer int: 0:
 * out of memory. */
int haul__queue_open(haul__discovery *d);
int haul__queue_room(haul__discovery *d);     /* the tail is full: adds a chunk */
void haul__queue_advance(haul__discovery *d); /* the head is read: goes on to the next chunk */
/* The bucket is full, or has no chunk yet: adds one. */
int haul__bucket_room(haul__discovery *d, haul__bucket *bucket);
/* The queue is empty: takes over the chunks of the next bucket that holds something. 0: none does,
 * and objects go to the queue again. */
int haul__buckets_next(haul__discovery *d);
/* The queue's first chunk with an entry that is not read yet, which may come from a bucket; NULL:
 * there is none, and the queue is as new. */
haul__chunk *haul__queue_next(haul__discovery *d);
/* Entries that wait in the queue, buckets aside. */
size_t haul__queue_waiting(const haul__discovery *d);
/* Entries that wait in the buckets. */
size_t haul__buckets_waiting(const haul__discovery *d);
haul_status haul__push_entry(haul__discovery *d, const haul__entry *entry);
void haul__worklist_close(haul__discovery *d);

HAUL__INLINE int haul__queue_push(haul__discovery *d, uintptr_t address, uint32_t number,
                                  size_t advance)
{
    haul__chunk *tail = d->tail;
    tail->entry[tail->written] = (uint64_t)address | (uint64_t)number << 48;
    tail->written += advance;
    return HAUL__LIKELY(tail->written < tail->capacity) || haul__queue_room(d);
}

HAUL__INLINE haul__bucket *haul__bucket_of(haul__bucket *buckets, uint64_t entry)
{
    return &buckets[(entry >> HAUL__BUCKET_SHIFT) % HAUL__BUCKETS];
}

#endif
