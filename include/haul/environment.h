/* Data environments: graphs that stay on a device, and are found there by any host address.
 *
 *     haul_environment_create(device, &e);
 *     haul_environment_enter(e, mesh, mesh_type, 1, NULL, NULL);   sends the absent objects
 *     kernel(haul_environment_device_pointer(e, mesh));
 *     haul_exit_options back = { 0 };
 *     back.copyout = 1;
 *     haul_environment_exit(e, mesh, &back, NULL);                 results return, memory goes
 *
 * An enter of a root makes what it reaches present: ranges of the host's memory that have a copy on
 * the device. A range has an object at most from its first to its last byte that travels. What is
 * present stays where it is, is not sent again, and is not looked behind. What is absent is
 * discovered, packed and sent in one transfer. Pointers lead from either to the other, as on the
 * host, in cycles too.
 *
 * What one enter sends is a group: one piece of the device's memory. Its objects stay while the
 * root that it was found from is entered, and those that other roots lead to stay for these. So
 * shared objects are on the device once, and go with the last owner.
 *
 * Threads. Any number of threads may call. haul_environment_device_pointer, _host_pointer and
 * _presence take no lock. Any other call waits for the one before, and answers HAUL_ERROR_BUSY
 * inside a callback of one. Calls that use the device also need its context, and answer
 * HAUL_ERROR_BUSY while another call uses that.
 *
 * Waiting. A call with an `async` orders the device's work on a stream and returns (ship.h,
 * docs/asynchronous.md); NULL waits. Calls on the same objects take effect in their order, whatever
 * their streams: a call comes behind the work of all groups that it touches. If that is on another
 * stream, or the call itself waits, it first waits on the host. A call that waits also writes the
 * results of its groups, and those of earlier calls. `async` and `options` may be NULL.
 *
 * Failures. The context's record describes them; paths begin at the root of an enter.
 * HAUL_ERROR_ARGUMENT: a NULL or freed environment (without a record), a NULL result, an address
 * that is not there. HAUL_ERROR_VERSION: an option that the library does not know. Calls that use
 * the device can answer HAUL_ERROR_MEMORY, HAUL_ERROR_DEVICE_MEMORY, HAUL_ERROR_DEVICE,
 * HAUL_ERROR_DEVICE_LOST or HAUL_ERROR_PENDING: a wait timed out. These are not repeated below.
 * After a failure presence and counts are as they were, and host objects are not written, except as
 * haul_environment_exit states. If the device fails while pointers of present objects are written,
 * they are written once more as they were. What a pointer was when it was sent with its object is
 * not known then: if an enter or an attach fails so, it is detached. If that fails, too, they may
 * be null there, or lead to what an enter could not send. docs/environment.md has examples and
 * costs.
 */
#ifndef HAUL_ENVIRONMENT_H
#define HAUL_ENVIRONMENT_H

#include "haul/file.h"
#include "haul/ship.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_environment haul_environment;

/* Makes an empty environment for one device, which it holds. HAUL_ERROR_ARGUMENT: the device is
 * NULL or freed. HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY. On failure *environment is NULL. */
HAUL_API haul_status haul_environment_create(haul_device *device, haul_environment **environment);
/* Frees the memory on the device, whatever the counts are, and brings nothing back. Waits for
 * asynchronous work, and drops results that are not written. Sets *environment to NULL. NULL is
 * allowed. Kernels and other threads must not use it any more. Any thread, inside any callback
 * (context.h). */
HAUL_API void haul_environment_free(haul_environment **environment);

/* Zeros mean the defaults. */
typedef struct haul_enter_options {
    /* Counts for a structured region, which only a structured exit ends; else for `enter data`. */
    int structured;
    /* Fields of the sent objects that counts and conditions read may come back changed. */
    int let_counts_change;
} haul_enter_options;

