/* One trial: a random universe, a random graph in it, and everything the library does with such a
 * graph, compared with what the reference says. Used by haul_random with seeds, and by fuzz_graph
 * with a fuzzer's bytes.
 */
#ifndef RANDOM_TRIAL_H
#define RANDOM_TRIAL_H

#include "reference.h"

/* What trials share: devices, whose contexts stay warm from one to the next. */
typedef struct trial_world {
    model_oracle oracle; /* first: the contexts' argument, which asks `current` */
    const graph *current;
    surroundings around;
    haul_device *device[2]; /* [1]: with a checked context */
    /* threads of the devices' contexts; 0: the default, and no comparison with one thread */
    unsigned threads;
    haul_device *alone[2]; /* whose contexts have one thread; NULL: there is no comparison */
    model *model;
    /* graphs that were built in arenas; by typed allocation, too; by that as far as types allow it,
     * and discovered */
    unsigned long arenas, typed_arenas, mixed_arenas;
    /* graphs that the device has gathered and scattered by itself */
    unsigned long crossed_directly;
    unsigned long arenas_refused; /* with something elsewhere: refused */
    /* graphs that several threads have discovered; wrong graphs that one thread and several have
     * refused alike; changed ones that both have called stale */
    unsigned long shared, refused, stale;
} trial_world;

/* `threads`: see trial_world. 1: opened. */
int trial_open(trial_world *w, unsigned threads);
void trial_close(trial_world *w);

enum {
    TRIAL_FAULTS = 1, /* types and shipping again, with each fallible event failing: slow */
    TRIAL_SMALL = 2,  /* graphs of a few KiB at most */
    TRIAL_PRINT = 4,  /* the types, to stdout */
    TRIAL_WRONG = 8,  /* one word of the graph spoiled, several times */
    TRIAL_PLAIN = 16, /* of a plain universe (model.h), which threads can discover together */
    /* a large array as root, so that they do: compared with what one thread does, and no other
     * steps */
    TRIAL_LARGE = 32
};

/* Answers 1 when all is as it must be; else `message` names the step and the difference. */
int trial_run(trial_world *w, choices *c, unsigned options, char *message, size_t message_bytes);

/* A small graph, spoiled in some places: what TRIAL_WRONG adds, and nothing else. In each plan of
 * a wrong graph allocation `fault` fails; 0: none. */
int trial_wrong(trial_world *w, choices *c, uint64_t fault, char *message, size_t message_bytes);

/* A trial of one fault: shipping and bringing back, with event `at` of the doors failing in one of
 * the modes of support/doors.h. What must then hold is checked with CHECK, which ends the
 * program. */
void trial_fault(trial_world *w, choices *c, unsigned mode, uint64_t at);

#endif
