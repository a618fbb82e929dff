/* Sources: the objects or the arena that a call plans, ships or audits.
 *
 *     haul_ship_from(device, haul_from_object(mesh, mesh_type), NULL, NULL, &shipment);
 *     haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment);
 *
 * A source is a value: make one with a haul_from_ function where a call wants it. It copies
 * nothing, so its objects or its arena must live as long as the call asks.
 */
#ifndef HAUL_SOURCE_H
#define HAUL_SOURCE_H

#include "haul/type.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haul_plan haul_plan;
typedef struct haul_arena haul_arena;
typedef struct haul_chain haul_chain;
typedef struct haul_shipment haul_shipment;

/* One root: `count` objects of `type` in a row at `address`. This struct never changes. */
typedef struct haul_root {
    void *address;
    const haul_type *type;
    size_t count;
} haul_root;

typedef enum haul_source_kind {
    HAUL_SOURCE_ROOT = 1,
    HAUL_SOURCE_ROOTS = 2,
    HAUL_SOURCE_PLAN = 3,
    HAUL_SOURCE_ARENA = 4,
    HAUL_SOURCE_ARENA_ROOT = 5,
    HAUL_SOURCE_CHAINS = 6,
    HAUL_SOURCE_DEVICE = 7
} haul_source_kind;

/* Filled by the functions below. Members that the kind has no use for are 0. */
typedef struct haul_source {
    int kind; /* haul_source_kind */
    int reserved;
    /* HAUL_SOURCE_ROOT, HAUL_SOURCE_ARENA_ROOT and HAUL_SOURCE_DEVICE; of HAUL_SOURCE_CHAINS the
     * address alone */
    haul_root root;
    const haul_root *roots;
    size_t count; /* of roots or chains */
    haul_plan *plan;
    haul_arena *arena;
    haul_chain *const *chains;
    haul_shipment *shipment;
} haul_source;

static inline haul_source haul__source(int kind, void *objects, const haul_type *type, size_t count)
{
    haul_source source;
    source.kind = kind;
    source.reserved = 0;
    source.root.address = objects;
    source.root.type = type;
    source.root.count = count;
    source.roots = NULL;
    source.count = 0;
    source.plan = NULL;
    source.arena = NULL;
    source.chains = NULL;
    source.shipment = NULL;
    return source;
}

/* `count` objects of a committed type in a row, and everything that they reach. */
static inline haul_source haul_from_array(void *objects, const haul_type *type, size_t count)
{
    return haul__source(HAUL_SOURCE_ROOT, objects, type, count);
}

/* One object, and everything that it reaches. */
static inline haul_source haul_from_object(void *object, const haul_type *type)
{
    return haul_from_array(object, type, 1);
}

/* Several roots, whose graphs may meet. The list may go when the call has returned. */
static inline haul_source haul_from_roots(const haul_root *roots, size_t count)
{
    haul_source source = haul__source(HAUL_SOURCE_ROOTS, NULL, NULL, 0);
    source.roots = roots;
    source.count = count;
    return source;
}

/* The graph of a plan, as it was discovered for the plan. */
static inline haul_source haul_from_plan(haul_plan *plan)
{
    haul_source source = haul__source(HAUL_SOURCE_PLAN, NULL, NULL, 0);
    source.plan = plan;
    return source;
}

/* Everything that has been allocated in an arena so far, as it lies. Its pointers are those that
 * haul_arena_new has noted (arena.h), and those of images that were loaded into it. */
static inline haul_source haul_from_arena(haul_arena *arena)
{
    haul_source source = haul__source(HAUL_SOURCE_ARENA, NULL, NULL, 0);
    source.arena = arena;
    return source;
}

/* The same for an arena that a library has filled without types: its pointers are those that the
 * object reaches. The whole graph must lie in the arena. */
static inline haul_source haul_from_arena_root(haul_arena *arena, void *object,
                                               const haul_type *type)
{
    haul_source source = haul__source(HAUL_SOURCE_ARENA_ROOT, object, type, 1);
    source.arena = arena;
    return source;
}

/* The targets of chains (chain.h) that all begin at one object, and everything that they reach.
 * Objects on the way are no part of it. It is a source of haul_ship_from, haul_plan_create and
 * haul_image_write, for chains of the same context, and serves in each as roots do; empty targets
 * are left out. An update tells HAUL_ERROR_STALE if a pointer, a count or a condition on the way
 * has changed, before anything behind it is read; answers of functions on the way are compared
 * after these. haul_reship resolves the chains again. The list may go when the call has returned.
 * HAUL_ERROR_ARGUMENT: NULL, or chains of another context; HAUL_ERROR_GRAPH: all targets are empty;
 * else the errors of haul_chain_resolve. */
static inline haul_source haul_from_chains(void *root, haul_chain *const *chains, size_t count)
{
    haul_source source = haul__source(HAUL_SOURCE_CHAINS, root, NULL, 0);
    source.chains = chains;
    source.count = count;
    return source;
}

/* The graph of a shipment as the device has it, with what kernels have changed: a source of
 * haul_image_write and haul_image_save. Its roots are those of the shipment. The call waits for the
 * shipment's work, copies the graph to memory of its own, as large as the arena there, and
 * discovers it in this copy; the host's objects are neither read nor written. (Results of earlier
 * asynchronous calls are, as by haul_wait.) Functions in the types are called with the copy.
 * HAUL_ERROR_ARGUMENT: a shipment of another context. HAUL_ERROR_GRAPH, with the path: a pointer
 * leads out of the shipment's arena; so do pointers to what kernels have put into nurseries, until
 * these have been brought back. */
static inline haul_source haul_from_device(haul_shipment *shipment)
{
    haul_source source = haul__source(HAUL_SOURCE_DEVICE, NULL, NULL, 0);
    source.shipment = shipment;
    return source;
}

/* The same with one root, an object of the host's graph that the shipment has. A shipment of an
 * arena without a root needs it. */
static inline haul_source haul_from_device_root(haul_shipment *shipment, void *object,
                                                const haul_type *type)
{
    haul_source source = haul__source(HAUL_SOURCE_DEVICE, object, type, 1);
    source.shipment = shipment;
    return source;
}

#ifdef __cplusplus
}
#endif
#endif
