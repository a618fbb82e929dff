/* The shared walk: discovery by all threads of the context, while many simple objects wait. share.c
 * says how.
 */
#ifndef HAUL_WALK_SHARE_H
#define HAUL_WALK_SHARE_H

#include "map/named.h"
#include "map/starts.h"
#include "map/stock.h"
#include "walk/aims.h"
#include "walk/met_types.h"

/* Objects that one thread finds before: a graph of some 25,000 is found as fast either way. A block
 * of the map takes as long to make as that many objects to find. */
#define HAUL__WORTH_SHARING ((size_t)16000)
#define HAUL__BLOCK_IN_OBJECTS ((size_t)32)

/* A district is a part of the address space: every 32nd range of 256 KiB. */
#define HAUL__DISTRICTS HAUL__PARTS
#define HAUL__DISTRICT_SHIFT HAUL__PART_SHIFT

/* A parcel of worklist entries. A build for tests has small ones. */
#ifdef HAUL_STRESS_THREADS
#define HAUL__PARCEL ((size_t)4)
#else
#define HAUL__PARCEL ((size_t)512)
#endif
typedef struct haul__parcel {
    struct haul__parcel *next;
    size_t count;
    unsigned kind; /* of its entries */
    uint64_t entry[HAUL__PARCEL];
    uint64_t beyond; /* written to, and never read */
} haul__parcel;

/* Kinds of entries: single objects of simple types, one word each; ranges of any kind, two words.
 * There are two kinds of single objects, so that those of one parcel mostly have one type. A walk
 * over simple objects knows only the first. */
enum { HAUL__SINGLES, HAUL__OTHER_SINGLES, HAUL__RANGES, HAUL__KINDS };

/* Where the next entry for a district goes, and the end of its parcel. The line behind the next one
 * is fetched for writing: another thread has read it last. */
#define HAUL__OUTLET_AHEAD (2 * HAUL__LINE)
typedef struct haul__outlet {
    uint64_t *at, *end;
} haul__outlet;

typedef struct haul__district {
    haul__parcel *parcels; /* atomic: pointers whose targets lie here */
    unsigned is_taken;     /* atomic: a thread marks here */
    int has_visits;        /* atomic */
    /* Marked pointers that wait to be visited, by kind. They belong to the thread that has taken
     * the district. The first parcel has room; the others are full. */
    haul__parcel *open[HAUL__KINDS];
    unsigned char apart[HAUL__LINE]; /* from the next one */
} haul__district;

/* Districts in a row. */
typedef struct haul__quarter {
    unsigned first, count;
} haul__quarter;

/* What one thread has for itself. */
typedef struct haul__sharer {
    haul__outlet outlet[HAUL__KINDS * HAUL__DISTRICTS]; /* those for singles come first */
    haul__parcel *spare;  /* used before; they stay with the thread from round to round */
    haul__parcel **fresh; /* from the pool, not touched yet; room for `parcels_needed` */
    size_t spare_count, fresh_count;
    haul__parcel *aside;        /* entries for the caller's thread; the first has room */
    haul__parcel *claimed;      /* those of the district that it has taken */
    haul__quarter quarter;      /* its districts, as long as they have work */
    unsigned at_mark, at_visit; /* where it was last */
    uintptr_t thread;           /* that has worked on it in this round; 0: none */
    size_t objects;
    uint64_t bytes;    /* of objects, about */
    haul__stock stock; /* blocks, if the threads must not ask the allocator */
    /* else its part of the map; of a walk by aims also what it has found */
    haul__discovery walk;
    haul__found found;
    haul__parcel *reads; /* its read set; the first has room */
    size_t read_words;
    haul__start_notes starts;
    unsigned char apart[HAUL__LINE]; /* from what the next one has */
} haul__sharer;

/* Why a round ends before all is done. */
enum {
    HAUL__GO_ON,
    HAUL__NEEDS_PARCELS,
    HAUL__HAS_NEWS, /* it is time to tell the program how much is found */
    HAUL__NEEDS_ONE_THREAD,
    HAUL__NEEDS_MEMORY
};

typedef struct haul__share {
    const haul__met_type *types;
    size_t type_count;
    const uintptr_t *flat;
    haul__map *map;
    const haul__aims *aims;        /* of a walk by aims; NULL: of simple objects alone */
    size_t parcels_needed;         /* the most that one parcel's entries make */
    haul__parcel **pool;           /* parcels that nobody has: those from pool_taken on */
    size_t pool_count, pool_taken; /* pool_taken: atomic; it may pass pool_count */
    size_t pool_capacity, parcel_count;
    haul__parcel **fresh;          /* the memory of the sharers' lists */
    HAUL__LIST(haul__notes) slabs; /* the parcels' memory */
    int has_whole, has_ragged;     /* forms of blocks that new objects may need */
    int has_parts;                 /* threads make blocks, each in its part of the map */
    double news_at;                /* when there are news; 0: nobody listens */
    size_t objects_left;           /* that may be visited */
    size_t objects;                /* atomic: that are found, of a walk by aims */
    /* asides.c: how many there were, atomic; up to the last full round; after how many such rounds;
     * the last one's aim */
    size_t asides, asides_before, turns;
    uint32_t asides_about;
    unsigned stop;    /* atomic: one of the reasons */
    uint32_t because; /* atomic: a haul__why, and 256 times the aim or type that it is about */
    unsigned busy;    /* atomic: threads that have work */
    haul__district district[HAUL__DISTRICTS];
    size_t sharer_count;
    haul__sharer *sharer;
} haul__share;

