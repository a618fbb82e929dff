#define _DEFAULT_SOURCE
#include "images/sample.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "type/type.h"
#include "support/check.h"
#include "support/types.h"

static const haul_context_options ordinary;

int sample_is_readable(void *user, const void *address, size_t bytes)
{
    (void)user;
    (void)address;
    (void)bytes;
    return 1;
}

static void sample_drop(sample *s)
{
    if (s->room)
        munmap(s->room, s->room_bytes);
    free(s->bits);
    free(s->is_owned);
}

/* The sections may have been changed. */
void sample_renew(sample *s)
{
    const size_t page = 65536;
    sample_drop(s);
    s->bytes = s->parts.part[HAUL__SECTION_ARENA].count;
    s->room_bytes = (s->bytes + page - 1) / page * page + page;
    s->room = mmap(NULL, s->room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(s->room != MAP_FAILED);
    CHECK_EQ(mprotect(s->room + s->room_bytes - page, page, PROT_NONE), 0);
    s->block = s->room + s->room_bytes - page - s->bytes;
    s->bits = calloc(1, s->parts.part[HAUL__SECTION_BITS].count);
    s->is_owned = calloc(s->bytes / WORD, 1);
    CHECK(s->bits && s->is_owned);
}

void sample_open_roots(sample *s, const haul_root *roots, size_t count,
                       const haul_context_options *options)
{
    haul_context_options asking = options ? *options : ordinary;
    image_bytes image = { NULL, 0, 0 };
    haul_file file = bytes_file(&image);
    memset(s, 0, sizeof *s);
    memcpy(s->roots, roots, count * sizeof *roots);
    s->root_count = count;
    CHECK_STATUS(haul_image_write(type_context(), haul_from_roots(roots, count), &file), HAUL_OK);
    image_split(&image, &s->parts);
    bytes_free(&image);
    CHECK_STATUS(haul_context_create(options, &s->scans), HAUL_OK);
    asking.readable = sample_is_readable;
    CHECK_STATUS(haul_context_create(&asking, &s->walks), HAUL_OK);
    sample_renew(s);
}

void sample_open(sample *s, void *object, haul_type *type, size_t count)
{
    const haul_root root = { object, type, count };
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    sample_open_roots(s, &root, 1, NULL);
}

void sample_close(sample *s)
{
    haul_context_free(&s->scans);
    haul_context_free(&s->walks);
    image_parts_free(&s->parts);
    sample_drop(s);
}

void sample_prepare(sample *s, haul_context *context, haul__filling *f, haul__claimed *claimed)
{
    const haul__image_root *given = (const void *)s->parts.part[HAUL__SECTION_ROOTS].at;
    size_t i;
    memset(f, 0, sizeof *f);
    memset(claimed, 0, sizeof *claimed);
    memset(s->block, 0xff, s->bytes); /* nothing has come */
    memcpy(s->bits, s->parts.part[HAUL__SECTION_BITS].at, s->parts.part[HAUL__SECTION_BITS].count);
    f->context = context;
    f->from = s->parts.part[HAUL__SECTION_ARENA].at;
    f->offsets.block = s->block;
    f->offsets.bytes = s->bytes;
    f->offsets.bitmap = f->offsets.kept = s->bits;
    f->offsets.bitmap_words = s->parts.part[HAUL__SECTION_BITS].count / sizeof *s->bits;
    f->offsets.words = (const void *)s->parts.part[HAUL__SECTION_WORDS].at;
    f->offsets.word_count = s->parts.part[HAUL__SECTION_WORDS].count / sizeof(haul__odd_word);
    for (i = 0; i < s->root_count; i++) {
        s->roots[i].address =
            s->block + given[i].offset - haul__type_walk(s->roots[i].type)->true_lower;
        s->roots[i].count = (size_t)given[i].count;
    }
    claimed->context = context;
    claimed->roots = s->roots;
    claimed->root_count = s->root_count;
    claimed->offsets = &f->offsets;
}

/* Does it accept the image by itself? */
int sample_scan_accepts(sample *s)
{
    haul__filling f;
    haul__claimed claimed;
    int is_right;
    sample_prepare(s, s->scans, &f, &claimed);
    return haul__image_scan(&claimed, &f, &is_right) == HAUL_OK && is_right;
}

int sample_walk_accepts(sample *s)
{
    haul__filling f;
    haul__claimed claimed;
    sample_prepare(s, s->walks, &f, &claimed);
    return haul__image_validate(&claimed, &f) == HAUL_OK;
}

int sample_has_bit(const sample *s, size_t word)
{
    return (int)bitmap_bit(&s->parts.part[HAUL__SECTION_BITS], word);
}

/* A word that no object has is 0, and leads nowhere with a bit or without. */
static void check_same_bits(const sample *s, const uint64_t *bits)
{
    size_t i;
    for (i = 0; i < s->bytes / WORD; i++)
        CHECK(!s->is_owned[i] || !((s->bits[i / 64] ^ bits[i / 64]) >> i % 64 & 1));
}

/* The walk has refused the image. Does a reader, who asks the scan first, say the same of it? */
static int is_refused_alike(sample *s)
{
    const haul_error *one = haul_context_error(s->walks), *other = haul_context_error(s->scans);
    haul__filling f;
    haul__claimed claimed;
    sample_prepare(s, s->scans, &f, &claimed);
    return haul__image_validate(&claimed, &f) == one->status &&
           strcmp(one->text, other->text) == 0 && strcmp(one->path, other->path) == 0;
}

void sample_compare(sample *s, int may_be_unsure)
{
    const size_t bytes = s->parts.part[HAUL__SECTION_BITS].count;
    uint64_t *bits;
    if (!sample_scan_accepts(s)) {
        CHECK(!sample_walk_accepts(s) ? is_refused_alike(s) : may_be_unsure);
        return;
    }
    bits = malloc(bytes);
    CHECK(bits != NULL);
    memcpy(bits, s->bits, bytes);
    CHECK(sample_walk_accepts(s));
    if (!may_be_unsure) /* or there may be fewer objects */
        check_same_bits(s, bits);
    free(bits);
}

static void list_owned(sample *s)
{
    size_t i;
    for (i = 0; i < s->bytes / WORD; i++) {
        unsigned char *at = s->parts.part[HAUL__SECTION_ARENA].at + i * WORD;
        *at ^= 1;
        s->is_owned[i] = sample_has_bit(s, i) || sample_walk_accepts(s);
        *at ^= 1;
    }
}

void sample_damage_byte(sample *s, size_t at)
{
    unsigned char *byte = s->parts.part[HAUL__SECTION_ARENA].at + at, was = *byte;
    const unsigned char others[] = { (unsigned char)(was ^ 1), (unsigned char)(was ^ 0x80), 0 };
    size_t i;
    for (i = 0; i < 3; i++) {
        check_note("byte %zu: %d becomes %d", at, (int)was, (int)others[i]);
        *byte = others[i];
        /* in granules of 8 bytes the rest of one object lies close to the next */
        sample_compare(s, sample_has_bit(s, at / WORD) || WORD < sizeof(uint64_t));
    }
    *byte = was;
}

static void damage_word(sample *s, size_t word)
{
    image_bytes *bits = &s->parts.part[HAUL__SECTION_BITS];
    unsigned char *at = s->parts.part[HAUL__SECTION_ARENA].at + word * WORD;
    uintptr_t was, other;
    memcpy(&was, at, WORD);
    if (sample_has_bit(s, word))
        for (other = 0; other <= s->bytes; other += WORD) {
            check_note("the pointer at byte %zu: %zu becomes %zu", word * WORD, (size_t)was,
                       (size_t)other);
            memcpy(at, &other, WORD);
            sample_compare(s, 1);
        }
    memcpy(at, &was, WORD);
    check_note("the bit of byte %zu", word * WORD);
    bitmap_put(bits, word, !sample_has_bit(s, word));
    sample_compare(s, 0);
    bitmap_put(bits, word, !sample_has_bit(s, word));
}

void sample_damage_all(sample *s)
{
    haul__image_root *root = (void *)s->parts.part[HAUL__SECTION_ROOTS].at;
    const haul__image_root was = *root;
    size_t i;
    CHECK(sample_scan_accepts(s));
    list_owned(s);
    sample_compare(s, 0);
    for (i = 0; i < s->bytes; i++)
        sample_damage_byte(s, i);
    for (i = 0; i < s->bytes / WORD; i++)
        damage_word(s, i);
    for (i = 1; i * WORD < s->bytes; i++) {
        root->offset = i * WORD;
        check_note("the root lies at %zu", i * WORD);
        sample_compare(s, 1);
    }
    root->offset = was.offset;
    for (i = 1; i < 20; i++) {
        root->count = i;
        check_note("%zu roots", i);
        sample_compare(s, 1);
    }
    *root = was;
    check_note(NULL);
}

void sample_damage_once(sample *s, random_source *random)
{
    const size_t word = 2 + random_below(random, s->bytes / WORD - 2);
    unsigned char *arena = s->parts.part[HAUL__SECTION_ARENA].at, *at = arena + word * WORD;
    const size_t other = random_below(random, s->bytes / WORD);
    uintptr_t value = (uintptr_t)other * WORD;
    if (random_below(random, 8) == 0)
        bitmap_put(&s->parts.part[HAUL__SECTION_BITS], word, (unsigned)random_below(random, 2));
    else if (!sample_has_bit(s, word))
        at[random_below(random, WORD)] = (unsigned char)random_below(random, 5);
    else if (random_below(random, 2) && sample_has_bit(s, other))
        memcpy(at, arena + other * WORD, WORD);
    else {
        if (random_below(random, 4) == 0) { /* another tag */
            memcpy(&value, at, WORD);
            value ^= random_below(random, 2 * WORD);
        }
        memcpy(at, &value, WORD);
    }
}

void sample_damage_at_random(sample *s, size_t rounds)
{
    image_bytes *arena = &s->parts.part[HAUL__SECTION_ARENA];
    image_bytes *bits = &s->parts.part[HAUL__SECTION_BITS], was = { NULL, 0, 0 }, bits_were = was;
    random_source random = random_start("damages of an image");
    size_t i, k;
    bytes_set(&was, arena->at, arena->count);
    bytes_set(&bits_were, bits->at, bits->count);
    for (i = 0; i < rounds; i++) {
        check_note("round %zu", i);
        for (k = 1 + random_below(&random, 5); k > 0; k--)
            sample_damage_once(s, &random);
        sample_compare(s, 1);
        bytes_set(arena, was.at, was.count);
        bytes_set(bits, bits_were.at, bits_were.count);
    }
    check_note(NULL);
    bytes_free(&was);
    bytes_free(&bits_were);
}

void sample_is_accepted(sample *s)
{
    CHECK(sample_scan_accepts(s));
}

void sample_is_left_to_walk(sample *s)
{
    CHECK(!sample_scan_accepts(s));
    CHECK(sample_walk_accepts(s));
}

void sample_is_refused(sample *s)
{
    CHECK(!sample_scan_accepts(s));
    CHECK(!sample_walk_accepts(s));
}

/* An image of the roots, and of an array of objects. */
void sample_check_roots(const haul_root *roots, size_t count, void (*check)(sample *))
{
    sample s;
    sample_open_roots(&s, roots, count, NULL);
    check(&s);
    sample_close(&s);
}

void sample_check_objects(void *objects, haul_type *type, size_t count, void (*check)(sample *))
{
    const haul_root root = { objects, type, count };
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    sample_check_roots(&root, 1, check);
}
