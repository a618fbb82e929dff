/* Fuzz target: a legal universe of types and a graph in it, drawn from the input, through the whole
 * of a trial (tests/random): what is packed, shipped, written as an image and brought back is the
 * reference's graph.
 *
 * Byte 0: which event of the doors fails; 0: none. Byte 1: how it fails (support/doors.h). The rest
 * decides everything else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random/trial.h"
#include "target.h"

static int run(const uint8_t *data, size_t size)
{
    static trial_world world;
    static int is_open;
    char message[2048];
    choices c;
    if (size < 2)
        return 0;
    if (!is_open && !trial_open(&world, 0)) {
        fprintf(stderr, "the host device cannot be opened\n");
        exit(2);
    }
    is_open = 1;
    c = choices_from_bytes(data + 2, size - 2);
    if (data[0])
        trial_fault(&world, &c, data[1], data[0]);
    else if (!trial_run(&world, &c, TRIAL_SMALL, message, sizeof message))
        fuzz_broken("%s", message);
    return 1;
}

const fuzz_target fuzz_graph = { "graph", run, NULL };
