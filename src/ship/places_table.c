/* The table of a shipment's places, for people: bytes by type and place, and what has crossed.
 *
 * The types come from a recorded walk of the host's graph, as for haul_shipment_ranges. Of two
 * ranges that overlap each counts its bytes.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "ship/shipment_table.h"
#include "ship/spans.h"

typedef struct place_bytes {
    uint64_t device, host, moving;
    const char *type;
} place_bytes;

typedef struct places_table {
    const haul_shipment *shipment;
    haul__pen *pen;
} places_table;

static void print_line(haul__pen *pen, const place_bytes *l, int is_type)
{
    haul__pen_print(pen, "%12" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "  ", l->device, l->host,
                    l->moving);
    if (is_type)
        haul__pen_name(pen, l->type, 0);
    else
        haul__pen_print(pen, "%s", l->type);
    haul__pen_end(pen);
}

static int has_more(const void *a, const void *b)
{
    const place_bytes *one = a, *other = b;
    return one->device + one->host + one->moving > other->device + other->host + other->moving;
}

/* One line for each type, then plain elements and pointers. */
static haul_status sum_up(const haul_shipment *shipment, haul__nodes *nodes, place_bytes *lines)
{
    size_t i;
    haul_status status = HAUL_OK;
    haul__shift_spans(nodes);
    for (i = 0; i < nodes->span_count && status == HAUL_OK; i++) {
        const haul__range_of_node *span = &nodes->spans[i];
        place_bytes *l = &lines[haul__node_type_number(nodes, span->entry)];
        haul_shipped_range range;
        status = haul__locate_range(shipment, nodes, span, &range);
        if (status != HAUL_OK)
            break;
        haul__add_places(shipment, &range);
        l->type = haul__node_type(nodes, span->entry);
        l->host += range.host_bytes;
        l->moving += range.moving_bytes;
        l->device += range.bytes - range.host_bytes - range.moving_bytes;
    }
    return status;
}

static haul_status print_types(haul__nodes *nodes, void *user)
{
    places_table *p = user;
    const size_t count = haul__node_type_count(nodes);
    place_bytes *lines = haul__allocate_zeroed(nodes->allocator, count * sizeof *lines);
    haul_status status = lines ? sum_up(p->shipment, nodes, lines)
                               : haul__fail(&nodes->context->error, HAUL_ERROR_MEMORY,
                                            "out of memory for the places of a shipment");
    size_t i;
    if (status == HAUL_OK)
        haul__sort(lines, count, sizeof *lines, has_more);
    for (i = 0; status == HAUL_OK && i < count; i++)
        if (lines[i].type)
            print_line(p->pen, &lines[i], 1);
    haul__release(nodes->allocator, lines, count * sizeof *lines);
    return status;
}

static void print_sums(haul__pen *pen, const haul_shipment_info *info)
{
    const place_bytes all = { info->device_bytes, info->host_bytes, info->moving_bytes,
                              "all, with gaps and lists" };
    const place_bytes to = { info->bytes_to - info->host_bytes_to - info->moving_bytes_to,
                             info->host_bytes_to, info->moving_bytes_to, "sent" };
    const place_bytes from = { info->bytes_from - info->host_bytes_from - info->moving_bytes_from,
                               info->host_bytes_from, info->moving_bytes_from, "brought back" };
    print_line(pen, &all, 0);
    print_line(pen, &to, 0);
    print_line(pen, &from, 0);
}

static haul_status print_places(const haul_shipment *shipment, haul__pen *pen)
{
    const haul_source source = haul_from_shipment(shipment);
    places_table p = { shipment, pen };
    haul_shipment_info info;
    haul_status status = HAUL_OK;
    haul__pen_print(pen, "device bytes    host bytes  moving bytes  type");
    haul__pen_end(pen);
    if (source.kind != HAUL_SOURCE_ARENA)
        status =
            haul__nodes_visit(shipment->device->context, &source, sizeof source, print_types, &p);
    if (status != HAUL_OK)
        return status;
    haul_shipment_get_info(shipment, &info);
    print_sums(pen, &info);
    return HAUL_OK;
}

haul_status haul_shipment_write_places(const haul_shipment *shipment, const haul_file *file)
{
    return haul__print_shipment(shipment, file, print_places);
}
