/* Inputs that hold an image.
 */
#include "images.h"

#include "image/compression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

oracle *image_oracle(uint8_t first)
{
    static const shape *const shapes[] = { &mesh_shape, &value_shape, &space_shape, &plain_shape };
    static oracle oracles[4];
    oracle *o = &oracles[first & 3];
    if (!o->context && !oracle_open(o, shapes[first & 3]))
        exit(2);
    return o;
}

const uint8_t *image_of_input(const uint8_t *data, size_t bytes, size_t *count)
{
    static image_bytes image;
    static uint8_t *exact;
    const size_t shift = data[2] % 16;
    bytes_set(&image, data + IMAGE_INPUT_HEAD, bytes - IMAGE_INPUT_HEAD);
    if (data[0] & IMAGE_INPUT_SIGNED)
        image_sign(&image);
    free(exact);
    exact = malloc(shift + image.count + (shift + image.count == 0));
    if (!exact)
        exit(2);
    if (image.count)
        memcpy(exact + shift, image.at, image.count);
    *count = image.count;
    return exact + shift;
}

int image_is_alike(const haul_error *a, const haul_error *b)
{
    return (a->status == HAUL_OK) == (b->status == HAUL_OK) ||
           strstr(a->text, "address has bits of a tag") != NULL ||
           strstr(b->text, "address has bits of a tag") != NULL;
}

/* ---- Changes. */

enum { ARENA_LEAST = 32 }; /* bytes, for a damage */

/* Can image_split take it apart, and a damage find its place? */
static int is_whole(const image_bytes *image)
{
    size_t count, i;
    unsigned seen = 0;
    const haul__image_section *s = image_sections(image, &count);
    for (i = 0; i < count; i++) {
        if (s[i].kind == 0 || s[i].kind >= HAUL__SECTION_KINDS || s[i].offset > image->count ||
            s[i].bytes > image->count - s[i].offset)
            return 0;
        if (s[i].bytes >= (s[i].kind == HAUL__SECTION_ARENA ? ARENA_LEAST : 8))
            seen |= 1u << s[i].kind;
    }
    return (seen | 1u << HAUL__SECTION_WORDS | 1u) == (1u << HAUL__SECTION_KINDS) - 1;
}

static int is_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9';
}

