/* The cost of making a graph known to OpenMP, beside the run time's own calls for the same bytes.
 *
 *     costs host|gpu MOST     CSV on standard output: microseconds, medians of 12 rounds, for
 *                             graphs of 100 objects, ten times as many, and so on up to MOST
 *
 * associations.h says what is measured. Exits with 1 if a call fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "associations.h"
#include <haul/cuda.h>
#include <haul/openmp.h>

static void must(const char *what, int holds)
{
    if (holds)
        return;
    printf("%s failed\n", what);
    exit(1);
}

static void print(const associations *found)
{
    printf("%lu,%.1f", (unsigned long)found->count, found->ship);
    for (int way = 0; way < ASSOCIATION_WAYS; way++)
        printf(",%.1f,%.1f", found->there[way], found->back[way]);
    printf(",%.1f\n", found->arena);
}

int main(int argc, char **argv)
{
    const int gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
    const size_t most = argc > 2 ? (size_t)atol(argv[2]) : 100;
    const int target = omp_get_default_device();
    haul_context *context;
    haul_device *device;
    associations found;
    must("context", haul_context_create(NULL, &context) == HAUL_OK);
    must("device", (gpu ? haul_cuda_open(context, NULL, &device)
                        : haul_host_open(context, NULL, &device)) == HAUL_OK);
    must("a device of OpenMP", haul_openmp_has(target));
    printf("objects,ship,own_associate,own_dissociate,haul_associate,haul_dissociate,watch,"
           "watch_end,arena\n");
    measure_associations(device, target, 10, &found); /* the first use; not a figure */
    for (size_t length = 50; 2 * length <= most; length *= 10) {
        measure_associations(device, target, length, &found);
        print(&found);
    }
    haul_device_close(&device);
    haul_context_free(&context);
    return 0;
}
