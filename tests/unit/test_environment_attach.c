/* Environments: the pointers of present objects that enters and calls have attached.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <time.h>

#include "environment_graphs.h"

#define P (host.parts)

static void attach(part **pointer, part *target)
{
    *pointer = target;
    CHECK_STATUS(haul_environment_attach(env, pointer), HAUL_OK);
}

static void detach(part **pointer)
{
    CHECK_STATUS(haul_environment_detach(env, pointer), HAUL_OK);
}

/* ---- What an attach costs. */

enum { MANY = LARGE(4000, 1000) };

/* Of this thread, for 50 attaches and detaches: the best of five. */
static double attach_seconds(void)
{
    double best = 1e9;
    int i, round;
    for (round = 0; round < 5; round++) {
        struct timespec from, to;
        double seconds;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        for (i = 0; i < 50; i++) {
            attach(&P[0].a, &P[1]);
            detach(&P[0].a);
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        best = seconds < best ? seconds : best;
    }
    return best;
}

TEST(environment_attach, a_first_attach_takes_no_longer_beside_thousands_of_groups)
{
    part *others = calloc(MANY, sizeof *others);
    double alone, beside;
    int i;
    start();
    CHECK(others != NULL);
    enter(&P[0]);
    enter(&P[1]);
    alone = attach_seconds();
    for (i = 0; i < MANY; i++)
        enter(&others[i]);
    beside = attach_seconds();
    check_note("%g us alone, %g us beside %d groups", 2e4 * alone, 2e4 * beside, MANY);
    CHECK(beside < 8 * alone);
    check_note(NULL);
    finish();
    free(others);
}
