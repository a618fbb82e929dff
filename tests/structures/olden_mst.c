/* Olden's mst. Each vertex keeps the distances to its neighbours in a table of chains, whose keys
 * are the neighbours' addresses, as integers. To put it in order moves entries from chain to chain:
 * pointers change, and contents stay.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"
#include "haul/experimental.h"

enum { VERTICES = 400, NEIGHBOURS = 60, BUCKETS = 15 };

typedef struct HashEntry {
    uintptr_t key;
    void *entry; /* a distance */
    struct HashEntry *next;
} HashEntry;

typedef struct Hash {
    HashEntry **array;
    size_t (*mapfunc)(uintptr_t key);
    int size;
} Hash;

typedef struct Vertex {
    int mindist, number;
    struct Vertex *next;
    Hash edgehash;
} Vertex;

static haul_type *HashEntry_type, *Hash_type, *Vertex_type;

/* `key`: its row; NULL: none. */
static void mst_open(const haul_field *key, haul_rebuild_function *function)
{
    static const haul_field entry_fields[] = { HAUL_RAW(HashEntry, entry),
                                               HAUL_OBJECT(HashEntry, next, &HashEntry_type) };
    static const haul_field hash_fields[] = {
        HAUL_POINTERS(Hash, array, &HashEntry_type, HAUL_COUNT(Hash, size)),
        HAUL_ADDRESS(Hash, mapfunc, .ownership = HAUL_EXTERNAL)
    };
    static const haul_field vertex_fields[] = { HAUL_OBJECT(Vertex, next, &Vertex_type),
                                                HAUL_EMBED(Vertex, edgehash, &Hash_type) };
    HashEntry_type = OPEN(HashEntry, entry_fields);
    if (key)
        CHECK_STATUS(haul_type_add(HashEntry_type, key, 1), HAUL_OK);
    Hash_type = OPEN(Hash, hash_fields);
    CHECK_STATUS(haul_type_set_rebuild(Hash_type, function, NULL), HAUL_OK);
    Vertex_type = OPEN(Vertex, vertex_fields);
    type_close(Vertex_type);
}

static void mst_close(void)
{
    haul_type_free(&Vertex_type);
    haul_type_free(&Hash_type);
    haul_type_free(&HashEntry_type);
}

static size_t map_address(uintptr_t key)
{
    return (key >> 4) % BUCKETS;
}

static void insert(Hash *h, HashEntry *e)
{
    HashEntry **bucket = &h->array[h->mapfunc(e->key)];
    e->next = *bucket;
    *bucket = e;
}

/* NULL: not there, or not where its key says. */
static HashEntry *look_up(const Hash *h, const Vertex *v)
{
    HashEntry *e = h->array[h->mapfunc((uintptr_t)v)];
    while (e && e->key != (uintptr_t)v)
        e = e->next;
    return e;
}

/* Every entry to the bucket of its key. */
static void hash_order(Hash *h)
{
    HashEntry *all = NULL, *e;
    int i;
    for (i = 0; i < h->size; i++)
        while ((e = h->array[i]) != NULL) {
            h->array[i] = e->next;
            e->next = all;
            all = e;
        }
    while ((e = all) != NULL) {
        all = e->next;
        insert(h, e);
    }
}

static void mst_order_there(void *argument)
{
    const haul_rebuild *what = argument;
    const haul_address *all = (const haul_address *)(uintptr_t)what->list;
    size_t i;
    for (i = 0; i < what->count; i++)
        hash_order((Hash *)(uintptr_t)all[i]);
}

static haul_status mst_rebuild(const haul_rebuild *what)
{
    haul_rebuild copy = *what;
    return haul_host_launch(what->device, mst_order_there, &copy);
}

static unsigned distance(unsigned from, unsigned to)
{
    return (from * 31 + to * 17) % 2048;
}

/* The neighbours of a vertex are those that follow it in a ring. Vertices lie in blocks of
 * irregular distance. */
static Vertex *mst_make(uint64_t *seen)
{
    static Vertex *all[VERTICES];
    unsigned i, k;
    for (i = VERTICES; i-- > 0;) {
        put(random_between(&the.random, 1, 200), 1);
        all[i] = PUT(Vertex);
        all[i]->number = (int)i;
        all[i]->next = i + 1 < VERTICES ? all[i + 1] : NULL;
        all[i]->edgehash.array = PUT_ARRAY(HashEntry *, BUCKETS);
        all[i]->edgehash.mapfunc = map_address;
        all[i]->edgehash.size = BUCKETS;
    }
    for (i = 0; i < VERTICES; i++)
        for (k = 1; k <= NEIGHBOURS; k++) {
            unsigned to = (i + k) % VERTICES;
            HashEntry *e = PUT(HashEntry);
            e->key = (uintptr_t)all[to];
            e->entry = (void *)(uintptr_t)distance(i, to);
            insert(&all[i]->edgehash, e);
            see(seen, distance(i, to));
        }
    return all[0];
}

/* From each vertex to those that follow it, by looking for their addresses. */
static void mst_walk(void *argument)
{
    visit *v = argument;
    Vertex *first = v->root, *from, *to;
    int k;
    for (from = first; from; from = from->next)
        for (to = from, k = 0; k < NEIGHBOURS; k++) {
            HashEntry *e;
            to = to->next ? to->next : first;
            e = look_up(&from->edgehash, to);
            see(&v->seen, e ? (uintptr_t)e->entry : 1 << 20);
            if (!e)
                continue;
            e->entry = (void *)((uintptr_t)e->entry + 4096);
            to->mindist += (int)((uintptr_t)e->entry % 7);
        }
}

TEST(structures_olden,
     tables_of_addresses_are_put_in_order_there_and_their_contents_come_back_to_those_here)
{
    const haul_field key = HAUL_ADDRESS(HashEntry, key, .target = &Vertex_type);
    journey j = { .walk = mst_walk };
    site_start(27);
    mst_open(&key, mst_rebuild);
    j.root = mst_make(&j.seen);
    j.type = Vertex_type;
    travel(&j);
    mst_close();
    site_end();
}

TEST(structures_olden, a_key_that_is_left_as_a_number_is_told_by_an_audit_as_the_address_that_it_is)
{
    uint64_t seen = 0;
    site_start(27);
    mst_open(NULL, mst_rebuild);
    audit_tells(mst_make(&seen), Vertex_type, 1, HAUL_AUDIT_HIDDEN_POINTER,
                "root.edgehash.array[0]",
                "no field describes this pointer (offset 0 of HashEntry, ");
    mst_close();
    site_end();
}

TEST(structures_olden, tables_that_nothing_puts_in_order_are_refused)
{
    const haul_field key = HAUL_ADDRESS(HashEntry, key, .target = &Vertex_type);
    uint64_t seen = 0;
    site_start(27);
    mst_open(&key, NULL);
    refuse_graph(
        mst_make(&seen), Vertex_type, HAUL_ERROR_UNSUPPORTED, "root.edgehash", "",
        "the contents of type Hash depend on addresses, and it has no function that rebuilds them");
    mst_close();
    site_end();
}
