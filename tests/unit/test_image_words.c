/* Damage to the words of an image that no bit tells, to its bitmap and to its head is refused, and
 * the record names the first thing that is wrong.
 */
#include <stdio.h>
#include <string.h>

#include "images/image_bytes.h"
#include "support/check.h"
#include "support/types.h"

#define WORD sizeof(void *)

typedef struct written {
    haul_type *type;
    image_bytes image;
    image_parts parts;
} written;

static void write_object(written *w, void *object, haul_type *type)
{
    haul_file file = bytes_file(&w->image);
    memset(w, 0, sizeof *w);
    w->type = type;
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_object(object, type), &file), HAUL_OK);
    image_split(&w->image, &w->parts);
}

static void written_free(written *w)
{
    bytes_free(&w->image);
    image_parts_free(&w->parts);
    haul_type_free(&w->type);
}

static haul_status load(const written *w)
{
    haul_image *loaded;
    const haul_status status = haul_image_from_bytes(type_context(), w->image.at, w->image.count,
                                                     &w->type, 1, NULL, &loaded);
    haul_image_free(&loaded);
    return status;
}

/* With the sections as they are now. */
static void check_refused(written *w, haul_status expected, const char *words)
{
    image_join(&w->parts, &w->image);
    CHECK_STATUS(load(w), expected);
    CHECK_HAS(haul_context_error(type_context())->text, words);
}

static haul__odd_word *words_of(written *w)
{
    return (haul__odd_word *)(void *)w->parts.part[HAUL__SECTION_WORDS].at;
}

static unsigned char *arena_of(written *w)
{
    return w->parts.part[HAUL__SECTION_ARENA].at;
}

#pragma pack(push, 1)
typedef struct tagged_end {
    uint16_t number; /* so that the pointers lie off the grid */
    double *all, *none;
} tagged_end;
#pragma pack(pop)

/* The tag of a pointer to the end of the arena's last object lies behind the arena, unless there is
 * room for it. With one of the two counts the object ends with a granule. A pointer to no elements
 * may become null. */
TEST(image_words, a_tagged_pointer_to_no_elements_at_the_arena_s_end_comes_back)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(tagged_end, all, .element_bytes = sizeof(double),
                     .count = HAUL_COUNT(tagged_end, number), .packed = 1),
        HAUL_ADDRESS(tagged_end, none, .element_bytes = sizeof(double), .count = HAUL_FIXED(0),
                     .tag_bits = 2, .packed = 1),
    };
    double array[3] = { 1, 2, 3 };
    uint16_t number;
    for (number = 2; number <= 3; number++) {
        const uintptr_t end = (uintptr_t)(array + number) | 2;
        tagged_end source, read;
        haul_image *loaded;
        size_t count;
        written w;
        source.number = number;
        source.all = array;
        memcpy(&source.none, &end, sizeof end);
        write_object(&w, &source, TYPE_NEW(tagged_end, fields));
        CHECK_STATUS(haul_image_from_bytes(type_context(), w.image.at, w.image.count, &w.type, 1,
                                           NULL, &loaded),
                     HAUL_OK);
        memcpy(&read, haul_image_roots(loaded, &count)->address, sizeof read);
        CHECK(!read.none || (uintptr_t)read.none == ((uintptr_t)(read.all + number) | 2));
        haul_image_free(&loaded);
        written_free(&w);
    }
}

#pragma pack(push, 1)
typedef struct inner_pointer {
    char pad;
    double *second; /* of an array that begins 8 bytes before */
} inner_pointer;
#pragma pack(pop)

/* On the grid the pointer is a slot, which needs no room behind the arena. Off the grid it is a
 * word of its own, and its target is as far from the arena's end. */
TEST(image_words, a_pointer_into_its_target_makes_the_same_image_on_and_off_the_grid)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(inner_pointer, second, .element_bytes = sizeof(double), .count = HAUL_FIXED(2),
                     .base = -(int64_t)sizeof(double), .packed = 1),
    };
    union {
        char bytes[4 * WORD];
        uintptr_t on_the_grid;
    } place;
    double array[2] = { 1, 2 };
    written w[2];
    size_t i;
    for (i = 0; i < 2; i++) {
        inner_pointer source;
        char *at = place.bytes + (i == 0 ? WORD - 1 : WORD / 2);
        memset(&source, 0, sizeof source);
        source.second = array + 1;
        memcpy(at, &source, sizeof source);
        write_object(&w[i], at, TYPE_NEW(inner_pointer, fields));
    }
    CHECK_EQ(w[0].image.count, w[1].image.count);
    CHECK(memcmp(w[0].image.at, w[1].image.at, w[0].image.count) == 0);
    written_free(&w[0]);
    written_free(&w[1]);
}

/* ---- Packed pointers. */

