/* Pointers that own what they lead to unless another field does: what other fields describe in full
 * is borrowed, everything else travels as by an owner. The lab (core_graphs.h) knows what each byte
 * of the world must become, whichever field brings it.
 *
 * Faults by number (docs/testing.md): H1, H2 (memory runs out).
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "type/type.h"

/* ---- Numbers: windows onto items, as a Fortran pointer component has them. */

typedef struct item {
    char *name;
    double value;
    struct item *next;
} item;

typedef struct window {
    double *at;
    size_t count;
} window;

typedef struct hall {
    window w[4];
    item *items;     /* owned */
    item *more;      /* unless owned */
    double *numbers; /* owned */
    size_t item_count, more_count, number_count;
    struct hall *next; /* unless owned */
} hall;

typedef struct vector {
    double *begin, *room;
    size_t used;
} vector;

static haul_type *item_type, *window_type, *hall_type;

#define UNLESS_OWNED .ownership = HAUL_UNLESS_OWNED

static void hall_start(void)
{
    const haul_field item_fields[] = { HAUL_STRING(item, name),
                                       HAUL_OBJECT(item, next, &item_type, UNLESS_OWNED) };
    const haul_field window_fields[] = { HAUL_ARRAY(window, at, HAUL_COUNT(window, count),
                                                    UNLESS_OWNED) };
    const haul_field hall_fields[] = {
        HAUL_EMBED(hall, w, &window_type),
        HAUL_OBJECTS(hall, items, &item_type, HAUL_COUNT(hall, item_count)),
        HAUL_OBJECTS(hall, more, &item_type, HAUL_COUNT(hall, more_count), UNLESS_OWNED),
        HAUL_ARRAY(hall, numbers, HAUL_COUNT(hall, number_count)),
        HAUL_OBJECT(hall, next, &hall_type, UNLESS_OWNED)
    };
    lab_start();
    item_type = TYPE_OPEN(item, item_fields);
    window_type = TYPE_OPEN(window, window_fields);
    hall_type = TYPE_OPEN(hall, hall_fields);
    type_commit(hall_type);
}

static void hall_end(void)
{
    haul_type_free(&hall_type);
    haul_type_free(&window_type);
    haul_type_free(&item_type);
    lab_end();
}

static hall *hall_make(void)
{
    hall *h = take(sizeof *h, 16);
    int i;
    for (i = 0; i < 4; i++)
        points(&h->w[i].at);
    points(&h->items);
    points(&h->more);
    points(&h->numbers);
    points(&h->next);
    return h;
}

static double *numbers_make(size_t count)
{
    double *numbers = take(count * sizeof *numbers, 16);
    size_t i;
    for (i = 0; i < count; i++)
        numbers[i] = 1.5 + (double)i;
    return numbers;
}

static item *items_make(size_t count)
{
    item *items = take(count * sizeof *items, 16);
    size_t i;
    for (i = 0; i < count; i++) {
        points(&items[i].name);
        points(&items[i].next);
        items[i].value = (double)i;
        items[i].name = text("an item");
    }
    return items;
}

static void see(window *w, double *at, size_t count)
{
    w->at = at;
    w->count = count;
}

/* From the first item's value to the last one's. */
static void see_values(window *w, item *items, size_t count)
{
    see(w, &items[0].value,
        ((size_t)((char *)&items[count] - (char *)&items[0]) - sizeof *items + sizeof(double)) /
            sizeof(double));
}

TEST(unless_owned, what_nobody_else_owns_travels)
{
    hall *h;
    double *n;
    hall_start();
    h = hall_make();
    n = numbers_make(40);
    see(&h->w[0], n, 40);
    lab_pack(h, hall_type, 1);
    CHECK_EQ(copied_word(&h->w[0].at), offset_of(n));
    hall_end();
}

