/* The arena room's door: memory that is allocated into and shipped as it lies.
 *
 *     base                          room.top        end                  base + capacity
 *     | what has been allocated     | zeros         | never touched      |
 *
 * All of it above room.top is zero: an allocation has only to move room.top. Beside it a bit for
 * each word tells which words are pointers (`slots`), written by typed allocation, and in checked
 * arenas a bit for each granule where allocations begin (`starts`) and one where checkpoints are
 * (`marks`). Above room.top all are zero too.
 *
 * Nothing below knows a device: memory comes from an allocator or from whoever makes the arena, and
 * what a device has sent is bytes in staging.
 */
#ifndef HAUL_ARENA_ROOM_H
#define HAUL_ARENA_ROOM_H

#include "base/base.h"
#include "context/context.h"
#include "haul/arena.h"
#include "pack/pack.h"
#include "pack/reads.h"
#include "type/type.h"

/* Where an arena's bytes lie, and how they are given back. */
typedef struct haul__region haul__region;
struct haul__region {
    void *memory; /* zeros; NULL: none */
    size_t bytes;
    void (*release)(const haul__region *region);
    void *user;
    int grows, pinned;
    unsigned char *window; /* where a device is to find the bytes; NULL: at `memory` */
    size_t mirrored;       /* bytes that `user` has at the same addresses; */
    /* that is a shipment's now, or what a late device may still write: so many have it */
    unsigned lent;
    int is_left; /* a device may use it forever: it is never given back */
};

/* Objects, at equal distances, of which a bit a word does not tell all: they have bytes that do not
 * come back, or pointers off the grid. */
typedef struct haul__special {
    size_t at, count, stride;
    size_t tail;           /* bytes behind each */
    const haul_type *type; /* held */
} haul__special;

/* Where the device may make objects: [struct | bits | memory]. What the struct says is only ever
 * compared with this: it lies where devices write. */
typedef struct haul__nursery_place {
    size_t at, memory; /* offsets; of the struct is `at` */
    size_t capacity;
    size_t used; /* as far as the host knows */
} haul__nursery_place;

/* The blocks of the drop-in forms that begin in a group of granules (blocks.c). */
typedef struct haul__blocks haul__blocks;

/* Released blocks of one size: their offsets, in granules. */
typedef struct haul__free_list {
    size_t *blocks;
    size_t count, capacity;
} haul__free_list;

/* The lowest place of the arena at which something has gone behind the opening of contents number
 * `opens`, and before that of any later ones. */
typedef struct haul__change {
    uint64_t opens;
    size_t first;
} haul__change;

struct haul_arena {
    haul__arena_room room; /* first: inline allocation reads it */
    uint32_t magic;
    int holders; /* atomic: the caller's, and one for each shipment */
    haul__freed freed;
    haul_context *context;
    haul_arena_options options;
    haul_error error;
    haul__region region;
    /* room.end is `end`, or room.top where no allocation can be so simple */
    unsigned char *end;
    size_t capacity;
    int is_plain;     /* room.end is `end` */
    size_t alignment; /* the largest that was asked for */
    haul__region slots_region, starts_region, marks_region;
    uint64_t *starts, *marks; /* NULL: not checked */
    /* of the types in room.stamps, which are held */
    unsigned char is_special[1u << HAUL__STAMP_BITS];
    haul__special *special;
    size_t special_count, special_capacity;
    haul__nursery_place *nurseries;
    size_t nursery_count, nursery_capacity;
    haul__free_list *free_lists; /* NULL: nothing is used again */
    haul__blocks *blocks;        /* NULL: there are none */
    haul__region blocks_region;
    size_t peak, released, reused;
    uint64_t resets;
    size_t floor;      /* the last checkpoint: only a rollback goes below */
    int carriers;      /* atomic: contents that are open */
    uint64_t opens;    /* contents that have been opened so far */
    int was_read_late; /* a device has given up on a copy of it, and may still read it */
    /* what has been released, given out again or cut off since (contents.c) */
    haul__change *changes;
    size_t change_count, change_capacity;
    /* times that objects of kernels have come back, with pointers where there were none */
    uint64_t grown;
};

