/* One discovery under way: shared by run.c (from beginning to end), discover.c (the loop), follow.c
 * and count.c (pointers), counted.c (short plain arrays), varied.c, survey.c, word.c and line.c
 * (rules), alias.c, parents.c and holders.c (who led there), trail.c (in what order), direction.c
 * (what does not travel both ways), odd.c (exceptions), kinds.c, worklist.c, lanes.c and explain.c.
 */
#ifndef HAUL_WALK_DISCOVERY_H
#define HAUL_WALK_DISCOVERY_H

#include "walk/discover.h"
#include "map/mark.h"
#include "layout/order_log.h"

/* What is known beforehand of a pointer to plain bytes that can be followed in line (counted.c): an
 * array whose count is multiply * fields + add, or a string. */
typedef struct haul__plain_array {
    const haul__slot *slot;
    struct {
        size_t offset;  /* in the struct whose fields the shape reads */
        int64_t bits;   /* of the field as it is read signed: those that count */
        unsigned width; /* bytes */
    } field[3];
    unsigned field_count;
    int64_t multiply, add;
    int64_t unit;          /* bytes of an element */
    uintptr_t misaligned;  /* bits of the address that must be 0 */
    uint8_t level;         /* of the slot */
    uint8_t needs_pointer; /* NULL has the count 0 */
    uint8_t is_string;
    uint8_t is_called; /* a function tells the count: multiply, fields and add say nothing */
} haul__plain_array;

/* A type as this discovery meets it: numbered, so that a worklist entry needs 16 bits for it, with
 * the marks of one element worked out in advance. */
typedef struct haul__edge {
    size_t offset;
    uint64_t tag;         /* the target's kind, where worklist entries have it */
    uint32_t near_starts; /* granules of a cell where a target can start and still lie inside */
    uint32_t one;         /* exactly one object: the in-line way may be tried */
} haul__edge;

/* Of a simple kind, what marks its objects in ragged blocks. */
typedef struct haul__ragged {
    /* as many ones as there are words from one less than a length before a start to a length
     * behind */
    uint64_t window;
    uint32_t form;  /* of the blocks; HAUL__NO_FORM: there is none */
    uint32_t reach; /* words of an object, less one */
    /* so many words of a block, behind the first `reach`, have all of their window in it; 0: it is
     * wider than 64 words */
    uint32_t inside;
} haul__ragged;

typedef struct haul__met_type {
    const haul_type *type;
    const haul__walk *walk;
    haul__edge *steps; /* one for each slot; NULL until the kind is first visited */
    haul__plain_array
        *counted;        /* as many, with slot NULL where there is none; or NULL: none at all */
    haul__simple simple; /* bytes 0: elements of this kind are marked the general way */
    uint32_t form;       /* of blocks whose slots are all theirs; HAUL__NO_FORM: there is none */
    haul__ragged ragged; /* objects that do not begin and end with granules */
    uint32_t edge_count;
    uint32_t plain; /* all steps are `one` */
    uint32_t ahead; /* so many objects before its visit one is fetched */
    /* the tag of all steps, where all are `one` and lead to one kind; else HAUL__NOT_UNIFORM */
    uint64_t uniform;
    uint64_t mark; /* a cell with the granules of an object at its beginning, and its start */
    uint32_t first_slot, last_slot; /* offsets */
} haul__met_type;

#define HAUL__NOT_UNIFORM UINT64_MAX
#define HAUL__CELLS_AHEAD 32u /* pointers that are collected before the first cell is looked at */
/* As many objects as have that many pointers are fetched ahead. Less: they are not there yet; more:
 * they are gone. */
#define HAUL__AHEAD_LEAST 8u
#define HAUL__AHEAD_MOST 16u
#define HAUL__EDGES 64u /* pointers of an object of which the innermost loop takes care */
#define HAUL__SPANS 32u /* spans that wait before the first is looked at */

