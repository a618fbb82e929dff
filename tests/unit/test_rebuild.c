/* Structures whose contents depend on addresses: rebuilt on the device whenever contents have been
 * sent, and never written back.
 *
 * The structure is a hash table with open addressing whose keys are pointers: after relocation
 * every key is right and stands at the wrong place. Kernels look items up while the host's memory
 * is inaccessible.
 *
 * Faults by number (docs/testing.md): C3, D1, D4, D5, D6, D13, H1, H2 of calls on such a graph.
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/inside.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

typedef struct item {
    int64_t value, seen;
} item;

typedef struct entry {
    item *key; /* NULL: free */
    int64_t tag;
} entry;

typedef struct table {
    int32_t capacity, count;
    entry *entries;
    int64_t rebuilt;
} table;

typedef struct store {
    int64_t id;
    table first;   /* embedded */
    table *others; /* an array, */
    int64_t other_count;
    item **items;
    int64_t item_count;
    struct store *next;
} store;

static haul_type *item_type, *entry_type, *table_type, *store_type;

static size_t place_of(const item *key, int32_t capacity)
{
    return (size_t)(((uintptr_t)key >> 3) * (size_t)2654435761u >> 3) % (size_t)capacity;
}

static void put(entry *entries, int32_t capacity, entry what)
{
    size_t at = place_of(what.key, capacity);
    while (entries[at].key)
        at = (at + 1) % (size_t)capacity;
    entries[at] = what;
}

static const entry *look_up(const table *t, const item *key)
{
    size_t at = place_of(key, t->capacity), tries;
    for (tries = 0; tries < (size_t)t->capacity; tries++) {
        const entry *here = &t->entries[(at + tries) % (size_t)t->capacity];
        if (here->key == key)
            return here;
        if (!here->key)
            return NULL;
    }
    return NULL;
}

/* ---- Rebuilding: a kernel over the list in the device's memory. A copy that has failed may have
 * left anything in it, and is told of later: what does not lie in the arena is left alone. */

enum { CAPACITY = 64, CALLS = 64 };

typedef struct calls {
    int count;
    haul_status answer; /* of the next ones */
    void *stream;
    haul_rebuild what[CALLS];
    haul_address objects[CALLS][16];
    haul_status inner; /* what a call back into the library answered */
} calls;

static calls the_calls;

static int is_in(const haul_rebuild *what, uintptr_t address, size_t bytes)
{
    return address >= what->arena && address - what->arena <= what->arena_bytes &&
           bytes <= what->arena_bytes - (size_t)(address - what->arena);
}

static void rehash(void *argument)
{
    const haul_rebuild *what = argument;
    const haul_address *list = (const haul_address *)(uintptr_t)what->list;
    size_t i, k;
    for (i = 0; i < what->count; i++) {
        table *t = (table *)(uintptr_t)list[i];
        entry old[CAPACITY];
        if (!is_in(what, (uintptr_t)t, sizeof *t) || t->capacity < 0 || t->capacity > CAPACITY ||
            !is_in(what, (uintptr_t)t->entries, (size_t)t->capacity * sizeof(entry)))
            continue;
        for (k = 0; k < (size_t)t->capacity; k++)
            old[k] = t->entries[k];
        memset(t->entries, 0, (size_t)t->capacity * sizeof(entry));
        for (k = 0; k < (size_t)t->capacity; k++)
            if (old[k].key)
                put(t->entries, t->capacity, old[k]);
        t->rebuilt++;
    }
}

static void note_call(const haul_rebuild *what)
{
    calls *c = &the_calls;
    int at = c->count++ % CALLS;
    c->what[at] = *what;
    memcpy(c->objects[at], what->objects,
           (what->count < 16 ? what->count : 16) * sizeof(haul_address));
}

static haul_status rebuild(const haul_rebuild *what)
{
    haul_rebuild copy = *what;
    note_call(what);
    CHECK_PTR(what->user, &the_calls);
    the_calls.inner = haul_context_trim(haul_device_context(what->device));
    if (the_calls.answer != HAUL_OK)
        return the_calls.answer;
    return haul_host_launch(what->device, rehash, &copy);
}

