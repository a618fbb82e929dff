/* haul_contract <device>: runs the device contract on a device by its name; exit code 1 when a case fails.
 *
 * "deferred" is the host device behind tests/support/doors.h, which does nothing before `wait`: it shows that the
 * cases themselves ask for no more than the contract.
 */
#include <stdio.h>
#include <string.h>

#include "contract/contract.h"
#include "haul/host.h"
#include "support/doors.h"

static unsigned run_host(void)
{
    return contract_run(haul_host_device(), NULL);
}

static unsigned run_deferred(void)
{
    fault_plan plan;
    fault_device_settings settings;
    memset(&plan, 0, sizeof plan);
    plan.deferred = 1;
    settings.plan = &plan;
    settings.inner = haul_host_device();
    settings.inner_settings = NULL;
    return contract_run(fault_device(haul_host_device()), &settings);
}

typedef struct back_end {
    const char *name;
    unsigned (*run)(void);
} back_end;

static const back_end back_ends[] = { { "host", run_host }, { "deferred", run_deferred } };

int main(int count, char **arguments)
{
    const char *name = count > 1 ? arguments[1] : "host";
    size_t i;
    for (i = 0; i < sizeof back_ends / sizeof back_ends[0]; i++)
        if (strcmp(back_ends[i].name, name) == 0)
            return back_ends[i].run() != 0;
    printf("no device is called \"%s\"\n", name);
    return 2;
}
