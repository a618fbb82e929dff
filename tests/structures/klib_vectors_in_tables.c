/* khash and kvec of klib. Two bits a bucket say that it is empty or deleted; what stands there is
 * left from before, also the vectors that are its values.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { BUCKETS = 128, WORDS = 90 };

typedef struct kvec {
    size_t n, m;
    void *a;
} kvec;

typedef struct kh_index {
    uint32_t n_buckets, size, n_occupied, upper_bound;
    uint32_t *flags;
    char **keys;
    kvec *vals; /* of int */
} kh_index;

typedef struct book {
    kvec words; /* of strings */
    kh_index *places;
} book;

static haul_type *kvec_element, *kvec_type, *words_type, *value_type, *index_type, *book_type,
    *int_type, *word_type;

static int bucket_is_used(const kh_index *h, size_t i)
{
    return (h->flags[i >> 4] >> ((i & 15) << 1) & 3) == 0;
}

/* A value is a vector in its bucket. */
static int64_t value_is_used(const haul_here *here)
{
    const kh_index *h = here->ancestor;
    return bucket_is_used(h, (size_t)((const kvec *)here->self - h->vals));
}

HAUL_FUNCTION(key_is_used, kh_index, (bucket_is_used(self, here->index)) != 0)
HAUL_FUNCTION(flag_words, kh_index, self->n_buckets < 16 ? 1 : self->n_buckets >> 4)
HAUL_FUNCTION(value_room, kvec, self->m)

static void book_open(void)
{
    static const haul_field used = { .when = HAUL_WHEN_FN(key_is_used) };
    static const haul_field kvec_fields[] = { HAUL_ADDRESS(kvec, a, .target = &kvec_element,
                                                           .count = HAUL_COUNT(kvec, m)) };
    static const haul_field value_fields[] = { HAUL_ADDRESS(
        kvec, a, .target = &int_type, .count = HAUL_COUNT_FN(value_room),
        .when = HAUL_WHEN_FN(value_is_used), .ancestor = HAUL_PARENT) };
    static const haul_field index_fields[] = {
        HAUL_ARRAY(kh_index, flags, HAUL_COUNT_FN(flag_words)),
        HAUL_ARRAYS(kh_index, keys, HAUL_COUNT(kh_index, n_buckets), HAUL_TERMINATED,
                    .each_pointer = &used),
        HAUL_OBJECTS(kh_index, vals, &value_type, HAUL_COUNT(kh_index, n_buckets)),
    };
    static const haul_field book_fields[] = { HAUL_EMBED(book, words, &words_type),
                                              HAUL_OBJECT(book, places, &index_type) };
    CHECK_STATUS(haul_type_parameter(type_context(), "T", &kvec_element), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "int", sizeof(int), &int_type), HAUL_OK);
    CHECK_STATUS(
        haul_type_pointer(type_context(), "word", NULL, 1, (haul_count)HAUL_TERMINATED, &word_type),
        HAUL_OK);
    kvec_type = OPEN(kvec, kvec_fields);
    CHECK_STATUS(haul_type_instance(kvec_type, 1, &kvec_element, &word_type, &words_type), HAUL_OK);
    value_type = type_open("value", sizeof(kvec), value_fields, 1);
    index_type = OPEN(kh_index, index_fields);
    book_type = OPEN(book, book_fields);
    type_close(book_type);
}

static book *book_make(void)
{
    book *b = put_elements(1, sizeof *b);
    kh_index *h = b->places = put_elements(1, sizeof *h);
    char **words = b->words.a = put_elements(WORDS, sizeof *words);
    int i;
    h->n_buckets = BUCKETS;
    h->flags = put_elements(BUCKETS / 16, sizeof *h->flags);
    memset(h->flags, 0xAA, BUCKETS / 16 * sizeof *h->flags);
    h->keys = put_room(BUCKETS * sizeof *h->keys);
    h->vals = put_room(BUCKETS * sizeof *h->vals);
    b->words.n = b->words.m = WORDS;
    for (i = 0; i < WORDS; i++) {
        size_t at = (size_t)i * 37 % BUCKETS;
        char word[20];
        kvec *v = &h->vals[at];
        snprintf(word, sizeof word, "word %d", i);
        words[i] = h->keys[at] = put_text(word); /* shared */
        v->n = (size_t)chance(1, 3);
        v->m = 4;
        v->a = put_elements(4, sizeof(int));
        ((int *)v->a)[v->n - 1] = i;
        h->flags[at >> 4] &= i % 9 ? ~(3u << ((at & 15) << 1)) : ~(2u << ((at & 15) << 1));
        if (i % 9 == 0) /* deleted */
            h->flags[at >> 4] |= 1u << ((at & 15) << 1), memset(v, 0x11, sizeof *v);
        else
            the.told += i + (int64_t)strlen(word);
        h->size += i % 9 != 0;
    }
    return b;
}

static int64_t book_walk(void *root, size_t count)
{
    book *b = root;
    kh_index *h = b->places;
    char **words = b->words.a;
    int64_t sum = 0;
    size_t i;
    (void)count;
    for (i = 0; i < h->n_buckets; i++)
        if (bucket_is_used(h, i)) {
            kvec *v = &h->vals[i];
            int last = ((int *)v->a)[v->n - 1];
            sum += words[last] == h->keys[i] ? last + (int64_t)strlen(h->keys[i]) : -1000000;
            ((int *)v->a)[v->n++] = 5;
        }
    return sum;
}

TEST(structures_klib, klib_vectors_that_are_the_values_of_a_hash_table_in_the_buckets_that_are_used)
{
    site_start(133);
    book_open();
    travel_and_sum(book_make(), book_type, 1, book_walk);
    SITE_END(&book_type, &index_type, &value_type, &words_type, &kvec_type, &int_type, &word_type,
             &kvec_element);
}