/* Enters `count` objects of `type` in a row at `root`, and counts. An enter of a present root is
 * one look-up, and reads nothing of its graph. Otherwise discovery starts at the root and stops at
 * present objects. The objects must stay where they are until they have left.
 *
 * An asynchronous call has read the objects when it returns, and they are present. An enter that
 * discovers first writes the results of exits that are on their way, since it may read them. If the
 * device fails later, the contents on the device are undefined: exit and enter again.
 *
 * A pointer to no elements may lead to a present object, or to the end of one. It leads there on
 * the device, too, and holds that object as a pointer to elements does.
 *
 * What only pointers of present objects lead to stays absent: the host has changed these since they
 * were sent, or a policy has left them out. Enter it as a root of its own, and attach the pointer.
 *
 * A pointer of a present object that leads into the new group is written on the device if the walk
 * has stopped at that object, and is detached when its target has left. It needs no attach. Other
 * pointers of present objects stay as they are. So do these, which no attach writes, either:
 * pointers with high tags, with a base, or with tags that reach out of their target; distances;
 * unaligned pointers; ends of rooms (HAUL_END_OF). They are sent with their object only: when they
 * have changed, exit it and enter it again.
 *
 * HAUL_ERROR_GRAPH: the root, or something that it reaches, overlaps a present object and reaches
 * out of it, so one of both would have to move; the record has the paths of both.
 * Bytes that were entered at the same address count as the root's: an exit ends both, so one policy
 * must name all of them.
 * HAUL_ERROR_ARGUMENT: nothing of the root travels. Else errors as of haul_plan_create. */
static inline haul_status haul_environment_enter(haul_environment *environment, void *root,
                                                 const haul_type *type, size_t count,
                                                 const haul_enter_options *options,
                                                 const haul_async *async);

/* Zeros mean the defaults. */
typedef struct haul_exit_options {
    int structured; /* ends a structured region */
    /* Ends all enters of the root except those of structured regions. Not read if `structured` is
     * set: then one structured region ends. */
    int finalize;
    int copyout; /* what leaves with this call comes back first, as by haul_unmarshal */
    int reserved;
    /* With copyout: a policy (policy.h) of the root's type, or that type. Of what leaves, all that
     * it lets come back does, whatever the enter's type says, and nothing else. NULL: the types of
     * the enters say what comes back. Not read without copyout. The library cannot tell a policy of
     * another type: it would read the root by that. */
    const haul_type *policy;
} haul_exit_options;

/* Ends an enter of the same root. After the last one, what no other root leads to leaves, and with
 * `copyout` it comes back. What stays neither comes back nor moves. An array stays as a whole if
 * any byte of it is led to.
 *
 * While the root that a group was found from is entered, all of the group stays. Once that root has
 * left, what other roots lead to in the group is found by the host's pointers as they are then, so
 * the objects of the group must be readable. That takes time for the objects that stay, and a sync
 * before has their contents read once more. Memory of a group is freed when all of it has left. A
 * pointer that was not attached, and that the host has changed since it was sent, keeps its value
 * on the device when its target leaves, and leads to freed memory later.
 *
 * A policy is asked by a walk of the host's graph as it is now: errors as of haul_plan_create. The
 * walk stops at absent memory of which a finder has a copy (haul_environment_set_finder). Borrowed
 * pointers may lead to anything that is present, whatever root owns it.
 *
 * When an asynchronous call returns, the objects are absent. Their memory on the device stays until
 * earlier work on the stream is done, and a later call has found that. Results are written by
 * haul_environment_wait, or by a call that waits; until then the objects must stay where they are.
 *
 * HAUL_ERROR_ARGUMENT: no such enter is left. If the address is present all the same, the record
 * has its path from the root that has brought it, and as the other path that root's type and
 * address. HAUL_ERROR_GRAPH, as of haul_update_host; the root stays entered. After any failure all
 * objects stay, and the call can be repeated; what had come back before is written. */
static inline haul_status haul_environment_exit(haul_environment *environment, const void *root,
                                                const haul_exit_options *options,
                                                const haul_async *async);

/* The device address of a byte of a present range, or else of one past its end; NULL: there is
 * none. So an object whose first member does not travel has none: ask for a member that travels,
 * and subtract its offset. haul_environment_host_pointer is the reverse. O(1); no lock; any
 * thread. */
HAUL_API void *haul_environment_device_pointer(const haul_environment *environment,
                                               const void *host);
