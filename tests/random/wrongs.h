/* Wrong data: a graph that is right, with one word spoiled. Whatever that word says now, the
 * library refuses the graph with a status and a path, or finds another graph in it; it answers the
 * same when it is asked again, and leaves the source alone.
 */
#ifndef RANDOM_WRONGS_H
#define RANDOM_WRONGS_H

#include "reference.h"

/* Spoils the graph in some places, one after the other, and puts each back. `host` is its walk,
 * `argument` what the context's callbacks get. Each wrong graph is first planned with allocation
 * `fault` failing, from 1 on; 0: none. Answers 1, or 0 and what went wrong. */
int wrongs_of_graph(choices *c, graph *g, const reference *host, model_oracle *argument,
                    uint64_t fault, char *message, size_t message_bytes);

#endif
