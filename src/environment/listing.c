/* The tables of an environment: roots, groups, types, ranges.
 *
 * A range has the type of the objects in it. Ranges and objects of a group are both in the order of
 * addresses, so one pass meets both.
 */
#include <inttypes.h>

#include "environment/listing.h"
#include "base/index.h"

static const char data[] = "(data)", several[] = "(several types)";

/* ---- Types of ranges. */

/* The ranges of all groups, one after the other, with their objects. Begin with zeros, and `e`. */
typedef struct range_cursor {
    const haul_environment *e;
    size_t group, range, object;
    const haul__covered *at;
    const char *type;
    size_t objects;
} range_cursor;

/* The next group from number `i` on; e->groups.count: there is none. */
static size_t next_group(const haul_environment *e, size_t i)
{
    while (i < e->groups.count && !e->groups.at[i])
        i++;
    return i;
}

static int next_range(range_cursor *c)
{
    const haul__sent_group *group;
    c->group = next_group(c->e, c->group);
    if (c->group < c->e->groups.count && c->range == c->e->groups.at[c->group]->ranges.count) {
        c->group = next_group(c->e, c->group + 1);
        c->range = c->object = 0;
    }
    if (c->group == c->e->groups.count)
        return 0;
    group = c->e->groups.at[c->group];
    c->at = &group->ranges.at[c->range++];
    c->type = data;
    c->objects = 0;
    for (; c->object < group->objects.count; c->object++) {
        const haul__typed *one = &group->objects.at[c->object];
        const char *name = haul_type_name(one->type);
        if (one->begin + haul__type_walk(one->type)->true_lower >= c->at->begin + c->at->bytes)
            break;
        c->type = c->type == data || c->type == name ? name : several;
        c->objects += one->count;
    }
    return 1;
}

/* ---- Lines. */

static void print_sums(const haul_environment *e, haul__pen *pen)
{
    haul_environment_info sums;
    haul__environment_sums(e, &sums);
    haul__pen_print(pen,
                    "%zu groups, %zu of them without a root; %zu roots; %zu ranges of %zu bytes; "
                    "%zu bytes of device memory",
                    sums.groups, sums.kept, sums.roots, sums.ranges, sums.bytes, sums.device_bytes);
    haul__pen_end(pen);
    haul__pen_print(pen,
                    "%zu bytes of it kept without a root, %zu wasted; %zu bytes pinned for "
                    "transfers",
                    sums.kept_bytes, sums.wasted_bytes, sums.pinned_bytes);
    haul__pen_end(pen);
    haul__pen_print(pen,
                    "%" PRIu64 " enters, %" PRIu64 " exits; to the device %" PRIu64
                    " transfers of %" PRIu64 " bytes, ",
                    sums.enters, sums.exits, sums.transfers_to, sums.bytes_to);
    haul__pen_print(pen, "back %" PRIu64 " of %" PRIu64 "; %" PRIu64 " pointers attached",
                    sums.transfers_from, sums.bytes_from, sums.attached);
    haul__pen_end(pen);
    haul__pen_print(pen,
                    "%" PRIu64 " groups made, %" PRIu64 " allocations of device memory, %" PRIu64
                    " look-ups",
                    sums.groups_made, sums.allocations, sums.look_ups);
    haul__pen_end(pen);
}

static int begins_by(const void *objects, size_t i, uint64_t address)
{
    return ((const haul__typed *)objects)[i].begin <= address;
}

static void print_roots(const haul_environment *e, haul__pen *pen)
{
    size_t i;
    haul__pen_end(pen);
    haul__pen_print(pen, "   group     dynamic  structured  root");
    haul__pen_end(pen);
    for (i = 0; i < e->holds.capacity; i++) {
        const haul__hold *hold = &e->holds.at[i];
        const haul__sent_group *group = hold->address ? e->groups.at[hold->group] : NULL;
        size_t k;
        if (!group)
            continue;
        k = haul__search(group->objects.at, 0, group->objects.count, hold->address, begins_by);
        haul__pen_print(pen, "%8" PRIu32 "  %10" PRIu32 "  %10" PRIu32 "  ", hold->group,
                        hold->dynamic, hold->structured);
        haul__pen_name(pen, k ? haul_type_name(group->objects.at[k - 1].type) : data, 0);
        haul__pen_print(pen, " at 0x%" PRIxPTR, hold->address);
        haul__pen_end(pen);
    }
}

