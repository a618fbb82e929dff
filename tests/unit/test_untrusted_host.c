/* A device that is not trusted, and what the copy cannot show: bytes and pointers that the host has
 * and the arena does not (haul_ship_options.untrusted). Whatever a kernel does, none of them may
 * become live on the host.
 *
 * Faults by number (docs/testing.md): D14 (device results are hostile).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/types.h"
#include "untrusted_returns.h"

/* ---- What did not hold, and what had no elements. */

typedef struct hidden {
    struct hidden *next;
    double *numbers, *asked; /* count; wanted, which a function answers */
    double **rows;           /* height, width */
    double *each[2];         /* members */
    struct hidden *peer;     /* has */
    union {
        struct hidden *object; /* kind 1 */
        double *array;         /* kind 2: width */
        uintptr_t bits;        /* kind 0: skipped */
    } is;
    int32_t count, wanted, height, width, members, has, kind, pad;
} hidden;

#define GARBAGE(type) ((type)(uintptr_t)0x41414140u)

HAUL_FUNCTION(count_wanted, hidden, self->wanted)

static haul_type *hidden_type;

static void hidden_open(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(hidden, next, &hidden_type),
        HAUL_ARRAY(hidden, numbers, HAUL_COUNT(hidden, count)),
        HAUL_ARRAY(hidden, asked, HAUL_COUNT_FN(count_wanted)),
        HAUL_ARRAYS(hidden, rows, HAUL_COUNT(hidden, height), HAUL_COUNT(hidden, width)),
        HAUL_EACH(hidden, each, .count = HAUL_COUNT(hidden, members)),
        HAUL_OBJECT(hidden, peer, &hidden_type, .when = HAUL_EQUALS(hidden, has, 1)),
        HAUL_OBJECT(hidden, is.object, &hidden_type, .when = HAUL_EQUALS(hidden, kind, 1)),
        HAUL_ARRAY(hidden, is.array, HAUL_COUNT(hidden, width),
                   .when = HAUL_EQUALS(hidden, kind, 2)),
        HAUL_SKIP(hidden, is.bits, .when = HAUL_EQUALS(hidden, kind, 0)),
    };
    open_device(NULL);
    hidden_type = TYPE_NEW(hidden, fields);
    CHECK_STATUS(haul_type_commit(hidden_type), HAUL_OK);
}

static hidden hosts[2];
static double *rows[2];

static void fill_hidden(void)
{
    memset(hosts, 0, sizeof hosts);
    hosts[0].next = &hosts[1];
    rows[0] = GARBAGE(double *);
    hosts[1].rows = rows;
    hosts[1].height = 1;
    hosts[1].numbers = hosts[1].asked = hosts[1].each[0] = GARBAGE(double *);
    hosts[1].peer = GARBAGE(hidden *);
    hosts[1].is.bits = 0x51515150u;
}

static void live_numbers(void)
{
    put_number(&hosts[1].count, 5);
}

static void live_by_function(void)
{
    put_number(&hosts[1].wanted, 5);
}

static void live_rows(void)
{
    put_number(&hosts[1].width, 5);
}

static void live_members(void)
{
    put_number(&hosts[1].members, 1);
}

static void live_peer(void)
{
    put_number(&hosts[1].has, 1);
}

/* The pointer would come to the copy, and not to the host. */
static void live_peer_that_is_put(void)
{
    hosts[1].peer = NULL;
    put_number(&hosts[1].has, 1);
    put_pointer(&hosts[1].peer, &hosts[0], 0);
}

static void live_arm(void)
{
    put_number(&hosts[1].kind, 1);
}

/* An array of nothing becomes an object. */
static void other_arm(void)
{
    put_number(&hosts[0].kind, 1);
}

