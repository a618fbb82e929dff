/* Pulses: behind discovery nothing more is found, but the program still hears of its graph, and may
 * end the call. A loop looks at the clock every few milliseconds.
 */
#include "context/pulse.h"
#include "base/clock.h"
#include "base/sort.h"

haul_status haul__pulse(haul_context *context)
{
    const haul__listener *listener = &context->listener;
    haul__told_last *told = &context->told;
    double now;
    if (!listener->discovery)
        return HAUL_OK;
    now = haul__seconds();
    if (now < told->next)
        return HAUL_OK;
    told->next = now + HAUL__PULSE_SECONDS;
    return listener->discovery(listener->user, told->objects, told->bytes)
               ? haul__context_cancelled(context)
               : HAUL_OK;
}

static int goes_on(void *user)
{
    return haul__pulse(user) == HAUL_OK;
}

haul_status haul__sort_and_pulse(haul_context *context, void *records, size_t count,
                                 size_t record_bytes, int (*before)(const void *a, const void *b))
{
    return haul__sort_watched(records, count, record_bytes, before, goes_on, context)
               ? HAUL_OK
               : HAUL_ERROR_CANCELLED;
}
