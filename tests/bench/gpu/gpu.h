/* haul_bench_gpu: what its files share.
 *
 *     main.c        options, and which workloads
 *     workloads.c   the graphs, each described once, for Haul and for the comparators
 *     walk.c        the comparators' traversal and present table
 *     by_hand.c     the walks by hand over graphs of haul_bench's workload "discovery"
 *     copiers.c     the comparators
 *     haul.c        Haul's ways
 *     measure.c     rounds, phases, checks
 *     table.c       the table, and whose samples are taken
 *     huge.c        a tree of hundreds of millions of nodes
 *     kernels.cu    what runs on the device (shapes.h)
 *     calls.c       the CUDA runtime's calls, counted
 */
#ifndef GPU_H
#define GPU_H

#include <haul.h>

#include "bench/bench.h"
#include "bench/discovery.h"
#include "shapes.h"

/* Ends the program with a message. */
void gpu_die(const char *what, const char *why);

/* -------------------------------------------------------------------------------------------------
 * workloads.c
 *
 * A kind is a C object's description: from it come both Haul's type and the traversal of the
 * comparators, where a compiler would generate one. */
enum { GPU_FIELDS = 11, GPU_KINDS = 12 };
#define GPU_NO_COUNT SIZE_MAX
#define GPU_STRING (SIZE_MAX - 1)

/* What a kind is to Haul: a struct, or no type of its own; GPU_DATA: bytes without pointers. */
typedef enum gpu_nature { GPU_STRUCT, GPU_POINTER, GPU_DATA } gpu_nature;

typedef struct gpu_kind gpu_kind;
typedef struct gpu_field {
    const char *name;
    size_t at;
    const gpu_kind *target; /* NULL: words */
    /* of the integer that counts the elements, and its size, 8 or 4; GPU_NO_COUNT: one element;
     * GPU_STRING: characters, up to a 0 */
    size_t count_at, count_bytes;
} gpu_field;
struct gpu_kind {
    const char *name;
    gpu_nature nature;
    size_t bytes;
    unsigned field_count;
    gpu_field field[GPU_FIELDS];
};

typedef struct gpu_workload {
    char name[64];
    gpu_layout layout;
    void *root;
    const gpu_kind *root_kind;
    gpu_kind kind[GPU_KINDS];
    unsigned kind_count;
    haul_type *type[GPU_KINDS]; /* of the kinds */
    discovered graph;           /* with its types; .walk NULL: the graph is none of these */
    /* the same, but for arrays of other objects than `chosen`; NULL: no such case */
    haul_type *used_type[GPU_KINDS];
    /* the object whose array alone the kernel uses; NULL: it uses all */
    const void *chosen;

    gpu_piece *pieces; /* all data; those that the kernel uses come first, in its numbering */
    size_t piece_count, used_count, longest_words;
    /* the last: pointers of the object with the most */
    size_t objects, pointers, graph_bytes, largest_pointers;
    /* what touch must sum up to before anything was added; what each 1 adds to it */
    uint64_t pattern_sum, weights;
    uint64_t generation; /* how often the kernel has run */

    void **heap;
    size_t heap_count, heap_room;
} gpu_workload;

typedef enum gpu_set { GPU_SET_QUICK = 1, GPU_SET_USUAL = 2, GPU_SET_FULL = 4 } gpu_set;

/* Calls use(name, user) for each workload of the set, in order. */
void gpu_workload_names(gpu_set set, void (*use)(const char *name, void *user), void *user);
/* Builds it. 0: no such name. */
int gpu_workload_make(gpu_workload *made, const char *name);
void gpu_workload_free(gpu_workload *it);
/* Ends the program unless every word is what `generation` runs of the kernel must have made of it.
 * `thorough`: all words; else the first, the last and one between of each piece. */
void gpu_workload_check(const gpu_workload *it, int thorough, const char *technique);
size_t gpu_object_bytes(const gpu_kind *kind, size_t count);

/* -------------------------------------------------------------------------------------------------
 * calls.c. Each counts as one call; copies are also counted as transfers, with their bytes.
 */
typedef struct gpu_counts {
    double calls, transfers_to, transfers_from, bytes_to, bytes_from;
} gpu_counts;
extern gpu_counts gpu_counted;

int gpu_present(void);
void gpu_describe(char *text, size_t bytes); /* the card and the driver, in a line */
size_t gpu_free_bytes(void);
int gpu_can_prefetch(void);

uint64_t gpu_allocate(size_t bytes);
void gpu_release(uint64_t address);
void gpu_copy_to(uint64_t to, const void *from, size_t bytes); /* done when it returns */
void gpu_copy_from(void *to, uint64_t from, size_t bytes);
/* ordered, done after gpu_wait */
void gpu_start_copy_to(uint64_t to, const void *from, size_t bytes);
void gpu_wait(void);
void *gpu_allocate_pinned(size_t bytes);
void gpu_release_pinned(void *memory);
void *gpu_allocate_managed(size_t bytes);
void gpu_release_managed(void *memory);
void gpu_prefetch(void *memory, size_t bytes, int to_device);
void gpu_must(cudaError_t error, const char *what);

/* -------------------------------------------------------------------------------------------------
 * walk.c: breadth first from the root, one pass. An object gets its place when it is met, through a
 * present table (a hash of host addresses); so when an object is visited, the places of all it
 * points to are known.
 */