TEST(untrusted, what_only_the_host_has_does_not_come_to_life)
{
    static void (*const kernels[])(void) = {
        live_numbers, live_by_function,      live_rows, live_members,
        live_peer,    live_peer_that_is_put, live_arm,  other_arm,
    };
    hidden was[2];
    size_t i;
    int how;
    hidden_open();
    for (i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (how = 0; how < 4; how++) {
            fill_hidden();
            hosts[0].kind = 2;
            hosts[0].is.array = GARBAGE(double *);
            ship(hosts, hidden_type, how & 1, 1);
            CHECK_STATUS(come_back(how >> 1), HAUL_OK);
            kernels[i]();
            memcpy(was, hosts, sizeof was);
            CHECK_STATUS(come_back(how >> 1), HAUL_ERROR_GRAPH);
            CHECK(error()->path[0] != 0);
            CHECK_BYTES(hosts, was, sizeof was);
            CHECK(rows[0] == GARBAGE(double *));
            CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
            CHECK_STATUS(come_back(how >> 1), HAUL_OK);
            CHECK_BYTES(hosts, was, sizeof was);
        }
    close_device();
    haul_type_free(&hidden_type);
}

/* ---- Pointers to no elements. */

typedef struct list {
    struct list *next;
    double *numbers; /* count */
    double *begin, *end;
    int32_t count, pad;
} list;

static haul_type *list_type;
static list lists[2];
static double pool[12]; /* the middle four belong to no array: the others are neighbours there */

static void list_open(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(list, next, &list_type),
        HAUL_ARRAY(list, numbers, HAUL_COUNT(list, count)),
        HAUL_ARRAY(list, begin, HAUL_UNTIL(list, end)),
    };
    open_device(NULL);
    list_type = TYPE_NEW(list, fields);
    CHECK_STATUS(haul_type_commit(list_type), HAUL_OK);
}

static void list_close(void)
{
    close_device();
    haul_type_free(&list_type);
}

static void fill_lists(void)
{
    memset(lists, 0, sizeof lists);
    lists[0].next = &lists[1];
    lists[0].numbers = pool;
    lists[0].count = 4;
    lists[0].begin = pool + 8;
    lists[0].end = pool + 12;
}

static void check_lists(int pointers, int accepts)
{
    list was[2];
    memcpy(was, lists, sizeof was);
    CHECK_STATUS(come_back(pointers), accepts ? HAUL_OK : HAUL_ERROR_GRAPH);
    if (!accepts)
        CHECK_BYTES(lists, was, sizeof was);
}

/* One past the first array is the second one in the arena, and neither on the host. */
TEST(untrusted, a_pointer_behind_an_array_does_not_get_the_next_one)
{
    int how;
    list_open();
    for (how = 0; how < 4; how++) {
        fill_lists();
        lists[1].numbers = pool + 4;
        ship(lists, list_type, how & 1, 1);
        check_lists(how >> 1, 1);
        put_number(&lists[1].count, 4);
        check_lists(how >> 1, 0);
    }
    list_close();
}

TEST(untrusted, an_end_comes_back_as_the_end_of_its_own_array)
{
    int ordered;
    list_open();
    for (ordered = 0; ordered < 2; ordered++) {
        fill_lists();
        lists[1].begin = pool;
        lists[1].end = pool + 2;
        ship(lists, list_type, ordered, 1);
        put_pointer(&lists[1].end, pool, 3 * sizeof(double));
        check_lists(1, 1);
        CHECK(lists[1].begin == pool && lists[1].end == pool + 3);
        CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
        put_pointer(&lists[1].end, pool, 4 * sizeof(double));
        if (come_back(1) == HAUL_OK)
            CHECK(lists[1].end == pool + 4);
        else
            CHECK_HAS(error()->text, "the end of an array");
    }
    list_close();
}

TEST(untrusted, an_array_can_be_emptied)
{
    int ordered;
    list_open();
    for (ordered = 0; ordered < 2; ordered++) {
        fill_lists();
        lists[1].begin = lists[1].end = GARBAGE(double *);
        ship(lists, list_type, ordered, 1);
        put_pointer(&lists[0].end, pool + 8, 0);
        put_number(&lists[0].count, 0);
        put_pointer(&lists[0].numbers, pool, sizeof(double));
        check_lists(1, 1);
        CHECK(lists[0].begin == pool + 8 && lists[0].end == pool + 8);
        CHECK(lists[0].numbers == pool + 1);
        CHECK(lists[1].begin == GARBAGE(double *) && lists[1].end == GARBAGE(double *));
    }
    list_close();
}

