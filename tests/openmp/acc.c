/* OpenACC on a machine without a device: the calls say so, and the program goes on. acc_map_data
 * would end it.
 */
#include <stdio.h>

#include <haul.h>
#include <haul/openacc.h>

int main(void)
{
    haul_context *context = NULL;
    haul_device *device = NULL;
    haul_environment *e = NULL;
    haul_openacc told;
    int right;
    if (haul_context_create(NULL, &context) != HAUL_OK ||
        haul_host_open(context, NULL, &device) != HAUL_OK ||
        haul_environment_create(device, &e) != HAUL_OK)
        return 1;
    right = haul_openacc_watch(e, &told) == HAUL_ERROR_UNSUPPORTED;
    printf("%s\n", right ? "refused" : "NOT REFUSED");
    haul_environment_free(&e);
    haul_device_close(&device);
    haul_context_free(&context);
    return right ? 0 : 1;
}
