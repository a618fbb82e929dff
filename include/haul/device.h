/* Devices. A device is a memory with its own addresses, and a table of functions: its verbs.
 *
 * Programs open devices with haul_host_open (host.h) and haul_cuda_open (cuda.h). The rest of this
 * header is for those who write a device: docs/writing-a-device.md. A back end fills one
 * haul_device_table. The library calls the back end through the table alone. The user gets the
 * status that a verb answers, with the text of `message` in the error record. No verb prints, ends
 * the process, or changes the caller's current device or pending errors.
 */
#ifndef HAUL_DEVICE_H
#define HAUL_DEVICE_H

#include "haul/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address in a device's memory. On the host it is a number, not to be followed. */
typedef uint64_t haul_address;

/* After a fork. A device belongs to the process that opened it. In a child, each call that needs
 * the device answers HAUL_ERROR_STATE, with a record: calls on the device, on its shipments, and on
 * its pinned or mirrored arenas. The child's frees release the library's own memory and call no
 * verb: the back end's memory stays with the child until it ends, and the parent notices nothing.
 * The child may open another device in the same context, if the back end works after a fork: the
 * host device does, CUDA does not once the parent has used it. Types, contexts, plans, packing and
 * plain arenas work in the child. Parent and child share the memory of mirrored arenas. If another
 * thread was in a call on a context at the fork, the context stays busy in the child, and objects
 * freed there are kept. */
typedef struct haul_device haul_device;

/* Drops the caller's hold and sets *device to NULL; shipments and arenas keep it open. NULL is
 * allowed. Any thread, inside any callback: see context.h. */
HAUL_API void haul_device_close(haul_device **device);

/* The context that the device was opened with; NULL for NULL. */
HAUL_API haul_context *haul_device_context(const haul_device *device);

typedef struct haul_device_capabilities {
    size_t memory_bytes;       /* all of it; 0: unknown */
    size_t allocate_alignment; /* the least that allocate gives */
    /* Bytes of a piece of a large arena; a piece ends where a 64 KiB block of the source ends. 0:
     * the library chooses. */
    size_t chunk_bytes;
    /* The host patches pointers while it packs in arenas up to this size, because that costs less
     * than an order to the device; 0: never. */
    size_t patch_bytes;
    size_t send_bytes; /* up to this size `send` beats copy_to and relocate; 0: never */
    /* Up to this size `fetch` is faster than relocate, copy_from and relocate; 0: never. */
    size_t fetch_bytes;
} haul_device_capabilities;

typedef struct haul_device_info {
    const char *name; /* "host", "cuda"; "" for no device */
    /* Valid as long as the device. NULL for no device. */
    const haul_device_capabilities *capabilities;
} haul_device_info;

/* Fills *info; NULL is allowed. No device: the name "", no capabilities. Any thread. */
HAUL_API void haul_device_get_info_sized(const haul_device *device, haul_device_info *info,
                                         size_t info_bytes);
static inline void haul_device_get_info(const haul_device *device, haul_device_info *info)
{
    haul_device_get_info_sized(device, info, sizeof *info);
}

/* ---- For those who write a device. */

/* One patch. It applies to each word of [arena, arena + 8 * words) (4 * words if pointers have 4
 * bytes) whose bit is set in `bitmap` (in device memory, 64-bit words, lowest bit first), and to
 * each pointer at arena + odd[i], i < odd_count (`odd` in device memory, 64-bit offsets, aligned or
 * not). No two of these words share a byte:
 *
 *     if (word != 0 && word - from <= bytes) word += delta;        modulo the word
 *
 * So null stays null, and a word that does not lead into [from, from + bytes] stays as it is. A
 * packed arena holds offsets: `from` is 0, `delta` its base. An arena that was copied from another
 * device holds that device's addresses: `from` is its base there.
 *
 * `outside`, if it is not NULL, is a word in memory of `stage`, at a multiple of 4. It becomes 1 if
 * one of these words is not null and does not lead into that range. The host reads it when the
 * patch is done. For `relocate` only.
 *
 * `after`, if it is not 0, is a fence of the selected stream. Everything that the patch reads and
 * writes was ordered before that fence, so the patch may run beside orders that came later. Orders
 * after the patch still wait for it. For `relocate` only; a device may ignore it. */