/* A counted array of plain bytes, or a string (end 0: not known yet), that waits for its marks. */
typedef struct haul__span {
    uintptr_t first, end;
    const haul__plain_array *counted;
} haul__span;

/* The granules of a cell, from the first on, where an element can start and still lie inside; none
 * where it may end within a granule. */
HAUL__INLINE uint32_t haul__near_starts(const haul__met_type *kind)
{
    if (kind->simple.bytes > HAUL__CELL_BYTES || kind->simple.words)
        return 0;
    return ((uint32_t)(HAUL__CELL_BYTES - kind->simple.bytes) >> HAUL__GRANULE_SHIFT) + 1;
}

enum { HAUL__OBJECTS, HAUL__POINTERS, HAUL__PLAIN };

/* Through whom something was found, of types that hold: one object, and those of other types in the
 * discovery's list `around`, each with the next. A type has the nearest of its objects there, once;
 * they are in no order. holder 0: no one. */
typedef struct haul__held {
    uintptr_t holder;
    const haul_type *type;
    size_t next; /* 1 + its place in the list; 0: no more */
} haul__held;

/* What callbacks of a rule get of those who led there, if it asks. */
typedef struct haul__asked {
    uintptr_t parent, holder; /* 0: none */
    const haul_type *type;    /* whose object is asked for; NULL: no holder is */
} haul__asked;

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

/* A queue for itself, of objects that lie near one another (lanes.c). */
typedef struct haul__bucket {
    /* where the next entry goes, and the end of its chunk; both NULL: there is none */
    uint64_t *out, *end;
    haul__chunk *first, *last; /* `written` of the last one is behind; `out` is right */
} haul__bucket;

#define HAUL__BUCKETS 64u      /* a power of two */
#define HAUL__BUCKET_SHIFT 20u /* a lane has every 64th of the stretches of a mebibyte */

/* Extents of a page and more that were marked: found again, they are not gone through again. */
typedef struct haul__memo {
    uintptr_t address;
    size_t bytes;
    const void *as; /* type, or address of a shape; NULL: plain bytes */
} haul__memo;

/* Checked mode: how an address was seen first, as an object, as a pointer word, as something that a
 * parent says what it is, or as a place that a callback with a holder answered for. All can be, at
 * one address, the last two for each `as`. */
enum { HAUL__AS_OBJECT, HAUL__AS_POINTER, HAUL__AS_CHILD, HAUL__AS_ANSWER };

/* What is asked of a callback. */
typedef enum haul__question {
    HAUL__ASKS_COUNT,
    HAUL__ASKS_CONDITION,
    HAUL__ASKS_CHOICE,
    HAUL__ASKS_BASE,
    HAUL__ASKS_SIZE
} haul__question;

typedef struct haul__seen {
    uintptr_t address;
    const void *as; /* type of the object, or of what the pointer leads to; never NULL */
    size_t unit;
    size_t root, entry, element;
    uintptr_t parent; /* a child's; of an answer the holder */
    int64_t answer;
    const haul__slot *slot; /* for the path; NULL: the element itself */
    int what;
} haul__seen;

/* A pointer that must lead into what others own. */
typedef struct haul__alias {
    uintptr_t value;
    const haul__slot *slot;
    size_t root, entry, element;
    int may_be_static, has_tags;
} haul__alias;

#define HAUL__QUEUED ((size_t)256) /* a power of two */
/* less: objects and their marks are not there yet; more: they are gone again */
#define HAUL__FETCH_QUEUE ((size_t)8)

struct haul__object;

