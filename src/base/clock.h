/* The clock of statistics and waits.
 */
#ifndef HAUL_BASE_CLOCK_H
#define HAUL_BASE_CLOCK_H

/* Seconds from some fixed point, monotonic. */
double haul__seconds(void);

#endif
