/* The second door: devices. A device is a memory with its own addresses and a few verbs.
 *
 * A back end fills one haul_device_table and exports one function that returns it
 * (haul_host_device, haul_cuda_device); the library calls it through nothing else. What a verb
 * answers is passed on to the user, with the words of `message` in the error record. No verb
 * prints, ends the process, or changes the caller's current device or pending errors.
 */
#ifndef HAUL_DEVICE_H
#define HAUL_DEVICE_H

#include "haul/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address in a device's memory. On the host it is a number, not to be followed. */
typedef uint64_t haul_address;

typedef struct haul_device_capabilities {
    size_t memory_bytes;       /* in all; 0: unknown */
    size_t allocate_alignment; /* what allocate gives at least */
    /* Bytes of a piece of a large arena; pieces end where blocks of 64 KiB of the source do. 0: the
     * library chooses. */
    size_t chunk_bytes;
    /* Up to so many bytes the host patches pointers while it packs, which costs less than an order
     * to the device; 0: never. */
    size_t patch_bytes;
    size_t send_bytes; /* up to here `send` is better than copy_to and relocate; 0: never */
    /* Up to here `fetch` is better than relocate, copy_from and relocate; 0: never. */
    size_t fetch_bytes;
} haul_device_capabilities;

/* One patch: of each word of [arena, arena + 8 * words) (4 * words where pointers have 4 bytes)
 * whose bit is set in `bitmap` (in device memory too, 64-bit words, lowest bit first), and of each
 * pointer at arena + odd[i], i < odd_count (`odd` in device memory, 64-bit offsets, aligned or not;
 * no two of all these words share a byte):
 *
 *     if (word != 0 && word - from <= bytes) word += delta;        modulo the word
 *
 * So null stays null, and what does not lead into the range [from, from + bytes] stays as it is. A
 * packed arena holds offsets: from 0, delta its base. One that was copied from another device: from
 * its base there.
 *
 * `outside`, if it is not NULL, is a word in memory of `stage`, at a multiple of 4, which becomes 1
 * if such a word is not null and stays as it is; it is to be read when the patch is done. For
 * `relocate` only.
 *
 * `after`, if it is not 0, is a fence of the selected stream: all that the patch reads and writes
 * was ordered before it, so the patch may run beside what was ordered since. What is ordered later
 * comes behind the patch all the same. For `relocate` only; a device may take it as 0. */
typedef struct haul_relocation {
    haul_address arena;
    uint64_t words;
    haul_address bitmap;
    uint64_t from, bytes;
    uint64_t delta;
    haul_address odd;
    uint64_t odd_count;
    unsigned word_bytes; /* sizeof(void *) of the host: 8 or 4 */
    uint32_t *outside;
    uint64_t after;
} haul_relocation;

/* A stretch of host memory and its place in an arena; for `pull` and `push`. Address, offset and
 * length are multiples of two words. */
typedef struct haul_segment {
    uint64_t from;  /* its address on the host, in memory that `lock` has locked */
    uint64_t to;    /* its offset in the arena */
    uint64_t slots; /* bit w: word w of it is a pointer; 0 where it is longer than 64 words */
    uint32_t first; /* its first pointer's number among the attachments; the others follow */
    uint16_t bytes; /* its length */
    uint16_t mask;  /* UINT16_MAX; or, of two words: bit b: byte b crosses */
} haul_segment;

/* A pointer: what it is on the host, and what it becomes in the arena. */
typedef struct haul_attachment {
    uint64_t here, there;
} haul_attachment;

/* Host memory from `begin` to in front of `end`. */
typedef struct haul_stretch {
    uint64_t begin, end;
} haul_stretch;

/* A whole arena's crossing, by the device alone. Its lists lie in device memory: the segments at
 * `lists`, the attachments `attachments_at` bytes behind, both at multiples of 16. A device need
 * not check them.
 *
 * To the device (`pull`), each segment goes to its place, bytes that do not cross become 0, and
 * each pointer becomes the address that its attachment names. If a pointer has changed on the host,
 * *changed becomes 1; else it stays as it is. To the host (`push`), each segment is written back to
 * its place, without its pointers and without bytes that do not cross. */
typedef struct haul_crossing {
    haul_address arena; /* a multiple of 16 */
    uint64_t bytes;     /* of it */
    haul_address lists;
    uint64_t segment_count;
    uint64_t attachments_at, attachment_count;
    /* Stretches of locked host memory that hold all segments. A device may refuse other addresses,
     * because kernels can write to its lists. */
    const haul_stretch *locked;
    uint64_t locked_count;
    uint32_t *changed;   /* in memory of `stage`; for `pull` */
    unsigned word_bytes; /* sizeof(void *) of the host: 8 or 4 */
} haul_crossing;

