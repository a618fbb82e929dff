/* The targets of a chain, as the host's objects have them.
 */
#ifndef HAUL_CHAIN_RESOLVE_H
#define HAUL_CHAIN_RESOLVE_H

#include "chain/chain.h"
#include "map/found.h"

/* Gets each target and its bytes, empty ones too: address NULL, count 0. Any status but HAUL_OK
 * ends the call. */
typedef haul_status haul__take_target(void *user, const haul_root *target, size_t bytes);

/* Finds the targets of a chain from one object of its type. `reads`: the lists of its read set get
 * what decides the targets, pointers included, in the order of reading; NULL: it is not needed. The
 * caller has entered the chain's context. */
haul_status haul__chain_resolve(const haul_chain *chain, void *root, haul__found *reads,
                                haul__take_target *take, void *user);

/* Writes the chain's name for an error: "root.atoms.traits"; `path` has HAUL_PATH_BYTES. */
void haul__chain_name(const haul_chain *chain, char *path);

/* A caller's list, for the first targets. */
typedef struct haul__targets {
    haul_root *at;
    size_t count, capacity; /* count: of all targets */
} haul__targets;

/* Checks the root and the list, and has `take` fill the list; it gets `user`. */
haul_status haul__chain_targets(const haul_chain *chain, void *root, const haul__targets *targets,
                                haul__take_target *take, void *user);
/* Adds a target to a list, its `user`. */
haul_status haul__chain_list(void *user, const haul_root *target, size_t bytes);

#endif
