/* Fuzz target: a legal universe of types and a graph in it, then wrong words in the graph, one
 * after the other (tests/random/wrongs.h). Where the generator knows that a word must be refused,
 * it is; plan and audit agree, twice; the source stays; and what is put right is accepted (G2 to
 * G26).
 *
 * Byte 0: which allocation fails in each wrong graph; 0: none. The rest decides everything else.
 */
#include <stdlib.h>

#include "random/trial.h"
#include "target.h"

static int run(const uint8_t *data, size_t bytes)
{
    static trial_world world;
    static int is_open;
    char message[2048];
    choices c;
    if (bytes == 0)
        return 0;
    c = choices_from_bytes(data + 1, bytes - 1);
    if (!is_open && !trial_open(&world, 0))
        exit(2);
    is_open = 1;
    if (!trial_wrong(&world, &c, data[0], message, sizeof message))
        fuzz_broken("%s", message);
    return 1;
}

const fuzz_target fuzz_badgraph = { "badgraph", run, NULL };
