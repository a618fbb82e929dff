/* The ship room's inside: what a device handle and a shipment hold, and how bytes cross.
 *
 * A shipment is one device range:
 *
 *     address            + bitmap_at         + odd_at          + list_at                + bytes
 *     | arena            | relocation bitmap | odd offsets     | what is to be rebuilt  |
 *
 * Bitmap and odd offsets are there only when the device patches pointers itself, in the bitmap's
 * place perhaps a list of all pointers; the list behind them where there are objects whose contents
 * depend on addresses. One range means one allocation and one transfer for a whole graph, however
 * many pieces it crosses in. All functions below run inside a call that has entered the device's
 * context; when they fail they fill its error record, and have undone what they did.
 */
#ifndef HAUL_SHIP_ROOM_H
#define HAUL_SHIP_ROOM_H

#include "arena/arena.h"
#include "context/context.h"
#include "haul/ship.h"
#include "pack/pack.h"

/* The staging ring, HAUL__RING_BYTES in all. A large arena crosses in pieces of at most
 * HAUL__PIECE_BYTES: in larger ones more of the last piece's transfer is not hidden behind packing;
 * smaller ones cost more orders, 14 us each when packing has driven what they need out of the
 * caches. Several threads pack faster than the device reads: for them pieces of
 * HAUL__TEAM_PIECE_BYTES, so that more of them are under way. A small graph pins HAUL__FIRST_BYTES,
 * no more; one of a megabyte, whole or in pieces, buffers of HAUL__SECOND_BYTES. */
#define HAUL__RING_BYTES ((size_t)32 << 20)
#define HAUL__PIECE_BYTES ((size_t)8 << 20)
#define HAUL__TEAM_PIECE_BYTES ((size_t)4 << 20)
#define HAUL__FIRST_BYTES ((size_t)512 << 10)
#define HAUL__SECOND_BYTES ((size_t)1280 << 10)
#define HAUL__RING_BUFFERS 8u /* at most */

/* Host memory for copies, from the device or, where it refuses, from the allocator. */
typedef struct haul__memory {
    void *memory; /* NULL: none */
    size_t bytes;
    int plain; /* from the allocator */
} haul__memory;

typedef struct haul__buffer {
    haul__memory memory;
    /* nobody's; a call's; the device's until `fence` */
    enum { HAUL__FREE, HAUL__TAKEN, HAUL__BUSY } use;
    uint64_t fence;
    void *stream; /* the fence's */
} haul__buffer;

/* Pages of the source that are locked for one graph. */
typedef struct haul__locked {
    haul_stretch *ranges;
    size_t count, capacity;
} haul__locked;

/* What a device still uses though nobody waits for it any more. */
typedef struct haul__kept {
    haul_address address; /* of `bytes` of device memory; or */
    uint64_t bytes;
    haul__memory memory; /* or */
    haul__locked locked;
    haul__region *region; /* or: an arena's memory, which this device has given, and */
    int is_lent;          /* its part at the same addresses; or */
    haul_arena *arena;    /* any other arena, held */
    uint64_t fence;
} haul__kept;

struct haul_device {
    uint32_t magic;
    int holders;             /* atomic: the caller's, and one for each shipment */
    haul_device_table table; /* a copy: the back end's may go */
    void *state;
    haul_context *context; /* held */
    haul__freed freed;     /* for the caller's hold */
    long process;          /* that has opened it */
    haul_device_capabilities capabilities;
    void *stream; /* selected: the last call's; NULL: the device's own */
    haul__buffer ring[HAUL__RING_BUFFERS];
    size_t whole_bytes;    /* up to here all of an arena has arrived before any of it is written */
    size_t expected_bytes; /* of the next graph that is shipped: the last one's */
    /* that the device has reported, and the last of them: the work under way may be hit */
    uint64_t failures;
    haul_status failure;
    /* a wait of this call has answered HAUL_ERROR_PENDING: what it gives back is kept */
    int is_late;
    uint64_t late_fence;    /* ... until this fence */
    int is_untold;          /* the same, and no fence was to be had */
    uint64_t late_failures; /* `failures`, when the first such wait gave up */
    haul__kept *kept;
    size_t kept_count, kept_capacity;
};

