/* Fuzz target: a legal universe of types and a graph in it, then wrong words in the graph, one
 * after the other (tests/random/wrongs.h). Where the generator knows that a word must be refused,
 * it is; plan and audit agree, twice; the source stays; and what is put right is accepted (G2 to
 * G26).
 *
 * The input decides everything.
 */
#include <stdlib.h>

#include "random/trial.h"
#include "target.h"

static int run(const uint8_t *data, size_t bytes)
{
    static trial_world world;
    static int is_open;
    char message[2048];
    choices c = choices_from_bytes(data, bytes);
    if (!is_open && !trial_open(&world))
        exit(2);
    is_open = 1;
    if (!trial_wrong(&world, &c, message, sizeof message))
        fuzz_broken("%s", message);
    return 1;
}

const fuzz_target fuzz_badgraph = { "badgraph", run, NULL };