/* Addresses at which the host has memory of its own and the device has memory of its own: a pointer
 * into it means the same place of either. (OpenSHMEM's symmetric memory, at one address; X10 says
 * congruent.) */
typedef struct haul_mirror {
    void *memory; /* the host's bytes, at the addresses that the device has them at too */
    /* The same bytes of the host at other addresses, for copies: to a verb `memory` would mean the
     * device's. */
    void *window;
    size_t bytes; /* of either */
} haul_mirror;

#define HAUL_DEVICE_VERSION 9u

/* Preconditions of all verbs: `state` is what open gave; sizes are above 0; ranges lie in what
 * allocate gave. Copies, send, fetch, across, relocate, pull and push may return before they are
 * done; they take effect in the order of the calls on the selected stream, and `await` and `wait`
 * report whatever failed since they last did. Memory given to copies stays untouched by the caller
 * until then. One thread at a time. */
typedef struct haul_device_table {
    uint32_t version;     /* HAUL_DEVICE_VERSION */
    uint32_t table_bytes; /* sizeof(haul_device_table) */
    const char *name;     /* "host", "cuda" */

    /* Opens the device that `settings` (the back end's own struct, NULL: its defaults) names.
     * HAUL_ERROR_UNSUPPORTED: there is none. *state is set on success only. */
    haul_status (*open)(const void *settings, const haul_allocator *allocator, void **state);
    void (*close)(void *state);
    void (*capabilities)(void *state, haul_device_capabilities *capabilities);

    /* Device memory. HAUL_ERROR_DEVICE_MEMORY: not enough. It can be used on the stream that is
     * selected then, and on others in whatever order the caller makes. `release` may be called
     * while work on the memory is under way, on the stream selected then: the memory goes when that
     * is done. It ignores what a lost device makes impossible. */
    haul_status (*allocate)(void *state, uint64_t bytes, size_t alignment, haul_address *address);
    void (*release)(void *state, haul_address address, uint64_t bytes);

    /* Host memory from which copies are fast (pinned), or plain memory where there is none to be
     * had. The device can write a word to it (`outside`, `changed`); where it cannot,
     * HAUL_ERROR_MEMORY: the caller then has memory of its own. */
    haul_status (*stage)(void *state, size_t bytes, void **memory);
    void (*unstage)(void *state, void *memory, size_t bytes);

    /* Both may be NULL. Memory that is there twice: host memory, zeros, of at least so many bytes,
     * at a multiple of 4096, and device memory at the same addresses. That is for all verbs as if
     * from `allocate`, but goes with `unmirror`, not with `release`; the window is as if from
     * `stage`. Host memory that verbs are given never lies in `memory`. HAUL_ERROR_UNSUPPORTED:
     * there is no such thing; HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY. `unmirror` gives both
     * back, when no work that the device was told uses them. */
    haul_status (*mirror)(void *state, size_t bytes, haul_mirror *mirror);
    void (*unmirror)(void *state, const haul_mirror *mirror);

    haul_status (*copy_to)(void *state, haul_address to, const void *from, size_t bytes);
    haul_status (*copy_from)(void *state, void *to, haul_address from, size_t bytes);
    haul_status (*relocate)(void *state, const haul_relocation *relocation);
    /* copy_to(relocation->arena, from, bytes) and relocate in one, for graphs so small that two
     * orders cost more than the bytes. `from` is memory of `stage`; bitmap and odd offsets lie
     * within the bytes. */
    haul_status (*send)(void *state, const haul_relocation *relocation, const void *from,
                        size_t bytes);
    /* The reverse: copy_from(to, relocation->arena, bytes), and there the words are as relocate
     * would leave them; the arena stays as it is. `to` is memory of `stage`, of this device or
     * another; the words lie within the bytes, relocation->outside is NULL. HAUL_ERROR_UNSUPPORTED,
     * and nothing is done: the device cannot write to that memory, or there are more odd offsets
     * than it goes through. */
    haul_status (*fetch)(void *state, void *to, const haul_relocation *relocation, size_t bytes);
    /* All four may be NULL: the device cannot reach host memory where it lies. `lock` lets all
     * devices of the table read and write it there, at its own address, until `unlock`; both are
     * given whole pages of 4 KiB. HAUL_ERROR_UNSUPPORTED, and nothing is locked: it cannot be, some
     * of it is locked already, by whomever, or lies where the device has a mirror. It is unlocked
     * by the device that has locked it or, when that has closed or is lost, by another one of the
     * table; no device has work with it under way then. `pull` and `push` answer
     * HAUL_ERROR_UNSUPPORTED for words of a size that the device does not know. */
    haul_status (*lock)(void *state, void *memory, size_t bytes);
    void (*unlock)(void *state, void *memory, size_t bytes);
    haul_status (*pull)(void *state, const haul_crossing *crossing);
    haul_status (*push)(void *state, const haul_crossing *crossing);
    /* From another device of the same table, or from this one, after all that its selected stream
     * was told, to this one, on this one's. */
    haul_status (*across)(void *state, haul_address to, void *from_state, haul_address from,
                          size_t bytes);

    /* The stream that the verbs above use from now on; NULL: the device's own, which is selected
     * after open. HAUL_ERROR_ARGUMENT: the stream is no stream of this device, or is being
     * captured. */
    haul_status (*select)(void *state, void *stream);
    /* A number for this place in the selected stream's order; numbers grow. */
    haul_status (*fence)(void *state, uint64_t *fence);
    /* Has the place been reached? HAUL_OK: yes; HAUL_ERROR_PENDING: not yet; anything else: the
     * work before failed. */
    haul_status (*poll)(void *state, uint64_t fence);
    /* Waits until it has. HAUL_ERROR_PENDING: the back end's patience is over; the work goes on,
     * and its memory must stay. */
    haul_status (*await)(void *state, uint64_t fence);
    /* fence and await */
    haul_status (*wait)(void *state);
    /* Tells the user's own `event` (an event of the back end's kind) that this place has been
     * reached, when it has. */
    haul_status (*signal)(void *state, void *event);

    /* Either may be NULL. The library's own phases, for a profiler's time line: what comes between
     * the two on this thread is "pack", "transfer", "relocate" or "scatter". The name stays; phases
     * may lie within one another. They change nothing, and cannot fail. */
    void (*phase_begin)(void *state, const char *name);
    void (*phase_end)(void *state);

    /* The device's own words for its last failure; "" when there are none. Never NULL. */
    const char *(*message)(void *state);
} haul_device_table;

