/* Fuzz target: an image through a callback that gives any number of bytes at a time, fails, or ends
 * too early (F1, F2, F27 to F29).
 *
 * The input is that of images.h. Byte 1: how many reads succeed before one fails; 0: all. Byte 2:
 * what the pieces are drawn from. Byte 3: bytes of the image that are missing, modulo 64 (bits 0 to
 * 5).
 */
#include <string.h>

#include "images.h"

#define MEMORY_MOST ((uint64_t)4 << 20) /* whatever the image claims (image/input.c) */

typedef struct wire {
    const uint8_t *at;
    size_t left, given, calls;
    size_t fails_at; /* 0: never */
    uint64_t pieces; /* 0: whole ones */
} wire;

static haul_status read_piece(void *user, void *data, size_t bytes, size_t *got)
{
    wire *w = user;
    size_t most = bytes < w->left ? bytes : w->left;
    if (++w->calls == w->fails_at)
        return HAUL_ERROR_FILE;
    if (w->pieces && most > 1)
        most = 1 + (size_t)random_word(&w->pieces) % (w->pieces >> 60 < 4 ? 2 : most);
    memcpy(data, w->at, most);
    w->at += most;
    w->left -= most;
    w->given += most;
    *got = most;
    return HAUL_OK;
}

typedef struct answer {
    haul_status status;
    haul_error error;
    haul_image *image;
} answer;

static answer receive(oracle *o, wire *w)
{
    haul_file file = { NULL, NULL, read_piece };
    const uint64_t before = o->doors.host_most = o->doors.host_bytes;
    answer a;
    file.user = w;
    a.status = haul_image_read(o->context, &file, o->shape->type, 1, NULL, &a.image);
    a.error = *haul_context_error(o->context);
    if ((a.status == HAUL_OK) != (a.image != NULL))
        fuzz_broken("%s: a read answers %s, and there is%s an image", o->shape->name,
                    haul_status_name(a.status), a.image ? "" : " not");
    if (o->doors.host_most - before > 64 * (uint64_t)w->given + MEMORY_MOST)
        fuzz_broken("%s: %llu bytes of memory for %zu bytes", o->shape->name,
                    (unsigned long long)(o->doors.host_most - before), w->given);
    return a;
}

/* Read from bytes it is accepted, too, if it ends where the reader has stopped; it is refused if
 * the reader has refused all of it. */
static void compare_with_bytes(oracle *o, const answer *a, const wire *whole, const wire *w)
{
    const size_t count = a->status == HAUL_OK ? w->given : whole->left;
    haul_image *image;
    const haul_status status =
        haul_image_from_bytes(o->context, whole->at, count, o->shape->type, 1, NULL, &image);
    haul_image_free(&image);
    if (!image_is_alike(&a->error, haul_context_error(o->context)))
        fuzz_broken("%s: a read answers %s (%s), from bytes it is %s", o->shape->name,
                    haul_status_name(a->status), a->error.text, haul_status_name(status));
}

/* Of two images in a row the first reader takes one, and leaves the other. As bytes they are no
 * image. */
static void read_both(oracle *o, const wire *whole, size_t bytes)
{
    static image_bytes row;
    wire w = *whole;
    haul_image *image;
    int i;
    bytes_set(&row, whole->at, bytes);
    bytes_resize(&row, 2 * bytes);
    memcpy(row.at + bytes, whole->at, bytes);
    if (haul_image_from_bytes(o->context, row.at, row.count, o->shape->type, 1, NULL, &image) !=
        HAUL_ERROR_FORMAT)
        fuzz_broken("%s: bytes behind an image are not refused", o->shape->name);
    w.at = row.at;
    w.left = row.count;
    w.pieces = bytes;
    for (i = 1; i <= 2; i++) {
        answer a = receive(o, &w);
        if (a.status != HAUL_OK || w.given != (size_t)i * bytes)
            fuzz_broken("%s: image %d in a row: %s after %zu bytes (%s)", o->shape->name, i,
                        haul_status_name(a.status), w.given, a.error.text);
        haul_image_free(&a.image);
    }
}

/* A read that fails in the middle. */
static void fail_one(oracle *o, const wire *whole, size_t at)
{
    wire w = *whole;
    answer a;
    w.fails_at = at;
    w.pieces = 1;
    a = receive(o, &w);
    if (w.calls >= at && a.status != HAUL_ERROR_FILE)
        fuzz_broken("%s: the file has refused, the answer is %s", o->shape->name,
                    haul_status_name(a.status));
    haul_image_free(&a.image);
}

static int run(const uint8_t *data, size_t bytes)
{
    oracle *o;
    wire whole, w, pieces;
    answer one, other;
    size_t count;
    if (bytes < IMAGE_INPUT_HEAD)
        return 0;
    o = image_oracle(data[0]);
    memset(&whole, 0, sizeof whole);
    whole.at = image_of_input(data, bytes, &count);
    whole.left = count - (data[3] % 64 < count ? data[3] % 64 : 0);
    w = pieces = whole;
    pieces.pieces = 1 + (uint64_t)data[2];
    one = receive(o, &w);
    other = receive(o, &pieces);
    if (!image_is_alike(&one.error, &other.error) || w.given != pieces.given)
        fuzz_broken("%s: in pieces it is %s after %zu bytes (%s), else %s after %zu bytes (%s)",
                    o->shape->name, haul_status_name(other.status), pieces.given, other.error.text,
                    haul_status_name(one.status), w.given, one.error.text);
    haul_image_free(&one.image);
    haul_image_free(&other.image);
    compare_with_bytes(o, &one, &whole, &w);
    if (one.status == HAUL_OK)
        read_both(o, &whole, w.given);
    if (data[1])
        fail_one(o, &whole, data[1]);
    return one.status == HAUL_OK;
}

const fuzz_target fuzz_wire = { "wire", run, image_change };
