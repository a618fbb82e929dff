/* Images of several pieces: whichever thread fills a piece, and however a file cuts the bytes, the
 * graph, the first fault and its message are the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "images/image_bytes.h"
#include "support/check.h"

enum { WORDS = 12000, LONG_NAME = 200000, PIECE = 65536 };

/* A chain in an order of chance: each leads to the next one, to any other and to a name. */
typedef struct word {
    struct word *next, *other;
    char *name;
    uintptr_t value;
} word;

static haul_type *word_type;
static const haul_field word_fields[] = {
    HAUL_OBJECT(word, next, &word_type),
    HAUL_OBJECT(word, other, &word_type),
    HAUL_STRING(word, name),
};
static const haul_struct structs[] = { HAUL_STRUCT(word, &word_type, word_fields) };

typedef struct chain {
    haul_context *context;
    word *words;
    char *names;
    image_bytes image;
} chain;

/* One of the names is longer than a piece. */
static void chain_fill(chain *c)
{
    char *name = c->names;
    size_t i;
    for (i = 0; i < WORDS; i++) {
        word *w = &c->words[i];
        const size_t length = i == WORDS / 2 ? LONG_NAME : i % 37;
        w->next = i + 1 < WORDS ? w + 1 : NULL;
        w->other = &c->words[i * 7919 % WORDS];
        w->value = i;
        w->name = name;
        memset(name, 'a' + (int)(i % 26), length);
        name += length + 1;
    }
}

static void chain_open(chain *c)
{
    haul_file file;
    memset(c, 0, sizeof *c);
    c->words = calloc(WORDS, sizeof *c->words);
    c->names = calloc(1, WORDS * 38 + LONG_NAME);
    CHECK(c->words != NULL && c->names != NULL);
    chain_fill(c);
    CHECK_STATUS(haul_context_create(NULL, &c->context), HAUL_OK);
    CHECK_STATUS(HAUL_DESCRIBE(c->context, structs), HAUL_OK);
    file = bytes_file(&c->image);
    CHECK_STATUS(haul_image_write(c->context, haul_from_object(c->words, word_type), &file),
                 HAUL_OK);
    CHECK(c->image.count > 8 * PIECE);
}

static void chain_close(chain *c)
{
    HAUL_FORGET(structs);
    haul_context_free(&c->context);
    bytes_free(&c->image);
    free(c->words);
    free(c->names);
}

/* A loaded image, written again, is the same. */
static void check_again(haul_context *context, const chain *c, haul_image *loaded)
{
    image_bytes again = { NULL, 0, 0 };
    const haul_file file = bytes_file(&again);
    CHECK_STATUS(
        haul_image_write(context, haul_from_roots(haul_image_roots(loaded, NULL), 1), &file),
        HAUL_OK);
    CHECK_EQ(again.count, c->image.count);
    CHECK_BYTES(again.at, c->image.at, again.count);
    bytes_free(&again);
}

static const unsigned thread_counts[] = { 0, 2, 3, 8 };
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

static haul_context *context_with(unsigned threads)
{
    haul_context_options options = { .threads = 0 };
    haul_context *context;
    options.threads = threads;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    return context;
}

TEST(image_pieces, any_number_of_threads_loads_the_same_graph)
{
    chain c;
    size_t i;
    chain_open(&c);
    for (i = 0; i < THREAD_COUNTS; i++) {
        haul_context *context = context_with(thread_counts[i]);
        haul_image_options options = { .is_trusted = 0 };
        haul_image *image;
        for (; options.is_trusted < 2; options.is_trusted++) {
            CHECK_STATUS(haul_image_from_bytes(context, c.image.at, c.image.count, &word_type, 1,
                                               &options, &image),
                         HAUL_OK);
            check_again(context, &c, image);
            haul_image_free(&image);
        }
        haul_context_free(&context);
    }
    chain_close(&c);
}

/* A file that gives at most `most` bytes at a time, and none from `end` on. */
typedef struct slow_file {
    const image_bytes *image;
    size_t at, most, end;
} slow_file;

static haul_status give_some(void *user, void *to, size_t count, size_t *got)
{
    slow_file *f = user;
    *got = count < f->most ? count : f->most;
    if (*got > f->image->count - f->at)
        *got = f->image->count - f->at;
    if (f->at + *got > f->end)
        return HAUL_ERROR_FILE;
    memcpy(to, f->image->at + f->at, *got);
    f->at += *got;
    return HAUL_OK;
}

