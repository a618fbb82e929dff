/* Devices. A device is a memory with its own addresses, and a table of functions: its verbs.
 *
 * Programs open devices with haul_host_open (host.h) and haul_cuda_open (cuda.h). The second part
 * of this header is for those who write a device: read docs/writing-a-device.md first.
 */
#ifndef HAUL_DEVICE_H
#define HAUL_DEVICE_H

#include "haul/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address in a device's memory. On the host it is a number, not to be followed. */
typedef uint64_t haul_address;

/* A device belongs to the process that opened it. In a forked child, calls that need it, its
 * shipments or its arenas answer HAUL_ERROR_STATE (docs/shipments.md: after a fork). */
typedef struct haul_device haul_device;

/* Drops the caller's hold and sets *device to NULL; shipments and arenas keep it open. NULL is
 * allowed. Any thread, inside any callback (context.h). */
HAUL_API void haul_device_close(haul_device **device);

/* The context that the device was opened with; NULL for NULL. */
HAUL_API haul_context *haul_device_context(const haul_device *device);

typedef struct haul_device_capabilities {
    size_t memory_bytes;       /* all of it; 0: unknown */
    size_t allocate_alignment; /* the least that allocate gives */
    size_t chunk_bytes;        /* of a piece of a large arena; 0: the library chooses */
    /* Up to these sizes of an arena, in bytes, one order fewer is faster; 0: never. */
    size_t patch_bytes; /* the host patches pointers while it packs */
    size_t send_bytes;  /* `send` replaces copy_to and relocate */
    size_t fetch_bytes; /* `fetch` replaces relocate, copy_from and relocate */
    /* The most bytes of device memory that the library may hold, as the settings say; 0: no limit.
     * The library counts them; a device need not. */
    size_t budget_bytes;
    /* The size of the pages that `allocate_in_places` puts in different places; 0: all memory is
     * the device's own. */
    size_t place_bytes;
} haul_device_capabilities;

/* Where memory lies that kernels use. */
typedef enum haul_place {
    HAUL_PLACE_ANY = 0,    /* in options: not said */
    HAUL_PLACE_DEVICE = 1, /* in the device's own memory */
    HAUL_PLACE_HOST = 2,   /* on the host: the device reads and writes it there, over the bus */
    HAUL_PLACE_MOVING = 3  /* in either: a page moves to the side that uses it */
} haul_place;

typedef struct haul_device_info {
    const char *name;                             /* "host", "cuda" */
    const haul_device_capabilities *capabilities; /* valid as long as the device */
} haul_device_info;

/* Fills *info; NULL is allowed. Of a NULL device: "" and NULL. Any thread. */
HAUL_API void haul_device_get_info_sized(const haul_device *device, haul_device_info *info,
                                         size_t info_bytes);
static inline void haul_device_get_info(const haul_device *device, haul_device_info *info)
{
    haul_device_get_info_sized(device, info, sizeof *info);
}

/* ---- For those who write a device. docs/writing-a-device.md has the rules for all verbs. */

/* One patch, for each word of the arena whose bit is set in the bitmap, and for each pointer,
 * aligned or not, at one of the offsets. No two of these words share a byte.
 *
 *     if (word != 0 && word - from <= bytes) word += delta;        modulo the word */
typedef struct haul_relocation {
    haul_address arena;
    uint64_t words;      /* of word_bytes each */
    haul_address bitmap; /* 64-bit words in device memory, lowest bit first */
    uint64_t from, bytes;
    uint64_t delta;
    haul_address offsets;  /* in device memory, 64 bits each: distances from `arena` */
    uint64_t offset_count; /* of them */
    uint32_t word_bytes;   /* sizeof(void *) of the host: 8 or 4 */
    uint32_t reserved;     /* 0 */
    /* For `relocate`; NULL: none. A word in memory of `stage`, at a multiple of 4: becomes 1 if a
     * word is not null and leads out of [from, from + bytes]. */
    uint32_t *outside;
    /* For `relocate`; 0: none. A fence of the selected stream, after which the patch may run beside
     * later orders; orders after the patch wait for it. A device may ignore it. */
    uint64_t after;
} haul_relocation;

/* A run of host memory and its place in an arena; for `pull` and `push`. Address, offset and length
 * are multiples of two words. */