typedef struct haul__range {
    haul_address address;
    size_t arena_bytes, bitmap_at, bitmap_bytes, odd_at, odd_count, list_at, list_count;
    /* pointers that have been sent as a list, into the end of the bitmap's room; 0: the bitmap
     * has */
    size_t listed;
    uint64_t grown; /* the arena's, when its marks were sent */
    size_t bytes;
    haul_arena *mirror; /* whose memory this is, at the arena's own addresses; NULL: allocated */
} haul__range;

/* Does the device patch it? Then there is a bitmap, or room for it. */
HAUL__INLINE int haul__is_patched(const haul__range *range)
{
    return range->bitmap_bytes > 0;
}

/* Where its list of pointers begins. */
HAUL__INLINE size_t haul__listed_at(const haul__range *range)
{
    return range->bitmap_at + range->bitmap_bytes - range->listed * sizeof(uint64_t);
}

/* Few pointers are told by a list of their offsets, at most so many: it takes a part of the
 * bitmap's bytes, and one piece of `piece` bytes. 0: none are. */
#define HAUL__LIST_PART 2u
HAUL__INLINE size_t haul__listed_most(const haul__range *range, size_t piece)
{
    const size_t part = range->bitmap_bytes / HAUL__LIST_PART;
    return range->odd_count > 0 ? 0 : (part < piece ? part : piece) / sizeof(uint64_t);
}

/* What has been sent of it. */
HAUL__INLINE size_t haul__sent_bytes(const haul__range *range)
{
    return range->listed ? range->arena_bytes + range->bytes - haul__listed_at(range)
                         : range->bytes;
}

/* What a device needs to reach a shipment's source by itself: lists in its memory, and locks. */
typedef struct haul__direct {
    enum { HAUL__UNTRIED, HAUL__READY, HAUL__REFUSED } state;
    haul__range lists; /* | segments | attachments |; of 0 bytes: none */
    size_t segment_count, attachment_count;
    haul__locked locked;
} haul__direct;

/* Work of a call that was not waited for to its end. */
typedef struct haul__late {
    uint64_t fence;    /* behind it; 0: there is none, or */
    uint64_t failures; /* the device's, when the call gave up */
    int is_untold;     /* ... there is, and no fence was to be had */
    /* held: another one than the shipment's, which reads its range; NULL: it is its own */
    haul_device *device;
} haul__late;

/* The last asynchronous work on a shipment. All earlier work is done when this is. */
typedef struct haul__work {
    int is_pending;
    uint64_t fence, failures; /* the device's failures when it was ordered */
    void *stream;
} haul__work;

/* What comes back and has not been written to the host's objects yet. */
typedef struct haul__return haul__return;

struct haul_shipment {
    uint32_t magic;
    haul__freed freed;
    haul_device *device; /* held */
    haul_plan *plan;     /* held; NULL: the range holds an arena of the user's: */
    haul__contents contents;
    haul__range range;
    haul_ship_options options;
    haul_shipment_statistics statistics;
    /* the range's bitmap, or list, and odd offsets have arrived as they should */
    int marks_are_there;
    haul__work work;
    haul__return *returns; /* in the order of the calls */
    haul__memory spare;    /* of a return that has been written */
    haul__direct direct;
    haul__late late;
};

int haul__device_is_valid(const haul_device *device);
void haul__device_hold(haul_device *device);
void haul__device_drop(haul_device *device);
/* Was it opened by this process? Not in a child after a fork: a call then fails with what
 * haul__device_refuse answers, and before a free that may call verbs comes haul__device_settle:
 * from then on the device's verbs do nothing. */
int haul__device_is_here(const haul_device *device);
haul_status haul__device_refuse(const haul_device *device);
void haul__device_settle(haul_device *device);
/* Around a phase of a call ("pack", "transfer", "relocate", "scatter"), for a profiler. */
void haul__phase_begin(haul_device *device, const char *name);
void haul__phase_end(haul_device *device);
/* haul__context_enter of the device's context, for a call that may give memory back. */
haul_status haul__device_enter(haul_device *device);