static void print_groups(const haul_environment *e, haul__pen *pen)
{
    size_t i;
    haul__pen_end(pen);
    haul__pen_print(pen, "   group       roots    led from  leads into      ranges  device");
    haul__pen_end(pen);
    for (i = next_group(e, 0); i < e->groups.count; i = next_group(e, i + 1)) {
        const haul__sent_group *group = e->groups.at[i];
        haul__pen_print(pen, "%8zu  %10zu  %10zu  %10zu  %10zu  0x%" PRIx64 " + %zu", i,
                        group->roots, group->led_from, group->leads_into.count, group->ranges.count,
                        group->shipment->range.address, group->shipment->range.bytes);
        haul__pen_end(pen);
    }
}

typedef struct type_total {
    const char *name;
    size_t ranges, objects, bytes;
} type_total;

/* There are few types. */
static haul_status print_types(const haul_environment *e, haul__pen *pen)
{
    const haul_allocator *allocator = &e->context->allocator;
    HAUL__LIST(type_total) lines = { NULL, 0, 0 };
    range_cursor c = { e, 0, 0, 0, NULL, NULL, 0 };
    int has_memory = 1;
    size_t i;
    while (has_memory && next_range(&c)) {
        for (i = 0; i < lines.count && lines.at[i].name != c.type; i++)
            ;
        if (i == lines.count) {
            type_total *line = HAUL__LIST_ADD(allocator, &lines);
            has_memory = line != NULL;
            if (!line)
                break;
            memset(line, 0, sizeof *line);
            line->name = c.type;
        }
        lines.at[i].ranges++;
        lines.at[i].objects += c.objects;
        lines.at[i].bytes += c.at->bytes;
    }
    haul__pen_end(pen);
    haul__pen_print(pen, "  ranges     objects         bytes  type");
    haul__pen_end(pen);
    for (i = 0; i < lines.count; i++) {
        haul__pen_print(pen, "%8zu  %10zu  %12zu  ", lines.at[i].ranges, lines.at[i].objects,
                        lines.at[i].bytes);
        haul__pen_name(pen, lines.at[i].name, 0);
        haul__pen_end(pen);
    }
    HAUL__LIST_RELEASE(allocator, &lines);
    return has_memory ? HAUL_OK
                      : haul__fail(&e->context->error, HAUL_ERROR_MEMORY,
                                   "out of memory for a table of an environment");
}

/* The first `most` ranges. */
static void print_ranges(const haul_environment *e, size_t most, haul__pen *pen)
{
    range_cursor c = { e, 0, 0, 0, NULL, NULL, 0 };
    size_t i;
    haul__pen_end(pen);
    haul__pen_print(pen, "   group         bytes  %-18s  %-18s  type", "host", "device");
    haul__pen_end(pen);
    for (i = 0; i < most && next_range(&c); i++) {
        haul__pen_print(pen, "%8zu  %12zu  0x%-16" PRIxPTR "  0x%-16" PRIxPTR "  ", c.group,
                        c.at->bytes, c.at->begin, c.at->device);
        haul__pen_name(pen, c.type, 0);
        haul__pen_end(pen);
    }
    if (i == most && next_range(&c)) {
        haul__pen_print(pen, "... %zu more", e->info.ranges - most);
        haul__pen_end(pen);
    }
}

haul_status haul__list_environment(const haul_environment *e, size_t most, haul__pen *pen)
{
    haul_status status;
    print_sums(e, pen);
    print_roots(e, pen);
    print_groups(e, pen);
    status = print_types(e, pen);
    if (status == HAUL_OK && most)
        print_ranges(e, most, pen);
    return status == HAUL_OK ? haul__pen_close(pen, &e->context->error) : status;
}
