/* An array of structs, each with a string and two counted arrays.
 *
 * HAUL_COUNT names the integers whose product is the number of elements. Prints the type as the
 * library has understood it (haul_type_dump), then one claim with yes or NO.
 */
#include "common.h"

enum { SAMPLES = 500 };
typedef struct sample {
    char *label;
    int rows, columns;
    double *matrix; /* rows * columns of them */
    unsigned short bins;
    int *histogram; /* one for each bin */
    double mean;    /* the result */
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
    s->label = allocate(32);
    snprintf(s->label, 32, "sample %d", index);
    s->rows = index % 7 + 1, s->columns = index % 5 + 1;
    s->matrix = allocate((size_t)(s->rows * s->columns) * sizeof(double));
    for (int i = 0; i < s->rows * s->columns; i++)
        s->matrix[i] = index + i % 2 * 4;
    s->bins = 8, s->mean = 0;
    s->histogram = allocate(s->bins * sizeof(int));
    memset(s->histogram, 0, s->bins * sizeof(int));
}

/* What runs on the device: the mean, and a histogram of the entries modulo the number of bins. */
static void summarise(void *samples)
{
    for (sample *s = samples, *end = s + SAMPLES; s < end; s++) {
        double sum = 0;
        for (int i = 0; i < s->rows * s->columns; i++) {
            sum += s->matrix[i];
            s->histogram[(int)s->matrix[i] % s->bins]++;
        }
        s->mean = sum / (s->rows * s->columns);
    }
}

static int is_right(const sample *s, int index)
{
    int n = s->rows * s->columns, n_odd = n / 2;
    return (int)(s->mean * n + 0.5) == index * n + n_odd * 4 &&
           s->histogram[index % 8] == n - n_odd;
}

static int run(haul_device *device, sample *samples)
{
    haul_shipment *shipment = NULL;
    int right = 1;
    haul_status status = haul_ship(device, samples, sample_type, SAMPLES, NULL, &shipment);
    if (!status)
        status = haul_host_launch(device, summarise, haul_device_pointer(shipment, samples));
    if (!status)
        status = haul_unmarshal(shipment);
    haul_shipment_free(&shipment);
    if (status)
        return failed("working on the device", status, haul_context_error(haul));
    for (int i = 0; i < SAMPLES; i++)
        right &= is_right(&samples[i], i);
    return claim("means and histograms of all samples came back into their structs", right) ? 0 : 1;
}

int main(void)
{
    sample *samples = allocate(SAMPLES * sizeof(sample));
    haul_file output = haul_file_descriptor(1);
    haul_device *device = NULL;
    haul_status status;
    int result;
    for (int i = 0; i < SAMPLES; i++)
        make_sample(&samples[i], i);
    status = haul_context_create(NULL, &haul);
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("describing a sample", status, haul_context_error(haul));
    printf("structs: %d of them, each with a matrix, a histogram and a label\n", SAMPLES);
    fflush(stdout);
    haul_type_dump(sample_type, &output);
    status = haul_host_open(haul, NULL, &device);
    result = status ? failed("opening the device", status, haul_context_error(haul))
                    : run(device, samples);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    for (int i = 0; i < SAMPLES; i++)
        free(samples[i].label), free(samples[i].matrix), free(samples[i].histogram);
    free(samples);
    return result;
}
