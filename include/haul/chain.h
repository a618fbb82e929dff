/* Chains: a path from a root object to the data that a kernel needs, such as
 * sim->atoms.traits->positions. Only the path's end is shipped, and kernels get its address.
 *
 *     haul_chain_create(context, sim_type, "atoms.traits.positions", &positions);
 *     haul_ship_from(device, haul_from_chains(sim, &positions, 1), NULL, NULL, &s);
 *     haul_chain_resolve_on(s, positions, sim, &target, 1, &count);
 *     kernel(target.address, target.count);
 *     haul_unmarshal(s);                                 the positions return to their place
 *
 * A path has steps, each a field's name and indices. "." and "->" mean the same; the first may be
 * left out.
 *
 *     atoms.traits      a struct, then a pointer of it: embedded structs, pointers, distances and
 *                       tails are all one step
 *     cells[3].data     element 3 of an array, in the struct or behind a pointer
 *     cells[*].data     every element: one target for each
 *     cells.data        element 0, as -> has it in C
 *     rows[2]           of T **rows: the array behind pointer 2
 *
 * A field may have dots in its name, as an arm of a union (as.cell): the longest name counts.
 *
 * The end of a path is its target: the elements behind a pointer, all of them or the one of an
 * index; an embedded struct or array; or a plain member that HAUL_RAW gives a name. Each rule of
 * the description holds on the way (field.h): counts, conditions, tags, bases, type switches,
 * ancestors, and the directions of the end. Borrowed pointers are followed, too. A path passes no
 * HAUL_SECTION, no external pointer, no end of an array, and no skipped bytes.
 *
 * An end that is not there is no failure, but an empty target. This is so behind a null pointer, a
 * word that is no pointer, or no elements; for a field whose condition does not hold, whose type
 * the switch does not choose, or that lies behind the object's end.
 *
 * A chain keeps its context and its types alive, never the objects. It never changes, and is used
 * by one thread at a time, as its context is. No call here waits for a device.
 */
#ifndef HAUL_CHAIN_H
#define HAUL_CHAIN_H

#include "haul/ship.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most "[*]" in one path. */
#define HAUL_CHAIN_MANY_MAX 4u

/* "[*]" in a path that the compiler reads: HAUL_CHAIN(sim, ->cells[HAUL_ALL].data). */
enum { HAUL_ALL = 0 };

/* A path that the compiler checks: three arguments of haul_chain_create_checked. `root` is a
 * pointer to the root's struct, and nothing is evaluated. */
#define HAUL_CHAIN(root, steps) #steps, sizeof *(root), sizeof((root)steps)

/* Compiles a path from objects of a committed type. `root_bytes` and `bytes` are the sizes of the
 * root's struct and of the member that the path names, as the program has them (of a pointer, not
 * of its elements); 0: not checked. The caller frees the chain.
 * HAUL_ERROR_ARGUMENT: NULL; the path is empty or no path; a step that is no field: the text names
 * it and the fields that are there, and the record's path ends with it; an index that the array in
 * a struct does not have, that is missing for a pointer to pointers, or that stands behind no
 * array; a field that no path passes; a size that is not the type's. HAUL_ERROR_STATE: the type is
 * not committed. HAUL_ERROR_LIMIT: too many "[*]". HAUL_ERROR_UNSUPPORTED: the end has a direction,
 * and its objects have sizes of their own. HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY. On failure *chain is
 * NULL. */
HAUL_API haul_status haul_chain_create_checked(haul_context *context, const haul_type *type,
                                               const char *path, size_t root_bytes, size_t bytes,
                                               haul_chain **chain);
/* The same without the sizes. */
static inline haul_status haul_chain_create(haul_context *context, const haul_type *type,
                                            const char *path, haul_chain **chain)
{
    return haul_chain_create_checked(context, type, path, 0, 0, chain);
}

/* Drops the caller's hold and sets *chain to NULL; plans and shipments keep the chain. NULL is
 * allowed. Any thread, inside any callback (context.h). */