/* Fills the record: "<before><bytes><after> failed: <the device's words>". Answers `status`. */
haul_status haul__device_failed(haul_device *device, haul_status status, const char *before,
                                uint64_t bytes, const char *after);

int haul__shipment_is_valid(const haul_shipment *shipment);
haul__listener haul__shipment_listener(const haul_ship_options *options);
/* A handle without a range; NULL: out of memory. Freed by haul__shipment_discard. */
haul_shipment *haul__shipment_new(haul_device *device, const haul_ship_options *options);
void haul__shipment_discard(haul_device *device, haul_shipment *shipment);
/* Makes it a shipment: takes over the hold on the plan, which may be NULL. */
void haul__shipment_complete(haul_shipment *shipment, haul_device *device, haul_plan *plan);

/* ---- Order (order.c). A call is asynchronous when `async` is not NULL. */

/* Enters a call on a shipment, asynchronous or not. What was ordered of it before is done first,
 * but for asynchronous work that the stream orders anyway. HAUL_ERROR_ARGUMENT, HAUL_ERROR_BUSY, or
 * how that work ended; every HAUL_OK is paired with haul__shipment_leave. */
haul_status haul__shipment_enter(haul_shipment *shipment, const haul_async *async);
void haul__shipment_leave(haul_shipment *shipment);

/* The stream of all orders until the next select; each call begins with it. */
haul_status haul__select(haul_device *device, void *stream);
haul_status haul__fence(haul_device *device, uint64_t *fence);
/* The same, with words for a failure. */
haul_status haul__fence_behind(haul_device *device, size_t bytes, uint64_t *fence);
/* Waits for a fence, or asks: HAUL_OK, HAUL_ERROR_PENDING, or what failed. */
haul_status haul__await(haul_device *device, uint64_t fence);
haul_status haul__poll(haul_device *device, uint64_t fence);
/* Waits for all that the selected stream was told, after a failure that the record already
 * tells. */
void haul__drain(haul_device *device);
/* The end of a call's orders: synchronous, waits for them; asynchronous, notes them in *work and
 * tells the event. On failure, nothing is under way any more, or the device is late. The words are
 * for the record. Without `async`, `work` may be NULL. */
haul_status haul__conclude(haul_device *device, const haul_async *async, haul__work *work,
                           const char *before, uint64_t bytes, const char *after);
/* May work of an earlier call still be under way, which gave it up? Then late.fence lies behind it;
 * or is 0: there is none to be had. */
int haul__shipment_is_late(haul_shipment *shipment);
/* Notes what a call on the shipment has left under way on a device. */
void haul__note_late(haul_shipment *shipment, haul_device *device);
/* All that was ordered of a shipment, results written. HAUL_ERROR_PENDING: not yet. */
haul_status haul__shipment_finish(haul_shipment *shipment);
/* Lets go of what is under way, results unwritten; and of the range. */
void haul__shipment_abandon(haul_shipment *shipment);
void haul__shipment_unload(haul_shipment *shipment);

/* A result on its way to the host: takes over the memory, in any case; orders the copy of `bytes`
 * at `at` of the arena and notes it; `write` is called with it by haul__shipment_finish. */
typedef haul_status haul__write(haul_shipment *shipment, const haul__return *back);
struct haul__return {
    haul__return *next;
    haul__memory memory;
    unsigned char *data; /* in it */
    haul__write *write;
    int is_whole; /* all of the arena: `write` comes after haul__prepare_write */
    size_t at, bytes;
    uintptr_t first, end; /* for `write`: a host range */
};
/* Memory for the writes of whole arenas, so that these need none: HAUL_ERROR_MEMORY. When it
 * succeeds, haul__end_write follows (unmarshal.c). */