HAUL_API void *haul_environment_host_pointer(const haul_environment *environment,
                                             const void *device);

typedef enum haul_presence {
    HAUL_ABSENT = 0,          /* no byte of it is present */
    HAUL_PRESENT_IN_PART = 1, /* some are; or all, but not in one piece */
    HAUL_PRESENT = 2          /* all of it is, in one range */
} haul_presence;
/* How much of `bytes` bytes is present; of no bytes: of the one at `host`. O(1) for up to one page,
 * else O(pages), and again if enters or exits meanwhile change something there, or much elsewhere.
 * No lock; any thread. HAUL_ABSENT, too: the environment is NULL or freed, or the range ends behind
 * all addresses of a process. */
HAUL_API haul_presence haul_environment_presence(const haul_environment *environment,
                                                 const void *host, size_t bytes);

/* A present range, and the root that has brought it. */
typedef struct haul_present_range {
    void *host, *device; /* its beginning */
    size_t bytes;
    haul_root root;             /* its type is good until the root has left */
    size_t structured, dynamic; /* enters of that root without their exits */
} haul_present_range;
/* The range that holds a host address. HAUL_ERROR_ARGUMENT, without a record: none does, and the
 * result is all zeros; HAUL_ERROR_BUSY. */
static inline haul_status haul_environment_find(haul_environment *environment, const void *host,
                                                haul_present_range *range);

/* Send the host's contents of `bytes` bytes, or bring the device's. They lie in one present range:
 * an object, an array, a member. 0 bytes: everything that was sent together with the object at
 * `host`. Pointers are never touched, nor bytes that a direction excludes, nor those that are not
 * described. HAUL_ERROR_ARGUMENT: not present. Else as haul_update_device and haul_update_host have
 * it for a range. When an asynchronous call to the device returns, the host's contents have been
 * read. haul_environment_wait, or a call that waits, writes the results of one to the host. */
static inline haul_status haul_environment_update_device(haul_environment *environment,
                                                         const void *host, size_t bytes,
                                                         const haul_async *async);
static inline haul_status haul_environment_update_host(haul_environment *environment,
                                                       const void *host, size_t bytes,
                                                       const haul_async *async);

/* A part of an update: `count` runs of `bytes` bytes, `stride` bytes from one to the next. */
typedef struct haul_update_part {
    /* Without a type: where the first run begins. All runs lie in one present range. With a type:
     * any byte of the group whose objects are meant; NULL: all objects that are present. */
    const void *host;
    size_t bytes;
    size_t count, stride; /* count 0: one run */
    /* Not NULL: the part is a member of all objects of this type, at this offset. Those that lie
     * within objects of another type do not count: their bytes are members of these. A policy
     * (policy.h) is a type of its own: name it for objects that were entered under it. */
    const haul_type *type;
    size_t offset;
} haul_update_part;

typedef enum haul_direction { HAUL_TO_DEVICE = 0, HAUL_TO_HOST = 1 } haul_direction;

/* Updates `count` parts in one transfer: one side packs them, the other unpacks them (device.h:
 * gather_strips). A byte may lie in several parts. Else as the two updates above, except that no
 * part has 0 bytes. The list is the caller's. The first update of a member lists where it lies; the
 * lists are kept until the objects leave (docs/environment.md: costs).
 *
 * HAUL_ERROR_ARGUMENT: a part is not present, has no bytes, has runs that overlap, or reaches out
 * of its type; its type is freed or not committed; no object of the type is present; the list is
 * NULL; the direction is none. HAUL_ERROR_LIMIT: the update is larger than the address space. Then
 * nothing crosses. */
static inline haul_status haul_environment_update(haul_environment *environment,
                                                  const haul_update_part *parts, size_t count,
                                                  haul_direction direction,
                                                  const haul_async *async);

/* Waits until all ordered work of the environment is done, and writes its results to the host's
 * objects, in the order of the calls. HAUL_ERROR_PENDING, the work goes on, and HAUL_ERROR_MEMORY:
 * results that are not written yet are not lost; wait again. After a failure of the device, results
 * that failed are not written, and nothing is outstanding. HAUL_ERROR_GRAPH (haul_update_host):
 * that result is not written; the others are. */