/* ---- Stores. */

static void types_open(haul_rebuild_function *function)
{
    static const haul_field entry_fields[] = { HAUL_OBJECT(entry, key, &item_type) };
    static const haul_field table_fields[] = { HAUL_OBJECTS(
        table, entries, &entry_type, HAUL_COUNT(table, capacity), .transfer = HAUL_COPYIN) };
    static const haul_field store_fields[] = {
        HAUL_EMBED(store, first, &table_type),
        HAUL_OBJECTS(store, others, &table_type, HAUL_COUNT(store, other_count)),
        HAUL_POINTERS(store, items, &item_type, HAUL_COUNT(store, item_count)),
        HAUL_OBJECT(store, next, &store_type),
    };
    memset(&the_calls, 0, sizeof the_calls);
    CHECK_STATUS(type_make("item", sizeof(item), NULL, 0, &item_type), HAUL_OK);
    CHECK_STATUS(type_make("entry", sizeof(entry), entry_fields, 1, &entry_type), HAUL_OK);
    CHECK_STATUS(type_make("table", sizeof(table), table_fields, 1, &table_type), HAUL_OK);
    CHECK_STATUS(haul_type_set_rebuild(table_type, function, &the_calls), HAUL_OK);
    CHECK_STATUS(type_make("store", sizeof(store), store_fields, 4, &store_type), HAUL_OK);
    check_note("%s", haul_type_commit(store_type) == HAUL_OK ? "" : type_error()->text);
    CHECK(haul_type_committed(store_type));
    check_note(NULL);
}

static void types_close(void)
{
    haul_type_free(&store_type);
    haul_type_free(&table_type);
    haul_type_free(&entry_type);
    haul_type_free(&item_type);
}

/* From a world whose ranges nobody asks for. */
static void *take(world *w, size_t bytes, size_t alignment)
{
    w->count = 0;
    return world_take(w, bytes, alignment);
}

static void table_fill(world *w, table *t, int32_t capacity, item *const *items, int32_t count)
{
    int32_t i;
    memset(t, 0, sizeof *t);
    t->capacity = capacity;
    t->count = count;
    t->entries = take(w, (size_t)capacity * sizeof *t->entries, 16);
    memset(t->entries, 0, (size_t)capacity * sizeof *t->entries);
    for (i = 0; i < count; i++) {
        entry one;
        one.key = items[i];
        one.tag = items[i]->value;
        put(t->entries, capacity, one);
    }
}

static store *store_make(world *w, int64_t id)
{
    store *s = take(w, sizeof *s, 16);
    int64_t i;
    memset(s, 0, sizeof *s);
    s->id = id;
    s->item_count = 24;
    s->items = take(w, (size_t)s->item_count * sizeof *s->items, 8);
    for (i = 0; i < s->item_count; i++) {
        s->items[i] = take(w, sizeof(item), 8);
        s->items[i]->value = 10 * id + i;
        s->items[i]->seen = 0;
        take(w, 8 * (size_t)(i % 5), 8);
    }
    s->other_count = 3;
    s->others = take(w, 3 * sizeof *s->others, 16);
    table_fill(w, &s->first, 37, s->items, 24);
    for (i = 0; i < 3; i++)
        table_fill(w, &s->others[i], 17 + (int32_t)i, s->items + i, 12);
    return s;
}

static store *stores_make(world *w, int count)
{
    store *first = NULL;
    int i;
    for (i = 0; i < count; i++) {
        store *s = store_make(w, i + 1);
        s->next = first;
        first = s;
    }
    return first;
}

/* Every item is found in the tables that have it; also a kernel, which then leaves a mark on the
 * item. */
