/* From a header to a running kernel: swarm.answers has three lines, CMakeLists.txt two. */
#include "swarm_haul.h"

#include <stdio.h>

static void move(void *root) /* runs on the device */
{
    for (swarm *s = root; s; s = s->next)
        for (int i = 0; i < s->n; i++)
            s->particles[i].position[0] += s->particles[i].speed[0] / s->mass[i];
}

int main(void)
{
    particle a[2] = { { { 1, 0, 0 }, { 2, 0, 0 } }, { { 2, 0, 0 }, { 3, 0, 0 } } };
    particle b[1] = { { { 5, 0, 0 }, { 4, 0, 0 } } };
    double light[2] = { 1, 1 }, heavy[1] = { 2 };
    char bees[] = "bees", stars[] = "stars";
    swarm last = { 1, b, heavy, stars, NULL }, first = { 2, a, light, bees, &last };
    haul_context *context = NULL;
    haul_device *device = NULL;
    haul_shipment *s = NULL;

    if (haul_context_create(NULL, &context) || swarm_describe(context) ||
        haul_host_open(context, NULL, &device) ||
        haul_ship(device, &first, swarm_type, 1, NULL, &s) ||
        haul_host_launch(device, move, haul_device_pointer(s, &first)) || haul_unmarshal(s))
        fprintf(stderr, "%s: %s\n", haul_context_error(context)->path,
                haul_context_error(context)->text);

    printf("%s: %g %g, %s: %g\n", first.name, a[0].position[0], a[1].position[0], last.name,
           b[0].position[0]);
    haul_shipment_free(&s);
    haul_device_close(&device);
    swarm_forget();
    haul_context_free(&context);
    return a[0].position[0] != 3 || a[1].position[0] != 5 || b[0].position[0] != 7;
}
