/* Rodinia's backprop. Layers of n units and one more, and a row of weights for each unit, to all
 * units of the next layer.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

typedef struct BPNN {
    int input_n, hidden_n, output_n;
    float *input_units, *hidden_units, *output_units;
    float *hidden_delta, *output_delta, *target;
    float **input_weights, **hidden_weights;
    float **input_prev_weights, **hidden_prev_weights;
} BPNN;

enum { INPUTS = 65, HIDDEN = 16, OUTPUTS = 3 };

static haul_type *BPNN_type;

static void bpnn_open(void)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(BPNN, input_units, HAUL_COUNT_PLUS(BPNN, input_n, 1)),
        HAUL_ARRAY(BPNN, hidden_units, HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAY(BPNN, output_units, HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAY(BPNN, hidden_delta, HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAY(BPNN, output_delta, HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAY(BPNN, target, HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAYS(BPNN, input_weights, HAUL_COUNT_PLUS(BPNN, input_n, 1),
                    HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAYS(BPNN, hidden_weights, HAUL_COUNT_PLUS(BPNN, hidden_n, 1),
                    HAUL_COUNT_PLUS(BPNN, output_n, 1)),
        HAUL_ARRAYS(BPNN, input_prev_weights, HAUL_COUNT_PLUS(BPNN, input_n, 1),
                    HAUL_COUNT_PLUS(BPNN, hidden_n, 1)),
        HAUL_ARRAYS(BPNN, hidden_prev_weights, HAUL_COUNT_PLUS(BPNN, hidden_n, 1),
                    HAUL_COUNT_PLUS(BPNN, output_n, 1)),
    };
    BPNN_type = OPEN(BPNN, fields);
    type_close(BPNN_type);
}

/* Small integers: their products and sums are exact. */
static float **weights_make(int n1, int n2, int modulus)
{
    float **w = PUT_ARRAY(float *, n1 + 1);
    int i, k;
    for (i = 0; i <= n1; i++)
        for (w[i] = PUT_ARRAY(float, n2 + 1), k = 0; k <= n2; k++)
            w[i][k] = (float)((i * 3 + k * 5) % modulus);
    return w;
}

static BPNN *bpnn_make(void)
{
    BPNN *net = PUT(BPNN);
    int i;
    net->input_n = INPUTS;
    net->hidden_n = HIDDEN;
    net->output_n = OUTPUTS;
    net->input_units = PUT_ARRAY(float, INPUTS + 1);
    net->hidden_units = PUT_ARRAY(float, HIDDEN + 1);
    net->output_units = PUT_ARRAY(float, OUTPUTS + 1);
    net->hidden_delta = PUT_ARRAY(float, HIDDEN + 1);
    net->output_delta = PUT_ARRAY(float, OUTPUTS + 1);
    net->target = PUT_ARRAY(float, OUTPUTS + 1);
    for (i = 0; i <= INPUTS; i++)
        net->input_units[i] = (float)(i % 4);
    net->target[OUTPUTS] = 5;
    net->input_weights = weights_make(INPUTS, HIDDEN, 7);
    net->input_prev_weights = weights_make(INPUTS, HIDDEN, 2);
    net->hidden_weights = weights_make(HIDDEN, OUTPUTS, 4);
    net->hidden_prev_weights = weights_make(HIDDEN, OUTPUTS, 3);
    return net;
}

/* Output unit k, by the same weights without the network. */
static int64_t output_of(int k)
{
    int64_t output = k % 4, hidden;
    int i, h;
    for (h = 1; h <= HIDDEN; h++) {
        for (hidden = h * 5 % 7, i = 1; i <= INPUTS; i++)
            hidden += (int64_t)(i % 4) * ((i * 3 + h * 5) % 7);
        output += hidden * ((h * 3 + k * 5) % 4);
    }
    return output;
}

static void layer_forward(float *from, float *to, float **weights, int n1, int n2)
{
    int i, k;
    from[0] = 1;
    for (k = 1; k <= n2; k++)
        for (to[k] = 0, i = 0; i <= n1; i++)
            to[k] += weights[i][k] * from[i];
}

static void adjust(const float *delta, int ndelta, float **w, float **old, int rows)
{
    int i, k;
    for (k = 1; k <= ndelta; k++)
        for (i = 0; i <= rows; i++) {
            old[i][k] = delta[k] + 2 * old[i][k];
            w[i][k] += old[i][k];
        }
}

static void bpnn_walk(void *argument)
{
    visit *v = argument;
    BPNN *net = v->root;
    int k;
    layer_forward(net->input_units, net->hidden_units, net->input_weights, net->input_n,
                  net->hidden_n);
    layer_forward(net->hidden_units, net->output_units, net->hidden_weights, net->hidden_n,
                  net->output_n);
    for (k = 1; k <= net->output_n; k++) {
        see(&v->seen, (uint64_t)net->output_units[k]);
        net->output_delta[k] = net->target[k] - 1;
    }
    net->hidden_delta[net->hidden_n] = 3;
    adjust(net->output_delta, net->output_n, net->hidden_weights, net->hidden_prev_weights,
           net->hidden_n);
    adjust(net->hidden_delta, net->hidden_n, net->input_weights, net->input_prev_weights,
           net->input_n);
}

TEST(structures_rodinia, backprop_a_network_is_run_forward_there_and_its_weights_come_back_adjusted)
{
    journey j = { .walk = bpnn_walk };
    int k;
    site_start(66);
    bpnn_open();
    j.root = bpnn_make();
    j.type = BPNN_type;
    for (k = 1; k <= OUTPUTS; k++)
        see(&j.seen, (uint64_t)output_of(k));
    travel(&j);
    haul_type_free(&BPNN_type);
    site_end();
}
