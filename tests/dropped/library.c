/* What the tests of the libraries' descriptions share. */
#include <string.h>

#include "library.h"
#include "support/check.h"

haul_device *library_device(void)
{
    haul_context *context;
    haul_device *device;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    haul_context_free(&context);
    return device;
}

haul_shipment *library_ship(haul_device *device, const haul_root *roots, size_t count,
                            size_t (*block)(void *user, const void *address, const void **begin))
{
    const haul_source source = haul_from_roots(roots, count);
    haul_audit_options options;
    haul_audit_info info;
    haul_shipment *shipment;
    memset(&options, 0, sizeof options);
    options.block = block;
    CHECK_STATUS(haul_audit(haul_device_context(device), source, &options, &info), HAUL_OK);
    CHECK_STATUS(haul_ship_from(device, source, NULL, NULL, &shipment), HAUL_OK);
    return shipment;
}

void library_digest(uint64_t *digest, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count-- > 0)
        *digest = (*digest ^ *at++) * UINT64_C(0x100000001b3);
}