TEST(unless_owned, windows_onto_an_array_of_nobody_bring_their_union_in_any_order)
{
    static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 }, { 2, 0, 1 } };
    size_t k;
    for (k = 0; k < COUNT_OF(orders); k++) {
        hall *h;
        double *n;
        hall_start();
        h = hall_make();
        n = numbers_make(10);
        take(4096, 16); /* and then nothing of the graph */
        memset(the.what + lab_offset(&n[10]), OF_NOBODY, the.used - lab_offset(&n[10]));
        see(&h->w[orders[k][0]], n, 3);
        see(&h->w[orders[k][1]], n + 7, 3);
        see(&h->w[orders[k][2]], n, 10); /* its first and last bytes are in the others */
        lab_pack(h, hall_type, 1);
        hall_end();
    }
}

TEST(unless_owned, numbers_within_owned_objects_are_borrowed_although_pointers_lie_between)
{
    hall *h;
    hall_start();
    h = hall_make();
    h->items = items_make(200); /* more than one cell */
    h->item_count = 200;
    see_values(&h->w[0], h->items, 200);
    see_values(&h->w[1], h->items + 3, 5);
    see(&h->w[2], &h->items[7].value, 1);
    lab_pack(h, hall_type, 1);
    CHECK_EQ(copied_word(&h->w[1].at), offset_of(&h->items[3].value));
    hall_end();
}

TEST(unless_owned, numbers_wait_for_objects_that_wait_too)
{
    hall *h, *second;
    hall_start();
    second = hall_make(); /* before the first one in memory */
    h = hall_make();
    h->next = second;
    see_values(&h->w[0], h->more = items_make(30), 30);
    h->more_count = 30;
    /* found two rounds later than the window */
    second->more = items_make(3);
    second->more_count = 3;
    second->more[2].next = items_make(1);
    second->more[2].next->next = items_make(1);
    see_values(&h->w[2], second->more[2].next->next, 1);
    lab_pack(h, hall_type, 1);
    hall_end();
}

typedef struct lender {
    item *at;
    item in; /* left out */
} lender;

TEST(unless_owned, objects_in_bytes_that_their_owner_leaves_out_are_owned_by_nobody)
{
    lender *l;
    haul_type *type;
    hall_start();
    type = TYPE_OPEN(lender, ((haul_field[]){ HAUL_SKIP(lender, in),
                                              HAUL_OBJECT(lender, at, &item_type, UNLESS_OWNED) }));
    type_commit(type);
    l = take(sizeof *l, 16);
    points(&l->in.name);
    points(&l->in.next);
    points(&l->at);
    l->in.value = 2.5;
    l->at = &l->in;
    lab_pack(l, type, 1);
    haul_type_free(&type);
    hall_end();
}

TEST(unless_owned, what_is_described_in_part_is_owned_and_may_contradict)
{
    hall *h;
    hall_start();
    h = hall_make();
    h->items = items_make(4);
    h->item_count = 2; /* the window looks at all four */
    see_values(&h->w[3], h->items, 4);
    lab_refuse(h, hall_type, HAUL_ERROR_GRAPH, "root.w[3].at",
               "a word is a pointer for one description and data for another");
    see(&h->w[3], &h->items[1].value, 1);
    memset(the.what + lab_offset(&h->items[2]), OF_NOBODY, the.used - lab_offset(&h->items[2]));
    h->items[0].name = h->items[1].name = NULL;
    lab_pack(h, hall_type, 1);
    hall_end();
}

TEST(unless_owned, a_list_of_such_links_takes_a_round_for_each_link)
{
    hall *first, *last;
    size_t i;
    hall_start();
    first = last = hall_make();
    for (i = 0; i < 300; i++) {
        last->next = hall_make();
        last = last->next;
        see(&last->w[i % 4], numbers_make(2), 2);
    }
    last->next = first; /* a cycle */
    lab_pack(first, hall_type, 1);
    hall_end();
}