TEST(untrusted, a_pointer_to_no_elements_leads_to_its_type)
{
    int ordered;
    list_open();
    for (ordered = 0; ordered < 2; ordered++) {
        fill_lists();
        ship(lists, list_type, ordered, 1);
        put_pointer(&lists[1].numbers, &lists[0], sizeof(double));
        check_lists(1, 0);
        CHECK_STR(error()->path, "root.next.numbers");
        put_pointer(&lists[1].numbers, pool, 4);
        check_lists(1, 0);
        put_pointer(&lists[1].numbers, pool, sizeof(double));
        check_lists(1, 1);
        CHECK(lists[1].numbers == pool + 1);
    }
    list_close();
}

/* ---- Words that are worked out anew. */

typedef struct odd {
    double *first, *room; /* the end of it */
    int32_t to_many, how_many;
    union {
        const char *name; /* kind 0, static: null in the copy */
        struct odd *object;
    } is;
    int32_t kind, count;
} odd;

static void check_odd(const haul_type *type, odd *o, int kind)
{
    int how;
    for (how = 0; how < 4; how++) {
        odd was;
        ship(o, type, how & 1, 1);
        CHECK_STATUS(come_back(how >> 1), HAUL_OK);
        put_number(kind ? &o->kind : &o->how_many, 1);
        memcpy(&was, o, sizeof was);
        CHECK_STATUS(come_back(how >> 1), HAUL_ERROR_GRAPH);
        CHECK_BYTES(o, &was, sizeof was);
    }
}

TEST(untrusted, words_that_are_null_in_the_copy_stay_what_they_were)
{
    static const char name[] = "static";
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_ARRAY(odd, first, HAUL_COUNT(odd, count)),
        HAUL_END_OF(odd, room, first),
        HAUL_RELATIVE(odd, to_many, .element_bytes = 8, .count = HAUL_COUNT(odd, how_many)),
        HAUL_STRING(odd, is.name, .maybe_static = 1, .when = HAUL_EQUALS(odd, kind, 0)),
        HAUL_OBJECT(odd, is.object, &type, .when = HAUL_EQUALS(odd, kind, 1)),
    };
    odd o;
    open_device(NULL);
    CHECK_STATUS(
        haul_context_add_static(haul_device_context(device), name, sizeof name, HAUL_STATIC_NULL),
        HAUL_OK);
    type = TYPE_NEW(odd, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    memset(&o, 0, sizeof o);
    o.first = o.room = GARBAGE(double *);
    o.to_many = 0x41410;
    o.is.name = name;
    check_odd(type, &o, 0);
    check_odd(type, &o, 1);
    o.first = NULL; /* the other one of the two may be null on the host, too */
    check_odd(type, &o, 0);
    o.first = o.room;
    o.room = NULL;
    check_odd(type, &o, 0);
    close_device();
    haul_type_free(&type);
}

typedef struct room {
    double *first, *room; /* the end of it */
    double *second;
    int32_t count, number; /* of the first ones, and of the second ones */
} room;