typedef struct haul__discovery {
    haul_context *context;
    haul_allocator *allocator;
    haul__found *found;
    haul__map *map;
    const haul_root *roots;
    size_t root_count, root; /* the one being followed */
    int recording;           /* record the way, ask `readable`, check meanings */

    haul__met_type *kinds;
    size_t kind_count, kind_capacity;
    uint32_t *kind_hash; /* 1 + number; 0: free */
    size_t kind_hash_capacity;

    haul__chunk *head, *tail, *spare;
    size_t chunk_bytes, waiting_chunks;
    haul__bucket *lanes; /* HAUL__BUCKETS; NULL until they are needed */
    unsigned at_lane;    /* the one that the queue was taken from */
    int is_spread;       /* what is found in line goes to the lanes */

    haul__entry *entries;
    size_t entry_count, entry_capacity, entry_read; /* read: when recording */

    haul__span spans[HAUL__SPANS]; /* those that wait for their marks */
    size_t span_count;

    uintptr_t string_first, string_end; /* the last string that was gone through, */
    size_t string_unit;                 /* and how; 0: none */
    int64_t string_sentinel;

    haul__alias *aliases;
    size_t alias_count, alias_capacity;
    /* what rows of an object are: of the one being visited, and of one being reached */
    struct haul__field_value *survey[2];
    size_t survey_capacity[2];
    uintptr_t from; /* the struct that led to what is being visited */
    /* through whom that was found, while its kind must know; else none */
    haul__held held;
    haul__asked asked;  /* what callbacks get of these */
    int by_rule;        /* what is followed is what a rule makes of a word */
    haul__held *around; /* what entries' holders go on with */
    size_t around_count, around_capacity;
    /* objects with rules that were put on the worklist lately */
    uint64_t queued[HAUL__QUEUED];
    uint64_t line[HAUL__FETCH_QUEUE]; /* those that are being fetched: a ring */
    size_t line_first, line_count;
    int exact; /* count every string to its end, known or not */
    /* look at rules without noting what was read, and without the sought place */
    int dry_run;

    haul__memo *memo;
    size_t memo_count, memo_capacity;
    haul__seen *seen;
    size_t seen_count, seen_capacity;

    haul__sought sought;     /* stop there and leave the path */
    const haul__map *within; /* read nothing else; NULL: all that is described */
    /* note there what is reached; NULL: nowhere. Careful runs only */
    haul__order_log *trail;
    size_t at_entry, at_element; /* what is being visited, for the path */
} haul__discovery;

/* run.c: a recording run that is left open, so that its entries can be read, all of them and in the
 * order of their finding. After HAUL_OK the caller closes it and drops `found`; else there is
 * nothing to close. */
haul_status haul__record(haul_context *context, const haul_root *roots, size_t count,
                         haul__found *found, haul__discovery *d);
void haul__record_close(haul__discovery *d);

/* trail.c: of a run that has a trail. `end`: one past the entry's bytes; `alignment`: that was
 * checked. */
haul_status haul__log_range(haul__discovery *d, const haul__entry *entry, uintptr_t end,
                            size_t alignment);
/* The object is filled in: what is being visited. */
haul_status haul__log_reference(haul__discovery *d, haul__reference *mention);
/* A word without tags that leads to `value`; 0 is none. */
haul_status haul__log_pointer(haul__discovery *d, haul__reference_kind kind, uintptr_t word,
                              uintptr_t value);

/* kinds.c */
haul_status haul__met_type_of(haul__discovery *d, const haul_type *type, uint32_t *kind);
haul_status haul__met_type_edges(haul__discovery *d, uint32_t kind);
/* Of a simple kind of whole granules, one of whose objects does not begin with a granule: gives it
 * a form for such ones, once. 0: out of memory. */
int haul__met_type_ragged(haul__discovery *d, haul__met_type *kind);

/* worklist.c: single objects as address | kind << 48, first in first out; arrays in `entries`. */
int haul__queue_open(haul__discovery *d);
int haul__queue_room(haul__discovery *d);          /* after the tail filled up: a new one */
void haul__queue_advance(haul__discovery *d);      /* the head is read to its end: the next one */
haul__chunk *haul__chunk_take(haul__discovery *d); /* an empty one; NULL: out of memory */
/* all from this one on: they are empty again */
void haul__chunk_put(haul__discovery *d, haul__chunk *chunk);
void haul__worklist_close(haul__discovery *d);
haul_status haul__push_entry(haul__discovery *d, const haul__entry *entry);
/* 1: this extent was marked before as the same thing. */
int haul__memo_has(const haul__discovery *d, uintptr_t address, size_t bytes, const void *as);
haul_status haul__memo_add(haul__discovery *d, uintptr_t address, size_t bytes, const void *as);