HAUL_API haul_status haul_environment_wait(haul_environment *environment);
/* HAUL_OK: haul_environment_wait would not have to wait. HAUL_ERROR_PENDING: it would. Else the
 * device's failure, which haul_environment_wait then reports, too. Writes nothing. */
HAUL_API haul_status haul_environment_poll(haul_environment *environment);

/* Sends the data that the host has changed since the last sync, in one transfer: of the group of
 * the byte at `host`, or of all groups (NULL). Changes are found by digests of the data, 4 KiB at a
 * time (a page). All data of a changed page goes, so results of the device in it are lost, unless
 * they were brought back before. What an update has brought back is a change, too. A change is
 * missed with a chance of 2^-64.
 *
 * The first sync of a group sends all its data, and makes the digests. They take 9 bytes of host
 * memory for each page, and 72 to 144 for each strip: any number of equal pieces at equal
 * distances. They are kept until the group leaves. Each sync reads all data, with the threads of
 * the context (haul_environment_track_writes: less), and waits for the device.
 *
 * HAUL_ERROR_ARGUMENT: `host` is not present. Else as an update of parts to the device. After a
 * failure the next sync sends all data of the groups that this one had read. */
HAUL_API haul_status haul_environment_sync(haul_environment *environment, const void *host);

/* Lets syncs ask the system which pages of memory this process has written: they read only these.
 * `on` 0: no more, as in the beginning. A group is tracked from its next sync on: its ranges of
 * 1 MiB and more, in private memory without a file, at most 4,096 of an environment. All else is
 * read, as without this. A sync sends the same, with one exception:
 *
 * The system sees what threads of this process write, and most system calls. It does not see writes
 * into pinned memory: of a GPU, of a network card, of io_uring with registered buffers, of a direct
 * read that is under way during a sync. Do not track if such writes go into objects that are
 * present, except for this environment's own updates and exits.
 *
 * The first write to a page after a sync takes 0.5 to 2 us longer, and large pages of 2 MiB that
 * are written become small ones. A bit for each page is kept. Memory can be watched for one
 * environment at a time; for others it is read.
 *
 * HAUL_ERROR_UNSUPPORTED: the system tells no pages; syncs read all data. Does not wait. */
HAUL_API haul_status haul_environment_track_writes(haul_environment *environment, int on);

/* Makes the device's copy of a pointer lead to the copy of what the host's leads to now, and
 * counts. `pointer` is the host address of a pointer of an object on the device: one that a field
 * describes (but those that no enter writes: see haul_environment_enter), or an aligned word that a
 * policy or a field has left out (HAUL_SHALLOW, HAUL_NONE, HAUL_SKIP), which is null there. A word
 * before the first byte that travels, or behind the last one, counts too, though it is not present.
 * If several objects on the device have the word, a first attach takes the copy in a present range,
 * or else that of the lowest group number, and this one stays attached. Further attaches only
 * count. The last detach makes it null on the device, or what haul_environment_set_detached says;
 * so does the exit of its target, which it does not hold. A pointer that an enter has translated
 * needs no attach. Both calls wait for the device.
 * HAUL_ERROR_ARGUMENT: no such pointer is present; what it leads to is not; or there is no attach
 * to end. HAUL_ERROR_LIMIT, of a detach or an exit: more than 2^28 pointers would be poisoned; of
 * an attach: the pointer was attached 2^32 - 1 times.
 * After a detach that failed the pointer stays attached. */
HAUL_API haul_status haul_environment_attach(haul_environment *environment, const void *pointer);
HAUL_API haul_status haul_environment_detach(haul_environment *environment, const void *pointer);

/* What a pointer is on the device when it is detached: by the last detach, or by the exit of the
 * group that it was made to lead into. */
typedef enum haul_detached {
    HAUL_DETACHED_NULL = 0,
    HAUL_DETACHED_RAW = 1, /* the host's pointer, as OpenACC has it */
    /* an address that no memory has, which names the pointer (haul_environment_name_poison) */
    HAUL_DETACHED_POISON = 2
} haul_detached;
/* Sets the form of pointers that are detached from now on; in a new environment they become null.
 * Does not wait for the device. HAUL_ERROR_ARGUMENT: there is no such form.
 * HAUL_ERROR_UNSUPPORTED: poison, with pointers of 32 bits. */