/* Its word is null in the copy, and the host's is never written. */
TEST(untrusted, a_limit_of_no_elements_does_not_get_some)
{
    static const haul_field fields[] = {
        HAUL_ARRAY(room, first, HAUL_COUNT(room, count)),
        HAUL_END_OF(room, room, first),
        HAUL_ARRAY(room, second, HAUL_COUNT(room, number)),
    };
    static double numbers[4];
    haul_type *type;
    room r, was;
    int ordered;
    open_device(NULL);
    type = TYPE_NEW(room, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (ordered = 0; ordered < 2; ordered++) {
        memset(&r, 0, sizeof r);
        r.second = numbers;
        r.number = 4;
        was = r;
        ship(&r, type, ordered, 1);
        CHECK_STATUS(come_back(1), HAUL_OK);
        put_pointer(&r.first, numbers, 0);
        put_number(&r.count, 2);
        CHECK_STATUS(come_back(1), HAUL_ERROR_GRAPH);
        CHECK_HAS(error()->text, "not at the end of its array");
        CHECK_BYTES(&r, &was, sizeof r);
    }
    close_device();
    haul_type_free(&type);
}

typedef struct mixed {
    int32_t kind, pad;
    union {
        int32_t distance, count; /* kinds 0 and 1 */
    } is;
    int32_t more;
    union {
        void *outside; /* kind 0 */
        uintptr_t bits;
    } word;
    double *numbers;
    double own[2];
} mixed;

/* A tag would make a count of a distance, or an external pointer of data. */
TEST(untrusted, a_distance_does_not_become_a_count_nor_data_a_foreign_pointer)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_RELATIVE(mixed, is.distance, .element_bytes = 8, .count = HAUL_FIXED(1),
                      .when = HAUL_EQUALS(mixed, kind, 0)),
        HAUL_RAW(mixed, is.count, .when = HAUL_EQUALS(mixed, kind, 1)),
        HAUL_RAW(mixed, more),
        HAUL_ADDRESS(mixed, word.outside, .ownership = HAUL_EXTERNAL,
                     .when = HAUL_EQUALS(mixed, kind, 0)),
        HAUL_RAW(mixed, word.bits, .when = HAUL_EQUALS(mixed, kind, 1)),
        HAUL_ARRAY(mixed, numbers, HAUL_COUNT(mixed, more)),
    };
    double numbers[4] = { 0, 1, 2, 3 };
    int how;
    open_device(NULL);
    type = TYPE_NEW(mixed, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (how = 0; how < 8; how++) {
        const int kind = how >> 2;
        mixed m, was;
        memset(&m, 0, sizeof m);
        m.kind = kind;
        m.numbers = numbers;
        m.more = 4;
        if (kind == 0) {
            m.is.distance = (int32_t)((char *)m.own - (char *)&m.is.distance);
            m.word.outside = &device;
        }
        ship(&m, type, how & 1, 1);
        CHECK_STATUS(come_back(how >> 1 & 1), HAUL_OK);
        if (kind == 1) {
            const uintptr_t any = 0x41414140u;
            put(&m.word, &any, sizeof any);
        }
        put_number(&m.kind, !kind);
        was = m;
        CHECK_STATUS(come_back(how >> 1 & 1), HAUL_ERROR_GRAPH);
        CHECK_BYTES(&m, &was, sizeof m);
    }
    close_device();
    haul_type_free(&type);
}

/* ---- Strings at odd addresses. */

typedef struct named {
    char *name, *mine; /* mine: sent and not returned */
} named;

/* In an ordered arena they do not lie as they do on the host. */
TEST(untrusted, strings_that_share_a_granule_come_back)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_STRING(named, name),
        HAUL_STRING(named, mine, .transfer = HAUL_COPYIN),
    };
    int ordered;
    for (ordered = 0; ordered < 2; ordered++) {
        char text[32] = "......one.mine\0...";
        named n;
        char was[32];
        text[9] = 0;
        memcpy(was, text, sizeof was);
        n.name = text + 6;
        n.mine = text + 10;
        open_device(NULL);
        type = TYPE_NEW(named, fields);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        ship(&n, type, ordered, 1);
        put(n.name, "two", 3);
        put(n.mine, "theirs", 5); /* without an end, which does not come back either */
        CHECK_STATUS(come_back(0), HAUL_OK);
        memcpy(was + 6, "two", 3);
        CHECK_BYTES(text, was, sizeof was);
        close_device();
        haul_type_free(&type);
    }
}

/* ---- Sections. */

typedef struct matrix {
    double *at; /* rows of `width` elements, `stride` apart */
    int32_t height, width, stride, pad;
} matrix;