int haul__arena_is_valid(const haul_arena *arena);
void haul__arena_hold(haul_arena *arena);
/* Not from inside a haul__finish, which answers what the second answers in place of it. */
void haul__arena_drop(haul_arena *arena);
haul__freed *haul__arena_let_go(haul_arena *arena);
/* `region` may be NULL: memory from the context's allocator. On failure the region is the
 * caller's. */
haul_status haul__arena_make(haul_context *context, const haul_arena_options *options,
                             const haul__region *region, haul_arena **arena);
/* The sentence for a failure of it. */
const char *haul__arena_why_not(haul_status status);
size_t haul__arena_default_fixed_bytes(const haul_arena_options *options);

HAUL__INLINE size_t haul__arena_used(const haul_arena *arena)
{
    return (size_t)(arena->room.top - arena->room.base);
}

/* Where a device finds what lies at `memory`, which is in the arena. */
HAUL__INLINE unsigned char *haul__arena_window(const haul_arena *arena, unsigned char *memory)
{
    const haul__region *region = &arena->region;
    return region->window ? region->window + (memory - (unsigned char *)region->memory) : memory;
}

/* Zeros beside the arena, reserved if they can be. 0: there is no memory. */
int haul__arena_table(haul_arena *arena, size_t bytes, haul__region *region);
/* Grows so that `end`, an offset, is within. 0: it cannot; the record says why. */
int haul__arena_grow(haul_arena *arena, size_t end);
void haul__arena_set_top(haul_arena *arena, unsigned char *top);
void haul__arena_note_peak(haul_arena *arena); /* before the top goes back */
/* Forgets what is known of [first, end): pointers, starts and blocks, and makes it zeros that
 * nobody may touch. */
void haul__arena_wipe(haul_arena *arena, size_t first, size_t end);

/* What was allocated at or above `first` may be gone: contents that reach there are stale. */
void haul__arena_changed(haul_arena *arena, size_t first);

/* What is at or above `first` goes from the lists. */
void haul__special_cut(haul_arena *arena, size_t first);
void haul__stamps_drop(haul_arena *arena);

/* Pointer bits of a word (allocate.c). */
void haul__set_slot(haul_arena *arena, size_t at);

void haul__nurseries_remove(haul_arena *arena, size_t first, size_t end);
void haul__nurseries_free(haul_arena *arena);

/* The drop-in forms (blocks.c): no block begins in [first, end) any more. */
void haul__blocks_forget(haul_arena *arena, size_t first, size_t end);
size_t haul__blocks_bytes(const haul_arena *arena);

/* Reuse (reuse.c): the bytes that an allocation really takes; 0: more than there can be. */
size_t haul__arena_round(const haul_arena *arena, size_t bytes);
void *haul__free_list_take(haul_arena *arena, size_t rounded); /* NULL: none */
int haul__free_list_put(haul_arena *arena, size_t at, size_t rounded);
void haul__free_lists_cut(haul_arena *arena, size_t first);
int haul__free_lists_make(haul_arena *arena);
void haul__free_lists_free(haul_arena *arena);
size_t haul__free_lists_bytes(const haul_arena *arena);

/* ---- What was shipped of an arena (contents.c, odd.c, edit.c, back.c). */

/* Bytes that do not come back. On the way there they stay as they are, unless they are edited. */
typedef struct haul__kept_bytes {
    size_t at, bytes;
    int is_edited;
    int is_data; /* kept by a direction alone: an update takes it there */
    unsigned char becomes[sizeof(uint64_t)]; /* of no more bytes than that; more become zeros */
} haul__kept_bytes;

/* A pointer that no bit tells: off the grid, or one that leads `delta` bytes beside its block. */
typedef struct haul__odd_place {
    size_t at;
    uintptr_t delta;
} haul__odd_place;