#define HAUL__MEMO_BYTES ((size_t)4096)
#define HAUL__NOTED ((size_t)16) /* no size that other memos have: of a terminator that is noted */

HAUL__INLINE int haul__queue_push(haul__discovery *d, uintptr_t address, uint32_t kind,
                                  size_t advance)
{
    haul__chunk *tail = d->tail;
    tail->entry[tail->written] = (uint64_t)address | (uint64_t)kind << 48;
    tail->written += advance;
    return HAUL__LIKELY(tail->written < tail->capacity) || haul__queue_room(d);
}

/* lanes.c: where many objects wait, those that lie near one another wait together. */
int haul__buckets_open(haul__discovery *d); /* 0: out of memory */
void haul__buckets_close(haul__discovery *d);
/* after it filled up, or before its first entry */
int haul__bucket_room(haul__discovery *d, haul__bucket *lane);
/* The queue is empty: it becomes that of the next lane where something waits. 0: nothing does, and
 * there are no lanes any more. */
int haul__buckets_next(haul__discovery *d);

HAUL__INLINE haul__bucket *haul__bucket_of(haul__bucket *lanes, uint64_t entry)
{
    return &lanes[(entry >> HAUL__BUCKET_SHIFT) % HAUL__BUCKETS];
}

/* counted.c */
/* Works out what is known of such pointers, at the slot's last level. 0: they go the general
 * way. */
int haul__foresee_plain_array(const haul__discovery *d, const haul__slot *slot, unsigned level,
                              haul__plain_array *counted);
/* Follows a pointer of this value. 1: done, or it waits as a span; 0: nothing has been done, go the
 * general way. */
int haul__follow_plain_array(haul__discovery *d, const haul__plain_array *counted, uintptr_t value,
                             uintptr_t self);
/* Follows the pointer at `place` whose count a function tells, one way or the other. */
haul_status haul__follow_called_array(haul__discovery *d, const haul__plain_array *counted,
                                      uintptr_t place, uintptr_t self, size_t index);
haul_status haul__settle_spans(haul__discovery *d); /* all that wait */

/* Does a string of such elements that begins here end where the last one did? */
HAUL__INLINE int haul__is_in_last_string(const haul__discovery *d, uintptr_t value, size_t unit,
                                         int64_t sentinel)
{
    return value >= d->string_first && value < d->string_end && unit == d->string_unit &&
           sentinel == d->string_sentinel && (value - d->string_first) % unit == 0;
}

HAUL__INLINE void haul__note_string(haul__discovery *d, uintptr_t first, uintptr_t end, size_t unit,
                                    int64_t sentinel)
{
    d->string_first = first;
    d->string_end = end;
    d->string_unit = unit;
    d->string_sentinel = sentinel;
}

/* count.c */
HAUL__INLINE size_t haul__unit_of(const haul__slot *slot, unsigned level)
{
    return level + 1u == slot->levels ? slot->unit : HAUL__WORD;
}
#define HAUL__KNOWN SIZE_MAX /* the count of a long string that was scanned before */
/* How many elements a pointer of this value, which stands at `place`, leads to; 0 for NULL. */
haul_status haul__count_of(haul__discovery *d, const haul__slot *slot, unsigned level,
                           uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                           size_t *count);
/* The same where the shape is a function. */
haul_status haul__count_by_function(haul__discovery *d, const haul__slot *slot, unsigned level,
                                    uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                                    size_t *count);
haul_status haul__note_guard(haul__discovery *d, uintptr_t address, unsigned bytes, int64_t value);
/* calls.c */
haul_status haul__note_call(haul__discovery *d, haul_function *function, const haul_here *here,
                            haul__question question, int64_t answer);