/* The text's number at `at`, in decimal, becomes another one. */
static void put_decimal(image_bytes *text, size_t at, uint64_t value)
{
    char number[24];
    size_t end = at, rest;
    const size_t digits =
        (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    while (end < text->count && is_digit(text->at[end]))
        end++;
    rest = text->count - end;
    if (at + digits > end)
        bytes_resize(text, text->count + (at + digits - end));
    memmove(text->at + at + digits, text->at + end, rest);
    memcpy(text->at + at, number, digits);
    text->count = at + digits + rest;
}

static size_t line_at(const image_bytes *text, size_t at)
{
    while (at > 0 && text->at[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const image_bytes *text, size_t at)
{
    while (at < text->count && text->at[at] != '\n')
        at++;
    return at < text->count ? at + 1 : at;
}

/* A line goes, or stands there twice. */
static void change_line(image_bytes *text, size_t at, int goes)
{
    const size_t first = line_at(text, at), end = line_end(text, at), count = end - first;
    const size_t rest = text->count - end;
    if (goes) {
        memmove(text->at + first, text->at + end, rest);
        text->count -= count;
        return;
    }
    bytes_resize(text, text->count + count);
    memmove(text->at + end + count, text->at + end, rest);
    memcpy(text->at + end, text->at + first, count);
}

/* A line's end gets one more word. */
static void add_word(image_bytes *text, size_t at, choices *c)
{
    static const char *const words[] = { " count=1",
                                         " count=until@8",
                                         " count=terminated(0)",
                                         " count=product*1+0(",
                                         " count=function",
                                         " when=function",
                                         " ownership=1",
                                         " ownership=2",
                                         " tags=3",
                                         " base=-8",
                                         " integers=1000,0",
                                         " transfer=1",
                                         " transfer=2",
                                         " transfer=3",
                                         " ancestor=parent",
                                         " ancestor=0",
                                         " levels=2",
                                         " target=0",
                                         " target=1",
                                         " packed" };
    const char *word = words[choose(c, sizeof words / sizeof *words)];
    const size_t end = line_end(text, at), place = end - (end > 0), count = strlen(word);
    const size_t rest = text->count - place;
    bytes_resize(text, text->count + count);
    memmove(text->at + place + count, text->at + place, rest);
    memcpy(text->at + place, word, count);
}

static void change_number(image_bytes *text, size_t at, choices *c)
{
    static const uint64_t odd[] = { 0,  1,   2,    3,     4,     8,          16,
                                    24, 255, 4095, 65535, 65536, UINT32_MAX, UINT64_MAX };
    while (at < text->count && !is_digit(text->at[at]))
        at++;
    if (at < text->count)
        put_decimal(text, at, choose(c, 2) ? odd[choose(c, 14)] : choose(c, 64));
}

/* A number becomes another one wherever the text has it: a size stands in each field that leads to
 * its type. */
static void change_everywhere(image_bytes *text, size_t at, choices *c)
{
    char old[24];
    size_t count = 0, i;
    uint64_t value;
    while (at < text->count && !is_digit(text->at[at]))
        at++;
    while (at > 0 && is_digit(text->at[at - 1]))
        at--;
    while (count < sizeof old && at + count < text->count && is_digit(text->at[at + count]))
        count++;
    memcpy(old, text->at + at, count);
    value = (uint64_t)1 << choose(c, 40);
    value += choose(c, 3) * 8;
    for (i = 0; count > 0 && i + count < text->count; i++)
        if (memcmp(text->at + i, old, count) == 0 && !is_digit(text->at[i + count]) &&
            (i == 0 || !is_digit(text->at[i - 1]))) {
            put_decimal(text, i, value);
            i += 12;
        }
}

static void change_text(image_bytes *text, choices *c)
{
    const uint32_t way = choose(c, 8);
    size_t at;
    if (text->count == 0 || text->count > 1 << 15)
        return;
    at = choose(c, (uint32_t)text->count);
    if (way < 2)
        change_line(text, at, way == 0);
    else if (way == 2)
        add_word(text, at, c);
    else if (way == 3)
        change_everywhere(text, at, c);
    else
        change_number(text, at, c);
}

/* A compressed arena becomes the plain one, so that damages find its words. If it cannot, it
 * stays. */
static void decompress(image_parts *parts, haul_context *context)
{
    image_bytes *arena = &parts->part[HAUL__SECTION_ARENA];
    const size_t count = (size_t)parts->head.arena_bytes;
    static haul__decompressor d;
    haul__input from;
    unsigned char *plain;
    if (count == 0 || count > 1 << 20)
        return;
    memset(&from, 0, sizeof from);
    from.error = &context->error;
    from.bytes = arena->at;
    from.left = arena->count;
    plain = malloc(count);
    if (plain &&
        haul__decompressor_open(&d, context, &from, arena->count,
                                haul__image_hash(arena->at, arena->count), count) == HAUL_OK &&
        haul__input_read(&d.bytes, plain, count) == HAUL_OK) {
        bytes_set(arena, plain, count);
        parts->head.arena_bytes = 0;
    }
    haul__decompressor_close(&d);
    free(plain);
}

static void compress(image_parts *parts, haul_context *context, choices *c)
{
    image_bytes *arena = &parts->part[HAUL__SECTION_ARENA];
    const size_t count = arena->count;
    haul__compressed frame;
    if (haul__compress(context, 1, arena->at, count, &frame) == HAUL_OK) {
        bytes_set(arena, frame.at, frame.bytes);
        parts->head.arena_bytes = count + (chance(c, 1, 16) ? 16 * choose(c, 9) - 64 : 0);
    }
    haul__release(&context->allocator, frame.at, frame.room);
}

static void damage(image_bytes *image, haul_context *context, choices *c)
{
    static image_parts parts;
    uint32_t count = 1 + choose(c, 2);
    image_split(image, &parts);
    decompress(&parts, context);
    if (chance(c, 1, 16))
        change_text(&parts.part[HAUL__SECTION_TYPES], c);
    else
        while (count-- > 0 && parts.part[HAUL__SECTION_ARENA].count >= ARENA_LEAST)
            image_damage(&parts, c); /* a frame may hold less than its own bytes */
    if (haul__can_compress() && !parts.head.arena_bytes && chance(c, 1, 8))
        compress(&parts, context, c);
    image_join(&parts, image);
}

static void change_head(uint8_t *data, choices *c)
{
    const uint32_t at = choose(c, IMAGE_INPUT_HEAD);
    data[at] = (uint8_t)choose(c, 256);
    if (chance(c, 15, 16))
        data[0] |= IMAGE_INPUT_SIGNED;
}

/* A number of the image's head or of its list of sections. */
static void change_claim(image_bytes *image, choices *c)
{
    static const uint64_t odd[] = { 0,
                                    1,
                                    16,
                                    64,
                                    4096,
                                    65536,
                                    UINT32_MAX,
                                    (uint64_t)1 << 32,
                                    (uint64_t)1 << 62,
                                    INT64_MAX,
                                    UINT64_MAX - 7,
                                    UINT64_MAX };
    const size_t words = (sizeof(haul__image_head) + 5 * sizeof(haul__image_section)) / 8;
    const size_t at = 8 * choose(c, (uint32_t)words);
    uint64_t value;
    if (at + 8 > image->count)
        return;
    memcpy(&value, image->at + at, sizeof value);
    value = choose(c, 2) ? odd[choose(c, 12)] : value + choose(c, 129) - 64;
    memcpy(image->at + at, &value, sizeof value);
}

size_t image_change(uint8_t *data, size_t bytes, size_t most, choices *c)
{
    static image_bytes image;
    size_t room = most - IMAGE_INPUT_HEAD, now;
    if (most < 1024)
        return fuzz_change_bytes(data, bytes, most, c);
    if (bytes < IMAGE_INPUT_HEAD + sizeof(haul__image_head) || chance(c, 1, 16)) {
        data[0] = (uint8_t)(choose(c, 4) | IMAGE_INPUT_SIGNED);
        memset(data + 1, 0, IMAGE_INPUT_HEAD - 1);
        oracle_build(image_oracle(data[0]), c, &image);
    } else {
        bytes_set(&image, data + IMAGE_INPUT_HEAD, bytes - IMAGE_INPUT_HEAD);
    }
    if (chance(c, 1, 8))
        change_head(data, c);
    if (chance(c, 1, 32)) {
        change_claim(&image, c);
    } else if (is_whole(&image) && !chance(c, 1, 32)) {
        damage(&image, image_oracle(data[0])->context, c);
    } else {
        now = image.count;
        bytes_resize(&image, now + 64); /* room to grow */
        image.count = fuzz_change_bytes(image.at, now, now + 64, c);
    }
    if (image.count > room)
        return bytes;
    memcpy(data + IMAGE_INPUT_HEAD, image.at, image.count);
    return IMAGE_INPUT_HEAD + image.count;
}