/* After a fork. A device belongs to the process that opened it. In a child, each call that needs
 * the device, on it or on its shipments and pinned or mirrored arenas, answers HAUL_ERROR_STATE and
 * leaves words. The child's frees release the library's own memory and call no verb: the back end's
 * memory stays with the child until it ends, and the parent notices nothing. The child may open
 * another device in the same context, if the back end can work after a fork: the host device can,
 * CUDA cannot once the parent has used it. Types, contexts, plans, packing and plain arenas work in
 * the child. Parent and child share the memory of mirrored arenas. If another thread was in a call
 * on a context at the fork, the context stays busy in the child, and objects freed there are
 * kept. */
typedef struct haul_device haul_device;

typedef struct haul_device_options {
    haul_context *context;            /* shared with other devices; NULL: a new one */
    haul_context_options new_context; /* for the new one */
    const void *settings;             /* the back end's */
} haul_device_options;

/* Opens a device. `table` is what a back end's function returned (haul_host_device()); `options`
 * may be NULL. HAUL_ERROR_ARGUMENT: NULL table or result, or a table with a missing verb;
 * HAUL_ERROR_VERSION: a table of another version; HAUL_ERROR_UNSUPPORTED: no such device;
 * HAUL_ERROR_BUSY: the shared context is in a call; HAUL_ERROR_MEMORY; HAUL_ERROR_DEVICE. On
 * failure *device is NULL; the words stand on options->context, or where options->new_context.error
 * says. */
HAUL_API haul_status haul_device_open(const haul_device_table *table,
                                      const haul_device_options *options, haul_device **device);
/* Drops the caller's hold and sets *device to NULL; shipments and arenas keep it open. NULL is
 * allowed. Any thread, inside any callback: see context.h. */
HAUL_API void haul_device_close(haul_device **device);

HAUL_API haul_context *haul_device_context(haul_device *device);
/* The record of the last failure on the device's context; never NULL. Where no device could be
 * opened there is none to ask: open it with a context of your own to hear why. */
HAUL_API const haul_error *haul_device_error(const haul_device *device);
HAUL_API void haul_device_get_capabilities(const haul_device *device,
                                           haul_device_capabilities *capabilities);
HAUL_API const char *haul_device_name(const haul_device *device);
/* For a back end's own functions (haul_host_launch): its state; and words for a failure, which
 * haul_device_error then tells, unless a call is under way on the context. Answers `status`. */
HAUL_API void *haul_device_state(const haul_device *device);
HAUL_API haul_status haul_device_fail(haul_device *device, haul_status status, const char *text);

#ifdef __cplusplus
}
#endif
#endif