typedef uint64_t gpu_place(void *user, size_t bytes);

typedef struct gpu_object {
    char *host;
    const gpu_kind *kind; /* NULL: words */
    size_t count;
    uint64_t place;
} gpu_object;

typedef struct gpu_walk {
    const gpu_workload *it;
    gpu_object *objects; /* all that were met, root first */
    size_t count, next;
    hash_map present;
    /* of the object just visited: the place behind each of its pointers, 0 for NULL */
    uint64_t *targets;
    gpu_place *place;
    void *user;
} gpu_walk;

void gpu_walk_open(gpu_walk *walk, const gpu_workload *it);
void gpu_walk_close(gpu_walk *walk);
void gpu_walk_start(gpu_walk *walk, gpu_place *place, void *user);
/* The next object, or NULL after the last. */
const gpu_object *gpu_walk_visit(gpu_walk *walk);

size_t gpu_bytes(const gpu_object *object);
size_t gpu_pointer_count(const gpu_object *object);
size_t gpu_pointer_at(const gpu_object *object, size_t i);
void gpu_read_pointers(const gpu_object *object, const char *copy, uint64_t *values);
void gpu_write_pointers(const gpu_object *object, char *copy, const uint64_t *values);

/* The place for places that follow each other: `user` is the address of a uint64_t, the next
 * one. */
uint64_t gpu_place_next(void *user, size_t bytes);
/* What such places take for the whole graph. */
size_t gpu_packed_bytes(gpu_walk *walk);

/* One pass: the graph into `buffer`, pointers as they hold when the buffer lies at `base`. And back
 * by the last walk: all but pointers. */
void gpu_pack(gpu_walk *walk, char *buffer, uint64_t base);
void gpu_unpack(gpu_walk *walk, const char *buffer, uint64_t base);

/* -------------------------------------------------------------------------------------------------
 * Techniques
 */
typedef struct gpu_bench {
    gpu_workload *it;
    gpu_walk walk;
    uint64_t *saved, *edges;           /* pointers of one object; of all objects */
    char *pageable, *pinned, *managed; /* `room` bytes each; managed: NULL where there is none */
    uint64_t pool;                     /* device memory */
    size_t room;
    gpu_piece *found;        /* device memory: what find writes and touch reads */
    uint64_t *sum;           /* device memory */
    const void *device_root; /* set by `to`; NULL: `found` is filled already */
    haul_plan *plan;
    haul_shipment *shipment, *kept;
    struct gpu_arena *arena;
} gpu_bench;

/* One way of copying. open, before, after, free and close are not timed (free has its own row);
 * `to` and `from` are, and end when the device has finished. NULL where there is nothing to do. A
 * walk by hand has no `from`. */
typedef struct gpu_technique {
    const char *name;
    /* driver calls for each object, about: 0 for those that need a few in all */
    unsigned calls_each;
    int is_limit; /* no graph arrives: no kernel, no check */
    /* while it is open, others would measure something else: its rounds come behind theirs */
    int is_alone;
    /* of a copy of the graph that it alone works on, from `open` on; NULL: it works on the graph */
    uint64_t *own_generation;
    int (*fits)(const gpu_bench *b);
    void (*open)(gpu_bench *b);
    void (*before)(gpu_bench *b);
    void (*to)(gpu_bench *b);
    void (*from)(gpu_bench *b);
    /* brings what came back into the host objects, where it is not there yet */
    void (*after)(gpu_bench *b);
    void (*free)(gpu_bench *b);
    void (*close)(gpu_bench *b);
    void (*tell_to)(gpu_bench *b); /* own figures: gpu_counted and phases */
    void (*tell_from)(gpu_bench *b);
} gpu_technique;

extern const gpu_technique gpu_copiers[], gpu_haul_ways[], gpu_walks[];
extern const size_t gpu_copier_count, gpu_haul_way_count, gpu_walk_count;
/* Of all three, the walks first; NULL: there are no more. */
const gpu_technique *gpu_technique_at(size_t i);

/* Opens the device once for all workloads; closes it. */
void gpu_haul_open(void);
void gpu_haul_close(void);

typedef struct gpu_options {
    int runs;
    const char *techniques; /* their names, with commas; NULL: all */
    /* a technique repeats until it has used so much of a workload, at least twice */
    double cell_seconds;
    /* one whose single run would take longer than so many seconds is left out */
    double patience;
} gpu_options;
void gpu_measure(gpu_workload *it, const gpu_options *options);

/* -------------------------------------------------------------------------------------------------
 * huge.c. A tree of so many nodes of 48 bytes; needs some 70 bytes of host memory for each, and 48
 * of the device's.
 */
void gpu_measure_huge(size_t count, int runs);

/* -------------------------------------------------------------------------------------------------
 * table.c
 */
#define GPU_LIMIT "raw_pinned"

/* NULL: standard output, and the table on standard error */
void gpu_report_open(const char *csv_path, int runs);
void gpu_report_close(void);
void gpu_report_begin(const gpu_workload *it);
/* Whose samples come next; NULL: nobody's, they are not kept. */
void gpu_report_technique(const char *name);
void gpu_sample(const char *phase, double number, const char *against);

#endif