TEST(unless_owned, a_long_array_that_another_field_owns_is_looked_at_once_for_many_windows)
{
    hall *h, *last;
    size_t i;
    hall_start();
    h = last = hall_make();
    h->numbers = numbers_make(9001); /* full blocks, whole cells, ends in a granule */
    memset(the.what + lab_offset(&h->numbers[9000]), OF_NOBODY, sizeof(double));
    h->number_count = 9000;
    for (i = 0; i < 30; i++) {
        last->next = hall_make();
        last = last->next;
        see(&last->w[0], h->numbers, 9000);
        see(&last->w[1], h->numbers + i, 9000 - 2 * i);
        see(&last->w[2], h->numbers + 8999, 1);
    }
    lab_pack(h, hall_type, 1);
    see(&last->w[3], h->numbers + 9, 8992); /* one more */
    memset(the.what + lab_offset(&h->numbers[9000]), OF_DATA, sizeof(double));
    lab_pack(h, hall_type, 1);
    hall_end();
}

TEST(unless_owned, null_and_empty_windows_stay_so)
{
    hall *h;
    hall_start();
    h = hall_make();
    see(&h->w[0], NULL, 0);
    see(&h->w[1], (double *)(void *)h, 0);
    lab_pack(h, hall_type, 1);
    hall_end();
}

TEST(unless_owned, errors_of_what_it_leads_to_have_their_paths)
{
    hall *h;
    hall_start();
    h = hall_make();
    h->next = hall_make();
    see(&h->next->w[1], (double *)(void *)((uintptr_t)-64), 8);
    lab_refuse(h, hall_type, HAUL_ERROR_GRAPH, "root.next.w[1].at",
               "outside any process's address range");
    see(&h->next->w[1], numbers_make(4), (size_t)-1 / 2);
    lab_refuse(h, hall_type, HAUL_ERROR_LIMIT, "root.next.w[1].at", "overflow");
    hall_end();
}

/* ---- A plan that has aged. */

TEST(unless_owned, a_count_that_has_changed_is_noticed_whoever_owns_the_target)
{
    hall *h;
    hall_start();
    h = hall_make();
    h->numbers = numbers_make(10);
    h->number_count = 10;
    see(&h->w[0], h->numbers, 10);
    see(&h->w[1], numbers_make(3), 3);
    lab_pack(h, hall_type, 1);
    h->w[0].count = 9;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.w[0].at");
    h->w[0].count = 10;
    h->w[1].count = 2;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(the.context)->path, "root.w[1].at");
    h->w[1].count = 3;
    h->w[1].at = h->numbers;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    hall_end();
}

TEST(unless_owned, every_allocation_can_fail_H1_H2)
{
    hall *h;
    hall_start();
    h = hall_make();
    h->next = hall_make();
    see_values(&h->w[0], h->more = items_make(30), 30);
    h->more_count = 30;
    h->numbers = numbers_make(2000);
    h->number_count = 2000;
    see(&h->next->w[0], h->numbers, 2000);
    CHECK(fault_every_plan(haul_from_object(h, hall_type), FAULT_MEMORY) > 10);
    hall_end();
}

/* ---- Targets of every sort. */

/* Its end and its middle do not travel; it stands at multiples of 64. */
typedef struct odd_one {
    char *first;
    void *cache;
    int64_t number;
    void *handle;
} odd_one;

/* Only the arm that its kind names. */
typedef struct arm {
    int64_t kind;
    char *words;
    struct arm *next;
} arm;

typedef struct tailed {
    int64_t length;
    char *name;
    double values[1];
} tailed;

typedef struct links {
    odd_one *odd;
    arm *arms;
    tailed *tail;
    char *words, *suffix;
    char **table;
    double *begin, *end;
    odd_one *tagged;
    double *by_number; /* to the number of an odd_one, which it leads to */
    arm *any;          /* by its kind: arms or an odd_one */
    int64_t distance;  /* to an arm */
    arm **each;
    size_t arm_count, each_count;
    int64_t sort;
    struct links *same; /* the same things, owned or not */
} links;

static haul_type *odd_type, *arm_type, *tailed_type, *links_type, *free_type;
static const haul_case sorts[] = { { 1, &arm_type, 0 }, { 2, &odd_type, 0 } };

