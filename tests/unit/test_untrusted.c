/* A device that is not trusted (haul_ship_options.untrusted): a kernel leaves what it likes, and
 * what comes back is right or is refused, with the path, before a byte of the host's is written.
 *
 * Faults by number (docs/testing.md): D14 (device results are hostile).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/doors.h"
#include "support/random.h"
#include "support/types.h"
#include "untrusted_returns.h"

enum { THINGS = 4, NUMBERS = 4 };

typedef struct thing {
    struct thing *next;
    double *numbers; /* count */
    char *name;
    struct thing *friend; /* borrowed */
    union {
        struct thing *peer; /* kind 1 */
        uintptr_t bits;
    } is;
    struct thing *tagged;
    int32_t count, kind, mine, secret; /* mine: sent and not returned; secret: skipped */
} thing;

static haul_type *thing_type;

static void type_open(void)
{
    static const haul_field fields[] = {
        HAUL_OBJECT(thing, next, &thing_type),
        HAUL_ARRAY(thing, numbers, HAUL_COUNT(thing, count)),
        HAUL_STRING(thing, name),
        HAUL_OBJECT(thing, friend, &thing_type, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(thing, is.peer, &thing_type, .when = HAUL_EQUALS(thing, kind, 1),
                    .else_raw = 1),
        HAUL_OBJECT(thing, tagged, &thing_type, .tag_bits = 1),
        HAUL_RAW(thing, mine, .transfer = HAUL_COPYIN),
        HAUL_SKIP(thing, secret),
    };
    thing_type = TYPE_NEW(thing, fields);
    CHECK_STATUS(haul_type_commit(thing_type), HAUL_OK);
}

/* ---- The world: a list, its arrays, and a copy of all of it to compare with. */

static struct {
    thing *at[THINGS], was[THINGS];
    double *numbers[THINGS], old[THINGS][NUMBERS];
    char *names[THINGS], called[THINGS][8];
} the;

static void fill(void)
{
    int i, k;
    for (i = 0; i < THINGS; i++) {
        thing *t = the.at[i];
        memset(t, 0, sizeof *t);
        t->next = i + 1 < THINGS ? the.at[i + 1] : NULL;
        t->numbers = the.numbers[i];
        t->count = NUMBERS - (i == 1);
        t->name = the.names[i];
        t->friend = the.at[THINGS - 1 - i];
        t->kind = i & 1;
        t->is.bits = 0x1234;
        if (t->kind == 1)
            t->is.peer = the.at[0];
        t->tagged = (thing *)((uintptr_t)the.at[i] | 1u);
        t->mine = 40 + i;
        t->secret = 50 + i;
        for (k = 0; k < NUMBERS; k++)
            the.numbers[i][k] = 10 * i + k;
        snprintf(the.names[i], 8, "name %d", i);
    }
}

/* gcc 12 at -O1 takes the writes of a single loop for dead. */
static void remember(void)
{
    int i;
    for (i = 0; i < THINGS; i++)
        the.was[i] = *the.at[i];
    for (i = 0; i < THINGS; i++)
        memcpy(the.old[i], the.numbers[i], sizeof the.old[i]);
    for (i = 0; i < THINGS; i++)
        memcpy(the.called[i], the.names[i], 8);
}

static void check_unchanged(void)
{
    int i;
    for (i = 0; i < THINGS; i++) {
        CHECK_BYTES(the.at[i], &the.was[i], sizeof(thing));
        CHECK_BYTES(the.numbers[i], the.old[i], sizeof the.old[i]);
        CHECK_BYTES(the.names[i], the.called[i], 8);
    }
}

/* No two touch: an ordered arena may take a pointer to the next one for an end (pack/ordered.c). */
static void *must(size_t bytes)
{
    void *memory = calloc(1, bytes + 64);
    CHECK(memory != NULL);
    return memory;
}

static void world_open_on(const test_device *options)
{
    int i;
    memset(&the, 0, sizeof the);
    type_open();
    open_device(options);
    for (i = 0; i < THINGS; i++) {
        the.at[i] = must(sizeof(thing));
        the.numbers[i] = must(NUMBERS * sizeof(double));
        the.names[i] = must(8);
    }
    fill();
    remember();
}

static void world_open(void)
{
    world_open_on(NULL);
}

static void world_close(void)
{
    int i;
    close_device();
    for (i = 0; i < THINGS; i++) {
        free(the.at[i]);
        free(the.numbers[i]);
        free(the.names[i]);
    }
    haul_type_free(&thing_type);
}

/* ---- What is right comes back. */

static void check_right(int ordered, int pointers)
{
    const double half = 0.5;
    world_open();
    ship(the.at[0], thing_type, ordered, 0);
    put(&the.numbers[2][3], &half, sizeof half);
    put(the.names[1], "new", 4);
    put_number(&the.at[0]->mine, 1);
    put_number(&the.at[0]->secret, 2);
    if (pointers) {
        put_pointer(&the.at[0]->next, the.at[2], 0); /* the second one is reached as a friend */
        put_pointer(&the.at[1]->next, the.at[0], 0);
        put_pointer(&the.at[0]->numbers, the.numbers[3], 0);
        put_pointer(&the.at[1]->numbers, the.numbers[3], sizeof(double));
        put_word(&the.at[3]->friend, 0);
        put_word(&the.at[1]->is, 0);
        put_pointer(&the.at[2]->tagged, the.at[0], 1);
        put_pointer(&the.at[3]->next, the.at[1], 0);
    } else {
        put_word(&the.at[0]->next, 0x5a5a);
    }
    CHECK_STATUS(come_back(pointers), HAUL_OK);
    the.old[2][3] = half;
    memcpy(the.called[1], "new", 4);
    if (pointers) {
        the.was[0].next = the.at[2];
        the.was[1].next = the.at[0];
        the.was[0].numbers = the.numbers[3];
        the.was[1].numbers = the.numbers[3] + 1;
        the.was[3].friend = NULL;
        the.was[1].is.peer = NULL;
        the.was[2].tagged = (thing *)((uintptr_t)the.at[0] | 1u);
        the.was[3].next = the.at[1];
    }
    check_unchanged();
    world_close();
}

TEST(untrusted, right_results_come_back)
{
    check_right(0, 0);
    check_right(1, 0);
}

TEST(untrusted, right_pointers_come_back)
{
    check_right(0, 1);
    check_right(1, 1);
}

TEST(untrusted, returns_can_be_repeated_and_a_changed_graph_is_stale)
{
    world_open();
    ship(the.at[0], thing_type, 0, 0);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    put_word(&the.at[3]->friend, 0);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_ERROR_STALE);
    CHECK_STATUS(haul_reship(shipment, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    the.was[3].friend = NULL;
    check_unchanged();
    world_close();
}

/* ---- What is wrong is refused. */

static void next_into_numbers(void)
{
    put_pointer(&the.at[0]->next, the.numbers[2], 0);
}

static void next_into_an_object(void)
{
    put_pointer(&the.at[0]->next, the.at[2], 2 * sizeof(void *));
}

static void next_out(void)
{
    put_word(&the.at[0]->next, (uintptr_t)the.at[1]);
}

static void numbers_behind_their_begin(void)
{
    put_pointer(&the.at[0]->numbers, the.numbers[0], sizeof(double));
}

static void numbers_into_an_object(void)
{
    put_pointer(&the.at[0]->numbers, the.at[1], 0);
}

static void numbers_between(void)
{
    put_pointer(&the.at[1]->numbers, the.numbers[0], 4);
}

/* As long as the array is for its owner. */
static void numbers_of_a_shorter_array(void)
{
    put_pointer(&the.at[0]->numbers, the.numbers[1], 0);
}

static void null_numbers(void)
{
    put_word(&the.at[0]->numbers, 0);
    put_pointer(&the.at[1]->next, the.numbers[1], 0);
}

static void name_into_numbers(void)
{
    put_pointer(&the.at[0]->name, the.numbers[1], 0);
}

static void friend_into_numbers(void)
{
    put_pointer(&the.at[0]->friend, the.numbers[1], 0);
}

static void friend_into_an_object(void)
{
    put_pointer(&the.at[0]->friend, the.at[1], sizeof(void *));
}

static void tagged_into_numbers(void)
{
    put_pointer(&the.at[0]->tagged, the.numbers[1], 1);
}

typedef struct wrong {
    void (*kernel)(void);
    const char *path; /* NULL: it depends on what lies beside the target */
} wrong;

/* An array that runs into another object makes two descriptions disagree about a word. The error
 * names the other object and the element of the array, in the order of their addresses. */
static int names(const haul_error *e, const char *path)
{
    size_t length = strlen(path);
    return strcmp(e->path, path) == 0 ||
           (strncmp(e->other_path, path, length) == 0 && e->other_path[length] == '[');
}

static void check_refused(const wrong *list, size_t count, int lets_change, int pointers)
{
    size_t i;
    int ordered;
    for (ordered = 0; ordered < 2; ordered++)
        for (i = 0; i < count; i++) {
            haul_status status;
            world_open();
            ship(the.at[0], thing_type, ordered, lets_change);
            list[i].kernel();
            status = come_back(pointers);
            CHECK_STATUS(status, HAUL_ERROR_GRAPH);
            CHECK(error()->path[0] != 0);
            if (list[i].path && !names(error(), list[i].path))
                CHECK_STR(error()->path, list[i].path);
            check_unchanged();
            CHECK_STATUS(haul_update_device(shipment, NULL, NULL), HAUL_OK);
            CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
            check_unchanged();
            world_close();
        }
}

#define REFUSED(list, lets_change, pointers)                                                       \
    check_refused(list, sizeof list / sizeof *list, lets_change, pointers)

TEST(untrusted, a_pointer_to_what_is_no_element_of_its_type_is_refused)
{
    static const wrong list[] = {
        { next_into_numbers, NULL },
        { next_into_an_object, NULL },
        { next_out, "root.next" },
        { numbers_behind_their_begin, NULL },
        { numbers_into_an_object, NULL },
        { numbers_between, "root.next.numbers" },
        { numbers_of_a_shorter_array, NULL },
        { null_numbers, "root.numbers" },
        { name_into_numbers, NULL },
        { friend_into_numbers, "root.friend" },
        { friend_into_an_object, "root.friend" },
        { tagged_into_numbers, NULL },
    };
    REFUSED(list, 0, 1);
}

static void longer_array(void)
{
    put_number(&the.at[1]->count, NUMBERS);
}

static void huge_array(void)
{
    put_number(&the.at[1]->count, 1 << 20);
}

static void negative_array(void)
{
    put_number(&the.at[1]->count, -1);
}

static void peer_of_bits(void)
{
    put_number(&the.at[2]->kind, 1);
}

static void bits_of_a_peer(void)
{
    put_number(&the.at[1]->kind, 0);
}

static void string_without_an_end(void)
{
    put(the.names[0], "12345678", 7);
}

TEST(untrusted, counts_and_tags_that_may_change_must_fit_the_graph)
{
    static const wrong list[] = {
        { longer_array, "root.next.numbers" },   { huge_array, "root.next.numbers" },
        { negative_array, "root.next.numbers" }, { peer_of_bits, "root.next.next.is.peer" },
        { bits_of_a_peer, "root.next.is.peer" }, { string_without_an_end, "root.name" },
    };
    REFUSED(list, 1, 0);
    REFUSED(list, 1, 1);
}

TEST(untrusted, a_shorter_array_comes_back)
{
    world_open();
    ship(the.at[0], thing_type, 0, 1);
    put_number(&the.at[0]->count, 2);
    put_number(&the.at[1]->count, 0);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    the.was[0].count = 2;
    the.was[1].count = 0;
    check_unchanged();
    world_close();
}

/* What no pointer leads to has not been looked at, so nothing of it is written. */
TEST(untrusted, an_object_that_is_cut_off_keeps_its_bytes)
{
    world_open();
    the.at[0]->friend = the.at[1]->friend = NULL;
    remember();
    ship(the.at[0], thing_type, 0, 1);
    put_word(&the.at[1]->next, 0); /* the friends of the others are the first two */
    put_number(&the.at[3]->count, 1 << 20);
    put_number(&the.at[3]->kind, 7);
    put_pointer(&the.at[3]->next, the.numbers[0], 0);
    put(the.names[3], "12345678", 7);
    CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
    the.was[1].next = NULL;
    check_unchanged();
    world_close();
}

/* What is not sent comes back, too. Of an object that is cut off it stays as the host has it. */
typedef struct answer {
    struct answer *next;
    int32_t out, in;
} answer;

TEST(untrusted, what_travels_one_way_goes_its_way)
{
    haul_type *type = NULL;
    const haul_field fields[] = {
        HAUL_OBJECT(answer, next, &type),
        HAUL_RAW(answer, out, .transfer = HAUL_COPYOUT),
        HAUL_RAW(answer, in, .transfer = HAUL_COPYIN),
    };
    haul_ship_options options;
    answer at[3];
    int ordered;
    for (ordered = 0; ordered < 2; ordered++) {
        memset(at, 0, sizeof at);
        memset(&options, 0, sizeof options);
        options.untrusted = 1;
        options.ordered = ordered;
        at[0].next = &at[1];
        at[1].next = &at[2];
        at[1].out = 5;
        at[2].out = 6;
        at[0].in = 7;
        world_open();
        type = TYPE_NEW(answer, fields);
        CHECK_STATUS(haul_type_commit(type), HAUL_OK);
        CHECK_STATUS(haul_ship(device, at, type, 1, &options, &shipment), HAUL_OK);
        put_number(&at[0].out, 1);
        put_number(&at[0].in, 2);
        put_number(&at[1].out, 3);
        put_number(&at[2].out, 4);
        put_word(&at[1].next, 0);
        CHECK_STATUS(haul_update_host(shipment, WITH_POINTERS, NULL), HAUL_OK);
        CHECK(at[0].out == 1 && at[0].in == 7 && at[1].out == 3 && at[2].out == 6);
        CHECK(at[0].next == &at[1] && !at[1].next);
        world_close();
        haul_type_free(&type);
    }
}

/* ---- What cannot be checked is refused. */

TEST(untrusted, what_cannot_be_checked_is_refused)
{
    haul_ship_options options;
    haul_shipment *other;
    haul_arena *arena;
    world_open();
    memset(&options, 0, sizeof options);
    options.untrusted = 1;
    options.lock_source = 1;
    CHECK_STATUS(haul_ship(device, the.at[0], thing_type, 1, &options, &other),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error()->text, "options->untrusted");
    options.lock_source = 0;
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
    CHECK(haul_arena_bytes(arena, 64, 0) != NULL);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), &options, NULL, &other),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(error()->text, "ship its root as an object");
    haul_arena_free(&arena);
    ship(the.at[0], thing_type, 0, 0);
    CHECK_STATUS(haul_update_host(shipment, NULL, OWN_STREAM), HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul_update_host(shipment, RANGE(the.at[0], sizeof(thing)), NULL),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_STATUS(haul_update_host(shipment,
                                  &(const haul_update_options){ .pointers = 1, .leave_outside = 1 },
                                  NULL),
                 HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(error()->text, "haul_ship_options.untrusted");
    check_unchanged();
    world_close();
}

/* ---- Memory. */

TEST(untrusted, memory_that_runs_out_is_told_and_nothing_is_written)
{
    uint64_t event;
    int fired = 1;
    for (event = 1; fired; event++) {
        fault_plan doors = { 0 };
        haul_status status;
        test_device options;
        memset(&options, 0, sizeof options);
        options.settings = &ordinary_launches;
        CHECK_STATUS(fault_open_context(&doors, NULL, &options.context), HAUL_OK);
        world_open_on(&options);
        ship(the.at[0], thing_type, event & 1, 1);
        put(the.names[1], "new", 4);
        put_word(&the.at[3]->friend, 0);
        fault_arm(&doors, FAULT_ONCE, event);
        status = haul_update_host(shipment, WITH_POINTERS, NULL);
        fired = doors.fired != 0 || doors.fell_back != 0;
        fault_disarm(&doors);
        CHECK(status == HAUL_OK || (status == HAUL_ERROR_MEMORY && doors.fired));
        if (status == HAUL_OK) {
            memcpy(the.called[1], "new", 4);
            the.was[3].friend = NULL;
        }
        check_unchanged();
        haul_context_free(&options.context);
        world_close();
        fault_check_clean(&doors);
    }
    CHECK(event > 20);
}

/* ---- Anything. */

static random_source the_random;

static uintptr_t any_word(void)
{
    const int i = (int)random_below(&the_random, THINGS);
    const void *const places[] = { the.at[i], the.numbers[i], the.names[i] };
    const uintptr_t place =
        (uintptr_t)haul_device_pointer(shipment, places[random_below(&the_random, 3)]);
    switch (random_below(&the_random, 6)) {
    case 0:
        return random_below(&the_random, 10);
    case 1:
        return (uintptr_t)random_next(&the_random);
    case 2:
        return place + 8 * random_below(&the_random, 12);
    case 3:
        return 0;
    default:
        return place + random_below(&the_random, 2);
    }
}

static void spoil(void)
{
    int times = (int)random_between(&the_random, 1, 4);
    while (times-- > 0) {
        const int i = (int)random_below(&the_random, THINGS);
        switch (random_below(&the_random, 8)) {
        case 0:
            put_number(&the.at[i]->count, (int32_t)random_below(&the_random, 6));
            break;
        case 1:
            put_number(&the.at[i]->kind, (int32_t)random_below(&the_random, 3));
            break;
        case 2:
            put_word(the.names[i], (uintptr_t)random_next(&the_random));
            break;
        default:
            put_word((uintptr_t *)(void *)the.at[i] + random_below(&the_random, 6), any_word());
        }
    }
}

/* Is all that the list reaches the host's, and of its type? */
static void check_thing(const thing *t)
{
    int i, found = 0, has_numbers = t->numbers == NULL && t->count == 0, has_name = !t->name;
    for (i = 0; i < THINGS; i++) {
        found |= t == the.at[i];
        has_numbers |= t->count == 0 || (t->numbers >= the.numbers[i] && t->count > 0 &&
                                         t->numbers + t->count <= the.numbers[i] + NUMBERS);
        has_name |= t->name >= the.names[i] && t->name < the.names[i] + 8 &&
                    memchr(t->name, 0, (size_t)(the.names[i] + 8 - t->name)) != NULL;
    }
    CHECK(found && has_numbers && has_name);
}

static void check_graph(void)
{
    thing *queue[THINGS];
    int count = 0, done, i, k;
    queue[count++] = the.at[0];
    for (done = 0; done < count; done++) {
        thing *t = queue[done];
        thing *const led[] = { t->next, t->friend, t->kind == 1 ? t->is.peer : NULL,
                               (thing *)((uintptr_t)t->tagged & ~(uintptr_t)1) };
        check_thing(t);
        for (i = 0; i < 4; i++) {
            int known = led[i] == NULL;
            for (k = 0; k < count; k++)
                known |= queue[k] == led[i];
            if (!known) {
                CHECK(count < THINGS);
                queue[count++] = led[i];
            }
        }
    }
}

TEST(untrusted, whatever_a_kernel_leaves_the_host_s_graph_is_right)
{
    int round, accepted = 0, refused = 0;
    the_random = random_start("returns from a device that is not trusted");
    world_open();
    for (round = 0; round < 3000; round++) {
        const int pointers = (int)random_below(&the_random, 2);
        haul_status status;
        haul_plan *plan;
        fill();
        remember();
        ship(the.at[0], thing_type, (int)random_below(&the_random, 2),
             (int)random_below(&the_random, 2));
        spoil();
        status = come_back(pointers);
        if (status != HAUL_OK) {
            CHECK(status == HAUL_ERROR_GRAPH || status == HAUL_ERROR_LIMIT);
            CHECK(error()->text[0] != 0);
            check_unchanged();
            refused++;
            continue;
        }
        accepted++;
        check_graph();
        CHECK_STATUS(haul_plan_create(haul_device_context(device),
                                      haul_from_object(the.at[0], thing_type), NULL, &plan),
                     HAUL_OK);
        haul_plan_free(&plan);
    }
    CHECK(accepted > 100 && refused > 100);
    world_close();
}