TEST(image_pieces, a_file_may_cut_pieces_anywhere_and_may_refuse_in_any)
{
    static const size_t most[] = { 4093, PIECE - 1, PIECE, PIECE + 1, SIZE_MAX };
    chain c;
    size_t i, end;
    haul_image *image;
    chain_open(&c);
    for (i = 0; i < sizeof most / sizeof *most; i++) {
        slow_file slow = { &c.image, 0, most[i], SIZE_MAX };
        const haul_file file = { .user = &slow, .read = give_some };
        CHECK_STATUS(haul_image_read(c.context, &file, &word_type, 1, NULL, &image), HAUL_OK);
        check_again(c.context, &c, image);
        haul_image_free(&image);
    }
    for (end = 1000; end < c.image.count; end += PIECE + 777) {
        slow_file slow = { &c.image, 0, 4093, end };
        const haul_file file = { .user = &slow, .read = give_some };
        CHECK_STATUS(haul_image_read(c.context, &file, &word_type, 1, NULL, &image),
                     HAUL_ERROR_FILE);
        CHECK_PTR(image, NULL);
    }
    chain_close(&c);
}

static haul__image_section *arena_of(const image_bytes *image)
{
    size_t count;
    haul__image_section *s = image_sections(image, &count);
    while (s->kind != HAUL__SECTION_ARENA)
        s++;
    return s;
}

/* The image is refused with these words by any number of threads, trusted or not. */
static void check_refused(const chain *c, const char *words)
{
    size_t i;
    for (i = 0; i < THREAD_COUNTS; i++) {
        haul_context *context = context_with(thread_counts[i]);
        haul_image_options options = { .is_trusted = 0 };
        haul_image *image;
        for (; options.is_trusted < 2; options.is_trusted++) {
            CHECK_STATUS(haul_image_from_bytes(context, c->image.at, c->image.count, &word_type, 1,
                                               &options, &image),
                         HAUL_ERROR_FORMAT);
            CHECK_PTR(image, NULL);
            CHECK_HAS(haul_context_error(context)->text, words);
        }
        haul_context_free(&context);
    }
}

/* The words of the chain that lie first and last in the arena. */
static void outer_words(const chain *c, word **first, word **last)
{
    unsigned char *arena = c->image.at + arena_of(&c->image)->offset;
    word *w = (word *)(void *)(arena + 2 * sizeof(void *));
    *first = *last = w;
    for (; (unsigned char *)w != arena; w = (word *)(void *)(arena + (uintptr_t)w->next)) {
        if (w < *first)
            *first = w;
        if (w > *last)
            *last = w;
    }
}

TEST(image_pieces, the_first_wrong_pointer_is_named_whichever_thread_meets_it)
{
    chain c;
    char words[64];
    word *late, *early;
    chain_open(&c);
    outer_words(&c, &early, &late);
    CHECK(late > early + PIECE / sizeof *early);
    early->other = late->other = (word *)(uintptr_t)(arena_of(&c.image)->bytes + 1);
    image_sign(&c.image);
    snprintf(words, sizeof words, "the pointer at byte %zu of its arena",
             (size_t)((unsigned char *)&early->other - c.image.at) -
                 (size_t)arena_of(&c.image)->offset);
    check_refused(&c, words);
    late->value++; /* and another checksum */
    check_refused(&c, "a section does not have its checksum");
    chain_close(&c);
}

TEST(image_pieces, pieces_that_changed_places_are_found)
{
    chain c;
    static unsigned char kept[PIECE]; /* more than a small stack has */
    unsigned char *first, *later;
    chain_open(&c);
    first = c.image.at + arena_of(&c.image)->offset;
    later = first + 5 * PIECE;
    CHECK(memcmp(first, later, PIECE) != 0);
    memcpy(kept, first, PIECE);
    memcpy(first, later, PIECE);
    memcpy(later, kept, PIECE);
    check_refused(&c, "a section does not have its checksum");
    chain_close(&c);
}

/* The same image, with the bitmap behind the arena. */
static void put_bits_last(image_bytes *image)
{
    image_bytes moved = { NULL, 0, 0 };
    size_t count, i;
    haul__image_section *s = image_sections(image, &count), last, *list;
    uint64_t end = sizeof(haul__image_head) + count * sizeof *s;
    bytes_set(&moved, image->at, (size_t)end);
    list = image_sections(&moved, &count);
    last = s[count - 2];
    CHECK_EQ(last.kind, HAUL__SECTION_BITS);
    list[count - 2] = s[count - 1];
    list[count - 1] = last;
    for (i = 0; i < count; i++) {
        const haul__image_section from = list[i];
        list[i].offset = haul__section_begin(from.kind, from.bytes, end);
        end = list[i].offset + from.bytes;
        bytes_resize(&moved, (size_t)end);
        list = image_sections(&moved, &count);
        memcpy(moved.at + list[i].offset, image->at + from.offset, (size_t)from.bytes);
    }
    ((haul__image_head *)(void *)moved.at)->bytes = end;
    image_sign(&moved);
    bytes_free(image);
    *image = moved;
}

TEST(image_pieces, the_arena_stands_behind_all_that_tells_its_meaning)
{
    chain c;
    chain_open(&c);
    put_bits_last(&c.image);
    check_refused(&c, "stands behind the arena");
    chain_close(&c);
}
