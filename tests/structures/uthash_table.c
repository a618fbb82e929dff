/* uthash. The handle lies in the user's struct, at an offset that the table holds; next
 * and prev lead to elements, hh_next, hh_prev and the buckets to handles.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { BUCKETS = 256, USERS = 1500 };

typedef struct UT_hash_table UT_hash_table;

typedef struct UT_hash_handle {
    UT_hash_table *tbl;
    void *prev, *next;
    struct UT_hash_handle *hh_prev, *hh_next;
    const void *key;
    uint32_t keylen, hashv;
} UT_hash_handle;

typedef struct UT_hash_bucket {
    UT_hash_handle *hh_head;
    uint32_t count, expand_mult;
} UT_hash_bucket;

struct UT_hash_table {
    UT_hash_bucket *buckets;
    uint32_t num_buckets, log2_num_buckets, num_items;
    UT_hash_handle *tail;
    ptrdiff_t hho;
};

typedef struct user {
    int64_t logins;
    char name[24];
    UT_hash_handle hh;
} user;

static haul_type *handle_type, *bucket_type, *hash_type, *user_type;

HAUL_FUNCTION(hook_of_handle, UT_hash_handle, -self->tbl->hho)
HAUL_FUNCTION(hook_of_table, UT_hash_table, -self->hho)
HAUL_FUNCTION(no_hook, UT_hash_table, 0)

static void hash_open(haul_function *hook)
{
    static const haul_field handle_fields[] = {
        HAUL_OBJECT(UT_hash_handle, tbl, &hash_type),
        HAUL_ADDRESS(UT_hash_handle, prev, .target = &user_type),
        HAUL_ADDRESS(UT_hash_handle, next, .target = &user_type),
        HAUL_ADDRESS(UT_hash_handle, hh_prev, .target = &user_type, .base_fn = hook_of_handle),
        HAUL_ADDRESS(UT_hash_handle, hh_next, .target = &user_type, .base_fn = hook_of_handle),
        HAUL_BYTES(UT_hash_handle, key, HAUL_COUNT(UT_hash_handle, keylen)),
    };
    static const haul_field bucket_fields[] = { HAUL_ADDRESS(UT_hash_bucket, hh_head,
                                                             .ownership = HAUL_BORROWED) };
    const haul_field hash_fields[] = {
        HAUL_OBJECTS(UT_hash_table, buckets, &bucket_type, HAUL_COUNT(UT_hash_table, num_buckets)),
        HAUL_ADDRESS(UT_hash_table, tail, .target = &user_type, .base_fn = hook),
    };
    static const haul_field user_fields[] = { HAUL_EMBED(user, hh, &handle_type) };
    handle_type = OPEN(UT_hash_handle, handle_fields);
    bucket_type = OPEN(UT_hash_bucket, bucket_fields);
    hash_type = OPEN(UT_hash_table, hash_fields);
    user_type = OPEN(user, user_fields);
    type_close(user_type);
}

static void hash_close(void)
{
    haul_type_free(&handle_type);
    haul_type_free(&bucket_type);
    haul_type_free(&hash_type);
    haul_type_free(&user_type);
    site_end();
}

static uint32_t hash_of(const char *key, size_t bytes)
{
    uint32_t hash = 2166136261u;
    size_t i;
    for (i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    return hash;
}

static user *hash_add(UT_hash_table *t, user *last, int number)
{
    user *u = put_elements(1, sizeof *u);
    UT_hash_bucket *b;
    u->logins = chance(1, 99);
    u->hh.keylen = (uint32_t)snprintf(u->name, sizeof u->name, "user-%d", number);
    u->hh.key = u->name;
    u->hh.hashv = hash_of(u->name, u->hh.keylen) & 0xFFFFF;
    u->hh.tbl = t;
    u->hh.prev = last;
    if (last)
        last->hh.next = u;
    t->tail = &u->hh;
    t->num_items++;
    b = &t->buckets[u->hh.hashv & (BUCKETS - 1)];
    u->hh.hh_next = b->hh_head;
    if (b->hh_head)
        b->hh_head->hh_prev = &u->hh;
    b->hh_head = &u->hh;
    b->count++;
    the.told += u->logins * (number + 1);
    return u;
}

static user *users_make(int count)
{
    UT_hash_table *t = put_elements(1, sizeof *t);
    user *first = NULL, *last = NULL;
    int i;
    t->buckets = put_elements(BUCKETS, sizeof *t->buckets);
    t->num_buckets = BUCKETS;
    t->log2_num_buckets = 8;
    t->hho = offsetof(user, hh);
    for (i = 0; i < count; i++) {
        last = hash_add(t, last, i);
        first = first ? first : last;
    }
    return first;
}

static user *hash_find(const UT_hash_table *t, const char *key)
{
    size_t bytes = strlen(key);
    UT_hash_handle *h = t->buckets[hash_of(key, bytes) & (t->num_buckets - 1)].hh_head;
    for (; h; h = h->hh_next)
        if (h->keylen == bytes && memcmp(h->key, key, bytes) == 0)
            return (user *)(void *)((char *)h - t->hho);
    return NULL;
}

/* Finds all users by their names, and goes through them in their order. */
static int64_t users_walk(void *root, size_t count)
{
    user *first = root, *u;
    UT_hash_table *t = first->hh.tbl;
    int64_t sum = 0;
    uint32_t i;
    char name[24];
    (void)count;
    for (i = 0, u = first; u; u = u->hh.next, i++) {
        snprintf(name, sizeof name, "user-%u", (unsigned)i);
        if (hash_find(t, name) != u || (const void *)u->name != u->hh.key)
            return -1;
        if (u->hh.hh_next && u->hh.hh_next->hh_prev != &u->hh)
            return -1;
        sum += u->logins++ * (i + 1);
    }
    return i == t->num_items && t->tail->next == NULL ? sum : -1;
}

TEST(structures_uthash, a_hash_of_handles_whose_place_in_the_element_is_data)
{
    site_start(55);
    hash_open(hook_of_table);
    travel_and_sum(users_make(USERS), user_type, 1, users_walk);
    hash_close();
}

TEST(structures_uthash, a_handle_taken_for_its_element_is_refused_with_both_paths)
{
    site_start(56);
    hash_open(no_hook);
    refuse_ship(users_make(1), user_type, 1, HAUL_ERROR_GRAPH, "root.hh.tbl.tail",
                "one address is reached as a user and as a UT_hash_handle");
    CHECK_STR(the.refused.other_path, "root");
    hash_close();
}
