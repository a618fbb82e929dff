/* haul_bench_places: graphs that exceed a budget of device memory, in several ways.
 *
 *     main.c       options, budgets, rounds, checks, the table
 *     bfs.c        breadth-first search in an R-MAT graph
 *     srad.c       speckle-reducing diffusion of an image
 *     cfd.c        a gas in a mesh of tetrahedra
 *     ways.c       where the arrays lie: device, bus, managed, Haul's places
 *     cuda.c       the CUDA runtime's calls
 *     kernels.cu   what runs on the GPU (arrays.h)
 */
#ifndef PLACES_H
#define PLACES_H

#include "arrays.h"
#include "bench/bench.h"

enum { PLACES_ARRAYS_MAX = 8 };

/* ---- cuda.c. What fails ends the program. */
int cuda_present(void);
void cuda_describe(char *text, size_t bytes);
size_t cuda_free_bytes(void);
void *cuda_device(size_t bytes);
void *cuda_pinned(size_t bytes); /* the GPU reads it at the same address */
void *cuda_managed(size_t bytes);
void cuda_drop(void *memory); /* of the device, or managed */
void cuda_drop_pinned(void *memory);
void cuda_copy(void *to, const void *from, size_t bytes); /* either way; done when it returns */
/* Orders a copy to the GPU on stream 0 or 1; waits for one; lets later kernels wait for it. Lets a
 * stream wait for kernels ordered before. */
void cuda_start_copy(int stream, void *to, const void *from, size_t bytes);
void cuda_kernels_wait_for(int stream);
void cuda_wait_for_kernels(int stream);
void cuda_clear(void *memory, size_t bytes);
void cuda_wait(void);

/* ---- Workloads. */
typedef struct places_workload places_workload;
struct places_workload {
    const char *name;
    places_array arrays[PLACES_ARRAYS_MAX]; /* on the host */
    double rank[PLACES_ARRAYS_MAX];         /* uses of a byte in one run, about */
    int has_profile;
    uint64_t uses[PLACES_ARRAYS_MAX]; /* that a profile run has counted: bytes */
    unsigned count, result;           /* result: the array that is checked */
    uint64_t number[3];
    /* What the kernels do, with arrays in any places. Ends when the GPU is done. */
    void (*run)(const places_workload *it, const places_array *table);
    /* The same within `budget` bytes of device memory, by chunks; the result to `result`. Answers
     * its milliseconds; below 0: not within this budget. */
    double (*chunked)(const places_workload *it, size_t budget, void *result);
    int (*is_right)(const places_workload *it, const void *result);
    void *own;
};
size_t places_bytes(const places_workload *it);

/* The graph does not depend on the number of threads; only the order of a vertex's targets does. */
void bfs_make(places_workload *it, unsigned scale, unsigned threads, uint64_t seed);
void bfs_free(places_workload *it);
/* `path` NULL: side x side pixels of noise. */
void srad_make(places_workload *it, const char *path, uint64_t side, uint64_t seed);
void srad_free(places_workload *it);
void cfd_make(places_workload *it, unsigned side, uint64_t seed);
void cfd_free(places_workload *it);

/* ---- ways.c */
typedef struct places_run {
    const places_workload *it;
    size_t budget;
    const places_array *table; /* for the GPU */
    places_array made[PLACES_ARRAYS_MAX];
    uint64_t device_bytes, host_bytes, moving_bytes;
    haul_shipment *shipment;
} places_run;

typedef struct places_way {
    const char *name;
    int is_unbound; /* it may use all of the GPU's memory */
    int needs_profile;
    int moves_at_will;            /* managed memory without advice */
    int (*open)(places_run *run); /* 0: not within the budget */
    void (*fetch)(places_run *run, void *result);
    void (*close)(places_run *run);
} places_way;

/* The uses of a workload as text, in the file PREFIX-WORKLOAD. Reading sets has_profile. */
void places_write_profile(const places_workload *it, const char *prefix);
void places_read_profile(places_workload *it, const char *prefix);

extern const places_way places_ways[];
extern const size_t places_way_count;
void places_haul_open(void);
void places_haul_close(void);

#endif