haul_status haul__prepare_write(haul_shipment *shipment);
void haul__end_write(haul_shipment *shipment);
/* Memory for one, used before or new. */
haul_status haul__return_memory(haul_shipment *shipment, size_t bytes, haul__memory *memory);
haul_status haul__return_later(haul_shipment *shipment, const haul_async *async,
                               const haul__return *what);

/* ---- Staging (staging.c). */

#define HAUL__STAGE_ALIGNMENT 16u
haul_status haul__memory_get(haul_device *device, size_t bytes, haul__memory *memory);
/* Kept, if the device is late. */
void haul__memory_put(haul_device *device, haul__memory *memory);

/* How many buffers the ring has. */
size_t haul__ring_buffers(const haul_device *device);
/* A buffer of the ring of at least `bytes`, that is the caller's until one of the next two. It may
 * wait for one. */
haul_status haul__take(haul_device *device, size_t bytes, haul__buffer **buffer);
/* The device is done with it; if it is late, it keeps it until it is. */
void haul__put(haul_device *device, haul__buffer *buffer);
/* Whatever the selected stream was told so far uses it. */
haul_status haul__put_after(haul_device *device, haul__buffer *buffer);
/* The same where a fence has been made for it. */
void haul__put_until(haul_device *device, haul__buffer *buffer, uint64_t fence);
/* All that the selected stream was told is done. */
void haul__ring_is_idle(haul_device *device);
/* Before the device closes. */
void haul__ring_close(haul_device *device);

/* A buffer of the ring or, for more than a piece, memory of its own. `skew`, below
 * HAUL__STAGE_ALIGNMENT, moves `data`, so that a piece of an arena lies as it does in the arena. */
typedef struct haul__staging {
    unsigned char *data;  /* what was asked for */
    haul__buffer *buffer; /* or NULL: */
    haul__memory own;
    int plain;
} haul__staging;
haul_status haul__stage(haul_device *device, size_t bytes, size_t skew, haul__staging *staging);
void haul__unstage(haul_device *device, haul__staging *staging);
/* The same where work may go on; `work` may be NULL: it does not. */
void haul__unstage_until(haul_device *device, haul__staging *staging, const haul__work *work);
/* A uint32_t of 0, which the device sets where it has something to tell; data NULL: there is no
 * memory for it. */
haul_status haul__stage_word(haul_device *device, haul__staging *staging);
/* Has it, now that it has finished? Gives the memory back. */
int haul__unstage_word(haul_device *device, haul__staging *staging);

/* Device memory, given back; kept, if the device is late. */
void haul__unload(haul_device *device, haul__range *range);
/* Before a shipment lets go of its arena, which may be NULL: kept, if the device is late. */
void haul__keep_arena(haul_device *device, haul_arena *arena);
/* Waits for whatever may use an arena's memory, which the device has given, before that goes. 0: in
 * vain. */
int haul__is_done_with(haul_device *device, const haul__region *region);
/* Locks, given back; kept, where work before a fence may be under way with what they lock. 0: there
 * is none. */
void haul__unlock(haul_device *device, haul__locked *locked, uint64_t fence);
/* Locks that stay for good; the notes of them go. */
void haul__leave_locked(haul_device *device, haul__locked *locked);
/* Gives back what was kept and is free by now. */
void haul__collect(haul_device *device);

/* ---- Transfers (transfer.c). */

/* The bytes of a piece in which `total` cross, of the largest, and of the largest where the device
 * has no wish of its own; how much crosses as one. */
size_t haul__piece_bytes(const haul_device *device, size_t total);
size_t haul__piece_limit(const haul_device *device);
size_t haul__piece_most(const haul_device *device);
int haul__crosses_whole(const haul_device *device, size_t total);

/* Order a copy. On failure, all that the stream was told is done. */
haul_status haul__copy_to(haul_device *device, haul_address to, const void *from, size_t bytes);
haul_status haul__copy_from(haul_device *device, void *to, haul_address from, size_t bytes);
/* The piece of a shipment's arena on the device: ordered; waited for, and counted as a transfer;
 * both. */