#pragma pack(push, 1)
typedef struct tight {
    uint8_t number;
    uintptr_t small;
    void *first, *second;
    uint8_t rest[7];
} tight;
#pragma pack(pop)

static void write_tight(written *w)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(tight, first, .element_bytes = 8, .packed = 1),
        HAUL_ADDRESS(tight, second, .element_bytes = 8, .packed = 1),
    };
    static uint64_t number[2] = { 1, 2 };
    tight t;
    memset(&t, 0, sizeof t);
    t.first = &number[0];
    t.second = &number[1];
    t.small = 16;
    write_object(w, &t, TYPE_NEW(tight, fields));
    CHECK_STATUS(load(w), HAUL_OK);
    CHECK_EQ(w->parts.part[HAUL__SECTION_WORDS].count, 2 * sizeof(haul__odd_word));
}

TEST(image_words, a_pointer_off_the_grid_that_leads_out_of_the_arena_is_refused)
{
    uintptr_t out;
    written w;
    write_tight(&w);
    out = w.parts.part[HAUL__SECTION_ARENA].count + 8;
    memcpy(arena_of(&w) + words_of(&w)[0].offset, &out, sizeof out);
    check_refused(&w, HAUL_ERROR_FORMAT, "leads out of it");
    written_free(&w);
}

TEST(image_words, a_list_of_words_that_are_out_of_order_or_not_those_of_the_types_is_refused)
{
    haul__odd_word word;
    written w;
    write_tight(&w);
    word = words_of(&w)[0];
    words_of(&w)[0] = words_of(&w)[1];
    words_of(&w)[1] = word;
    check_refused(&w, HAUL_ERROR_FORMAT, "its list of words is not in order");
    words_of(&w)[0] = word;
    words_of(&w)[1] = word;
    words_of(&w)[1].offset += WORD;
    bytes_resize(&w.parts.part[HAUL__SECTION_WORDS], 3 * sizeof word);
    words_of(&w)[2] = words_of(&w)[1];
    words_of(&w)[1] = word;
    words_of(&w)[0].offset -= WORD; /* `small` */
    check_refused(&w, HAUL_ERROR_FORMAT, "its pointer is not in the list of words");
    written_free(&w);
}

#pragma pack(push, 1)
typedef struct odd {
    uint8_t number;
    void *at;
} odd;
#pragma pack(pop)

/* Elements of 9 bytes: with pointers of 8 bytes every eighth one is on the grid, in the first half
 * of a granule or in its second half. */
TEST(image_words, packed_pointers_that_come_onto_the_grid_have_a_bit_each)
{
    enum { MANY = 40 };
    static const haul_field fields[] = { HAUL_ADDRESS(odd, at, .element_bytes = 8, .packed = 1) };
    static uint64_t number[MANY];
    static odd all[MANY];
    haul_file file;
    haul_image *image;
    const odd *loaded;
    written w;
    size_t i, on_grid = 0;
    memset(&w, 0, sizeof w);
    file = bytes_file(&w.image);
    w.type = TYPE_NEW(odd, fields);
    for (i = 0; i < MANY; i++) {
        number[i] = i;
        all[i].at = &number[i];
        on_grid += (2 * WORD + i * sizeof(odd) + offsetof(odd, at)) % WORD == 0;
    }
    CHECK_STATUS(haul_type_commit(w.type), HAUL_OK);
    CHECK_STATUS(haul_image_write(type_context(), haul_from_array(all, w.type, MANY), &file),
                 HAUL_OK);
    image_split(&w.image, &w.parts);
    CHECK(on_grid > 3);
    CHECK_EQ(w.parts.part[HAUL__SECTION_WORDS].count, (MANY - on_grid) * sizeof(haul__odd_word));
    CHECK_STATUS(
        haul_image_from_bytes(type_context(), w.image.at, w.image.count, &w.type, 1, NULL, &image),
        HAUL_OK);
    loaded = haul_image_roots(image, NULL)->address;
    for (i = 0; i < MANY; i++)
        CHECK_EQ(*(const uint64_t *)loaded[i].at, i);
    haul_image_free(&image);
    written_free(&w);
}

typedef struct ranges {
    uint64_t *first, *first_end, *second, count, *second_end, more;
} ranges;

/* Off the grid a tagged pointer takes an entry of its own, on it a bit of the map. */
TEST(image_words, tagged_pointers_make_the_same_image_wherever_their_struct_lies)
{
    static const haul_field fields[] = {
        HAUL_ADDRESS(tight, first, .element_bytes = 100, .packed = 1, .tag_bits = 2),
    };
    static uint64_t target[13];
    written at[2];
    unsigned i;
    for (i = 0; i < 2; i++) {
        union {
            unsigned char bytes[sizeof(tight) + 2 * WORD];
            uint64_t aligned[4];
        } room;
        tight *t = (tight *)(void *)(room.bytes + 2 * WORD - 1 + i);
        const uintptr_t word = (uintptr_t)target | 2;
        memset(&room, 0, sizeof room);
        memcpy((unsigned char *)t + offsetof(tight, first), &word, WORD);
        write_object(&at[i], t, TYPE_NEW(tight, fields));
    }
    CHECK_EQ(at[0].image.count, at[1].image.count);
    CHECK_BYTES(at[0].image.at, at[1].image.at, at[0].image.count);
    written_free(&at[0]);
    written_free(&at[1]);
}

