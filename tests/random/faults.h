/* Random types and graphs with the doors failing (H1, H2, D1, D4, D5, D6, D17 and G23).
 */
#ifndef RANDOM_FAULTS_H
#define RANDOM_FAULTS_H

#include "reference.h"

/* Makes the model's types with each allocation failing in turn. Leaves no type behind. */
void faults_of_types(const choices *c, model *m);

/* Ships the graph, sends it again and brings it back, with each event of allocator and device
 * failing in turn, in each mode. `host` is what the reference says of it, `argument` is for the
 * shape callbacks. */
void faults_of_graph(graph *g, const reference *host, model_oracle *argument);

/* The same with one fault. */
void fault_of_graph(graph *g, const reference *host, model_oracle *argument, unsigned mode,
                    uint64_t at);

#endif