HAUL_API haul_status haul_environment_set_detached(haul_environment *environment,
                                                   haul_detached form);
/* Names the pointer that became this poison. `address` may be up to 512 KiB away from the poison: a
 * kernel adds offsets to it. *pointer becomes the pointer's address on the host. `path` has
 * HAUL_PATH_BYTES or is NULL; it becomes the path from the root to the pointer, or that root's type
 * and address if the pointer was left out, or empty if it is not present any more. Does not wait
 * for the device. HAUL_ERROR_ARGUMENT: no pointer became it, or `pointer` is NULL; then *pointer is
 * NULL. */
HAUL_API haul_status haul_environment_name_poison(haul_environment *environment, uint64_t address,
                                                  const void **pointer, char *path);

/* Sets who is told of present ranges: a run time with a table of its own (haul/openmp.h). `comes`
 * is called for each range that is present now, and for each that an enter sends, before that
 * returns; `goes` for each of them before its memory is freed, by an exit or haul_environment_free,
 * and when another watcher comes. NULL, NULL: nobody is told.
 *
 * An answer of `comes` other than 0 refuses: `goes` is called for the ranges that it has taken in
 * this call, nothing is entered, and the enter answers HAUL_ERROR_CANCELLED. So does this call, and
 * then nobody is told any more. The answer of `goes` does not count.
 *
 * Ranges do not overlap. They have no type, and `count` is the number of bytes. Inside both
 * functions the three calls without a lock work; others on the environment and its context answer
 * HAUL_ERROR_BUSY. */
HAUL_API haul_status haul_environment_watch(haul_environment *environment,
                                            haul_range_visitor *comes, haul_range_visitor *goes,
                                            void *user);

/* Where the device's copy of `bytes` bytes, at least one, is; NULL: there is none, or not of all of
 * them in one piece. */
typedef void *haul_copy_finder(void *user, const void *host, size_t bytes);
/* Sets who is asked about memory that is not present here: a run time that has mapped it
 * (haul/openmp.h, haul/openacc.h), or one that knows memory of the device itself, or managed memory
 * (haul/cuda.h), whose copy is where it is. NULL: nobody is asked.
 *
 * An enter asks at each pointer whose target is absent. What has a copy is not followed, sent,
 * counted, or read, and the pointer leads to the copy. (Read it is to find the end of a string, or
 * a size that a function tells.) It stays absent here: its owner must keep it until the groups that
 * lead there have left. A pointer to what has a copy of its beginning alone is followed. An enter
 * of a root that has a copy answers HAUL_ERROR_CANCELLED.
 *
 * The function may be called by several threads of one call, and must give the same answers
 * throughout it. Inside it the three calls without a lock work; others on the environment and its
 * context answer HAUL_ERROR_BUSY. */
HAUL_API haul_status haul_environment_set_finder(haul_environment *environment,
                                                 haul_copy_finder *finder, void *user);

typedef struct haul_environment_info {
    size_t roots;         /* addresses that are entered */
    size_t groups, kept;  /* on the device; of these, without a root */
    size_t ranges, bytes; /* present */
    size_t device_bytes;  /* of all groups, and of those that left a while ago; with alignment */
    size_t bookkeeping_bytes;              /* host memory, plans aside */
    uint64_t enters, exits;                /* that have succeeded */
    uint64_t transfers_to, transfers_from; /* of groups and updates */
    uint64_t bytes_to, bytes_from;
    uint64_t attached; /* pointers of present objects that were written */
    /* By callers, of all threads: device_pointer, host_pointer, presence, find. With pointers of 32
     * bits each thread counts modulo 2^32. */
    uint64_t look_ups;
    uint64_t groups_made; /* enters that have made one */
    uint64_t allocations; /* of device memory, by calls on the environment */
    /* Of device_bytes: of the groups that are kept; and those that no present byte fills:
     * alignment, lists for the device, and groups that left a while ago. */
    size_t kept_bytes, wasted_bytes;
    size_t pinned_bytes; /* host memory for transfers, of all that uses the device */
} haul_environment_info;
/* All zeros for a NULL or freed environment, or inside a callback of a call that changes it. */
static inline void haul_environment_get_info(haul_environment *environment,
                                             haul_environment_info *info);