typedef struct haul_relocation {
    haul_address arena;
    uint64_t words;
    haul_address bitmap;
    uint64_t from, bytes;
    uint64_t delta;
    haul_address odd;
    uint64_t odd_count;
    uint32_t word_bytes; /* sizeof(void *) of the host: 8 or 4 */
    uint32_t reserved;   /* 0 */
    uint32_t *outside;
    uint64_t after;
} haul_relocation;

/* A segment: a run of host memory and its place in an arena; for `pull` and `push`. Address, offset
 * and length are multiples of two words. */
typedef struct haul_segment {
    uint64_t from;  /* its address on the host, in memory that `lock` has locked */
    uint64_t to;    /* its offset in the arena */
    uint64_t slots; /* bit w: word w is a pointer; 0 if it is longer than 64 words */
    uint32_t first; /* its first pointer's number among the attachments; the others follow */
    uint16_t bytes; /* its length */
    uint16_t mask;  /* UINT16_MAX; or, of two words: bit b: byte b crosses */
} haul_segment;

/* A pointer: its value on the host (`here`) and in the arena (`there`). */
typedef struct haul_attachment {
    uint64_t here, there;
} haul_attachment;

/* The host memory [begin, end). */
typedef struct haul_stretch {
    uint64_t begin, end;
} haul_stretch;

/* The crossing of a whole arena by the device alone. Its lists lie in device memory: the segments
 * at `lists`, the attachments at `lists` + attachments_at, both at multiples of 16. A device need
 * not check them.
 *
 * To the device (`pull`), each segment goes to its place, bytes that do not cross become 0, and
 * each pointer becomes the address that its attachment names. If a pointer has changed on the host,
 * *changed becomes 1; else *changed stays as it is. To the host (`push`), each segment is written
 * back to its place, except its pointers and bytes that do not cross. */
typedef struct haul_crossing {
    haul_address arena; /* a multiple of 16 */
    uint64_t bytes;     /* of it */
    haul_address lists;
    uint64_t segment_count;
    uint64_t attachments_at, attachment_count;
    /* Ranges of locked host memory that hold all segments. A device may refuse other addresses,
     * because kernels can write to its lists. */
    const haul_stretch *locked;
    uint64_t locked_count;
    uint32_t *changed;   /* in memory of `stage`; for `pull` */
    uint32_t word_bytes; /* sizeof(void *) of the host: 8 or 4 */
    uint32_t reserved;   /* 0 */
} haul_crossing;

/* Mirrored memory: host memory and device memory at the same addresses. A pointer into it means the
 * same place on both sides. (OpenSHMEM's symmetric memory, at one address; X10 says congruent.) */
typedef struct haul_mirror {
    void *memory; /* the host's bytes, at the addresses of the device's */
    /* The host's bytes at other addresses, for copies: to a verb, `memory` means the device's. */
    void *window;
    size_t bytes; /* of either */
} haul_mirror;

/* Preconditions of all verbs: `state` comes from open; sizes are above 0; ranges lie in memory from
 * allocate. Copies, send, fetch, across, relocate, pull and push may return before they are done.
 * They take effect in the order of the calls on the selected stream; `await` and `wait` report any
 * failure since the last report. Until then the caller leaves the memory of copies untouched. One
 * thread at a time.
 *
 * The last part of the table lists the verbs that may be NULL. Later versions of this header append
 * such verbs, so the library takes a shorter table. */
