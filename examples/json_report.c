/* Sums over the findings, and the shipment's own numbers. */
#include "json_report.h"

#include <stdio.h>
#include <string.h>

static finding total(const survey *all)
{
    finding sum;
    memset(&sum, 0, sizeof(sum));
    for (long i = 0; i < all->count; i++) {
        for (int kind = 0; kind < KINDS; kind++)
            sum.kind[kind] += all->findings[i].kind[kind];
        sum.names += all->findings[i].names;
        sum.text_bytes += all->findings[i].text_bytes;
        sum.sum += all->findings[i].sum;
    }
    return sum;
}

void json_report_findings(const survey *all)
{
    static const char *const names[KINDS] = { "false",   "true",   "null",    "numbers",
                                              "strings", "arrays", "objects", "raw" };
    const finding found = total(all);
    printf("\nSeen by %ld calls of the device function, one for each array or object\n",
           all->count);
    for (int kind = 0; kind < KINDS; kind++)
        if (found.kind[kind] > 0)
            printf("  %10d %s\n", found.kind[kind], names[kind]);
    printf("  %10d names; %d bytes in the strings; the numbers' sum was %.0f\n", found.names,
           found.text_bytes, found.sum);
}

void json_report_journey(const haul_shipment *shipment, double function_ms)
{
    haul_shipment_info s;
    haul_shipment_get_info(shipment, &s);
    printf("\nShipped\n");
    printf("  %10lu objects (nodes, strings, arrays) with %lu pointers\n", (unsigned long)s.objects,
           (unsigned long)s.pointers);
    printf("  %10lu bytes in them, in one arena of %lu bytes\n", (unsigned long)s.graph_bytes,
           (unsigned long)s.arena_bytes);
    printf("  %10lu transfer to the device, %lu back\n", (unsigned long)s.transfers_to,
           (unsigned long)s.transfers_from);
    printf("\nMilliseconds\n");
    printf("  there:    discover %.2f, layout %.2f, pack %.2f, transfer %.2f, relocate %.2f\n",
           1e3 * s.discover_seconds, 1e3 * s.layout_seconds, 1e3 * s.pack_seconds,
           1e3 * s.transfer_seconds, 1e3 * s.relocate_seconds);
    printf("  function: %.2f\n", function_ms);
    printf("  back:     transfer %.2f, scatter %.2f\n", 1e3 * s.return_seconds,
           1e3 * s.scatter_seconds);
}