/* Writes tables for people: sums, roots, groups, types, and the first `ranges` ranges with their
 * addresses. docs/environment.md shows them. The order of roots depends on addresses. Does not wait
 * for the device. Inside the file's function, other calls on the environment answer
 * HAUL_ERROR_BUSY. HAUL_ERROR_ARGUMENT: the file has no function to write. HAUL_ERROR_FILE: it
 * refuses; it may have a part of the text. HAUL_ERROR_MEMORY. */
HAUL_API haul_status haul_environment_dump(haul_environment *environment, const haul_file *file,
                                           size_t ranges);

/* ---- The functions behind the inline forms, which pass the sizes of structs. */

HAUL_API haul_status haul_environment_enter_sized(haul_environment *environment, void *root,
                                                  const haul_type *type, size_t count,
                                                  const haul_enter_options *options,
                                                  size_t options_bytes, const haul_async *async,
                                                  size_t async_bytes);
HAUL_API haul_status haul_environment_exit_sized(haul_environment *environment, const void *root,
                                                 const haul_exit_options *options,
                                                 size_t options_bytes, const haul_async *async,
                                                 size_t async_bytes);
HAUL_API haul_status haul_environment_update_device_sized(haul_environment *environment,
                                                          const void *host, size_t bytes,
                                                          const haul_async *async,
                                                          size_t async_bytes);
HAUL_API haul_status haul_environment_update_host_sized(haul_environment *environment,
                                                        const void *host, size_t bytes,
                                                        const haul_async *async,
                                                        size_t async_bytes);
HAUL_API haul_status haul_environment_update_sized(haul_environment *environment,
                                                   const haul_update_part *parts, size_t count,
                                                   haul_direction direction,
                                                   const haul_async *async, size_t async_bytes);
HAUL_API haul_status haul_environment_find_sized(haul_environment *environment, const void *host,
                                                 haul_present_range *range, size_t range_bytes);
HAUL_API void haul_environment_get_info_sized(haul_environment *environment,
                                              haul_environment_info *info, size_t info_bytes);

static inline haul_status haul_environment_enter(haul_environment *environment, void *root,
                                                 const haul_type *type, size_t count,
                                                 const haul_enter_options *options,
                                                 const haul_async *async)
{
    return haul_environment_enter_sized(environment, root, type, count, options, sizeof *options,
                                        async, sizeof *async);
}

static inline haul_status haul_environment_exit(haul_environment *environment, const void *root,
                                                const haul_exit_options *options,
                                                const haul_async *async)
{
    return haul_environment_exit_sized(environment, root, options, sizeof *options, async,
                                       sizeof *async);
}

static inline haul_status haul_environment_update_device(haul_environment *environment,
                                                         const void *host, size_t bytes,
                                                         const haul_async *async)
{
    return haul_environment_update_device_sized(environment, host, bytes, async, sizeof *async);
}

static inline haul_status haul_environment_update_host(haul_environment *environment,
                                                       const void *host, size_t bytes,
                                                       const haul_async *async)
{
    return haul_environment_update_host_sized(environment, host, bytes, async, sizeof *async);
}

static inline haul_status haul_environment_update(haul_environment *environment,
                                                  const haul_update_part *parts, size_t count,
                                                  haul_direction direction, const haul_async *async)
{
    return haul_environment_update_sized(environment, parts, count, direction, async,
                                         sizeof *async);
}

static inline haul_status haul_environment_find(haul_environment *environment, const void *host,
                                                haul_present_range *range)
{
    return haul_environment_find_sized(environment, host, range, sizeof *range);
}

static inline void haul_environment_get_info(haul_environment *environment,
                                             haul_environment_info *info)
{
    haul_environment_get_info_sized(environment, info, sizeof *info);
}

#ifdef __cplusplus
}
#endif
#endif
