/* Sequences of calls, drawn from a seed: how they run, and how one that fails is reported.
 *
 * Each step of a sequence has a seed of its own, so a sequence stays one when steps are left out. A
 * sequence that fails in any way (a check, a sanitizer, a signal, a timeout) runs in a process of
 * its own. Steps are left out as long as it fails without them, and the rest is printed as a log of
 * its calls.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include "support/random.h"

enum { STEPS_MAX = 256 };

typedef struct sequence {
    uint64_t seed;
    unsigned steps;
    unsigned char left_out[STEPS_MAX];
    uint32_t more[STEPS_MAX]; /* for each step's seed; a fuzzer's */
} sequence;

/* One subject. `run` ends the program when something is wrong. */
typedef struct attack {
    const char *name;
    unsigned steps;
    unsigned share; /* of a hundred sequences */
    void (*run)(const sequence *s);
} attack;

extern const attack attack_calls, attack_arenas, attack_garbage, attack_pairs, attack_threads,
    attack_shared;

/* Random numbers for step number i; of the sequence as a whole: i == s->steps. */
random_source sequence_random(const sequence *s, unsigned i);

/* A line of the log, where one is kept. */
void attack_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void attack_listen(int verbose);

/* Runs the sequence here. When it fails, tells what is left of it. 1: it passed. */
int attack_run(const attack *a, sequence *s, int verbose);

#endif