/* The rows of links, for owners and for pointers that are owners unless others are. */
static haul_type *links_open(haul_ownership ownership)
{
    const haul_field each = { .ownership = ownership };
    const haul_field fields[] = {
        HAUL_OBJECT(links, odd, &odd_type, .ownership = ownership),
        HAUL_OBJECTS(links, arms, &arm_type, HAUL_COUNT(links, arm_count), .ownership = ownership),
        HAUL_OBJECT(links, tail, &tailed_type, .ownership = ownership),
        HAUL_STRING(links, words, .ownership = ownership),
        HAUL_STRING(links, suffix, .ownership = ownership),
        HAUL_STRINGS(links, table, HAUL_TERMINATED, .ownership = ownership),
        HAUL_ARRAY(links, begin, HAUL_UNTIL(links, end), .ownership = ownership),
        HAUL_OBJECT(links, tagged, &odd_type, .tag_bits = 3, .ownership = ownership),
        HAUL_ADDRESS(links, by_number, .target = &odd_type,
                     .base = HAUL_CONTAINER_OF(odd_one, number), .ownership = ownership),
        HAUL_ADDRESS(links, any, .type_switch = HAUL_SWITCH(links, sort, sorts),
                     .ownership = ownership),
        HAUL_RELATIVE(links, distance, .target = &arm_type, .ownership = ownership),
        HAUL_POINTERS(links, each, &arm_type, HAUL_COUNT(links, each_count), .each_pointer = &each),
        HAUL_OBJECT(links, same, ownership == HAUL_OWNED ? &free_type : &links_type)
    };
    return type_open(ownership == HAUL_OWNED ? "links" : "free links", sizeof(links), fields,
                     COUNT_OF(fields));
}

static void links_start(void)
{
    const haul_field odd_fields[] = { HAUL_STRING(odd_one, first), HAUL_SKIP(odd_one, cache),
                                      HAUL_SKIP(odd_one, handle) };
    const haul_field arm_fields[] = { HAUL_STRING(arm, words, .when = HAUL_EQUALS(arm, kind, 1)),
                                      HAUL_OBJECT(arm, next, &arm_type, UNLESS_OWNED) };
    const haul_field tailed_fields[] = { HAUL_STRING(tailed, name, UNLESS_OWNED),
                                         HAUL_TAIL(tailed, values, HAUL_COUNT(tailed, length)) };
    lab_start();
    odd_type = TYPE_OPEN(odd_one, odd_fields);
    arm_type = TYPE_OPEN(arm, arm_fields);
    tailed_type = TYPE_OPEN(tailed, tailed_fields);
    links_type = links_open(HAUL_OWNED);
    free_type = links_open(HAUL_UNLESS_OWNED);
    type_commit(links_type);
}

static void links_end(void)
{
    haul_type_free(&free_type);
    haul_type_free(&links_type);
    haul_type_free(&tailed_type);
    haul_type_free(&arm_type);
    haul_type_free(&odd_type);
    lab_end();
}

static odd_one *odd_make(void)
{
    odd_one *o = take(sizeof *o, 64);
    points(&o->first);
    hole(&o->cache, WORD);
    hole(&o->handle, WORD);
    o->first = text("first");
    o->cache = o;
    o->number = 77;
    return o;
}

static arm *arms_make(size_t count)
{
    arm *a = take(count * sizeof *a, 16);
    size_t i;
    for (i = 0; i < count; i++) {
        a[i].kind = (int64_t)i % 2;
        points(&a[i].next);
        if (!a[i].kind)
            hole(&a[i].words, WORD);
        else
            points(&a[i].words);
        a[i].words = a[i].kind ? text("an arm") : (char *)a;
    }
    return a;
}

static arm *arm_with_words(void)
{
    arm *a = arms_make(1);
    a->kind = 1;
    points(&a->words);
    a->words = text("words");
    return a;
}

static links *links_make(void)
{
    links *l = take(sizeof *l, 16);
    points(&l->odd);
    points(&l->arms);
    points(&l->tail);
    points(&l->words);
    points(&l->suffix);
    points(&l->table);
    points(&l->begin);
    points(&l->end);
    points(&l->tagged);
    points(&l->by_number);
    points(&l->any);
    own_check(&l->distance, sizeof l->distance);
    points(&l->each);
    points(&l->same);
    l->sort = 1;
    return l;
}