haul_status haul__shipment_order(haul_shipment *shipment, void *to, size_t at, size_t bytes);
haul_status haul__shipment_arrive(haul_shipment *shipment, size_t bytes);
haul_status haul__shipment_receive(haul_shipment *shipment, void *to, size_t at, size_t bytes);

/* Gathers piece by piece into the ring and orders the copies, pointers as base + offset. Adds what
 * gathering took to *packed. After a failure pieces may be under way. */
haul_status haul__send_arena(haul_device *device, haul_plan *plan, uint64_t base, haul_address to,
                             const haul__listener *listener, double *packed);
/* Bytes the same way. */
haul_status haul__send_bytes(haul_device *device, const void *from, size_t bytes, haul_address to);
/* Its marks the same way: bitmap and odd offsets, or a list of pointers. */
haul_status haul__send_marks(haul_device *device, const haul_plan *plan, haul__range *range);
/* A patch of a range whose arena held pointers into [from, from + bytes], and the order for it. */
haul_relocation haul__relocation_of(const haul__range *range, uint64_t from, uint64_t bytes,
                                    uint64_t delta);
/* Of no word, or one that changes and tells nothing: nothing. */
haul_status haul__patch(haul_device *device, const haul_relocation *relocation);
/* The patch of a range whose arena held pointers into [from, from + arena_bytes]. */
haul_status haul__relocate(haul_device *device, const haul__range *range, uint64_t from);
/* Copy and patch in one order, of a range as it lies in `memory`, which is of the device's
 * staging. */
haul_status haul__send_as_one(haul_device *device, const haul__range *range, uint64_t from,
                              const void *memory);
/* The reverse: an arena's range as it lies, with pointers that hold at `to`, into `memory`, of some
 * device's staging. HAUL_ERROR_UNSUPPORTED: the device would rather have other orders, and nothing
 * has happened. */
haul_status haul__fetch_as_one(haul_device *device, const haul__range *range, uint64_t to,
                               unsigned char *memory);
/* Orders the copy of a taken buffer of the ring, which is the device's from then on. */
haul_status haul__send_buffer(haul_device *device, haul__buffer *buffer, haul_address to,
                              size_t bytes);

/* Where the parts of a plan's range lie; its bitmap too if the device is to patch. */
haul_status haul__lay_out(haul_device *device, const haul_plan *plan, int patched,
                          haul__range *range);
haul_status haul__allocate_range(haul_device *device, const haul_plan *plan, haul__range *range);
haul_status haul__allocate_aligned(haul_device *device, size_t alignment, haul__range *range);

/* Puts a plan's graph on the device: allocates a range, packs, sends, relocates. On success
 * `*range` is the caller's to release, and the timings and counts in `*statistics` have been
 * brought up to date. */
haul_status haul__load(haul_device *device, haul_plan *plan, const haul_ship_options *options,
                       const haul_async *async, haul__range *range, haul__work *work,
                       haul_shipment_statistics *statistics);

/* ---- Sources that the device reaches where they lie (lock.c, direct.c). */

/* Locks all pages that hold something of the plan's. On failure, none. */
haul_status haul__lock_source(haul_device *device, const haul_plan *plan, haul__locked *locked);
void haul__unlock_source(haul_device *device, haul__locked *locked);
/* Before the device closes: locks of its making are others' from then on. */
void haul__leave_locks(haul_device *device);

/* After a refresh that has packed: the next one need not, if that can be. Where it cannot, that is
 * no failure. */
haul_status haul__prepare_direct(haul_shipment *shipment);
/* A refresh, and an unmarshal, by the device. *done 0, and HAUL_OK: it is not prepared, a pointer
 * has changed, or the device will not; so it is the host's to do. */
haul_status haul__pull(haul_shipment *shipment, const haul__listener *listener, int *done);
haul_status haul__push(haul_shipment *shipment, const haul__listener *listener, int *done);
int haul__is_ready_to_push(const haul_shipment *shipment); /* would it try? */
/* Before the plan or the arena goes. */
void haul__drop_direct(haul_shipment *shipment);