static int store_is_good(const store *s)
{
    int64_t i, k;
    int good = 1;
    for (i = 0; i < 24; i++) {
        const entry *found = look_up(&s->first, s->items[i]);
        good &= found && found->tag == s->items[i]->value;
        for (k = 0; k < 3; k++) {
            found = look_up(&s->others[k], s->items[i]);
            good &= (i >= k && i < k + 12) ? found && found->tag == s->items[i]->value : !found;
        }
    }
    return good;
}

typedef struct visitor {
    store *first;
    int good;
    int64_t rebuilt; /* of each table */
} visitor;

static void visit_stores(void *argument)
{
    visitor *v = argument;
    store *s;
    int64_t i;
    v->good = 1;
    for (s = v->first; s; s = s->next) {
        v->good &= store_is_good(s) && s->first.rebuilt == v->rebuilt;
        for (i = 0; i < s->other_count; i++)
            v->good &= s->others[i].rebuilt == v->rebuilt;
        for (i = 0; i < s->item_count; i++)
            s->items[i]->seen++;
    }
}

/* Each table has been rebuilt so often since its contents were sent. */
static void check_stores(haul_device *device, const haul_shipment *shipment, world *w, store *first)
{
    visitor v;
    v.first = haul_device_pointer(shipment, first);
    v.rebuilt = 1;
    world_protect(w, PROT_NONE);
    CHECK_STATUS(haul_host_launch(device, visit_stores, &v), HAUL_OK);
    world_protect(w, PROT_READ | PROT_WRITE);
    CHECK(v.good);
}