HAUL_API void haul_chain_free(haul_chain **chain);

/* Finds the targets that the chain has now. `root` is one object of the chain's type. Each target
 * is its address, its type and its number of elements, at least 1; or an empty one, with NULL and
 * 0. The types live as long as the chain: plain elements have one of their size. *count becomes the
 * number of targets, which may be above `capacity`: then the first ones are filled in. It is 1
 * without "[*]", which gives a target for each element, in order, empty ones too. Nothing is copied
 * or written. `targets` may be NULL if `capacity` is 0. After a failure *count is 0, and the
 * targets are undefined.
 * HAUL_ERROR_ARGUMENT: NULL. HAUL_ERROR_GRAPH, with the path: an index behind an array's last
 * element; else as haul_plan_create has it, for what the chain reads: such as a NULL pointer whose
 * count is above 0, or a count below 0. HAUL_ERROR_LIMIT, HAUL_ERROR_BUSY, HAUL_ERROR_MEMORY. */
HAUL_API haul_status haul_chain_resolve(const haul_chain *chain, void *root, haul_root *targets,
                                        size_t capacity, size_t *count);

/* The same with addresses of the device, in a shipment of the chain, or of any graph that has the
 * targets; types and counts are the host's present ones. Does not wait: the addresses are good for
 * work that is ordered behind the shipment's.
 * HAUL_ERROR_STALE: a target is not in the shipment, or not all of it.
 * HAUL_ERROR_ARGUMENT: the shipment is none or has another context. */
HAUL_API haul_status haul_chain_resolve_on(const haul_shipment *shipment, const haul_chain *chain,
                                           void *root, haul_root *targets, size_t capacity,
                                           size_t *count);

/* A member of a struct of kernel arguments, and the chain that fills it. */
typedef struct haul_argument {
    const haul_chain *chain;
    size_t offset, element_bytes;     /* of the pointer in the struct; of what it points to */
    size_t count_offset, count_bytes; /* of an integer that becomes the count; 0 bytes: none */
} haul_argument;

/* T *m of struct S becomes the target of the chain. */
#define HAUL_ARGUMENT(S, m, chain)                                                                 \
    {                                                                                              \
        chain, offsetof(S, m), sizeof *((S *)0)->m, 0, 0                                           \
    }
/* The same, and the integer n becomes its number of T. */
#define HAUL_ARGUMENT_COUNTED(S, m, n, chain)                                                      \
    {                                                                                              \
        chain, offsetof(S, m), sizeof *((S *)0)->m, offsetof(S, n), sizeof((S *)0)->n              \
    }

/* Fills the struct at `into` with device pointers; an empty target becomes NULL and 0. Other bytes
 * stay. `count` arguments, whose chains all begin at `root`; a list of them may go when the call
 * has returned. After a failure nothing is filled in.
 *
 *     const haul_argument list[] = { HAUL_ARGUMENT_COUNTED(arguments, positions, n, chain),
 *                                    HAUL_ARGUMENT(arguments, momenta, other_chain) };
 *     haul_chain_arguments(s, sim, list, 2, &args);
 *     kernel(args);
 *
 * HAUL_ERROR_ARGUMENT: NULL; a chain with "[*]"; elements that are no whole number of the member's
 * (objects with pointers: of another size); an integer that has not 1, 2, 4 or 8 bytes.
 * HAUL_ERROR_LIMIT: a count that is too large for its integer, taken as signed. HAUL_ERROR_VERSION:
 * an argument that the library does not know. Else as haul_chain_resolve_on. */
HAUL_API haul_status haul_chain_arguments_sized(const haul_shipment *shipment, void *root,
                                                const haul_argument *arguments, size_t count,
                                                size_t argument_bytes, void *into);
static inline haul_status haul_chain_arguments(const haul_shipment *shipment, void *root,
                                               const haul_argument *arguments, size_t count,
                                               void *into)
{
    return haul_chain_arguments_sized(shipment, root, arguments, count, sizeof *arguments, into);
}

#ifdef __cplusplus
}
#endif
#endif