typedef struct haul_segment {
    uint64_t from;  /* its address on the host, in memory that `lock` has locked */
    uint64_t to;    /* its offset in the arena */
    uint64_t slots; /* bit w: word w is a pointer; 0 if it is longer than 64 words */
    uint32_t first; /* its first pointer's number among the attachments; the others follow */
    uint16_t bytes; /* its length */
    uint16_t mask;  /* UINT16_MAX; or, of two words: bit b: byte b crosses */
} haul_segment;

/* A pointer: its value on the host and in the arena. */
typedef struct haul_attachment {
    uint64_t on_host, in_arena;
} haul_attachment;

/* The host memory [begin, end). */
typedef struct haul_interval {
    uint64_t begin, end;
} haul_interval;

/* The crossing of a whole arena by the device alone. */
typedef struct haul_crossing {
    haul_address arena; /* a multiple of 16 */
    uint64_t bytes;     /* of it */
    /* In device memory: the segments, and at lists + attachments_at the attachments, both at
     * multiples of 16. A device need not check them. */
    haul_address lists;
    uint64_t segment_count;
    uint64_t attachments_at, attachment_count;
    /* Ranges of locked host memory that hold all segments. A device may refuse other addresses,
     * because kernels can write to its lists. */
    const haul_interval *locked;
    uint64_t locked_count;
    uint32_t *changed;   /* for `pull`, in memory of `stage`: becomes 1 if a pointer has changed */
    uint32_t word_bytes; /* sizeof(void *) of the host: 8 or 4 */
    uint32_t reserved;   /* 0 */
} haul_crossing;

/* The place of a part of an allocation: of the bytes from the end of the placing before it, or from
 * 0, up to `end`. */
typedef struct haul_placing {
    uint64_t end;
    haul_place place;
    uint32_t reserved; /* 0 */
} haul_placing;
/* A strip: `count` runs of `bytes` bytes of device memory, in one allocation. `stride` bytes lie
 * between the beginnings of two runs. Without the bytes in between, a strip has at most
 * HAUL_STRIP_BYTES. In a buffer its runs lie side by side, from `packed` on. No two strips of a
 * list share a byte of the buffer. */
typedef struct haul_strip {
    haul_address first;
    uint64_t stride;
    uint64_t packed; /* the offset of the first run in the buffer */
    uint32_t count, bytes;
} haul_strip;
#define HAUL_STRIP_BYTES 4096u

/* Mirrored memory: host memory and device memory at the same addresses. */
typedef struct haul_mirror {
    void *memory; /* the host's bytes, at the addresses of the device's */
    /* The host's bytes at other addresses, for copies: to a verb, `memory` means the device's. */
    void *window;
    size_t bytes; /* of either */
} haul_mirror;

