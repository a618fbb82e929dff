/* An array of structs, each with a string and two counted arrays.
 *
 * HAUL_COUNT names the integers whose product is the number of elements; each struct has its own.
 * The device makes a histogram of each matrix. Prints the number of structs, then one claim with
 * yes or NO.
 */
#include "common.h"

enum { SAMPLES = 500, LABEL = 16, BINS = 8 };

typedef struct sample {
    char *label;
    int rows, columns;
    double *matrix; /* rows * columns of them */
    unsigned short bins;
    int *histogram; /* one for each bin: the result */
} sample;

static haul_context *haul;
static haul_type *sample_type;
static const haul_field sample_fields[] = {
    HAUL_STRING(sample, label),
    HAUL_ARRAY(sample, matrix, HAUL_COUNT(sample, rows, columns)),
    HAUL_ARRAY(sample, histogram, HAUL_COUNT(sample, bins)),
};
static const haul_struct structs[] = { HAUL_STRUCT(sample, &sample_type, sample_fields) };

static void make_sample(sample *s, int index)
{
    s->label = allocate(LABEL);
    snprintf(s->label, LABEL, "sample %d", index);
    s->rows = index % 7 + 1;
    s->columns = index % 5 + 1;
    s->matrix = allocate((size_t)(s->rows * s->columns) * sizeof(double));
    for (int i = 0; i < s->rows * s->columns; i++)
        s->matrix[i] = index + i % 2 * 4;
    s->bins = BINS;
    s->histogram = allocate(BINS * sizeof(int));
    memset(s->histogram, 0, BINS * sizeof(int));
}

/* What runs on the device: the entries modulo the number of bins are counted. */
static void count_all(void *samples)
{
    for (sample *s = samples, *end = s + SAMPLES; s < end; s++)
        for (int i = 0; i < s->rows * s->columns; i++)
            s->histogram[(int)s->matrix[i] % s->bins]++;
}

/* Half of the entries are the index, the others 4 more. */
static int is_right(const sample *s, int index)
{
    const int n = s->rows * s->columns;
    return s->histogram[index % BINS] == n - n / 2 && s->histogram[(index + 4) % BINS] == n / 2;
}

static haul_status count_on_device(haul_device *device, sample *samples)
{
    haul_shipment *shipment = NULL;
    haul_status status = haul_ship(device, samples, sample_type, SAMPLES, NULL, &shipment);
    if (!status)
        status = haul_host_launch(device, count_all, haul_device_pointer(shipment, samples));
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_free(&shipment);
    return status;
}

int main(void)
{
    static sample samples[SAMPLES];
    haul_device *device = NULL;
    int right = 1;
    haul_status status = haul_context_create(NULL, &haul);
    for (int i = 0; i < SAMPLES; i++)
        make_sample(&samples[i], i);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (!status)
        status = haul_host_open(haul, NULL, &device);
    if (!status)
        status = count_on_device(device, samples);
    if (status)
        return failed("counting on the device", status, haul_context_error(haul));
    for (int i = 0; i < SAMPLES; i++) {
        right &= is_right(&samples[i], i);
        free(samples[i].label);
        free(samples[i].matrix);
        free(samples[i].histogram);
    }
    printf("structs: %d of them, each with a label, a matrix and a histogram\n", SAMPLES);
    right = claim("the histograms of all samples came back into their structs", right);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return right ? 0 : 1;
}
