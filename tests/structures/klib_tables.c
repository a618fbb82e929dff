/* khash of klib: keys and values in arrays beside each other, with two bits a place. The keys of
 * places that are not in use are whatever was there.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { BUCKETS = 8192 };

typedef struct kh_str {
    uint32_t n_buckets, size, n_occupied, upper_bound, *flags;
    char **keys;
    int64_t *vals;
} kh_str;

static int kh_is_either(const uint32_t *flags, size_t i)
{
    return (int)(flags[i >> 4] >> ((i & 0xfU) << 1) & 3);
}

HAUL_FUNCTION(flag_words, kh_str, self->n_buckets < 16 ? 1 : self->n_buckets >> 4)
HAUL_FUNCTION(key_bytes, kh_str,
              kh_is_either(self->flags, here->index)
                  ? 0
                  : (int64_t)strlen((const char *)here->target) + 1)
HAUL_FUNCTION(few_flags, kh_str, self->n_buckets >> 6)
HAUL_FUNCTION(one_byte, kh_str, 1)

static haul_type *khash_open(haul_function *count, haul_function *bytes)
{
    const haul_field fields[] = { HAUL_ARRAY(kh_str, flags, HAUL_COUNT_FN(count)),
                                  HAUL_ARRAYS(kh_str, keys, HAUL_COUNT(kh_str, n_buckets),
                                              HAUL_COUNT_FN(bytes)),
                                  HAUL_ARRAY(kh_str, vals, HAUL_COUNT(kh_str, n_buckets)) };
    haul_field wide[3];
    haul_type *type;
    memcpy(wide, fields, sizeof wide);
    wide[1].element_bytes = sizeof(char);
    type = OPEN(kh_str, wide);
    type_close(type);
    return type;
}

static kh_str *khash_make(uint64_t *seen)
{
    kh_str *h = PUT(kh_str);
    char text[32];
    size_t i;
    h->n_buckets = BUCKETS;
    h->flags = PUT_ARRAY(uint32_t, BUCKETS >> 4);
    h->keys = PUT_ARRAY(char *, BUCKETS);
    h->vals = PUT_ARRAY(int64_t, BUCKETS);
    for (i = 0; i < BUCKETS; i++) {
        /* 2: empty, 1: deleted, else in use */
        unsigned state = (unsigned)random_below(&the.random, 4);
        state = state == 3 ? 0 : state;
        h->flags[i >> 4] |= state << ((i & 0xfU) << 1);
        h->vals[i] = (int64_t)random_below(&the.random, 1 << 30);
        if (state) {
            /* freed long ago */
            h->keys[i] = state == 1 ? (char *)the.w.memory + the.w.bytes + i : NULL;
            continue;
        }
        snprintf(text, sizeof text, "key %u", (unsigned)i);
        h->keys[i] = put_text(text);
        h->size++;
        see_text(seen, text);
        see(seen, (uint64_t)h->vals[i]);
    }
    return h;
}

static void khash_walk(void *argument)
{
    visit *v = argument;
    kh_str *h = v->root;
    size_t i;
    for (i = 0; i < h->n_buckets; i++)
        if (!kh_is_either(h->flags, i)) {
            see_text(&v->seen, h->keys[i]);
            see(&v->seen, (uint64_t)h->vals[i]);
            h->keys[i][0] = 'K';
            h->vals[i]++;
        }
}

TEST(structures_klib, two_bits_a_place_say_which_keys_of_a_hash_table_are_there)
{
    journey j = { .walk = khash_walk };
    haul_type *type;
    site_start(201);
    type = khash_open(flag_words, key_bytes);
    j.root = khash_make(&j.seen);
    j.type = type;
    travel(&j);
    haul_type_free(&type);
    site_end();
}

TEST(structures_klib, flags_that_are_not_looked_at_and_flags_of_which_most_are_forgotten_are_told)
{
    uint64_t seen = 0;
    haul_type *type;
    kh_str *h;
    site_start(201);
    h = khash_make(&seen);
    type = khash_open(flag_words, one_byte);
    refuse_graph(h, type, HAUL_ERROR_GRAPH, "root.keys[3]", "",
                 "the range it leads to is not readable");
    haul_type_free(&type);
    type = khash_open(few_flags, key_bytes);
    audit_tells(h, type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.flags[0]",
                "only the first 512 bytes of its block of 2048");
    haul_type_free(&type);
    site_end();
}