TEST(untrusted, sections_come_back)
{
    static const haul_dimension dimensions[] = {
        HAUL_DIMENSION(HAUL_COUNT(matrix, width), HAUL_FIXED(1)),
        HAUL_DIMENSION(HAUL_COUNT(matrix, height), HAUL_COUNT(matrix, stride)),
    };
    const haul_field fields[] = { HAUL_SECTION(matrix, at, dimensions) };
    static const int32_t wrong[][3] = { { 5, 3, 10 }, { 4, 4, 10 }, { 4, 3, 11 }, { -1, 3, 10 } };
    haul_type *type = NULL;
    const double half = 0.5;
    double cells[40];
    size_t i;
    int how;
    open_device(NULL);
    type = TYPE_NEW(matrix, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    for (how = 0; how < 4; how++) {
        matrix m = { NULL, 4, 3, 10, 0 }, was;
        memset(cells, 0, sizeof cells);
        m.at = cells;
        ship(&m, type, how & 1, 1);
        put(&cells[12], &half, sizeof half);
        CHECK_STATUS(come_back(how >> 1), HAUL_OK);
        CHECK(cells[12] == 0.5 && m.at == cells && m.height == 4);
        was = m;
        for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            put(&m.height, wrong[i], sizeof wrong[i]);
            CHECK_STATUS(come_back(how >> 1), HAUL_ERROR_GRAPH);
            CHECK_BYTES(&m, &was, sizeof m);
        }
        put(&m.height, &was.height, 3 * sizeof was.height);
        put_number(&m.height, 2);
        CHECK_STATUS(come_back(how >> 1), HAUL_OK);
        CHECK(m.height == 2);
    }
    close_device();
    haul_type_free(&type);
}

/* ---- Work. */

typedef struct inner {
    double x, y;
} inner;

typedef struct outer {
    struct outer *to;
    inner *into, is;
} outer;

enum { OUTERS = 100000 };

static outer *on_device;

static void turn_around(void *argument)
{
    size_t i;
    for (i = 0; i < OUTERS; i++)
        on_device[i].to = &on_device[OUTERS - 1 - i];
    (void)argument;
}

static double seconds_of_return(void)
{
    const clock_t begin = clock();
    CHECK_STATUS(come_back(1), HAUL_OK);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* Each pointer leads into one long array, between whose elements other ranges lie. A search back
 * through all of these takes 20 times as long here. */
TEST(untrusted, pointers_into_a_long_array_take_no_longer)
{
    haul_type *inner_type = NULL, *type = NULL;
    const haul_field inner_fields[] = { HAUL_RAW(inner, x), HAUL_RAW(inner, y) };
    const haul_field fields[] = {
        HAUL_OBJECT(outer, to, &type),
        HAUL_OBJECT(outer, into, &inner_type),
        HAUL_EMBED(outer, is, &inner_type),
    };
    haul_ship_options options;
    outer *all = calloc(OUTERS, sizeof *all);
    double honest;
    size_t i;
    CHECK(all != NULL);
    for (i = 0; i < OUTERS; i++)
        all[i].into = &all[i].is;
    open_device(NULL);
    inner_type = TYPE_NEW(inner, inner_fields);
    CHECK_STATUS(haul_type_commit(inner_type), HAUL_OK);
    type = TYPE_NEW(outer, fields);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    memset(&options, 0, sizeof options);
    options.untrusted = 1;
    CHECK_STATUS(haul_ship(device, all, type, OUTERS, &options, &shipment), HAUL_OK);
    honest = seconds_of_return();
    on_device = haul_device_pointer(shipment, all);
    CHECK_STATUS(haul_host_launch(device, turn_around, NULL), HAUL_OK);
    CHECK(seconds_of_return() < 8 * honest + 0.5);
    CHECK(all[0].to == &all[OUTERS - 1]);
    close_device();
    haul_type_free(&type);
    haul_type_free(&inner_type);
    free(all);
}

/* ---- The option. */

TEST(untrusted, the_option_is_0_or_1)
{
    static const int wrong[] = { -1, 2, 1 << 30 };
    size_t i;
    list_open();
    fill_lists();
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        haul_ship_options options;
        memset(&options, 0, sizeof options);
        options.untrusted = wrong[i];
        CHECK_STATUS(haul_ship(device, lists, list_type, 1, &options, &shipment),
                     HAUL_ERROR_ARGUMENT);
        CHECK_HAS(error()->text, "options->untrusted");
    }
    list_close();
}