typedef struct haul_device_table {
    size_t table_bytes;    /* sizeof(haul_device_table) */
    size_t settings_bytes; /* of the struct that `open` reads; 0: it reads none */
    const char *name;      /* "host", "cuda" */

    /* Opens the device that `settings` names: settings_bytes bytes, zeros for the defaults. The
     * allocator may be copied, and lives as long as the device. HAUL_ERROR_UNSUPPORTED: there is no
     * such device. *state is set on success only. */
    haul_status (*open)(const void *settings, const haul_allocator *allocator, void **state);
    void (*close)(void *state);
    /* Sets members of *capabilities, which are zeros. `bytes` is its size in the library: members
     * that lie behind do not exist. */
    void (*capabilities)(void *state, haul_device_capabilities *capabilities, size_t bytes);

    /* Device memory. HAUL_ERROR_DEVICE_MEMORY: not enough. It can be used on the stream that is
     * selected at `allocate`, and on other streams if the caller orders them. `release` may be
     * called while the selected stream's work still uses the memory, which is then released when
     * that work is done. It ignores failures of a lost device. */
    haul_status (*allocate)(void *state, uint64_t bytes, size_t alignment, haul_address *address);
    void (*release)(void *state, haul_address address, uint64_t bytes);

    /* Host memory from which copies are fast (pinned), or plain memory if there is no pinned
     * memory. The device can write a word to it (`outside`, `changed`). If it could not, `stage`
     * answers HAUL_ERROR_MEMORY, and the caller uses memory of its own. */
    haul_status (*stage)(void *state, size_t bytes, void **memory);
    void (*unstage)(void *state, void *memory, size_t bytes);

    haul_status (*copy_to)(void *state, haul_address to, const void *from, size_t bytes);
    haul_status (*copy_from)(void *state, void *to, haul_address from, size_t bytes);
    haul_status (*relocate)(void *state, const haul_relocation *relocation);

    /* Selects the stream that the verbs above use from now on; NULL: the device's own, which is
     * selected after open. HAUL_ERROR_ARGUMENT: the stream is none of this device, or is being
     * captured. */
    haul_status (*select)(void *state, void *stream);
    /* Makes a fence: a number for this place in the selected stream's order. Numbers grow. */
    haul_status (*fence)(void *state, uint64_t *fence);
    /* Has the fence been reached? HAUL_OK: yes. HAUL_ERROR_PENDING: not yet. Else: work before it
     * has failed. */
    haul_status (*poll)(void *state, uint64_t fence);
    /* Waits until the fence has been reached. HAUL_ERROR_PENDING: the wait timed out; the work goes
     * on, and its memory must stay. */
    haul_status (*await)(void *state, uint64_t fence);
    /* fence and await */
    haul_status (*wait)(void *state);

    /* The device's own text for its last failure; "" if it has none. Never NULL. */
    const char *(*message)(void *state);

    /* ---- Optional verbs. The library does without those that are NULL. */

    /* copy_to(relocation->arena, from, bytes) and relocate in one, for graphs so small that two
     * orders cost more than the bytes. `from` is memory of `stage`; bitmap and `odd` lie within the
     * bytes. */
    haul_status (*send)(void *state, const haul_relocation *relocation, const void *from,
                        size_t bytes);

    /* The reverse: copy_from(to, relocation->arena, bytes), and relocate of the words in `to`; the
     * arena stays as it is. `to` is memory of `stage`, of this device or another; the words lie
     * within the bytes, relocation->outside is NULL. HAUL_ERROR_UNSUPPORTED, and nothing is done:
     * the device cannot write to that memory, or odd_count is too large for it. */
    haul_status (*fetch)(void *state, void *to, const haul_relocation *relocation, size_t bytes);

    /* Both or neither. Mirrored memory: at least `bytes` bytes of host memory, zeros, at a
     * multiple of 4096, and device memory at the same addresses. To all verbs the device memory is
     * as if from `allocate`, except that `unmirror` releases it; the window is as if from `stage`.
     * The host memory that verbs are given never lies in `memory`. HAUL_ERROR_UNSUPPORTED: the
     * device has no mirrors; HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY. `unmirror` releases both
     * sides; no ordered work uses them then. */
    haul_status (*mirror)(void *state, size_t bytes, haul_mirror *mirror);
    void (*unmirror)(void *state, const haul_mirror *mirror);

    /* All four or none: without them the device cannot reach host memory where it lies. `lock` lets
     * all devices of the table read and write it there, at its own address, until `unlock`; both
     * are given whole pages of 4 KiB. HAUL_ERROR_UNSUPPORTED, and nothing is locked: the memory
     * cannot be locked, some of it is locked already, by anybody, or it lies in a mirror of the
     * device. The device that has locked the memory unlocks it or, if that device is closed or
     * lost, another one of the table; no device has work with the memory under way then. `pull` and
     * `push` answer HAUL_ERROR_UNSUPPORTED for a word_bytes that the device does not know. */
    haul_status (*lock)(void *state, void *memory, size_t bytes);
    void (*unlock)(void *state, void *memory, size_t bytes);
    haul_status (*pull)(void *state, const haul_crossing *crossing);
    haul_status (*push)(void *state, const haul_crossing *crossing);

    /* Copies to this device from another one of the same table, or from this one itself. The copy
     * comes after all orders of the source's selected stream, and is in the order of this
     * device's. Without it, haul_shipment_copy answers HAUL_ERROR_UNSUPPORTED. */
    haul_status (*across)(void *state, haul_address to, void *from_state, haul_address from,
                          size_t bytes);

    /* Orders the signal of the user's `event` (a handle of the back end's kind) at this place of
     * the selected stream. Without it, a haul_async with an event is HAUL_ERROR_UNSUPPORTED. */
    haul_status (*signal)(void *state, void *event);

    /* The library's phases, for a profiler's time line: "pack", "transfer", "relocate" or "scatter"
     * begins and ends on this thread. The name is static; phases may nest. They change nothing, and
     * cannot fail. */
    void (*phase_begin)(void *state, const char *name);
    void (*phase_end)(void *state);

    /* `open` has just answered `status` for these settings: writes into `text`, which has `bytes`
     * bytes, what is missing and what to do. It stands in the record. */
    void (*refusal)(const void *settings, haul_status status, char *text, size_t bytes);
} haul_device_table;

