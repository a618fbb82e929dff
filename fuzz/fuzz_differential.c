/* Fuzz target: the same image in several ways, which all accept it, with the same graph to the
 * byte, or all refuse it (F4, F8, F23, F24).
 *
 * The ways: from bytes; the same again; checked by the walk alone, without the scan; by three
 * threads; into a buffer of the caller's. What is accepted is also accepted as trusted, is written
 * the same from a plan as from its roots, and is the same graph on a device and back.
 *
 * The input is that of images.h. Bit 7 of byte 1: the image is drawn from the rest (images/draw.c).
 * The other bits: which allocation of one more load, by three threads, fails; 0: none.
 */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>

#include "haul/host.h"
#include "images.h"
#include "support/open.h"
#include "support/short_forms.h"

typedef struct answer {
    haul_status status;
    haul_error error;
    haul_image *image;
} answer;

typedef struct ways {
    haul_context *several; /* threads */
    haul_device *device;
} ways;

typedef struct subject {
    oracle *o;
    const ways *w;
    const uint8_t *bytes;
    size_t count;
    void *buffer; /* of buffer_bytes */
    size_t buffer_bytes;
} subject;

typedef answer way(const subject *s);

static answer load_in(haul_context *context, const subject *s, const haul_image_options *options)
{
    answer a;
    a.status =
        haul_image_from_bytes(context, s->bytes, s->count, s->o->shape->type, 1, options, &a.image);
    a.error = *haul_context_error(context);
    return a;
}

static answer from_bytes(const subject *s)
{
    return load_in(s->o->context, s, NULL);
}

static answer by_walk(const subject *s)
{
    return load_in(s->o->walking, s, NULL);
}

static answer by_threads(const subject *s)
{
    return load_in(s->w->several, s, NULL);
}

static answer as_trusted(const subject *s)
{
    haul_image_options options;
    memset(&options, 0, sizeof options);
    options.is_trusted = 1;
    return load_in(s->o->context, s, &options);
}

static answer into_buffer(const subject *s)
{
    haul_image_options options;
    memset(&options, 0, sizeof options);
    options.buffer = s->buffer;
    options.buffer_bytes = s->buffer_bytes;
    return load_in(s->o->context, s, &options);
}

static haul_status write_graph(oracle *o, haul_source source, image_bytes *to)
{
    haul_file file = bytes_file(to);
    to->count = 0;
    return haul_image_write(o->context, source, &file);
}

static haul_source graph_of(const haul_image *image)
{
    size_t count;
    const haul_root *roots = haul_image_roots(image, &count);
    return haul_from_roots(roots, count);
}

static void must(const subject *s, haul_status status, const char *what)
{
    const haul_error *error = haul_context_error(s->o->context);
    if (status != HAUL_OK)
        fuzz_broken("%s: %s: %s at %s: %s", s->o->shape->name, what, haul_status_name(status),
                    error->path, error->text);
}

static void compare_bytes(const subject *s, const char *what)
{
    const image_bytes *a = &s->o->once, *b = &s->o->twice;
    if (a->count != b->count || memcmp(a->at, b->at, a->count) != 0)
        fuzz_broken("%s: %s, it is written with other bytes", s->o->shape->name, what);
}

/* Its answer and its graph are those of `usual`, whose graph is in o->once. */
static void compare(const subject *s, const answer *usual, const char *name, way *run)
{
    answer a = run(s);
    if (!image_is_alike(&a.error, &usual->error))
        fuzz_broken("%s: %s it is %s at %s (%s), else %s at %s (%s)", s->o->shape->name, name,
                    haul_status_name(a.status), a.error.path, a.error.text,
                    haul_status_name(usual->status), usual->error.path, usual->error.text);
    if (a.image && usual->image) {
        must(s, write_graph(s->o, graph_of(a.image), &s->o->twice), name);
        compare_bytes(s, name);
    }
    haul_image_free(&a.image);
}

/* Memory runs out in one of the threads, or in the thread that waits for them. */
static void load_short_of_memory(const subject *s, const answer *usual, uint64_t at)
{
    haul_context_options options;
    haul_context *context = NULL;
    fault_plan doors;
    answer a;
    memset(&options, 0, sizeof options);
    memset(&doors, 0, sizeof doors);
    options.threads = 3;
    if (fault_open_context(&doors, &options, &context) != HAUL_OK)
        exit(2);
    fault_arm(&doors, FAULT_ONCE, at);
    a = load_in(context, s, NULL);
    if (doors.fired
            ? a.status == HAUL_OK || (usual->status == HAUL_OK && a.status != HAUL_ERROR_MEMORY)
            : !image_is_alike(&a.error, &usual->error))
        fuzz_broken("%s: allocation %lu of threads fails %lu times, and the answer is %s: %s",
                    s->o->shape->name, (unsigned long)at, (unsigned long)doors.fired,
                    haul_status_name(a.status), a.error.text);
    haul_image_free(&a.image);
    haul_context_free(&context);
    fault_check_clean(&doors);
}

