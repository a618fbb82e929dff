/* haul_contract <device> [number]: runs the device contract on a device by its name; exit code 1
 * when a case fails, 77 when there is no such device on this machine.
 *
 * "deferred" is the host device behind tests/support/doors.h, which does nothing before `wait`: it
 * shows that the cases themselves ask for no more than the contract. "cuda" takes the GPU's number;
 * "cuda_plain" is the same without a pool, "cuda_patient" with a limit to each wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract.h"
#include "contract/streams.h"
#include "haul/cuda.h"
#include "haul/host.h"
#include "support/doors.h"

#define SKIPPED 77

static int run_host(int number)
{
    (void)number;
    return contract_run_with(haul_host_device(), NULL, contract_host_streams()) != 0;
}

/* The host device without its optional verbs. */
static int run_bare(int number)
{
    haul_device_table table;
    (void)number;
    memset(&table, 0, sizeof table);
    memcpy(&table, haul_host_device(), offsetof(haul_device_table, send));
    table.table_bytes = sizeof table;
    return contract_run_with(&table, NULL, contract_host_streams()) != 0;
}

static int run_deferred(int number)
{
    fault_plan plan;
    fault_device_settings settings;
    (void)number;
    memset(&plan, 0, sizeof plan);
    plan.deferred = 1;
    settings.plan = &plan;
    settings.inner = haul_host_device();
    settings.inner_settings = NULL;
    return contract_run_with(fault_device(haul_host_device()), &settings,
                             contract_host_streams()) != 0;
}

static int run_gpu(int number, int plain_malloc, double timeout_seconds)
{
    haul_cuda_options settings;
    if (number >= haul_cuda_count()) {
        printf("skipped: no GPU %d\n", number);
        return SKIPPED;
    }
    memset(&settings, 0, sizeof settings);
    settings.ordinal = number;
    settings.plain_malloc = plain_malloc;
    settings.timeout_seconds = timeout_seconds;
    return contract_run_with(haul_cuda_device(), &settings, contract_cuda_streams(number)) != 0;
}

static int run_cuda(int number)
{
    return run_gpu(number, 0, 0);
}

static int run_cuda_plain(int number)
{
    return run_gpu(number, 1, 0);
}

static int run_cuda_patient(int number)
{
    return run_gpu(number, 0, 60);
}

static const struct {
    const char *name;
    int (*run)(int number);
} back_ends[] = { { "host", run_host },
                  { "bare", run_bare },
                  { "deferred", run_deferred },
                  { "cuda", run_cuda },
                  { "cuda_plain", run_cuda_plain },
                  { "cuda_patient", run_cuda_patient } };

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "host";
    int number = count > 2 ? atoi(arguments[2]) : 0;
    size_t i;
    for (i = 0; i < sizeof back_ends / sizeof back_ends[0]; i++)
        if (strcmp(back_ends[i].name, name) == 0)
            return back_ends[i].run(number);
    printf("no device is called \"%s\"\n", name);
    return 2;
}
