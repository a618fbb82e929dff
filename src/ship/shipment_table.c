/* The tables of a shipment, for people: phases, finders, the general way, blocks.
 *
 * All of it was counted while the graph was found and sent; here it is only printed. Numbers are
 * whole, so no locale changes the text.
 */
#include <inttypes.h>

#include "map/bits.h"
#include "map/found.h"
#include "pack/plan.h"
#include "ship/shipment_table.h"

/* ---- Reasons. */

/* Said of a type or a row, or of the whole walk. */
static const char *text_of(haul__why why)
{
    static const char *const text[] = {
        [HAUL__WHY_NOT] = "it did not",
        [HAUL__WHY_ONE_THREAD] = "the context has one thread",
        [HAUL__WHY_CHECKED] = "the context is checked",
        [HAUL__WHY_READABLE] = "the context has a function `readable`",
        [HAUL__WHY_MOST_BYTES] = "the context limits max_bytes",
        [HAUL__WHY_ORDERED] = "the arena is ordered",
        [HAUL__WHY_RECORDED] = "the walk records what it finds",
        [HAUL__WHY_NO_TABLE] = "there is no range of addresses for the table of blocks",
        [HAUL__WHY_ALLOCATOR] = "only the caller's thread may call the allocator (any_thread)",
        [HAUL__WHY_MANY_TYPES] = "too many rows",
        [HAUL__WHY_SMALL] = "fewer than 16,000 objects",
        [HAUL__WHY_FEW_WAIT] = "few objects waited at a time",
        [HAUL__WHY_OVERLAP] = "a range may overlap another one",
        [HAUL__WHY_BEGIN] = "a range does not begin with a word",
        [HAUL__WHY_LONG_ARRAY] = "an array of 2^31 elements or more",
        [HAUL__WHY_FAULT] = "a fault",
        [HAUL__WHY_RULES] = "rows with rules",
        [HAUL__WHY_SIZED] = "objects with sizes of their own",
        [HAUL__WHY_DEPENDS] = "contents that depend on addresses",
        [HAUL__WHY_DIRECTION] = "fields that do not travel both ways",
        [HAUL__WHY_ANCESTORS] = "rules that ask for ancestors",
        [HAUL__WHY_PARTS] = "embedded elements that are walked by themselves",
        [HAUL__WHY_HOLES] = "fields that do not travel",
        [HAUL__WHY_POINTERS] = "more than 64 pointers",
        [HAUL__WHY_ALIGNMENT] = "an alignment above two pointers",
        [HAUL__WHY_SIZE] = "an unusual size",
        [HAUL__WHY_OFF_GRID] = "pointers off the grid of words",
        [HAUL__WHY_PAIR] = "a pair of pointers",
        [HAUL__WHY_POOL] = "a pool",
        [HAUL__WHY_FUNCTION] = "a function counts",
        [HAUL__WHY_TERMINATOR] = "another terminator than the NUL of a string",
        [HAUL__WHY_COUNT] = "a count that is no product of its own fields",
        [HAUL__WHY_OBJECTS] = "arrays of objects",
        [HAUL__WHY_NESTED] = "arrays of pointers to other than simple objects",
        [HAUL__WHY_LIMITS] = "the context limits arrays to fewer than 4,095 elements or bytes",
    };
    return text[why];
}

/* "record.data: a function counts"; "record.parts to part: arrays of objects" */
static void print_reason(haul__pen *pen, const haul__reason *reason, int is_row)
{
    const int is_of_target =
        is_row && reason->slot->target &&
        (reason->why <= HAUL__WHY_OFF_GRID || reason->why == HAUL__WHY_OBJECTS);
    if (reason->walk) {
        haul__pen_name(pen, reason->walk->name ? reason->walk->name : "(type)", 0);
        if (reason->slot && reason->slot->name && reason->slot->name[0]) {
            haul__pen_print(pen, ".");
            haul__pen_name(pen, reason->slot->name, 0);
        }
        if (is_of_target) {
            haul__pen_print(pen, " to ");
            haul__pen_name(pen, haul__type_walk(reason->slot->target)->name, 0);
        }
        haul__pen_print(pen, ": ");
    }
    haul__pen_print(pen, "%s", text_of(reason->why));
    haul__pen_end(pen);
}

/* ---- Phases. */

/* `objects` and `bytes` of the phase; 0: it has none. */
static void print_phase(haul__pen *pen, const char *name, double seconds, uint64_t objects,
                        uint64_t bytes)
{
    const double us = seconds * 1e6;
    haul__pen_print(pen, "%12" PRIu64, (uint64_t)us);
    if (objects && us >= 1)
        haul__pen_print(pen, "  %10" PRIu64, (uint64_t)((double)objects / us * 1e3));
    else
        haul__pen_print(pen, "           -");
    if (bytes && us >= 1)
        haul__pen_print(pen, "  %10" PRIu64, (uint64_t)((double)bytes / us));
    else
        haul__pen_print(pen, "           -");
    haul__pen_print(pen, "  %s", name);
    haul__pen_end(pen);
}

