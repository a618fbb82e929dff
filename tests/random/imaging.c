/* Images: the graph is written, read as trusted and checked, and compared with the reference; what
 * was read makes the same image again. Read without types it is the same graph.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "support/written.h"

typedef struct image_bytes {
    unsigned char *at;
    size_t count, capacity;
} image_bytes;

static haul_status put_bytes(void *user, const void *data, size_t count)
{
    image_bytes *b = user;
    check_written(data, count);
    if (b->count + count > b->capacity) {
        b->capacity = 2 * (b->count + count);
        b->at = must(realloc(b->at, b->capacity));
    }
    memcpy(b->at + b->count, data, count);
    b->count += count;
    return HAUL_OK;
}

static haul_status write_from(trial *t, haul_source source, image_bytes *bytes)
{
    haul_file file = { NULL, put_bytes, NULL };
    file.user = bytes;
    bytes->count = 0;
    return haul_image_write(t->context, source, &file);
}

static haul_status write_image(trial *t, const haul_root *roots, size_t count, image_bytes *bytes)
{
    return write_from(t, haul_from_roots(roots, count), bytes);
}

static haul_status read_image(trial *t, const image_bytes *bytes, int is_trusted, int calls,
                              haul_image **image)
{
    haul_type *types[4];
    haul_image_options options = { .is_trusted = 0 };
    options.is_trusted = is_trusted;
    options.calls_functions = calls;
    for (size_t i = 0; i < t->g.root_count; i++)
        types[i] = (haul_type *)(uintptr_t)t->g.roots[i].type;
    return haul_image_from_bytes(t->context, bytes->at, bytes->count, types, t->g.root_count,
                                 &options, image);
}

static int agrees(trial *t, const haul_image *image)
{
    reference_place place = { { 0 }, 0, 0, BARS_ALL, 1 };
    reference read;
    size_t bytes, count;
    const haul_root *roots = haul_image_roots(image, &count);
    void *block = haul_image_memory(image, &bytes);
    int good;
    place.first = (uintptr_t)block;
    place.bytes = bytes;
    if (count != t->g.root_count)
        return trial_fail(t, "image: %zu roots", count);
    for (size_t i = 0; i < count; i++)
        place.roots[i] = (uintptr_t)roots[i].address;
    good = reference_walk(&t->g, &place, &read) && reference_rest_is_zero(&read, block, bytes);
    if (!good)
        trial_fail(t, "image: %s", read.wrong);
    reference_free(&read);
    return good;
}

static int is_equal(const image_bytes *a, const image_bytes *b)
{
    return a->count == b->count && memcmp(a->at, b->at, a->count) == 0;
}

enum { ROUNDS = 4 };

/* The image of what was read is the same, or settles in a few rounds. An alias, or a pointer to no
 * elements, may lead where the heap has put objects side by side (docs/shipments.md), and a pointer
 * to nothing is null from then on. */