HAUL__INLINE unsigned haul__district_number(uintptr_t address)
{
    return haul__part_number(address);
}

HAUL__INLINE haul__district *haul__district_of(haul__share *share, uintptr_t address)
{
    return &share->district[haul__district_number(address)];
}

/* The outlets that a thread has. */
HAUL__INLINE unsigned haul__outlets(const haul__share *share)
{
    return share->aims ? HAUL__KINDS * HAUL__DISTRICTS : HAUL__DISTRICTS;
}

/* Can such an object be marked in blocks of this form? */
HAUL__INLINE int haul__can_start(const haul__met_type *met, uintptr_t address, uint32_t form)
{
    return address >= HAUL__LOWEST && form != HAUL__NO_FORM &&
           (address & ((HAUL__WORD - 1) | (met->walk->alignment - 1))) == 0;
}

/* Is the block of the form, and does an object start there? */
HAUL__INLINE int haul__is_start(const uintptr_t *flat, uintptr_t address, uint32_t form)
{
    haul__block *block = haul__block_in(flat[address >> HAUL__BLOCK_SHIFT]);
    const haul__cell *cell = haul__cell_of(block, address);
    if (block->form != form)
        return 0;
    return (block->words ? (int)(haul__load_cell(cell) >> haul__word_in_cell(address))
                         : (int)(cell->aux >> haul__granule_in_cell(address))) &
           1;
}

/* share.c: has the walk found enough to be shared? Objects that wait count, and blocks, too. */
int haul__has_found_many(const haul__discovery *d);

/* Is it worth to share the walk now? It is not, if few objects wait or the graph is small. */
HAUL__INLINE int haul__is_worth_sharing(const haul__discovery *d)
{
#ifdef HAUL_STRESS_THREADS
    return !d->is_alone && d->head->read < d->head->written;
#else
    return (d->is_spread || d->waiting_chunks) && !d->is_alone && haul__has_found_many(d);
#endif
}

/* Ends the round. A failure of another thread stays, and takes the place of any other reason. */
HAUL__INLINE void haul__end_round(haul__share *share, unsigned why)
{
    unsigned go_on = HAUL__GO_ON;
    if (why >= HAUL__NEEDS_ONE_THREAD)
        haul__atomic_store(&share->stop, why);
    else
        (void)haul__atomic_replace(&share->stop, &go_on, why);
}

/* Ends it for good: one thread must walk. `about`: the number of the aim or, in a walk over single
 * objects, of the type. */
HAUL__INLINE void haul__give_up(haul__share *share, haul__why why, uint64_t about)
{
    haul__atomic_store(&share->because, (uint32_t)why | (uint32_t)about << 8);
    haul__end_round(share, HAUL__NEEDS_ONE_THREAD);
}

HAUL__INLINE haul__why haul__why_given_up(const haul__share *share)
{
    return (haul__why)(share->because & 255u);
}

HAUL__INLINE uint32_t haul__given_up_about(const haul__share *share)
{
    return share->because >> 8;
}

/* Has a round ended before its work was done? */
HAUL__INLINE int haul__is_unfinished(const haul__share *share)
{
    return share->stop == HAUL__NEEDS_PARCELS || share->stop == HAUL__HAS_NEWS;
}

/* Is an array that is visited next long enough for a walk by aims? */
HAUL__INLINE int haul__is_worth_aims(const haul__discovery *d, size_t elements)
{
#ifdef HAUL_STRESS_THREADS
    return !d->has_no_aims && elements > 0;
#else
    return !d->has_no_aims && elements >= HAUL__WORTH_SHARING;
#endif
}

/* sharer.c: a thread's part of a round. */
void haul__share_work(haul__share *share, haul__sharer *sharer);

/* Walks on with all threads from the objects that wait, if types, options and the blocks so far
 * allow it; else sets d->is_alone. After a failure, one thread must do the whole walk again, unless
 * memory has run out. */
haul_status haul__share_walk(haul__discovery *d);
/* walk_by_aims.c: the whole walk, from the roots. HAUL_ERROR_GRAPH: one thread must do it. */
haul_status haul__walk_by_aims(haul__discovery *d);

#endif