/* A pointer with high tags: without the bits of `mask`, and `delta` on, it is what it leads to. */
typedef struct haul__tagged_place {
    size_t at;
    uintptr_t delta, mask;
} haul__tagged_place;

/* Another arena on the same device. */
typedef struct haul__neighbour {
    uintptr_t host;
    size_t bytes;
    uint64_t device;
} haul__neighbour;

typedef struct haul__contents {
    haul_arena *arena; /* held */
    unsigned char *base;
    size_t bytes;   /* from its base */
    uint64_t opens; /* their number: the arena's, then */
    const uint64_t *slots;
    uint64_t *own;          /* slots that were discovered; NULL: the arena's */
    haul_root root;         /* it was discovered from; type NULL: it was not */
    haul__kept_bytes *kept; /* in order; odd words among them */
    size_t kept_count, kept_capacity;
    haul__odd_place *odd; /* in order */
    size_t odd_count, odd_capacity;
    haul__tagged_place *tagged; /* in order */
    size_t tagged_count;
    uint64_t there; /* the contents' address on the device; 0: they have none yet */
    /* how far odd words lead out of the contents, to come back in by their delta */
    size_t before, behind;
    haul__neighbour *neighbours;
    size_t neighbour_count;
    haul_outside outside;
    int direct;
    int is_edited; /* the last time they went there, some bytes were others */
    /* of a graph that was discovered: fields that shapes and rules read, and terminators */
    haul__reads reads;
    int lets_change; /* they may come back changed */
} haul__contents;

/* Describes what the arena holds now; `plan` tells its pointers, or NULL: the arena does.
 * HAUL_ERROR_GRAPH: the plan's graph does not lie in the arena. Fails with words in `error`. */
haul_status haul__contents_open(haul__contents *contents, haul_arena *arena, const haul_plan *plan,
                                haul_error *error);
void haul__contents_close(haul__contents *contents);
/* The same, but for the hold on the arena, which is the caller's then. */
void haul__contents_release(haul__contents *contents);
/* HAUL_ERROR_STALE: what was shipped is no longer there. */
haul_status haul__contents_check(const haul__contents *contents, haul_error *error);
size_t haul__contents_bitmap_bytes(const haul__contents *contents);

/* The first word from *at on that is a pointer and leads neither into the contents nor to a
 * neighbour. 0: there is none. */
int haul__next_outside(const haul__contents *contents, size_t *at);
int haul__leads_inside(const haul__contents *contents, uintptr_t value);

/* Odd words (odd.c). The first from number *i on that leads out; 0: none. */
int haul__next_odd_outside(const haul__contents *contents, size_t *i);
int haul__note_odd_word(haul__contents *contents, size_t at, uintptr_t delta); /* 0: no memory */
/* Those that typed allocation has noted, and those of a plan. */
int haul__odd_of_object(haul__contents *contents, const haul__walk *walk, size_t at);
int haul__odd_of_plan(haul__contents *contents, const haul_plan *plan);
void haul__odd_sort(haul__contents *contents);
haul_status haul__odd_check_back(const haul__contents *contents, const unsigned char *memory,
                                 uint64_t device, haul_error *error);
void haul__odd_scatter(const haul__contents *contents, const unsigned char *memory,
                       uint64_t device);

/* Pointers with high tags (tagged.c): those of a plan. 0: no memory. */
int haul__tagged_of_plan(haul__contents *contents, const haul_plan *plan);
/* HAUL_ERROR_LIMIT: what one leads to has an address there with bits of its tag. */
haul_status haul__tagged_check(const haul__contents *contents, haul_error *error);
void haul__tagged_edit(const haul__contents *contents, unsigned char *memory, size_t first,
                       size_t bytes);
haul_status haul__tagged_check_back(const haul__contents *contents, const unsigned char *memory,
                                    uint64_t device, haul_error *error);
void haul__tagged_scatter(const haul__contents *contents, const unsigned char *memory,
                          uint64_t device);
/* Bytes of up to `most` (at least a word) from the first tagged word at or behind *at on, that hold
 * some of them: where they begin, and how many. 0: there are none. */