/* Opens a device of a back end in `context`, which it holds. `settings` may be NULL: the defaults.
 * HAUL_ERROR_ARGUMENT: a NULL result, table or context, or a table without a verb that every device
 * has, or with one of a pair alone. HAUL_ERROR_VERSION: a table or a setting that is newer than the
 * library or the back end. HAUL_ERROR_UNSUPPORTED: no such device. HAUL_ERROR_BUSY: a call is under
 * way on the context. HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE. On failure *device is NULL, and the
 * context has the record, with the back end's own words if its table has a `refusal`. */
HAUL_API haul_status haul_device_open_sized(haul_context *context, const haul_device_table *table,
                                            const void *settings, size_t settings_bytes,
                                            haul_device **device);
/* The same with settings of the size that the table says: for a caller that was compiled with the
 * back end's own header. */
static inline haul_status haul_device_open(haul_context *context, const haul_device_table *table,
                                           const void *settings, haul_device **device)
{
    return haul_device_open_sized(context, table, settings, table ? table->settings_bytes : 0,
                                  device);
}

/* For a back end's own functions (haul_host_launch). haul_device_state gives its state.
 * haul_device_fail writes `status` and `text` into the record, unless a call is under way on the
 * context, and answers `status`. */
HAUL_API void *haul_device_state(const haul_device *device);
HAUL_API haul_status haul_device_fail(haul_device *device, haul_status status, const char *text);
/* The same, for a failure that has to do with a word of device memory. 1: a shipment has brought
 * the word there, and the record's path names its place in the source: "root.next+16". 0: there is
 * no such place, or a call is under way on the context. */
HAUL_API int haul_device_fail_at(haul_device *device, haul_status status, const char *text,
                                 haul_address address);

#ifdef __cplusplus
}
#endif
#endif
