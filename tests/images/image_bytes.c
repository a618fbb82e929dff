#include "images/image_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "support/written.h"

void bytes_resize(image_bytes *b, size_t count)
{
    if (count > b->capacity) {
        b->capacity = 2 * count;
        b->at = realloc(b->at, b->capacity);
        if (!b->at)
            exit(2);
    }
    if (count > b->count)
        memset(b->at + b->count, 0, count - b->count);
    b->count = count;
}

void bytes_set(image_bytes *b, const void *from, size_t count)
{
    bytes_resize(b, count);
    if (count)
        memcpy(b->at, from, count);
}

void bytes_free(image_bytes *b)
{
    free(b->at);
    memset(b, 0, sizeof *b);
}

static haul_status add_bytes(void *user, const void *data, size_t count)
{
    image_bytes *b = user;
    const size_t before = b->count;
    check_written(data, count);
    bytes_resize(b, before + count);
    memcpy(b->at + before, data, count);
    return HAUL_OK;
}

haul_file bytes_file(image_bytes *b)
{
    haul_file file = { NULL, add_bytes, NULL };
    file.user = b;
    return file;
}

unsigned bitmap_bit(const image_bytes *bitmap, size_t word)
{
    uint64_t unit = 0;
    if (word / 64 < bitmap->count / sizeof unit)
        memcpy(&unit, bitmap->at + word / 64 * sizeof unit, sizeof unit);
    return (unsigned)(unit >> word % 64 & 1);
}

void bitmap_put(image_bytes *bitmap, size_t word, unsigned bit)
{
    uint64_t unit;
    if (word / 64 >= bitmap->count / sizeof unit)
        return;
    memcpy(&unit, bitmap->at + word / 64 * sizeof unit, sizeof unit);
    unit = (unit & ~(UINT64_C(1) << word % 64)) | (uint64_t)bit << word % 64;
    memcpy(bitmap->at + word / 64 * sizeof unit, &unit, sizeof unit);
}

haul__image_section *image_sections(const image_bytes *image, size_t *count)
{
    haul__image_head head;
    *count = 0;
    if (image->count < sizeof head)
        return NULL;
    memcpy(&head, image->at, sizeof head);
    if (head.section_count > (image->count - sizeof head) / sizeof(haul__image_section))
        return NULL;
    *count = head.section_count;
    return (haul__image_section *)(void *)(image->at + sizeof head);
}

void image_sign(image_bytes *image)
{
    haul__image_head *head = (haul__image_head *)(void *)image->at;
    size_t count, i;
    haul__image_section *s = image_sections(image, &count);
    if (!s)
        return;
    for (i = 0; i < count; i++)
        if (s[i].offset <= image->count && s[i].bytes <= image->count - s[i].offset)
            s[i].hash = haul__image_hash(image->at + s[i].offset, (size_t)s[i].bytes);
    head->hash = haul__image_head_hash(head, s);
}

void image_split(const image_bytes *image, image_parts *parts)
{
    size_t count, i;
    const haul__image_section *s = image_sections(image, &count);
    memcpy(&parts->head, image->at, sizeof parts->head);
    parts->part[HAUL__SECTION_WORDS].count = 0;
    for (i = 0; i < count; i++)
        bytes_set(&parts->part[s[i].kind], image->at + s[i].offset, (size_t)s[i].bytes);
}

void image_join(const image_parts *parts, image_bytes *image)
{
    haul__image_section list[HAUL__SECTION_KINDS];
    haul__image_head head = parts->head;
    uint64_t end;
    uint32_t kind, i;
    memset(list, 0, sizeof list);
    head.section_count = 0;
    for (kind = 1; kind < HAUL__SECTION_KINDS; kind++)
        if (kind != HAUL__SECTION_WORDS || parts->part[kind].count > 0)
            list[head.section_count++].kind = kind;
    end = sizeof head + head.section_count * sizeof *list;
    for (i = 0; i < head.section_count; i++) {
        list[i].bytes = parts->part[list[i].kind].count;
        list[i].offset = haul__section_begin(list[i].kind, list[i].bytes, end);
        end = list[i].offset + list[i].bytes;
    }
    head.bytes = end;
    image->count = 0;
    bytes_resize(image, (size_t)end);
    memcpy(image->at, &head, sizeof head);
    memcpy(image->at + sizeof head, list, head.section_count * sizeof *list);
    for (i = 0; i < head.section_count; i++)
        if (list[i].bytes)
            memcpy(image->at + list[i].offset, parts->part[list[i].kind].at, (size_t)list[i].bytes);
    image_sign(image);
}

void image_parts_free(image_parts *parts)
{
    uint32_t kind;
    for (kind = 0; kind < HAUL__SECTION_KINDS; kind++)
        bytes_free(&parts->part[kind]);
}