TEST(image_words, ends_of_arrays_have_a_bit_in_each_half_of_any_granule)
{
    enum { MANY = 4 };
    static const haul_field fields[] = {
        HAUL_ARRAY(ranges, first, HAUL_COUNT(ranges, count)),
        HAUL_END_OF(ranges, first_end, first),
        HAUL_ARRAY(ranges, second, HAUL_COUNT(ranges, count)),
        HAUL_END_OF(ranges, second_end, second),
    };
    static uint64_t number[MANY][2];
    static ranges all[MANY];
    haul_file file;
    haul_image *image;
    const ranges *loaded;
    written w;
    size_t i;
    memset(&w, 0, sizeof w);
    file = bytes_file(&w.image);
    w.type = TYPE_NEW(ranges, fields);
    CHECK_STATUS(haul_type_commit(w.type), HAUL_OK);
    for (i = 0; i < MANY; i++) {
        all[i].first = all[i].second = number[i];
        all[i].first_end = all[i].second_end = number[i] + 2;
        all[i].count = 2;
    }
    CHECK_STATUS(haul_image_write(type_context(), haul_from_array(all, w.type, MANY), &file),
                 HAUL_OK);
    CHECK_STATUS(
        haul_image_from_bytes(type_context(), w.image.at, w.image.count, &w.type, 1, NULL, &image),
        HAUL_OK);
    loaded = haul_image_roots(image, NULL)->address;
    for (i = 0; i < MANY; i++)
        CHECK(loaded[i].first_end == loaded[i].first + 2 &&
              loaded[i].second_end == loaded[i].second + 2);
    haul_image_free(&image);
    written_free(&w);
}

TEST(image_words, a_number_behind_all_pointers_that_the_list_calls_a_pointer_is_refused)
{
    const uintptr_t inside = 16;
    uintptr_t number;
    written w;
    write_tight(&w);
    memcpy(&number, arena_of(&w) + words_of(&w)[1].offset,
           sizeof number); /* `second` leads there */
    memcpy(arena_of(&w) + number, &inside, sizeof inside);
    bytes_resize(&w.parts.part[HAUL__SECTION_WORDS], 3 * sizeof(haul__odd_word));
    words_of(&w)[2].offset = number;
    check_refused(&w, HAUL_ERROR_FORMAT, "the list of words calls it a pointer");
    written_free(&w);
}

/* Only who knows the block's address can write such an image. */
TEST(image_words, a_pointer_that_leads_into_the_block_and_is_not_in_the_list_of_words_is_refused)
{
    static unsigned char block[1024] __attribute__((aligned(64)));
    const haul_image_options options = { .buffer = block, .buffer_bytes = sizeof block };
    haul_image *loaded;
    uintptr_t second;
    unsigned char *at;
    written w;
    write_tight(&w);
    at = arena_of(&w) + words_of(&w)[1].offset;
    memcpy(&second, at, sizeof second);
    second += (uintptr_t)block;
    memcpy(at, &second, sizeof second);
    bytes_resize(&w.parts.part[HAUL__SECTION_WORDS], sizeof(haul__odd_word));
    image_join(&w.parts, &w.image);
    CHECK_STATUS(haul_image_from_bytes(type_context(), w.image.at, w.image.count, &w.type, 1,
                                       &options, &loaded),
                 HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "its pointer is not in the list of words");
    written_free(&w);
}

/* ---- Tags. */

#if UINTPTR_MAX > 0xffffffffu
typedef struct tagged {
    struct tagged *next; /* the highest byte is a tag */
    uintptr_t value;
} tagged;

TEST(image_words, a_mask_that_has_bits_of_the_block_s_address_is_refused)
{
    haul_type *type = NULL;
    const haul_field fields[] = { HAUL_OBJECT(tagged, next, &type,
                                              .tag_bits = (uintptr_t)0xff << 56) };
    tagged at[2] = { { NULL, 1 }, { NULL, 2 } };
    written w;
    at[0].next = &at[1];
    type = TYPE_NEW(tagged, fields);
    write_object(&w, at, type);
    CHECK_STATUS(load(&w), HAUL_OK);
    words_of(&w)[0].mask = UINT64_MAX << 24; /* an offset has no bit of it, and each address has */
    check_refused(&w, HAUL_ERROR_LIMIT, "the block's address has bits of a tag");
    written_free(&w);
}
#endif