static void links_fill(links *l)
{
    tailed *t = take(offsetof(tailed, values) + 5 * sizeof(double), 16);
    t->length = 5;
    points(&t->name);
    t->name = text("tailed");
    l->odd = odd_make();
    l->arms = arms_make(5);
    l->arm_count = 5;
    l->arms[2].next = &l->arms[1];
    l->tail = t;
    l->words = text("some words");
    l->suffix = l->words + 5;
    l->table = take(3 * WORD, WORD);
    points(&l->table[0]);
    points(&l->table[1]);
    points(&l->table[2]);
    l->table[0] = text("zero");
    l->table[1] = l->suffix;
    l->begin = numbers_make(12);
    l->end = l->begin + 12;
    l->tagged = (odd_one *)((uintptr_t)odd_make() | 2);
    l->by_number = (double *)(void *)&odd_make()->number;
    l->any = arm_with_words();
    l->any->next = arm_with_words();
    l->distance = (int64_t)((intptr_t)arms_make(1) - (intptr_t)&l->distance);
    l->each = take(2 * WORD, WORD);
    points(&l->each[0]);
    points(&l->each[1]);
    l->each[1] = arm_with_words();
    l->each_count = 2;
}

static void check_distance(const links *l)
{
    int64_t distance;
    memcpy(&distance, the.arena + offset_of(&l->distance), sizeof distance);
    CHECK_EQ(distance, (int64_t)offset_of((const char *)&l->distance + l->distance) -
                           (int64_t)offset_of(&l->distance));
}

TEST(unless_owned, every_sort_of_pointer_is_an_owner_of_what_nobody_else_owns)
{
    links *l;
    links_start();
    l = links_make();
    links_fill(l);
    lab_pack(l, free_type, 1);
    check_distance(l);
    links_end();
}

TEST(unless_owned, every_sort_of_pointer_borrows_what_another_field_owns)
{
    links *l, *same;
    int64_t between;
    links_start();
    l = links_make();
    links_fill(l);
    same = l->same = links_make();
    memcpy(same, l, sizeof *l);
    between = (int64_t)((intptr_t)&l->distance - (intptr_t)&same->distance);
    same->distance += between;
    same->same = NULL;
    lab_pack(l, links_type, 1);
    check_distance(l);
    check_distance(same);
    same->same = l; /* the one that is an owner last */
    l->same = NULL;
    lab_pack(same, free_type, 1);
    check_distance(same);
    links_end();
}

TEST(unless_owned, bytes_that_their_owner_leaves_out_are_owned_by_nobody)
{
    odd_one *o;
    haul_type *type;
    typedef struct both {
        odd_one *odd;
        int64_t *at;
    } both;
    both *b;
    links_start();
    type = TYPE_OPEN(both, ((haul_field[]){ HAUL_OBJECT(both, odd, &odd_type),
                                            HAUL_ARRAY(both, at, HAUL_ONE, UNLESS_OWNED) }));
    type_commit(type);
    b = take(sizeof *b, 16);
    points(&b->odd);
    points(&b->at);
    o = b->odd = odd_make();
    b->at = &o->number;
    lab_pack(b, type, 1);
    o->cache = NULL;
    b->at = (int64_t *)(void *)&o->cache; /* a hole */
    memset(the.what + lab_offset(&o->cache), OF_DATA, sizeof(int64_t));
    lab_pack(b, type, 1);
    haul_type_free(&type);
    links_end();
}

/* One aligned object, by a field that knows it and by one that does not care. */
typedef struct bed {
    int64_t at[8];
} bed;

typedef struct sleeper {
    int64_t *bytes;
    bed *at;
    bed **beds;
    size_t words;
} sleeper;

static haul_type *bed_type, *sleeper_type;

