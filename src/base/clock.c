/* The clock of statistics and waits.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "base/clock.h"

double haul__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