static int is_same_again(trial *t, const haul_image *image, const image_bytes *before)
{
    image_bytes bytes[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
    const image_bytes *last = before;
    haul_image *read = NULL;
    size_t count;
    const haul_root *roots = haul_image_roots(image, &count);
    haul_status status = HAUL_OK;
    int round, good = 0;
    for (round = 0; round < ROUNDS && status == HAUL_OK && !good; round++) {
        image_bytes *next = &bytes[round % 2];
        status = write_image(t, roots, count, next);
        good = status == HAUL_OK && is_equal(next, last);
        last = next;
        haul_image_free(&read);
        if (status == HAUL_OK && !good)
            status = read_image(t, next, 0, 0, &read);
        roots = haul_image_roots(read, &count);
    }
    if (!good)
        trial_fail(t, "image: written again, %s, it has other bytes", haul_status_name(status));
    haul_image_free(&read);
    free(bytes[0].at);
    free(bytes[1].at);
    return good;
}

/* Does a pointer lead to no elements? It may be null in the image. An array that ends with a null
 * pointer then ends there, and what lies behind belongs to nothing. */
static int has_empty_pointer(const trial *t)
{
    for (size_t i = 0; i < t->host.slot_count; i++) {
        const reference_slot *s = &t->host.slots[i];
        if (s->kind == SLOT_EMPTY || (s->kind == SLOT_RULED && s->target == NULL))
            return 1;
    }
    return 0;
}

/* May a right graph be refused, because nobody can tell it from one that was made with malice? */
static int may_be_refused(const trial *t, haul_status status)
{
    const char *text = haul_context_error(t->context)->text;
    /* an array may have its end among what is not sent */
    if (status == HAUL_ERROR_FORMAT)
        return strstr(text, "byte ") == text && (has_empty_pointer(t) || t->host.unsent_count > 0);
    if (status == HAUL_ERROR_LIMIT)
        return strstr(text, "no terminator") == text && t->host.unsent_count > 0;
    return status == HAUL_ERROR_GRAPH &&
           (strstr(text, "data of another object") != NULL ||
            strstr(text, "no object of its type") != NULL ||
            strstr(text, "an alias that leads to nothing") != NULL ||
            /* the source has the word off the grid, where nobody sees that */
            strstr(text, "a word is a pointer for one description and data for another") != NULL);
}

/* Types of the text's own are good for this graph, unless the text cannot say them. */
static int reads_alone(trial *t, const haul_image *image, const image_bytes *bytes)
{
    image_bytes one = { NULL, 0, 0 }, other = { NULL, 0, 0 };
    haul_image *alone = NULL;
    size_t count, again;
    const haul_root *roots = haul_image_roots(image, &count), *own;
    haul_status status =
        haul_image_from_bytes(t->context, bytes->at, bytes->count, NULL, 0, NULL, &alone);
    int good = 1;
    if (status == HAUL_ERROR_TYPE || status == HAUL_ERROR_LIMIT) {
        const char *text = haul_context_error(t->context)->text;
        if (strstr(text, "give the types") || strstr(text, "both named"))
            return 1;
    }
    if (status != HAUL_OK)
        return trial_fail(t, "image, without types: %s", haul_status_name(status));
    own = haul_image_roots(alone, &again);
    if (write_image(t, roots, count, &one) || write_image(t, own, again, &other) ||
        !is_equal(&one, &other))
        good = trial_fail(t, "image, without types: it has other bytes");
    good = good && agrees(t, alone);
    haul_image_free(&alone);
    free(one.at);
    free(other.at);
    return good;
}

static int read_back(trial *t, const image_bytes *bytes)
{
    haul_image *image;
    haul_status status = read_image(t, bytes, 1, 0, &image);
    int good;
    if (status != HAUL_OK)
        return trial_fail(t, "image, trusted: %s", haul_status_name(status));
    good = agrees(t, image);
    haul_image_free(&image);
    if (!good)
        return 0;
    status = read_image(t, bytes, 0, 0, &image);
    if (status == HAUL_ERROR_UNSUPPORTED || may_be_refused(t, status))
        return 1; /* functions, which know the source's addresses alone */
    if (status != HAUL_OK)
        return trial_fail(t, "image: %s", haul_status_name(status));
    good = agrees(t, image) && is_same_again(t, image, bytes) && reads_alone(t, image, bytes);
    haul_image_free(&image);
    return good;
}

/* Functions know the source's addresses alone. */
static int has_functions(trial *t, const image_bytes *bytes)
{
    haul_image *image;
    const haul_status status = read_image(t, bytes, 0, 0, &image);
    haul_image_free(&image);
    return status == HAUL_ERROR_UNSUPPORTED;
}

/* Ranges that were apart in the source may touch on the device. Then the end of one is also the
 * beginning of the other (docs/shipments.md), and a pointer to the end leads there in the image. A
 * distance may lead to such an end, too. */
static int has_end_pointer(const trial *t)
{
    for (size_t i = 0; i < t->host.slot_count; i++)
        if (t->host.slots[i].kind == SLOT_END || t->host.slots[i].kind == SLOT_ALIAS ||
            t->host.slots[i].kind == SLOT_DISTANCE || t->host.slots[i].is_empty)
            return 1;
    return has_empty_pointer(t);
}

/* Does an array up to a terminator have bytes that are not sent? They are zeros on the device, so
 * it may end elsewhere there. */
static int has_unsent_element(const trial *t)
{
    for (size_t i = 0; i < t->host.ended_count; i++) {
        const reference_range *array = &t->host.ended[i];
        int unsent;
        const size_t n = reference_stretch(t->host.unsent, t->host.unsent_count, array->host,
                                           array->bytes, &unsent);
        if (unsent || n < array->bytes)
            return 1;
    }
    return 0;
}

/* The device has the source's contents, so its image is that of the source. */
int trial_image_of_device(trial *t)
{
    image_bytes source = { NULL, 0, 0 }, device = { NULL, 0, 0 };
    haul_status status = write_image(t, t->g.roots, t->g.root_count, &source);
    int good = 1;
    if (status == HAUL_OK && !has_functions(t, &source)) {
        status = write_from(t, haul_from_device(t->shipment), &device);
        if (status != HAUL_OK)
            good = may_be_refused(t, status) ||
                   trial_fail(t, "image of the device: %s", haul_status_name(status));
        else if (!is_equal(&source, &device) && !has_end_pointer(t) && !has_unsent_element(t))
            good = trial_fail(t, "image of the device: it has other bytes than that of the source");
    }
    free(source.at);
    free(device.at);
    return good && trial_source_is_unchanged(t, "image of the device");
}

/* An ordered plan, which puts clusters in order, makes the same image, and so does memory that has
 * just enough bytes. */
static int is_written_alike(trial *t, const image_bytes *bytes)
{
    const haul_plan_options ordered = { .ordered = 1 };
    const haul_source source = haul_from_roots(t->g.roots, t->g.root_count);
    image_bytes planned = { NULL, 0, 0 }, exact = { NULL, 0, 0 };
    haul_plan *plan = NULL;
    size_t needed;
    haul_status status = haul_plan_create(t->context, source, &ordered, &plan);
    int good = 1;
    if (status == HAUL_OK)
        status = write_from(t, haul_from_plan(plan), &planned);
    haul_plan_free(&plan);
    if (status != HAUL_OK || !is_equal(bytes, &planned))
        good = trial_fail(t, "image of a plan, %s: it has other bytes", haul_status_name(status));
    exact.at = must(malloc(bytes->count));
    status = haul_image_to_bytes(t->context, source, NULL, exact.at, bytes->count, &exact.count);
    if (status == HAUL_OK)
        check_written(exact.at, exact.count);
    if (status != HAUL_OK || !is_equal(bytes, &exact))
        good = trial_fail(t, "image in memory, %s: it has other bytes", haul_status_name(status));
    status = haul_image_to_bytes(t->context, source, NULL, exact.at, bytes->count - 1, &needed);
    if (status != HAUL_ERROR_ARGUMENT || needed != bytes->count)
        good =
            trial_fail(t, "image in less memory, %s: %zu bytes", haul_status_name(status), needed);
    free(planned.at);
    free(exact.at);
    return good;
}

int trial_image(trial *t)
{
    image_bytes bytes = { NULL, 0, 0 };
    haul_status status = write_image(t, t->g.roots, t->g.root_count, &bytes);
    int good = 1;
    if (status == HAUL_OK)
        good = is_written_alike(t, &bytes) && read_back(t, &bytes);
    else if (status != HAUL_ERROR_UNSUPPORTED)
        good = trial_fail(t, "image: %s", haul_status_name(status));
    free(bytes.at);
    return good && trial_source_is_unchanged(t, "image");
}