static void compare_plan(const subject *s, const haul_image *image)
{
    haul_plan *plan = NULL;
    must(s, haul_plan_create(s->o->context, graph_of(image), ORDERED, &plan), "a plan");
    must(s, write_graph(s->o, haul_from_plan(plan), &s->o->twice), "an image of a plan");
    compare_bytes(s, "from a plan");
    haul_plan_free(&plan);
}

/* To a device and back: nothing has changed there, so nothing changes here but what no direction
 * sends; that is not in the image either. */
static void compare_shipment(const subject *s, const haul_image *image)
{
    haul_shipment *shipment = NULL;
    const haul_status status = haul_ship_from(s->w->device, graph_of(image), NULL, NULL, &shipment);
    if (status != HAUL_OK)
        fuzz_broken("%s: accepted, and not shipped: %s", s->o->shape->name,
                    haul_context_error(haul_device_context(s->w->device))->text);
    if (haul_unmarshal(shipment) != HAUL_OK)
        fuzz_broken("%s: shipped, and not brought back: %s", s->o->shape->name,
                    haul_context_error(haul_device_context(s->w->device))->text);
    haul_shipment_free(&shipment);
    must(s, write_graph(s->o, graph_of(image), &s->o->twice), "an image of what came back");
    compare_bytes(s, "shipped and brought back");
}

static void open_ways(ways *w)
{
    haul_context_options options;
    test_device device;
    memset(&options, 0, sizeof options);
    memset(&device, 0, sizeof device);
    options.threads = 3;
    device.settings = &ordinary_launches;
    if (haul_context_create(&options, &w->several) != HAUL_OK ||
        test_open(haul_host_device(), &device, &w->device) != HAUL_OK)
        exit(2);
}

static void compare_all(const subject *s, const answer *usual)
{
    answer trusted;
    if (usual->status == HAUL_OK)
        must(s, write_graph(s->o, graph_of(usual->image), &s->o->once), "accepted, not written");
    compare(s, usual, "once more", from_bytes);
    compare(s, usual, "by the walk alone", by_walk);
    compare(s, usual, "by three threads", by_threads);
    compare(s, usual, "in a buffer", into_buffer);
    trusted = as_trusted(s); /* a damaged one may be accepted so, but breaks nothing */
    if (usual->status != HAUL_OK) {
        haul_image_free(&trusted.image);
        return;
    }
    must(s, trusted.status, "accepted, and refused as trusted");
    must(s, write_graph(s->o, graph_of(trusted.image), &s->o->twice), "trusted, and not written");
    compare_bytes(s, "trusted");
    haul_image_free(&trusted.image);
    compare_plan(s, usual->image);
    compare_shipment(s, usual->image);
}

static int run(const uint8_t *data, size_t bytes)
{
    static ways w;
    static image_bytes drawn;
    subject s;
    answer usual;
    int accepted;
    if (bytes < IMAGE_INPUT_HEAD)
        return 0;
    if (!w.several)
        open_ways(&w);
    memset(&s, 0, sizeof s);
    s.o = image_oracle(data[0]);
    s.w = &w;
    if (data[1] & 128) {
        choices c = choices_from_bytes(data + IMAGE_INPUT_HEAD, bytes - IMAGE_INPUT_HEAD);
        oracle_draw(s.o, &c, &drawn);
        s.bytes = drawn.at;
        s.count = drawn.count;
    } else {
        s.bytes = image_of_input(data, bytes, &s.count);
    }
    s.buffer_bytes = s.count + 65536;
    if (posix_memalign(&s.buffer, 4096, s.buffer_bytes) != 0)
        exit(2);
    usual = from_bytes(&s);
    compare_all(&s, &usual);
    if (data[1] & 127)
        load_short_of_memory(&s, &usual, data[1] & 127);
    accepted = usual.status == HAUL_OK;
    haul_image_free(&usual.image);
    free(s.buffer);
    return accepted;
}

const fuzz_target fuzz_differential = { "differential", run, image_change };
