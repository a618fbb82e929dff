/* The order log's memory.
 */
#include "layout/order_log.h"

void haul__order_log_close(const haul_allocator *allocator, haul__order_log *log)
{
    haul__release(allocator, log->reached, log->reached_capacity * sizeof *log->reached);
    haul__release(allocator, log->known, log->known_capacity * sizeof *log->known);
    haul__release(allocator, log->references, log->reference_capacity * sizeof *log->references);
    memset(log, 0, sizeof *log);
}