/* ---- Objects whose contents depend on addresses (rebuild.c). */

/* The addresses in a range that have been laid out: some of them, as words; all of them, sent to
 * their place in it. */
void haul__list_dependents(const haul_plan *plan, const haul__range *range, size_t first,
                           size_t count, uint64_t *list);
haul_status haul__send_dependents(haul_device *device, const haul_plan *plan,
                                  const haul__range *range);
/* Has them rebuilt, behind all that the selected stream was told: the copies, the patch and the
 * list. On failure nothing is under way any more, or the device is late. */
haul_status haul__rebuild(haul_device *device, const haul_plan *plan, const haul__range *range,
                          const haul_async *async);

/* ---- Shipments of arenas (arena.c, marks.c, cross.c). Contents are open where contents.arena is
 * not NULL. */

HAUL__INLINE int haul__is_arena(const haul_shipment *shipment)
{
    return shipment->contents.arena != NULL;
}

/* Where the parts of its range lie, by its contents; memory for it; and what it tells of itself,
 * once it is there. */
void haul__arena_lay_out(haul_shipment *shipment);
haul_status haul__arena_allocate(haul_shipment *shipment);
void haul__arena_statistics(haul_shipment *shipment, double seconds);
/* Sends what an open shipment's contents are to its range, and has it patched. */
haul_status haul__arena_send(haul_shipment *shipment);
/* Have its marks arrived, and are they all? Those of a plan's graph stay all. */
HAUL__INLINE int haul__marks_hold(const haul_shipment *shipment)
{
    return shipment->marks_are_there &&
           (!haul__is_arena(shipment) || shipment->range.grown == shipment->contents.arena->grown);
}

/* Its marks alone: bitmap and odd offsets, or a list. And bitmap and odd offsets written to where
 * they lie in a range as a whole, which is in `memory`. */
haul_status haul__arena_send_marks(haul_shipment *shipment);
void haul__write_marks(haul_shipment *shipment, unsigned char *memory);
/* What a word of the bitmap is for, and so much of an offset as is whole words' business: there an
 * arena can be cut. */
#define HAUL__MARK_BYTES (64 * sizeof(void *))
HAUL__INLINE size_t haul__whole_marks(size_t bytes)
{
    return bytes / HAUL__MARK_BYTES * HAUL__MARK_BYTES;
}
/* Of a patch of all by a bitmap: that of the words in bytes [from, end) of the arena, cut there. */
haul_relocation haul__part_of(const haul_relocation *all, size_t from, size_t end);
/* A patch of all, in two: of the words before byte `cut`, where the arena can be cut, and of the
 * others. Either may have none. */
void haul__cut_marks(const haul_shipment *shipment, const haul_relocation *all, size_t cut,
                     haul_relocation *first, haul_relocation *rest);
/* Something of `bytes` bytes, to offset `to` of the range, through the ring, in pieces of at most
 * `most`: `write` is asked for bytes [at, at + bytes) of it. */
typedef void haul__write_piece(const haul_shipment *shipment, size_t at, size_t bytes,
                               unsigned char *memory);
haul_status haul__send_written(haul_shipment *shipment, haul__write_piece *write, size_t bytes,
                               size_t to, size_t most);
/* Is it best found out by the device, with marks, whether pointers lead out of what is shipped to
 * an arena's own addresses? */
int haul__looks_there(const haul__contents *contents);
/* How many pointers the bitmap has; no more are counted when there are more than `most`. */
size_t haul__count_marked(const haul__contents *contents, size_t most);
/* Orders the patch of a range whose contents have been copied from a device, where they lay `from`
 * on. */
haul_status haul__arena_relocate(haul_shipment *shipment, uint64_t from);
haul_status haul__arena_refresh(haul_shipment *shipment, const haul_async *async);
haul_status haul__arena_replan(haul_shipment *shipment);
/* An unmarshal without staging, if it was asked for; 0: it was not. */
int haul__arena_returns_directly(const haul_shipment *shipment);
haul_status haul__arena_bring_back(haul_shipment *shipment);

#endif
