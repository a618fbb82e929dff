/* The C side of sections.f90: ships what gfortran's descriptors lead to, has the given subroutine
 * called on the host device, where a byte that was not shipped faults, and brings all back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "structures/gfortran.h"

typedef struct holder {
    gfc_1 component, reversed;
    gfc_2 section;
    gfc_1 deeper, none, numbers;
} holder;

HAUL_FUNCTION(extent_0, gfc_any, gfc_extent(self, 0))
HAUL_FUNCTION(extent_1, gfc_any, gfc_extent(self, 1))

static const haul_dimension of_1[] = { GFC_DIMENSION(gfc_1, 0, extent_0) };
static const haul_dimension of_2[] = { GFC_DIMENSION(gfc_2, 0, extent_0),
                                       GFC_DIMENSION(gfc_2, 1, extent_1) };

static void check(haul_status status, const haul_error *error, const char *call)
{
    if (status == HAUL_OK)
        return;
    fprintf(stderr, "FAILED  %s: %s, %s: %s\n", call, haul_status_name(status), error->path,
            error->text);
    exit(1);
}

static haul_type *type_of(haul_context *context, const char *name, size_t bytes,
                          const haul_field *fields, size_t count)
{
    const haul_struct what = { .name = name,
                               .bytes = bytes,
                               .fields = fields,
                               .field_count = count,
                               .field_bytes = sizeof *fields };
    haul_type *type;
    check(haul_type_create(context, &what, &type), haul_context_error(context), name);
    return type;
}

static haul_type *reals_1, *reals_2, *integers_1, *holder_type;

static void describe(haul_context *context)
{
    static const haul_field lines[] = { HAUL_ADDRESS(
        gfc_1, base_addr, .element_bytes = sizeof(double), .section = HAUL_DIMENSIONS(of_1)) };
    static const haul_field planes[] = { HAUL_ADDRESS(
        gfc_2, base_addr, .element_bytes = sizeof(double), .section = HAUL_DIMENSIONS(of_2)) };
    static const haul_field integers[] = { HAUL_ADDRESS(
        gfc_1, base_addr, .element_bytes = sizeof(int32_t), .section = HAUL_DIMENSIONS(of_1)) };
    static const haul_field fields[] = {
        HAUL_EMBED(holder, component, &reals_1), HAUL_EMBED(holder, reversed, &reals_1),
        HAUL_EMBED(holder, section, &reals_2),   HAUL_EMBED(holder, deeper, &reals_1),
        HAUL_EMBED(holder, none, &reals_1),      HAUL_EMBED(holder, numbers, &integers_1)
    };
    reals_1 = type_of(context, "reals_1", sizeof(gfc_1), lines, 1);
    reals_2 = type_of(context, "reals_2", sizeof(gfc_2), planes, 1);
    integers_1 = type_of(context, "integers_1", sizeof(gfc_1), integers, 1);
    holder_type = type_of(context, "holder", sizeof(holder), fields, 6);
    check(haul_type_commit(holder_type), haul_context_error(context), "haul_type_commit");
}

/* Between the elements of a section lies nothing of the shipment. */
static void check_gap(const haul_shipment *shipment, const holder *h)
{
    const char *first = h->section.base_addr;
    const ptrdiff_t stride = (ptrdiff_t)(h->section.dim[0].stride * h->section.span);
    if (haul_device_pointer(shipment, first + stride) &&
        !haul_device_pointer(shipment, first + stride / 2 + 1))
        return;
    fprintf(stderr, "FAILED  the elements of a section travel, and those between them\n");
    exit(1);
}

void there_and_back(void *address, size_t bytes, void (*function)(void *address));

void there_and_back(void *address, size_t bytes, void (*function)(void *address))
{
    const holder *h = address;
    haul_context *context;
    haul_device *device;
    haul_shipment *shipment;
    if (bytes != sizeof(holder)) {
        fprintf(stderr, "FAILED  gfortran's holder has %zu bytes, %zu here\n", bytes,
                sizeof(holder));
        exit(1);
    }
    printf("p => a%%x: span %ld, elem_len %zu; p => items%%n: span %ld, elem_len %zu\n",
           (long)h->component.span, h->component.dtype.elem_len, (long)h->numbers.span,
           h->numbers.dtype.elem_len);
    check(haul_context_create(NULL, &context), haul_context_error(NULL), "haul_context_create");
    describe(context);
    check(haul_host_open(context, NULL, &device), haul_context_error(context), "haul_host_open");
    check(haul_ship(device, address, holder_type, 1, NULL, &shipment), haul_context_error(context),
          "haul_ship");
    check(haul_host_launch(device, function, haul_device_pointer(shipment, address)),
          haul_context_error(context), "haul_host_launch");
    check(haul_unmarshal(shipment), haul_context_error(context), "haul_unmarshal");
    check_gap(shipment, h);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_context_free(&context);
    haul_type_free(&holder_type);
    haul_type_free(&reals_1);
    haul_type_free(&reals_2);
    haul_type_free(&integers_1);
}