size_t haul__tagged_stretch(const haul__contents *contents, size_t most, size_t *at);
/* The words of [at, at + bytes), in `memory`, as they were where the contents lay at `from`, become
 * those of where they lie now. HAUL_ERROR_LIMIT: as above. */
haul_status haul__tagged_move(const haul__contents *contents, unsigned char *memory, size_t at,
                              size_t bytes, uint64_t from, haul_error *error);

/* Must some bytes be other ones on the way there (edit.c)? */
int haul__is_edited(const haul__contents *contents);
/* Bytes [first, first + bytes) of the contents, copied to `memory`, become what they are to be. */
void haul__edit(const haul__contents *contents, unsigned char *memory, size_t first, size_t bytes);
/* Copies bytes [first, end) of the contents, but for pointers and for what does not come back; `to`
 * and `from` stand for offset 0. */
void haul__copy_returning(const haul__contents *contents, unsigned char *to,
                          const unsigned char *from, size_t first, size_t end);
/* The same, of what an update takes there: data that do not come back, too. */
void haul__copy_going(const haul__contents *contents, unsigned char *to, const unsigned char *from,
                      size_t first, size_t end);
/* Would that be all of [first, end)? */
int haul__is_solid(const haul__contents *contents, size_t first, size_t end);

/* Fields that shapes and rules read (reads.c): are there any in [at, at + bytes) that must not
 * change? And those bytes from the device, in `memory`: HAUL_ERROR_GRAPH where one has changed. */
int haul__contents_have_reads(const haul__contents *contents, size_t at, size_t bytes);
haul_status haul__contents_check_reads(const haul__contents *contents, const unsigned char *memory,
                                       size_t at, size_t bytes, haul_error *error);
/* Bytes [at, at + bytes) from the device, in `memory`: data only. */
void haul__contents_scatter(const haul__contents *contents, haul_context *context,
                            const unsigned char *memory, size_t at, size_t bytes);
/* All of them, with pointers. Checked first: HAUL_ERROR_GRAPH, and nothing is written. `device`:
 * where they lay. */
haul_status haul__contents_check_pointers(const haul__contents *contents,
                                          const unsigned char *memory, uint64_t device,
                                          haul_error *error);
void haul__contents_scatter_pointers(const haul__contents *contents, haul_context *context,
                                     const unsigned char *memory, uint64_t device);

/* A pointer on its way back: `old` is what the host has, `word` what the device has. 0: it leads
 * nowhere. */
int haul__word_back(const haul__contents *contents, uintptr_t old, uintptr_t word, uint64_t device,
                    uintptr_t *value);

/* The same for what the device has made (nursery.c): pointers are there then that no device's marks
 * have. */
int haul__nurseries_keep(haul__contents *contents); /* 0: no memory */
/* The contents are sent as they are now: what has come into nurseries since is theirs, too. */
void haul__nurseries_settle(haul__contents *contents);
/* Has something come into one since the contents were sent? */
int haul__nurseries_have_grown(const haul__contents *contents);
haul_status haul__nurseries_check(const haul__contents *contents, const unsigned char *memory,
                                  uint64_t device, haul_error *error);
void haul__nurseries_scatter(haul__contents *contents, const unsigned char *memory,
                             uint64_t device);
int haul__contents_keep(haul__contents *contents, size_t at, size_t bytes); /* 0: no memory */
/* The same, of data. */
int haul__contents_exclude(haul__contents *contents, size_t at, size_t bytes);
/* The same, of bytes that are others there: what `becomes` holds; NULL: zeros. */
int haul__contents_replace(haul__contents *contents, size_t at, size_t bytes, const void *becomes);
/* The first of the kept ranges that ends behind `at`. */
size_t haul__first_kept(const haul__contents *contents, size_t at);
/* The same contents once more, for another range. HAUL_ERROR_MEMORY, with words. */
haul_status haul__contents_copy(haul__contents *copy, const haul__contents *contents,
                                haul_error *error);

#endif