static void there_and_back(int count, size_t chunk, int patched_here, int async)
{
    static const haul_async own = { NULL, NULL };
    fault_plan plan;
    world w;
    store *first, *s;
    haul_device *device;
    haul_shipment *shipment;
    int64_t i;
    memset(&plan, 0, sizeof plan);
    plan.chunk_bytes = chunk;
    world_start(&w, (size_t)count * 8192);
    types_open(rebuild);
    first = stores_make(&w, count);
    CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
    host_patches(device, patched_here);
    CHECK_STATUS(
        async ? haul_ship_from(device, haul_from_object(first, store_type), NULL, &own, &shipment)
              : haul_ship(device, first, store_type, 1, NULL, &shipment),
        HAUL_OK);
    CHECK_EQ(the_calls.count, 1);
    CHECK_EQ(the_calls.what[0].count, 4 * count);
    CHECK_STATUS(the_calls.inner, HAUL_ERROR_BUSY);
    check_stores(device, shipment, &w, first);
    CHECK_STATUS(async ? haul_update_device(shipment, NULL, &own)
                       : haul_update_device(shipment, NULL, NULL),
                 HAUL_OK);
    CHECK_EQ(the_calls.count, 2);
    check_stores(device, shipment, &w, first);
    CHECK_STATUS(async ? haul_update_host(shipment, NULL, &own) : haul_unmarshal(shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_wait(shipment), HAUL_OK);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    for (s = first; s; s = s->next) {
        CHECK(store_is_good(s));
        CHECK_EQ(s->first.rebuilt, 0);
        for (i = 0; i < s->item_count; i++)
            CHECK_EQ(s->items[i]->seen, 1);
    }
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
    CHECK_EQ(the_calls.count, 3);
    check_stores(device, shipment, &w, first);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    types_close();
    fault_check_clean(&plan);
    world_end(&w);
}

TEST(rebuild, a_hash_of_pointers_is_right_on_the_device_and_stays_right_here)
{
    there_and_back(1, 0, 0, 0);
    there_and_back(1, 0, 1, 0);
    there_and_back(5, 0, 0, 1);
}

TEST(rebuild, a_large_graph_in_pieces_has_its_tables_rebuilt_once_all_is_there)
{
    there_and_back(40, 1, 0, 0);
    there_and_back(40, 1, 1, 0);
    there_and_back(40, 1, 0, 1);
    there_and_back(40, 0, 0, 0);
}

/* Without the function the test would show it: nothing is found any more. */
static haul_status do_nothing(const haul_rebuild *what)
{
    note_call(what);
    return HAUL_OK;
}

TEST(rebuild, without_it_the_tables_would_be_wrong)
{
    world w;
    haul_device *device = host_device();
    haul_shipment *shipment;
    visitor v;
    world_start(&w, 8 * 8192);
    types_open(do_nothing);
    v.first = stores_make(&w, 8);
    CHECK_STATUS(haul_ship(device, v.first, store_type, 1, NULL, &shipment), HAUL_OK);
    v.first = haul_device_pointer(shipment, v.first);
    v.rebuilt = 0;
    CHECK_STATUS(haul_host_launch(device, visit_stores, &v), HAUL_OK);
    CHECK(!v.good);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    types_close();
    world_end(&w);
}

static haul_status rebuild_nothing(const haul_rebuild *call)
{
    (void)call;
    return HAUL_OK;
}

TEST(rebuild, a_locked_graph_with_such_objects_is_packed_and_says_why)
{
    const haul_ship_options locked = { .lock_source = 1 };
    haul_type *type;
    world w;
    item *one;
    haul_device *device = host_device();
    haul_shipment *shipment;
    haul_shipment_info info;
    world_start(&w, 1 << 16);
    one = world_take(&w, sizeof *one, 16);
    memset(one, 0, sizeof *one);
    CHECK_STATUS(type_make("item", sizeof(item), NULL, 0, &type), HAUL_OK);
    CHECK_STATUS(haul_type_set_rebuild(type, rebuild_nothing, NULL), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(haul_ship(device, one, type, 1, &locked, &shipment), HAUL_OK);
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    haul_shipment_get_info(shipment, &info);
    CHECK_HAS(info.packs_because, "contents that depend on addresses");
    haul_shipment_free(&shipment);
    haul_type_free(&type);
    haul_device_close(&device);
    world_end(&w);
}

TEST(rebuild, a_copy_of_a_shipment_is_rebuilt_where_it_is)
{
    static test_device options;
    world w;
    store *first;
    haul_device *device = host_device(), *other;
    haul_shipment *shipment, *copy;
    int host;
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(device);
    CHECK_STATUS(test_open(haul_host_device(), &options, &other), HAUL_OK);
    for (host = 0; host < 2; host++) {
        host_patches(device, host);
        world_start(&w, 40 * 8192);
        types_open(rebuild);
        first = stores_make(&w, host ? 40 : 2);
        CHECK_STATUS(haul_ship(device, first, store_type, 1, NULL, &shipment), HAUL_OK);
        CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_shipment_copy(shipment, other, &copy), HAUL_OK);
        CHECK_EQ(the_calls.count, 3);
        CHECK_PTR(the_calls.what[2].device, other);
        CHECK_EQ(the_calls.objects[2][0],
                 device_address(copy, host_of(shipment, the_calls.objects[1][0])));
        haul_shipment_free(&shipment);
        {
            visitor v;
            v.first = haul_device_pointer(copy, first);
            v.rebuilt = 2; /* once there, once here */
            world_protect(&w, PROT_NONE);
            CHECK_STATUS(haul_host_launch(other, visit_stores, &v), HAUL_OK);
            world_protect(&w, PROT_READ | PROT_WRITE);
            CHECK(v.good);
        }
        haul_shipment_free(&copy);
        types_close();
        world_end(&w);
    }
    haul_device_close(&other);
    haul_device_close(&device);
}

TEST(rebuild, each_object_is_listed_once_rising_however_often_it_is_reached)
{
    world w;
    store *s;
    haul_device *device = host_device();
    haul_shipment *shipment;
    haul_address list[4];
    haul_root roots[3];
    size_t i;
    world_start(&w, 8192);
    types_open(rebuild);
    s = store_make(&w, 1);
    roots[0].address = s->others + 1;
    roots[0].type = roots[1].type = table_type;
    roots[0].count = 2;
    roots[1].address = &s->first;
    roots[1].count = 1;
    roots[2].address = s;
    roots[2].type = store_type;
    roots[2].count = 1;
    CHECK_STATUS(haul_ship_from(device, haul_from_roots(roots, 3), NULL, NULL, &shipment), HAUL_OK);
    CHECK_EQ(the_calls.count, 1);
    CHECK_EQ(the_calls.what[0].count, 4);
    CHECK_PTR(the_calls.what[0].type, table_type);
    device_read(device, list, the_calls.what[0].list, sizeof list);
    CHECK_BYTES(list, the_calls.objects[0], sizeof list);
    CHECK_EQ(list[0], device_address(shipment, &s->first));
    for (i = 0; i < 3; i++)
        CHECK_EQ(list[1 + i], device_address(shipment, &s->others[i]));
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    types_close();
    world_end(&w);
}

/* ---- Two types, one with a tail. */

typedef struct sorted {
    struct table *table;
    int32_t count, pad;
    table *by_address[];
} sorted;

static int64_t sorted_bytes(const haul_here *here)
{
    return (int64_t)(offsetof(sorted, by_address) +
                     (size_t)((const sorted *)here->self)->count * sizeof(table *));
}

static haul_status order_of_types(const haul_rebuild *what)
{
    note_call(what);
    return HAUL_OK;
}

TEST(rebuild, types_follow_one_another_and_objects_may_have_sizes_of_their_own)
{
    static haul_type *sorted_type;
    static const haul_field fields[] = { HAUL_OBJECT(sorted, table, &table_type) };
    haul_device *device = host_device();
    haul_shipment *shipment;
    haul_address wild = 99;
    world w;
    store *s;
    sorted *all;
    world_start(&w, 16384);
    types_open(rebuild);
    sorted_type = type_new(&(const haul_struct){ .name = "sorted",
                                                 .bytes = offsetof(sorted, by_address),
                                                 .fields = fields,
                                                 .field_count = 1,
                                                 .field_bytes = sizeof(haul_field),
                                                 .size_fn = sorted_bytes });
    CHECK_STATUS(haul_type_set_rebuild(sorted_type, order_of_types, NULL), HAUL_OK);
    CHECK_STATUS(haul_type_commit(sorted_type), HAUL_OK);
    s = store_make(&w, 1);
    all = take(&w, sizeof *all + 4 * sizeof(table *), 16);
    memset(all, 0, sizeof *all + 4 * sizeof(table *));
    all->table = s->others;
    all->count = 4;
    CHECK_STATUS(haul_ship(device, all, sorted_type, 1, NULL, &shipment), HAUL_OK);
    CHECK_EQ(the_calls.count, 2);
    CHECK_PTR(the_calls.what[0].type, sorted_type);
    CHECK_PTR(the_calls.what[1].type, table_type);
    CHECK_EQ(the_calls.what[1].list, the_calls.what[0].list + 8);
    device_write(device, device_address(shipment, &all->by_address[3]), &wild, sizeof(void *));
    device_write(device, device_address(shipment, &all->pad), &wild, 4);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_PTR(all->by_address[3], NULL);
    CHECK_EQ(all->pad, 0);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    haul_type_free(&sorted_type);
    types_close();
    world_end(&w);
}

/* ---- Order on a stream: what the function orders comes after the copies, however late they are,
 * and before the end.
 */

static const haul_device_table *ordering_table;

static haul_status write_late(const haul_rebuild *what)
{
    static const int64_t mark = 4711;
    size_t i;
    note_call(what);
    for (i = 0; i < what->count; i++) {
        haul_status status = ordering_table->copy_to(haul_device_state(what->device),
                                                     what->objects[i] + offsetof(table, rebuilt),
                                                     &mark, sizeof mark);
        if (status != HAUL_OK)
            return status;
    }
    return HAUL_OK;
}

TEST(rebuild, it_is_ordered_on_the_stream_of_an_asynchronous_call)
{
    int chunk;
    for (chunk = 0; chunk < 2; chunk++) {
        haul_async on = { NULL, NULL };
        fault_plan plan;
        haul_device *device;
        haul_shipment *shipment;
        store *first;
        world w;
        int64_t found = 0;
        memset(&plan, 0, sizeof plan);
        plan.deferred = 1;
        plan.chunk_bytes = (size_t)chunk;
        on.stream = fault_stream(1);
        world_start(&w, 30 * 8192);
        types_open(write_late);
        first = stores_make(&w, 30);
        CHECK_STATUS(fault_open(&plan, NULL, &device), HAUL_OK);
        ordering_table = fault_device(haul_host_device());
        CHECK_STATUS(
            haul_ship_from(device, haul_from_object(first, store_type), NULL, &on, &shipment),
            HAUL_OK);
        CHECK_PTR(the_calls.what[0].stream, on.stream);
        CHECK_STATUS(haul_wait(shipment), HAUL_OK);
        device_read(device, &found, device_address(shipment, &first->others[2].rebuilt),
                    sizeof found);
        CHECK_EQ(found, 4711);
        CHECK_STATUS(haul_update_device(shipment, NULL, &on), HAUL_OK);
        CHECK_STATUS(haul_wait(shipment), HAUL_OK);
        CHECK_EQ(the_calls.count, 2);
        device_read(device, &found, device_address(shipment, &first->first.rebuilt), sizeof found);
        CHECK_EQ(found, 4711);
        haul_shipment_free(&shipment);
        haul_device_close(&device);
        types_close();
        fault_check_clean(&plan);
        world_end(&w);
    }
}

/* ---- What is refused. */

TEST(rebuild, a_type_that_nothing_rebuilds_is_refused_with_its_path)
{
    world w;
    store *s;
    haul_device *device = host_device();
    haul_shipment *shipment;
    haul_plan *plan;
    haul_audit_info summary;
    haul_root root;
    world_start(&w, 16384);
    types_open(NULL);
    s = stores_make(&w, 2);
    CHECK_STATUS(haul_ship(device, s, store_type, 1, NULL, &shipment), HAUL_ERROR_UNSUPPORTED);
    CHECK_PTR(shipment, NULL);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.others[0]");
    CHECK_HAS(haul_context_error(haul_device_context(device))->text,
              "type table depend on addresses");
    s->other_count = 0;
    root.address = s;
    root.type = store_type;
    root.count = 1;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(device), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.first");
    CHECK_STATUS(haul_audit(haul_device_context(device), haul_from_roots(&root, 1), NULL, &summary),
                 HAUL_ERROR_UNSUPPORTED);
    root.address = &s->others[1];
    root.type = table_type;
    root.count = 2;
    CHECK_STATUS(
        haul_plan_create(haul_device_context(device), haul_from_roots(&root, 1), NULL, &plan),
        HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "root[0]");
    CHECK_EQ(counters_of(device).bytes_live, 0);
    haul_device_close(&device);
    types_close();
    world_end(&w);
}

TEST(rebuild, a_packed_plan_is_refused_with_the_path_of_the_first)
{
    world w;
    store *s;
    haul_context *context;
    haul_plan *plan;
    haul_root root;
    void *arena;
    world_start(&w, 8192);
    types_open(rebuild);
    s = store_make(&w, 1);
    root.address = s;
    root.type = store_type;
    root.count = 1;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    arena = malloc(plan_bytes(plan));
    CHECK(arena != NULL);
    CHECK_STATUS(haul_plan_pack(plan, arena, plan_bytes(plan), 4096, NULL), HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(context)->path, "root.first");
    CHECK_HAS(haul_context_error(context)->text, "a packed copy of it would be wrong");
    haul_plan_free(&plan);
    haul_context_free(&context);
    free(arena);
    types_close();
    world_end(&w);
}

TEST(rebuild, an_update_of_such_an_object_is_refused_and_one_beside_it_is_not)
{
    world w;
    store *s;
    haul_device *device = host_device();
    haul_shipment *shipment;
    world_start(&w, 8192);
    types_open(rebuild);
    s = store_make(&w, 1);
    CHECK_STATUS(haul_ship(device, s, store_type, 1, NULL, &shipment), HAUL_OK);
    s->id = 77;
    CHECK_STATUS(haul_update_device(shipment, RANGE(s, offsetof(store, first)), NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(shipment, RANGE(&s->others[2].rebuilt, 8), NULL),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STR(haul_context_error(haul_device_context(device))->path, "root.others[2]");
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "update everything instead");
    CHECK_STATUS(haul_update_device(shipment, RANGE(s, sizeof *s), OWN_STREAM),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul_update_host(shipment, RANGE(&s->first, sizeof s->first), NULL), HAUL_OK);
    CHECK_EQ(s->first.rebuilt, 0);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    types_close();
    world_end(&w);
}

TEST(rebuild, arenas_refuse_such_types)
{
    haul_device *device = host_device();
    haul_arena *arena;
    haul_shipment *shipment;
    store *s;
    types_open(rebuild);
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
    CHECK_PTR(haul_arena_new(arena, store_type, 1), NULL);
    CHECK_STATUS(haul_arena_error(arena)->status, HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_arena_error(arena)->text, "depend on addresses");
    s = haul_arena_bytes(arena, sizeof *s, 0);
    CHECK(s != NULL);
    memset(s, 0, sizeof *s);
    CHECK_STATUS(
        haul_ship_from(device, haul_from_arena_root(arena, s, store_type), NULL, NULL, &shipment),
        HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text, "depend on addresses");
    haul_arena_free(&arena);
    haul_device_close(&device);
    types_close();
}

TEST(rebuild, only_an_open_struct_can_be_declared)
{
    haul_type *pair = NULL;
    types_open(rebuild);
    CHECK_STATUS(haul_type_set_rebuild(NULL, rebuild, NULL), HAUL_ERROR_ARGUMENT);
    CHECK_STATUS(haul_type_set_rebuild(table_type, rebuild, NULL), HAUL_ERROR_STATE);
    CHECK_STATUS(haul_type_contiguous(2, table_type, &pair), HAUL_OK);
    CHECK_STATUS(haul_type_set_rebuild(pair, rebuild, NULL), HAUL_ERROR_STATE);
    haul_type_free(&pair);
    types_close();
}

/* C3: the function fails. */
TEST(rebuild, C3_a_function_that_fails_fails_the_call_and_leaves_nothing_behind)
{
    world w;
    store *first;
    haul_device *device = host_device();
    haul_shipment *shipment, *copy;
    unsigned char *before;
    world_start(&w, 4 * 8192);
    types_open(rebuild);
    first = stores_make(&w, 4);
    before = world_picture(&w);
    the_calls.answer = HAUL_ERROR_GRAPH;
    CHECK_STATUS(haul_ship(device, first, store_type, 1, NULL, &shipment), HAUL_ERROR_GRAPH);
    CHECK_PTR(shipment, NULL);
    CHECK_STATUS(haul_context_error(haul_device_context(device))->status, HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(device))->text,
              "rebuilds objects of type table failed");
    CHECK_STATUS(
        haul_ship_from(device, haul_from_object(first, store_type), NULL, OWN_STREAM, &shipment),
        HAUL_ERROR_GRAPH);
    CHECK_PTR(shipment, NULL);
    CHECK_EQ(counters_of(device).bytes_live, 0);
    the_calls.answer = HAUL_OK;
    CHECK_STATUS(haul_ship(device, first, store_type, 1, NULL, &shipment), HAUL_OK);
    the_calls.answer = HAUL_ERROR_DEVICE;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_ERROR_DEVICE);
    CHECK_STATUS(haul_update_device(shipment, NULL, OWN_STREAM), HAUL_ERROR_DEVICE);
    CHECK_STATUS(haul_shipment_copy(shipment, device, &copy), HAUL_ERROR_DEVICE);
    CHECK_PTR(copy, NULL);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_ERROR_DEVICE);
    the_calls.answer = HAUL_OK;
    CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
    check_stores(device, shipment, &w, first);
    CHECK_BYTES(w.memory, before, w.bytes);
    haul_shipment_free(&shipment);
    CHECK_EQ(counters_of(device).bytes_live, 0);
    haul_device_close(&device);
    types_close();
    world_end(&w);
    free(before);
}