static sleeper *sleeper_start(void)
{
    const haul_field fields[] = { HAUL_ARRAY(sleeper, bytes, HAUL_COUNT(sleeper, words)),
                                  HAUL_OBJECT(sleeper, at, &bed_type, UNLESS_OWNED),
                                  HAUL_POINTERS(sleeper, beds, &bed_type, HAUL_FIXED(2),
                                                .ownership = HAUL_UNLESS_OWNED) };
    sleeper *s;
    lab_start();
    bed_type = type_new(&(const haul_struct)HAUL_PLAIN(bed, NULL, .alignment = 64));
    sleeper_type = TYPE_OPEN(sleeper, fields);
    type_commit(sleeper_type);
    s = take(sizeof *s, 16);
    points(&s->bytes);
    points(&s->at);
    points(&s->beds);
    s->words = 40;
    s->bytes = take(s->words * sizeof *s->bytes, 64);
    s->at = (bed *)(void *)(s->bytes + 8);
    return s;
}

static void sleeper_end(void)
{
    haul_type_free(&sleeper_type);
    haul_type_free(&bed_type);
    lab_end();
}

TEST(unless_owned, a_borrowed_target_keeps_the_alignment_of_its_type)
{
    sleeper *s = sleeper_start();
    lab_pack(s, sleeper_type, 1);
    CHECK_EQ(copied_word(&s->at) % 64, 0);
    sleeper_end();
}

TEST(unless_owned, a_borrowed_target_that_is_misaligned_is_refused)
{
    sleeper *s = sleeper_start();
    s->at = (bed *)(void *)(s->bytes + 9);
    lab_refuse(s, sleeper_type, HAUL_ERROR_GRAPH, "root.at",
               "a misaligned pointer: its address modulo 64 is 8");
    sleeper_end();
}

TEST(unless_owned, a_borrowed_array_of_pointers_is_what_its_owner_says)
{
    sleeper *s = sleeper_start();
    s->beds = (bed **)(void *)(s->bytes + 20);
    s->bytes[20] = 12345; /* no pointers */
    lab_pack(s, sleeper_type, 1);
    s->beds = (bed **)(void *)(s->bytes + 40); /* and of nobody */
    take(2 * WORD, WORD);
    points(&s->beds[0]);
    points(&s->beds[1]);
    s->beds[1] = take(sizeof(bed), 64);
    lab_pack(s, sleeper_type, 1);
    sleeper_end();
}

/* ---- What commit refuses. */

TEST(unless_owned, pools_and_arrays_with_an_end_behind_them_are_owned)
{
    static const struct {
        haul_field rows[2];
        size_t count;
        const char *part;
    } wrong[] = {
        { { HAUL_ARRAY(window, at, HAUL_FIXED(2), UNLESS_OWNED, .pool = 1) },
          1,
          "this field does not own its target" },
        { { HAUL_ARRAY(vector, begin, HAUL_COUNT(vector, used), UNLESS_OWNED),
            HAUL_END_OF(vector, room, begin) },
          2,
          "which has optional members other than" },
    };
    size_t i;
    for (i = 0; i < COUNT_OF(wrong); i++) {
        haul_type *type = type_open("wrong", sizeof(vector), wrong[i].rows, wrong[i].count);
        CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
        CHECK_HAS(type_error()->text, wrong[i].part);
        haul_type_free(&type);
    }
}

/* ---- Shipments. */

typedef struct pair {
    int64_t *mine, *perhaps;
} pair;

static void add_to_both(void *argument)
{
    pair *p = argument;
    *p->mine += 100;
    *p->perhaps += 1;
}

