/* Images with up to 8 damages that know the format: words, bits, numbers, sections and roots.
 */
#include "images/oracle.h"

enum { BITS = HAUL__SECTION_BITS, ARENA = HAUL__SECTION_ARENA, WORDS = HAUL__SECTION_WORDS };

static const int64_t odd[] = { 0,     1,         -1,        2,          3,         4,
                               7,     8,         15,        16,         17,        127,
                               128,   255,       256,       32767,      32768,     65535,
                               65536, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN };
#define ODD ((uint32_t)(sizeof odd / sizeof *odd))

/* An offset of `bytes` bytes within the part, at a multiple of `grid`. The part is large enough. */
static size_t draw_place(choices *c, const image_bytes *part, size_t bytes, size_t grid)
{
    const size_t places = (part->count - bytes) / grid + 1;
    return grid * choose(c, places < 65536 ? (uint32_t)places : 65536);
}

/* A place that some pointer of the arena leads to, or any. */
static uint64_t draw_target(choices *c, const image_parts *parts)
{
    const image_bytes *arena = &parts->part[ARENA];
    uintptr_t word;
    memcpy(&word, arena->at + draw_place(c, arena, sizeof word, sizeof word), sizeof word);
    return word && word < arena->count && choose(c, 4) ? word
                                                       : draw_place(c, arena, 1, 1 + choose(c, 16));
}

static void set_bit(image_parts *parts, size_t word, unsigned value)
{
    bitmap_put(&parts->part[BITS], word, value);
}

static void put_word(image_parts *parts, choices *c)
{
    image_bytes *arena = &parts->part[ARENA];
    static const int near[] = { 0, 0, 0, 1, -1, 2, 4, 8, -8, 16, -16, 24, 32 };
    const size_t at = draw_place(c, arena, sizeof(uintptr_t), sizeof(uintptr_t));
    const uint64_t target = draw_target(c, parts);
    const uintptr_t word = (uintptr_t)target + (uintptr_t)near[choose(c, 13)];
    memcpy(arena->at + at, &word, sizeof word);
    if (choose(c, 4) == 3)
        set_bit(parts, at / sizeof word, choose(c, 2));
}

static void put_number(image_bytes *part, choices *c)
{
    const uint32_t way = choose(c, 2 * ODD);
    const int64_t value = way < ODD ? odd[way] : (int64_t)choose(c, 64);
    size_t width = (size_t)1 << choose(c, 4);
    const uint16_t one = 1;
    const uint64_t bytes = (uint64_t)value;
    size_t at;
    if (part->count < width)
        return;
    at = draw_place(c, part, width, choose(c, 2) ? width : 1);
    memcpy(part->at + at, (const char *)&bytes + (*(const char *)&one ? 0 : sizeof bytes - width),
           width);
}

/* Part of the arena once more at another place, with its bits if both are on the grid. */
static void copy_piece(image_parts *parts, choices *c)
{
    image_bytes *arena = &parts->part[ARENA];
    const size_t word = sizeof(uintptr_t), count = word * (1 + choose(c, 8));
    const size_t grid = choose(c, 4) ? word : 1;
    size_t from, to, i;
    if (arena->count < count)
        return;
    from = draw_place(c, arena, count, grid);
    to = draw_place(c, arena, count, grid);
    memmove(arena->at + to, arena->at + from, count);
    for (i = 0; i < count / word && from % word == 0 && to % word == 0; i++)
        set_bit(parts, to / word + i, bitmap_bit(&parts->part[BITS], from / word + i));
}

static void resize_arena(image_parts *parts, choices *c)
{
    image_bytes *arena = &parts->part[ARENA];
    const size_t granule = 2 * sizeof(uintptr_t), change = granule * choose(c, 8);
    const size_t count = choose(c, 2) || change + 2 * granule > arena->count
                             ? arena->count + change
                             : arena->count - change;
    bytes_resize(arena, count);
    bytes_resize(&parts->part[BITS], (count / sizeof(uintptr_t) + 63) / 64 * 8);
}

static void change_words(image_parts *parts, choices *c)
{
    image_bytes *words = &parts->part[WORDS];
    const size_t one = sizeof(haul__odd_word), count = words->count / one;
    haul__odd_word word;
    size_t at;
    if (count == 0 || choose(c, 3) == 0)
        bytes_resize(words, choose(c, 2) || count == 0 ? words->count + one : words->count - one);
    if (words->count < one)
        return;
    at = one * choose(c, (uint32_t)(words->count / one));
    memcpy(&word, words->at + at, one);
    if (choose(c, 2))
        word.offset = draw_place(c, &parts->part[ARENA], 1, 1 + choose(c, 8));
    else
        word.mask = choose(c, 2) ? 3 : (uint64_t)odd[choose(c, ODD)];
    memcpy(words->at + at, &word, one);
}

static void change_root(image_parts *parts, choices *c)
{
    haul__image_root root;
    memcpy(&root, parts->part[HAUL__SECTION_ROOTS].at, sizeof root);
    if (choose(c, 2))
        root.offset = draw_target(c, parts);
    else
        root.count = choose(c, 8) ? choose(c, 8) : (uint64_t)odd[choose(c, ODD)];
    memcpy(parts->part[HAUL__SECTION_ROOTS].at, &root, sizeof root);
}

void image_damage(image_parts *parts, choices *c)
{
    const uint32_t way = choose(c, 16);
    const size_t word = sizeof(uintptr_t);
    if (way < 5)
        put_word(parts, c);
    else if (way < 10)
        put_number(&parts->part[ARENA], c);
    else if (way < 12)
        copy_piece(parts, c);
    else if (way == 12)
        set_bit(parts, draw_place(c, &parts->part[ARENA], 1, 1) / word, choose(c, 2));
    else if (way == 13)
        resize_arena(parts, c);
    else if (way == 14)
        change_words(parts, c);
    else if (choose(c, 2))
        change_root(parts, c);
    else
        put_number(&parts->part[1 + choose(c, HAUL__SECTION_KINDS - 1)], c);
}

void oracle_draw(oracle *o, choices *c, image_bytes *image)
{
    static image_parts parts;
    uint32_t count = choose(c, 9);
    image_bytes head = { NULL, 0, 0 };
    oracle_build(o, c, image);
    image_split(image, &parts);
    while (count-- > 0)
        image_damage(&parts, c);
    image_join(&parts, image);
    if (choose(c, 16) != 15)
        return;
    head.at = image->at; /* a damage to the head or the list */
    head.count = sizeof(haul__image_head) + 4 * sizeof(haul__image_section);
    put_number(&head, c);
    image_sign(image);
}