TEST(rebuild, a_graph_without_such_objects_has_no_list)
{
    haul_device *device = host_device();
    haul_shipment *shipment;
    haul_shipment_info statistics;
    item one;
    types_open(rebuild);
    memset(&one, 0, sizeof one);
    CHECK_STATUS(haul_ship(device, &one, item_type, 1, NULL, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &statistics);
    CHECK_EQ(statistics.bytes_to, statistics.arena_bytes);
    CHECK_EQ(the_calls.count, 0);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    types_close();
}

/* ---- Faults. */

static int in_pieces;

static void *load_stores(void)
{
    the.plan->chunk_bytes = (size_t)in_pieces;
    world_start(&the.w, 24 * 8192);
    types_open(rebuild);
    return stores_make(&the.w, in_pieces ? 24 : 2);
}

static void look_at_stores(void)
{
    check_stores(the.device, the.s, &the.w, the.root);
}

static const cargo stores = { &store_type, load_stores, types_close, look_at_stores };

static void prepare_refreshed(void *user, fault_plan *plan)
{
    prepare(user, plan);
    CHECK_STATUS(refresh(user), HAUL_OK);
}

static void check_copy(void *user, haul_status status)
{
    check_sent(user, status);
    if (status != HAUL_OK)
        CHECK_PTR(the.copy, NULL);
}

/* Whole, and in pieces. */
static void fail_everywhere(fault_operation *operation)
{
    the.cargo = &stores;
    for (in_pieces = 0; in_pieces < 2; in_pieces++)
        CHECK(fault_everywhere(operation) > 5);
}

TEST(rebuild, H1_H2_D1_D5_a_ship_can_fail_everywhere)
{
    fault_operation operation = operation_on(ship, check_ship);
    operation.undo = free_shipment;
    fail_everywhere(&operation);
}

TEST(rebuild, H1_H2_D1_D5_a_refresh_can_fail_everywhere)
{
    fault_operation operation = operation_on_shipment(refresh, check_sent);
    operation.prepare = prepare_refreshed;
    fail_everywhere(&operation);
}

TEST(rebuild, H1_H2_D1_D5_a_copy_can_fail_everywhere)
{
    fault_operation operation = operation_on_shipment(copy, check_copy);
    operation.prepare = prepare_refreshed;
    operation.undo = free_copy;
    fail_everywhere(&operation);
}

static haul_status declare(haul_context *context)
{
    static const haul_field fields[] = { HAUL_RAW(table, rebuilt, .transfer = HAUL_COPYIN) };
    haul_type *type = NULL;
    haul_status status = type_make_in(context, "table", sizeof(table), fields, 1, &type);
    if (status == HAUL_OK)
        status = haul_type_set_rebuild(type, rebuild, NULL);
    if (status == HAUL_OK)
        status = haul_type_commit(type);
    haul_type_free(&type);
    return status;
}

TEST(rebuild, H1_a_description_can_fail_at_every_allocation)
{
    fault_plan plan;
    uint64_t at;
    haul_status status;
    for (at = 1, status = HAUL_ERROR_MEMORY; status != HAUL_OK; at++) {
        haul_context *context;
        memset(&plan, 0, sizeof plan);
        CHECK_STATUS(fault_open_context(&plan, NULL, &context), HAUL_OK);
        fault_arm(&plan, FAULT_ONCE, at);
        status = declare(context);
        haul_context_free(&context);
        CHECK(status == HAUL_OK || status == HAUL_ERROR_MEMORY);
        fault_check_clean(&plan);
        CHECK(at < 100);
    }
    CHECK(at > 4);
}
