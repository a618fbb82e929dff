/* The targets of a chain, as the host's objects have them.
 */
#ifndef HAUL_CHAIN_RESOLVE_H
#define HAUL_CHAIN_RESOLVE_H

#include "chain/chain.h"
#include "map/found.h"

/* Gets each target, empty ones too: address NULL, count 0. 0: there is no memory, or another
 * failure, which the context's record describes. */
typedef haul_status haul__take_target(void *user, const haul_root *target);

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

/* Checks the root and the list, and fills the list. */
haul_status haul__chain_targets(const haul_chain *chain, void *root, haul__targets *targets);

#endif