static void print_phases(haul__pen *pen, const haul_shipment_info *info)
{
    const double there = info->discover_seconds + info->layout_seconds + info->pack_seconds +
                         info->transfer_seconds + info->relocate_seconds;
    const uint64_t graph = info->graph_bytes, arena = info->arena_bytes;
    haul__pen_print(pen, "microseconds  objects/ms        MB/s  phase");
    haul__pen_end(pen);
    print_phase(pen, "discovery", info->discover_seconds, info->objects, graph);
    print_phase(pen, "layout", info->layout_seconds, info->objects, graph);
    print_phase(pen, "packing", info->pack_seconds, info->objects, graph);
    print_phase(pen, "transfer", info->transfer_seconds, 0, arena);
    print_phase(pen, "patching", info->relocate_seconds, 0, 0);
    print_phase(pen, "all of these", there, info->objects, graph);
    if (info->to_host == HAUL_ROUTE_NONE)
        return;
    print_phase(pen, "return", info->return_seconds, 0, arena);
    print_phase(pen, "writing", info->scatter_seconds, info->objects, graph);
}

/* ---- Discovery. */

static void print_finders(haul__pen *pen, const haul__found *found)
{
    const haul__course *course = &found->course;
    size_t i;
    haul__pen_end(pen);
    haul__pen_print(pen, "     objects     %%  found by");
    haul__pen_end(pen);
    for (i = 0; i < course->finders.count || i == 0; i++) {
        const size_t objects =
            course->finders.count ? course->finders.at[i].objects : found->objects;
        const double part = (double)objects / (double)(found->objects ? found->objects : 1);
        haul__pen_print(pen, "%12zu  %4u  ", objects, (unsigned)(part * 100 + 0.5));
        if (i == 0)
            haul__pen_print(pen, "the caller's thread");
        else
            haul__pen_print(pen, "thread %zu", i + 1);
        haul__pen_end(pen);
    }
    if (course->repeated) {
        haul__pen_print(pen, "%12zu     -  once more, because the walk began anew",
                        course->repeated);
        haul__pen_end(pen);
    }
    if (course->walkers == HAUL__BY_ONE) {
        haul__pen_print(pen, "one thread walked: ");
        print_reason(pen, &course->alone, 0);
    }
}

static void print_general(haul__pen *pen, const haul__course *course)
{
    size_t i;
    if (!course->general.count)
        return;
    haul__pen_end(pen);
    haul__pen_print(pen, "      number  took the general way");
    haul__pen_end(pen);
    for (i = 0; i < course->general.count; i++) {
        const haul__general *general = &course->general.at[i];
        haul__pen_print(pen, "%12zu  %s  ", general->count,
                        general->is_row ? "pointers" : "objects ");
        print_reason(pen, &general->reason, general->is_row);
    }
}

/* ---- Blocks. */

typedef struct block_line {
    size_t blocks, placed, bytes;
} block_line;

static void print_line(haul__pen *pen, const block_line *l, const char *form)
{
    haul__pen_print(pen, "%12zu  %12zu  %12zu  %s", l->blocks, l->placed, l->bytes, form);
    haul__pen_end(pen);
}

static void print_blocks(haul__pen *pen, const haul__map *map)
{
    enum { FULL, BARE, UNIFORM, RAGGED, MIXED, FORMS };
    static const char *const name[] = { "full", "bare", "uniform", "ragged", "mixed" };
    block_line line[FORMS], beside = { 0, 0, 0 };
    size_t i;
    unsigned number;
    memset(line, 0, sizeof line);
    beside.bytes = haul__map_bytes(map);
    for (i = 0; i < map->block_count; i++) {
        const haul__block *block = haul__map_block(map, i);
        block_line *l = &line[block->form == HAUL__FULL    ? FULL
                              : block->form == HAUL__BARE  ? BARE
                              : block->form == HAUL__MIXED ? MIXED
                              : block->words               ? RAGGED
                                                           : UNIFORM];
        l->blocks++;
        l->bytes += haul__block_bytes(block);
        beside.bytes -= haul__block_bytes(block);
        for (number = 0; number < HAUL__CELLS; number++)
            l->placed += haul__bits32(haul__live(block, number)) * (size_t)HAUL__GRANULE;
    }
    haul__pen_end(pen);
    haul__pen_print(pen, "      blocks   graph bytes     map bytes  form");
    haul__pen_end(pen);
    for (i = 0; i < FORMS; i++)
        if (line[i].blocks)
            print_line(pen, &line[i], name[i]);
    print_line(pen, &beside, "masks and lists");
}

static haul_status print_tables(const haul_shipment *shipment, haul__pen *pen)
{
    haul_shipment_info info;
    haul_shipment_get_info(shipment, &info);
    print_phases(pen, &info);
    if (shipment->plan) {
        const haul__found *found = haul__plan_found(shipment->plan);
        print_finders(pen, found);
        print_general(pen, &found->course);
        print_blocks(pen, &found->map);
    }
    return HAUL_OK;
}

haul_status haul__print_shipment(const haul_shipment *shipment, const haul_file *file,
                                 haul_status (*print)(const haul_shipment *shipment,
                                                      haul__pen *pen))
{
    haul__pen pen;
    haul_context *context;
    haul_status status;
    if (!haul__shipment_is_valid(shipment))
        return HAUL_ERROR_ARGUMENT;
    context = shipment->device->context;
    status = haul__context_enter(context);
    if (status != HAUL_OK)
        return status;
    status = haul__pen_open(&pen, file, &context->error);
    if (status == HAUL_OK)
        status = print(shipment, &pen);
    if (status == HAUL_OK)
        status = haul__pen_close(&pen, &context->error);
    haul__context_leave(context);
    return status;
}

haul_status haul_shipment_write_table(const haul_shipment *shipment, const haul_file *file)
{
    return haul__print_shipment(shipment, file, print_tables);
}