/* Calls back, with what d->asked has, and notes the answer. */
haul_status haul__call_back(haul__discovery *d, const haul__slot *slot, haul_function *function,
                            haul_here *here, haul__question question, int64_t *answer);
/* A sentinel as an element of `unit` bytes reads when it is taken as signed. */
int64_t haul__narrow(int64_t value, size_t unit);
int haul__is_readable(const haul__discovery *d, uintptr_t address, size_t bytes);
/* How many of the bytes from `address` on, at most `bytes`, lie in one piece within the map that
 * bounds this discovery (`described`: are described there, and not only placed); all of them, when
 * nothing bounds it. */
size_t haul__known_bytes(const haul__discovery *d, uintptr_t address, size_t bytes, int described);

/* discover.c: all that the roots reach, marked. */
haul_status haul__follow_roots(haul__discovery *d);
/* What no rule has a say in, of an element of so many bytes. */
haul_status haul__visit_rest(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                             size_t bytes);

/* visit.c: the pointers of one object, of an array, and those that the innermost loop leaves
 * over. */
haul_status haul__visit_entry(haul__discovery *d, const haul__entry *entry);
haul_status haul__visit_apart(haul__discovery *d, uintptr_t element, uint32_t kind);
haul_status haul__edge_aside(haul__discovery *d, uintptr_t element, uint32_t kind,
                             const haul__edge *step);
/* What a pointer to one object leads to, also one that is too high for a worklist's entry. */
haul_status haul__reach_one(haul__discovery *d, uintptr_t address, uint32_t kind);
haul_status haul__check_limits(haul__discovery *d);

/* follow.c */
/* `place` is the address of the pointer, `value` what it leads to: what was read there, as a
 * rule. */
haul_status haul__follow(haul__discovery *d, const haul__slot *slot, unsigned level,
                         uintptr_t place, uintptr_t value, uintptr_t self, size_t index);
/* The same for one that is not NULL and whose count is known; without the directions of the
 * slot. */
haul_status haul__follow_so_many(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index,
                                 size_t count);
/* `count` elements at `address`, alignment and extent checked here; `entry` says how they were
 * reached. */
haul_status haul__reach(haul__discovery *d, haul__entry *entry);

/* Can the entry's only object, of so many bytes, be there at all? */
haul_status haul__check_entry(haul__discovery *d, const haul__entry *entry, size_t bytes);
/* What can be read of an object before it has told its size. */
size_t haul__head_bytes(const haul__walk *walk);

/* `first` to `end`, whose slots the pattern tells, for something that `slot` leads to. */
haul_status haul__mark_range(haul__discovery *d, const haul__slot *slot, uintptr_t first,
                             uintptr_t end, haul__pattern *pattern, haul__marked *marked);
/* The runs of an element, those of its bytes that lie below `limit`. */
haul_status haul__mark_element(haul__discovery *d, const haul__slot *slot, const haul__walk *walk,
                               uintptr_t element, size_t limit, haul__marked *marked);

/* varied.c: objects of types with rules, or with sizes of their own. */
/* How many bytes of the source the object takes. */
haul_status haul__size_of(haul__discovery *d, const struct haul__object *o, const haul__slot *slot,
                          size_t *bytes);
/* Marks object `index` of the entry, of so many bytes. *must_visit: 1 if it is to be visited,
 * whatever was marked before. */
haul_status haul__mark_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t index, size_t bytes, haul__marked *marked, int *must_visit);
/* Visits all that a rule has a say in; *bytes: the object's. */
haul_status haul__visit_ruled(haul__discovery *d, uintptr_t element, const haul__walk *walk,
                              size_t *bytes);
/* Both, of one object that waited in line; *is_new: 0: it was there before. */
haul_status haul__take_ruled(haul__discovery *d, const haul__entry *entry, const haul__walk *walk,
                             size_t *bytes, int *is_new);

