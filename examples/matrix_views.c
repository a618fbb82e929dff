/* Views of one matrix: a block of its columns, and a row backwards.
 *
 * A view knows its first element, extents and strides. HAUL_SECTION tells that only the elements
 * travel: the rest of the matrix is neither read nor written, though the kernel uses the same
 * strides as the host. Prints three claims with yes or NO.
 */
#include "common.h"

enum { ROWS = 40, LD = 100 }; /* a row begins LD numbers behind the row before */

typedef struct view {
    double *first; /* [0][0] */
    int rows, columns;
    int down, right; /* numbers from one row to the next, and from one column to the next */
} view;

static haul_context *haul;
static haul_type *view_type;
static const haul_dimension rows_and_columns[] = {
    HAUL_DIMENSION(HAUL_COUNT(view, rows), HAUL_COUNT(view, down)),
    HAUL_DIMENSION(HAUL_COUNT(view, columns), HAUL_COUNT(view, right)),
};
static const haul_field view_fields[] = { HAUL_SECTION(view, first, rows_and_columns) };
static const haul_struct structs[] = { HAUL_STRUCT(view, &view_type, view_fields) };

/* What runs on the device: the block is doubled, the row gets the number of each place. */
static void work(void *views)
{
    const view *block = views, *row = block + 1;
    for (int i = 0; i < block->rows; i++)
        for (int k = 0; k < block->columns; k++)
            block->first[i * block->down + k * block->right] *= 2;
    for (int k = 0; k < row->columns; k++)
        row->first[k * row->right] = k;
}

static haul_status work_on_device(haul_device *device, view *views)
{
    haul_shipment *shipment = NULL;
    haul_status status = haul_ship(device, views, view_type, 2, NULL, &shipment);
    if (!status)
        status = haul_host_launch(device, work, haul_device_pointer(shipment, views));
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_free(&shipment);
    return status;
}

int main(void)
{
    static double matrix[ROWS][LD];
    view views[] = { { &matrix[10][20], 30, 5, LD, 1 }, { &matrix[3][LD - 1], 1, LD, 0, -1 } };
    haul_device *device = NULL;
    int block = 1, row = 1, rest = 1;
    haul_status status = haul_context_create(NULL, &haul);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < LD; k++)
            matrix[i][k] = 1;
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status)
        status = haul_host_open(haul, NULL, &device);
    if (!status)
        status = work_on_device(device, views);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < LD; k++)
            if (i >= 10 && k >= 20 && k < 25)
                block &= matrix[i][k] > 1.5;
            else if (i == 3)
                row &= (int)matrix[i][k] == LD - 1 - k;
            else
                rest &= matrix[i][k] < 1.5;
    if (status)
        return failed("working on two views", status, haul_context_error(haul));
    block = claim("the block was doubled", block);
    row = claim("the row was numbered from its end", row);
    rest = claim("no other number has changed", rest);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return block && row && rest ? 0 : 1;
}