TEST(unless_owned, its_direction_counts_where_it_is_an_owner)
{
    haul_context *context;
    haul_device *device;
    haul_shipment *s;
    haul_type *type;
    const haul_field fields[] = { HAUL_ARRAY(pair, mine, HAUL_ONE),
                                  HAUL_ARRAY(pair, perhaps, HAUL_ONE, UNLESS_OWNED,
                                             .transfer = HAUL_COPYIN) };
    int64_t numbers[4] = { 5, 0, 0, 7 }, *const a = &numbers[0], *const b = &numbers[3], i;
    pair p;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_host_open(context, NULL, &device), HAUL_OK);
    type = TYPE_OPEN(pair, fields);
    type_commit(type);
    p.mine = a;
    p.perhaps = b;
    CHECK_STATUS(haul_ship(device, &p, type, 1, NULL, &s), HAUL_OK);
    for (i = 1; i <= 3; i++) {
        CHECK_STATUS(haul_host_launch(device, add_to_both, haul_device_pointer(s, &p)), HAUL_OK);
        CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
        CHECK_EQ(*a, i == 3 ? 5 + 200 + 101 : 5 + 100 * i);
        CHECK_EQ(*b, 7); /* an owner that is copied in; then not in the graph */
        if (i == 2) {
            p.perhaps = a;
            CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_ERROR_STALE);
            CHECK_STATUS(haul_reship(s, NULL), HAUL_OK);
            CHECK_PTR(haul_device_pointer(s, b), NULL);
        }
    }
    p.perhaps = b; /* an owner again */
    CHECK_STATUS(haul_reship(s, NULL), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, add_to_both, haul_device_pointer(s, &p)), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(s), HAUL_OK);
    CHECK_EQ(*a, 5 + 200 + 101 + 100);
    CHECK_EQ(*b, 7);
    haul_shipment_free(&s);
    haul_device_close(&device);
    haul_type_free(&type);
    haul_context_free(&context);
}

/* ---- Callbacks. */

typedef struct counted {
    struct counted *next;
    double *values;
    int64_t count; /* of the root counts */
} counted;

static haul_type *counted_type;
HAUL_FUNCTION(count_of_root, counted, ((const counted *)here->root)->count)

TEST(unless_owned, functions_get_the_root_that_a_pointer_was_reached_from)
{
    const haul_field fields[] = { HAUL_OBJECT(counted, next, &counted_type, UNLESS_OWNED),
                                  HAUL_ARRAY(counted, values, HAUL_COUNT_FN(count_of_root),
                                             UNLESS_OWNED) };
    haul_root roots[2];
    size_t i, k;
    lab_start();
    counted_type = TYPE_OPEN(counted, fields);
    type_commit(counted_type);
    for (i = 0; i < 2; i++) {
        counted *first = NULL, *at = NULL;
        for (k = 0; k < 3; k++) {
            counted *made = take(sizeof *made, 16);
            points(&made->next);
            points(&made->values);
            made->values = numbers_make(3 + 4 * i);
            made->count = k ? 1000 : 3 + 4 * (int64_t)i;
            if (at)
                at->next = made;
            else
                first = made;
            at = made;
        }
        roots[i].address = first;
        roots[i].type = counted_type;
        roots[i].count = 1;
    }
    lab_pack_roots(roots, 2);
    haul_type_free(&counted_type);
    lab_end();
}

/* ---- Static tables. */

TEST(unless_owned, a_static_table_that_is_copied_is_owned_and_others_are_not_followed)
{
    static int64_t table[4];
    const haul_field fields[] = {
        HAUL_ARRAY(pair, mine, HAUL_FIXED(4), UNLESS_OWNED, .maybe_static = 1),
        HAUL_ARRAY(pair, perhaps, HAUL_ONE, UNLESS_OWNED, .maybe_static = 1)
    };
    static const haul_static_policy policies[] = { HAUL_STATIC_COPY, HAUL_STATIC_KEEP,
                                                   HAUL_STATIC_NULL };
    size_t i, offset;
    for (i = 0; i < COUNT_OF(policies); i++) {
        int64_t own = 6;
        pair p = { table, &own };
        haul_context *context;
        haul_plan *plan;
        haul_type *type = TYPE_OPEN(pair, fields);
        type_commit(type);
        CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
        CHECK_STATUS(haul_context_add_static(context, table, sizeof table, policies[i]), HAUL_OK);
        CHECK_STATUS(haul_plan_create(context, haul_from_object(&p, type), NULL, &plan), HAUL_OK);
        CHECK_STATUS(haul_plan_offset(plan, table, &offset),
                     policies[i] == HAUL_STATIC_COPY ? HAUL_OK : HAUL_ERROR_ARGUMENT);
        CHECK_STATUS(haul_plan_offset(plan, &own, &offset), HAUL_OK);
        haul_plan_free(&plan);
        haul_type_free(&type);
        haul_context_free(&context);
    }
}
