/* The order log's memory.
 */
#include "layout/order_log.h"

void haul__order_log_close(const haul_allocator *allocator, haul__order_log *log)
{
    HAUL__LIST_RELEASE(allocator, &log->reached);
    haul__index_close(allocator, &log->known);
    HAUL__LIST_RELEASE(allocator, &log->references);
    memset(log, 0, sizeof *log);
}