/* line.c: such objects, from the worklist, before they are marked: fetched, and taken a few
 * later. */
haul_status haul__fetch_push(haul__discovery *d, uintptr_t element, uint32_t kind);
haul_status haul__fetch_drain(haul__discovery *d); /* takes all of them */

/* alias.c: at the end, do all aliases lead into what others own? */
haul_status haul__check_aliases(haul__discovery *d);

/* direction.c */
/* After haul__follow's work, with its arguments: bars what the slot's direction bars of what it
 * leads to. */
haul_status haul__exclude_target(haul__discovery *d, const haul__slot *slot, unsigned level,
                                 uintptr_t place, uintptr_t value, uintptr_t self, size_t index);
/* Bars a ruled field that holds, or the tail, of an object of so many bytes; a pointer's direction
 * is its target's. */
haul_status haul__exclude_ruled(haul__discovery *d, uintptr_t element, const haul__ruled *ruled,
                                size_t bytes);
/* Elements of a type that is_noted, after they have been reached. HAUL_ERROR_UNSUPPORTED: nothing
 * could rebuild them. */
haul_status haul__note_elements(haul__discovery *d, const haul__entry *entry);
/* parents.c, checked mode: objects of the entry, whose rules ask who led there, are what they were
 * for who came first. */
haul_status haul__meet_parent(haul__discovery *d, const haul__entry *entry);

/* holders.c */
/* Sets d->held to those through whom things are found that an element of the entry leads to: the
 * entry's, as far as its kind must know, and the element itself if it holds. */
haul_status haul__enter(haul__discovery *d, const haul__entry *entry, size_t element);
void haul__leave(haul__discovery *d); /* nobody, and nothing is asked */
/* Checked mode: *is_again: 1 if objects or pointers were found before, but never through these
 * holders. */
haul_status haul__meet_held(haul__discovery *d, const haul__entry *entry, int *is_again);
/* Checked mode: is this the answer that the same question had with the first holder? */
haul_status haul__meet_answer(haul__discovery *d, const haul__slot *slot, const haul_here *here,
                              haul__question question, int64_t answer);
extern const char *const haul__question_names[];

/* odd.c */
haul_status haul__note_odd(haul__discovery *d, uintptr_t address, uintptr_t value, uintptr_t delta);
haul_status haul__note_kept(haul__discovery *d, const haul__kept *word);
haul_status haul__note_tagged(haul__discovery *d, const haul__tagged *word);

/* explain.c: errors with the path of what is being visited. `slot` NULL: the element itself. */
haul_status haul__refuse(haul__discovery *d, haul_status status, const haul__slot *slot,
                         const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
haul_status haul__refuse_outside(haul__discovery *d, const haul__slot *slot, uintptr_t address);
/* The way to an element of an entry, or to a slot of it; HAUL_PATH_BYTES of room. 0: out of
 * memory. */
int haul__name_place(haul__discovery *d, size_t entry, size_t element, const haul__slot *slot,
                     char *path);
/* Sets other_path to the first thing found that covers `address`. */
void haul__name_other(haul__discovery *d, uintptr_t address);
void haul__name_seen(haul__discovery *d, const haul__seen *seen);
/* Sets other_path to another row of the element that is being visited. */
void haul__name_row(haul__discovery *d, const haul__slot *slot);
/* Checked mode: the thing at this address is met as `as`; `slot` is the way to it, for the path.
 * The second form takes a pointer word as what it is at a level of its slot, and does nothing out
 * of checked mode. */
haul_status haul__meet(haul__discovery *d, uintptr_t address, int what, const void *as, size_t unit,
                       const haul__slot *slot);
/* How it was seen first: now, where *is_new. NULL: out of memory. */
haul__seen *haul__see(haul__discovery *d, uintptr_t address, int what, const void *as,
                      const haul__slot *slot, int *is_new);
haul_status haul__meet_pointer(haul__discovery *d, uintptr_t address, const haul__slot *slot,
                               unsigned level);

#endif