/* ---- Limits. */

typedef struct limited {
    double *begin, *end;
    uintptr_t count;
    char rest[4 * WORD - 3 * WORD];
} limited;

TEST(image_words, a_limit_of_nothing_is_null)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(limited, begin, HAUL_COUNT(limited, count)),
        HAUL_END_OF(limited, end, begin),
    };
    limited l;
    written w;
    memset(&l, 0, sizeof l);
    write_object(&w, &l, TYPE_NEW(limited, fields));
    CHECK_STATUS(load(&w), HAUL_OK);
    *(uintptr_t *)(void *)(arena_of(&w) + 2 * WORD + offsetof(limited, end)) = 2 * WORD;
    check_refused(&w, HAUL_ERROR_FORMAT, "it is not at the end of its array");
    CHECK_STR(haul_context_error(type_context())->path, "root.end");
    written_free(&w);
}

/* ---- Bits, and bytes that do not travel. */

typedef struct node {
    struct node *next;
    uintptr_t number;
    struct node *owner;         /* borrowed: the walk checks these images */
    char made[2 * WORD + WORD]; /* not sent */
} node;

static void write_node(written *w, size_t free_bytes)
{
    static haul_type *type;
    static const haul_field fields[] = {
        HAUL_OBJECT(node, next, &type),
        HAUL_OBJECT(node, owner, &type, .ownership = HAUL_BORROWED),
        HAUL_RAW(node, made, .transfer = HAUL_COPYOUT),
    };
    image_bytes *bits, *arena;
    node n;
    memset(&n, 0, sizeof n);
    n.number = 1;
    n.owner = &n;
    type = NULL;
    type = TYPE_NEW(node, fields);
    write_object(w, &n, type);
    CHECK_STATUS(load(w), HAUL_OK);
    arena = &w->parts.part[HAUL__SECTION_ARENA];
    bits = &w->parts.part[HAUL__SECTION_BITS];
    bytes_resize(arena, arena->count + free_bytes);
    bytes_resize(bits, (arena->count / WORD + 63) / 64 * 8);
    image_join(&w->parts, &w->image);
}

TEST(image_words, the_record_names_the_word_whose_bit_is_wrong)
{
    char text[64];
    written w;
    write_node(&w, 0);
    sprintf(text, "byte %u of the image's arena", (unsigned)(3 * WORD));
    *(uintptr_t *)(void *)(arena_of(&w) + 3 * WORD) = 2 * WORD;
    bitmap_put(&w.parts.part[HAUL__SECTION_BITS], 3, 1); /* number: the second of its granule */
    check_refused(&w, HAUL_ERROR_FORMAT, text);
    written_free(&w);
}

TEST(image_words, bytes_that_are_not_sent_are_zeros_in_an_image)
{
    written w;
    write_node(&w, 0);
    arena_of(&w)[2 * WORD + offsetof(node, made)] = 1;
    check_refused(&w, HAUL_ERROR_FORMAT, "it belongs to no object, and is not 0");
    written_free(&w);
}

TEST(image_words, many_free_bytes_behind_the_objects_are_zeros)
{
    written w;
    write_node(&w, 140000); /* more than the map has as one block */
    CHECK_STATUS(load(&w), HAUL_OK);
    arena_of(&w)[30000] = 1;
    check_refused(&w, HAUL_ERROR_FORMAT, "byte 30000 of the image's arena");
    written_free(&w);
}

TEST(image_words, a_bit_behind_the_arena_is_refused)
{
    written w;
    write_node(&w, 0);
    CHECK(w.parts.part[HAUL__SECTION_ARENA].count < 60 * WORD);
    bitmap_put(&w.parts.part[HAUL__SECTION_BITS], 63, 1);
    check_refused(&w, HAUL_ERROR_FORMAT, "its bitmap has a bit behind the arena");
    written_free(&w);
}

/* ---- The head. */

static haul__image_head *head_of(written *w)
{
    return (haul__image_head *)(void *)w->image.at;
}

TEST(image_words, the_first_fault_of_a_head_is_told)
{
    size_t count;
    written w;
    write_node(&w, 0);
    head_of(&w)->alignment = 3;
    head_of(&w)->arena_bytes = UINT64_MAX;
    image_sign(&w.image);
    CHECK_STATUS(load(&w), HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "its arena has no size");
    image_sections(&w.image, &count)[0].flags = 2;
    image_sign(&w.image);
    CHECK_STATUS(load(&w), HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "a section has an unknown flag");
    w.image.count = sizeof(haul__image_head) + 8;
    CHECK_STATUS(load(&w), HAUL_ERROR_FORMAT);
    CHECK_HAS(haul_context_error(type_context())->text, "ends");
    written_free(&w);
}
