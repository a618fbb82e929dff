/* Steps of the host's own: none of them calls the library.
 */
#ifndef ATTACK_HOST_H
#define ATTACK_HOST_H

#include "world.h"

void step_host_change(world *w);
void step_host_rewire(world *w);
void step_host_new(world *w);
void step_host_drop(world *w);

#endif
