/* The order log's memory.
 *
 * The context keeps that of the ranges for the next log: of new memory the system clears each page,
 * and a list that doubles takes twice as much as it has in the end.
 */
#include "layout/order_log.h"

#define RANGE_WORDS (sizeof(haul__reached) / sizeof(uint64_t))
typedef char haul__whole_words[sizeof(haul__reached) % sizeof(uint64_t) == 0 ? 1 : -1];

void haul__order_log_open(haul_context *context, haul__order_log *log)
{
    memset(log, 0, sizeof *log);
    log->reached.at = (void *)context->ranges.words;
    log->reached.capacity = context->ranges.capacity / RANGE_WORDS;
    memset(&context->ranges, 0, sizeof context->ranges);
}

void haul__order_log_close(haul_context *context, haul__order_log *log)
{
    haul__notes_keep(context, &context->ranges, (void *)log->reached.at,
                     log->reached.capacity * RANGE_WORDS);
    haul__index_close(&context->allocator, &log->known);
    HAUL__LIST_RELEASE(&context->allocator, &log->references);
    HAUL__LIST_RELEASE(&context->allocator, &log->types);
    memset(log, 0, sizeof *log);
}