/* `state` comes from open; sizes are above 0; ranges lie in memory from allocate. One thread at a
 * time. Failures: docs/writing-a-device.md. */
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

    /* Device memory, for the stream that is selected now, and for others if the caller orders them.
     * HAUL_ERROR_DEVICE_MEMORY: not enough. `release` may be called while the selected stream's
     * work still uses the memory, and releases it after that. */
    haul_status (*allocate)(void *state, uint64_t bytes, size_t alignment, haul_address *address);
    void (*release)(void *state, haul_address address, uint64_t bytes);

    /* Host memory from which copies are fast (pinned), or plain memory if there is none. The device
     * can write a word to it; HAUL_ERROR_MEMORY: it could not. */
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
    /* Waits for the fence. HAUL_ERROR_PENDING: the wait timed out; the work goes on. */
    haul_status (*await)(void *state, uint64_t fence);
    /* fence and await */
    haul_status (*wait)(void *state);

    /* The device's own text for its last failure; "" if it has none. Never NULL. */
    const char *(*message)(void *state);

    /* ---- Optional verbs. The library does without those that are NULL. */

    /* copy_to(relocation->arena, from, bytes) and relocate in one order. `from` is memory of
     * `stage`; `bitmap` and `offsets` lie within the bytes. */
    haul_status (*send)(void *state, const haul_relocation *relocation, const void *from,
                        size_t bytes);

    /* The reverse: copy_from(to, relocation->arena, bytes), and relocate of the words in `to`; the
     * arena stays as it is. `to` is memory of `stage`, of this device or another; the words lie
     * within the bytes, relocation->outside is NULL. HAUL_ERROR_UNSUPPORTED, and nothing is done:
     * the device cannot write to that memory, or offset_count is too large for it. */
    haul_status (*fetch)(void *state, void *to, const haul_relocation *relocation, size_t bytes);

    /* Both or neither. Mirrored memory: at least `bytes` bytes, zeros on the host, at a multiple of
     * 4096. HAUL_ERROR_UNSUPPORTED: the device has no mirrors; HAUL_ERROR_MEMORY,
     * HAUL_ERROR_DEVICE_MEMORY. `unmirror` releases both sides; no ordered work uses them then. */
    haul_status (*mirror)(void *state, size_t bytes, haul_mirror *mirror);
    void (*unmirror)(void *state, const haul_mirror *mirror);

    /* All four or none. `lock` lets all devices of the table read and write whole pages of host
     * memory at their own address, until `unlock`. `pull` copies an arena's segments to the device,
     * `push` copies them back. HAUL_ERROR_UNSUPPORTED: the memory cannot be locked, and is not; a
     * word_bytes that the device does not know. */
    haul_status (*lock)(void *state, void *memory, size_t bytes);
    void (*unlock)(void *state, void *memory, size_t bytes);
    haul_status (*pull)(void *state, const haul_crossing *crossing);
    haul_status (*push)(void *state, const haul_crossing *crossing);

    /* Copies to this device from another one of the same table, or from this one itself: after all
     * orders of the source's selected stream, and in the order of this device's. */
    haul_status (*across)(void *state, haul_address to, void *from_state, haul_address from,
                          size_t bytes);

    /* Orders the signal of the user's `event` (a handle of the back end's kind) at this place of
     * the selected stream. */
    haul_status (*signal)(void *state, void *event);

    /* The library's phases, for a profiler: "pack", "transfer", "relocate" or "scatter" begins and
     * ends on this thread. The name is static; phases may nest. */
    void (*phase_begin)(void *state, const char *name);
    void (*phase_end)(void *state);

    /* Writes a sentence for the error record, after `open` has answered `status` for these
     * settings: it names the missing part, and the remedy. `text` has `bytes` bytes. */
    void (*refusal)(const void *settings, haul_status status, char *text, size_t bytes);

    /* `allocate` for bytes that lie in several places, at consecutive addresses. There is at least
     * one placing; placings end at multiples of place_bytes, the last one at `bytes`. The list is
     * good until the verb returns. `release` takes the memory back as any other.
     * HAUL_ERROR_DEVICE_MEMORY: the device has too little memory for the pages that are its own or
     * move. HAUL_ERROR_MEMORY: the host has too little. */
    haul_status (*allocate_in_places)(void *state, uint64_t bytes, size_t alignment,
                                      const haul_placing *placings, size_t count,
                                      haul_address *address);
    /* Both or neither. `gather_strips` copies strips of device memory to a buffer of `bytes` bytes,
     * `scatter_strips` copies them back. Buffer and list are memory of `stage`. If two strips of a
     * scatter share a byte of device memory, both have the same value for it.
     * HAUL_ERROR_UNSUPPORTED, and nothing is done: the device cannot reach that memory. */
    haul_status (*gather_strips)(void *state, void *packed, size_t bytes, const haul_strip *strips,
                                 size_t count);
    haul_status (*scatter_strips)(void *state, const haul_strip *strips, size_t count,
                                  const void *packed, size_t bytes);

    /* Orders zeros in `bytes` bytes of one allocation, from any address on. May return before they
     * are there; later orders on the stream see them. Only a device with `scatter_strips` is asked
     * for it. */
    haul_status (*clear)(void *state, haul_address at, uint64_t bytes);

    /* The bytes of device memory that can be allocated now, or taken by pages that move, as far as
     * the device knows; good until anybody allocates. A device that does not know answers its
     * memory_bytes, or UINT64_MAX if it does not know these: what the library assumes without the
     * verb. */
    uint64_t (*free_bytes)(void *state);
} haul_device_table;

/* Opens a device of a back end in `context`, which it holds. `settings` may be NULL: the defaults.
 * On failure *device is NULL, and the context has the record. HAUL_ERROR_ARGUMENT: a NULL result,
 * table or context, or a table without a verb that every device has, or with one of a pair alone.
 * HAUL_ERROR_VERSION: a table or a setting that is newer than the library or the back end.
 * HAUL_ERROR_UNSUPPORTED: no such device. HAUL_ERROR_BUSY: a call is under way on the context.
 * HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE. */
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
