/* Pulses: behind discovery nothing more is found, but the program still hears of its graph, and may
 * end the call.
 */
#ifndef HAUL_CONTEXT_PULSE_H
#define HAUL_CONTEXT_PULSE_H

#include "context/context.h"

#define HAUL__PULSE_SECONDS 0.05 /* between two calls; what a look may come late is added */

/* Calls `discovery` with the last numbers, if a call is due. HAUL_ERROR_CANCELLED, with a record:
 * the program has ended the call. */
haul_status haul__pulse(haul_context *context);

/* haul__sort, which tells now and then. HAUL_ERROR_CANCELLED: the records come in any order. */
haul_status haul__sort_and_pulse(haul_context *context, void *records, size_t count,
                                 size_t record_bytes, int (*before)(const void *a, const void *b));

#define HAUL__PULSE_NS ((size_t)1 << 22) /* between two looks at the clock */

/* For tight loops: the end of those from `first` on that are done before the next look. Each takes
 * `each` ns or so. */
HAUL__INLINE size_t haul__pulse_end(size_t first, size_t end, size_t each)
{
    const size_t most = HAUL__PULSE_NS / each;
    return end - first < most ? end : first + most;
}

/* For others: tells behind number `i`, if it is time to. */
HAUL__INLINE haul_status haul__pulse_behind(haul_context *context, size_t i, size_t each)
{
    const size_t between = HAUL__PULSE_NS / each;
    return HAUL__LIKELY(i % between != between - 1) ? HAUL_OK : haul__pulse(context);
}

#endif
