/* Words of arenas that no bit tells: pointers off the grid and fields with optional members. And
 * copies of arena shipments from device to device.
 *
 * Faults by number (docs/testing.md): T6, G25 of arenas; D1, D4, D5, D6, D16, H1, H2 of copies.
 */
#include <stdio.h>

#include "arena_graphs.h"
#include "support/random.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"
#include "haul/experimental.h"

static haul_device *the_device;
static haul_arena *the_arena;
static haul_shipment *the_shipment;

static void start(const haul_arena_options *options)
{
    links_open();
    CHECK_STATUS(test_open(haul_host_device(), NULL, &the_device), HAUL_OK);
    CHECK_STATUS(test_arena(the_device, options, &the_arena), HAUL_OK);
}

static void end(void)
{
    haul_host_counters now;
    haul_shipment_free(&the_shipment);
    CHECK_STATUS(haul_host_get_counters(the_device, &now), HAUL_OK);
    CHECK_EQ(now.bytes_live, 0);
    haul_arena_free(&the_arena);
    haul_device_close(&the_device);
    links_close();
}

static void run_on(void (*kernel)(void *), const void *host)
{
    CHECK_STATUS(haul_host_launch(the_device, kernel, haul_device_pointer(the_shipment, host)),
                 HAUL_OK);
}

/* ---- Packed structs: a byte, a pointer to the next, a number, and a pointer to a name. */

enum {
    NEXT = 1,
    NUMBER = NEXT + (int)sizeof(void *),
    NAME = NUMBER + 4,
    BOX = NAME + (int)sizeof(void *)
};

typedef struct box {
    unsigned char at[BOX];
} box;

static haul_type *box_type;

static haul_field packed_field(const char *name, size_t offset, haul_type *const *target)
{
    haul_field field;
    memset(&field, 0, sizeof field);
    field.name = name;
    field.kind = HAUL_FIELD_POINTER;
    field.offset = offset;
    field.bytes = sizeof(void *);
    field.element_bytes = target ? BOX : 1;
    field.target = target;
    field.levels = 1;
    field.packed = 1;
    if (!target)
        field.count = (haul_count)HAUL_TERMINATED;
    return field;
}

static void boxes_open(void)
{
    haul_field fields[2];
    fields[0] = packed_field("next", NEXT, &box_type);
    fields[1] = packed_field("name", NAME, NULL);
    CHECK_STATUS(type_make("box", BOX, fields, 2, &box_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(box_type), HAUL_OK);
}

static void *get(const void *at)
{
    void *word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void put(void *at, const void *word)
{
    memcpy(at, &word, sizeof word);
}

static void put_number(unsigned char *b, int32_t number)
{
    memcpy(b + NUMBER, &number, sizeof number);
}

static int32_t number_of(const unsigned char *b)
{
    int32_t number;
    memcpy(&number, b + NUMBER, sizeof number);
    return number;
}

/* A chain through an array, whose elements lie at any address modulo a word. */
static box *fill_boxes(box *all, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        char *name = haul_arena_bytes(the_arena, 8, 0);
        all[i].at[0] = (unsigned char)i;
        put(all[i].at + NEXT, i + 1 < count ? all[i + 1].at : NULL);
        put_number(all[i].at, i);
        put(all[i].at + NAME, strcpy(name, "box"));
    }
    return all;
}

typedef struct tour {
    const unsigned char *from;
    int64_t boxes, sum, named;
} tour;

static void look_at_boxes(void *argument)
{
    tour *t = argument;
    const unsigned char *b;
    for (b = t->from; b; b = get(b + NEXT)) {
        t->boxes++;
        t->sum += number_of(b);
        t->named += strcmp(get(b + NAME), "box") == 0;
    }
}

static void check_boxes(haul_shipment *shipment, const box *first, int count)
{
    tour t;
    memset(&t, 0, sizeof t);
    t.from = haul_device_pointer(shipment, first);
    CHECK_STATUS(haul_host_launch(the_device, look_at_boxes, &t), HAUL_OK);
    CHECK_EQ(t.boxes, count);
    CHECK_EQ(t.sum, (int64_t)count * (count - 1) / 2);
    CHECK_EQ(t.named, count);
}

/* Numbers doubled, and every other box left out. */
static void thin_out(void *argument)
{
    unsigned char *b, *next;
    for (b = argument; b; b = get(b + NEXT)) {
        put_number(b, 2 * number_of(b));
        next = get(b + NEXT);
        if (next)
            put(b + NEXT, get(next + NEXT));
    }
}

static void check_thinned(box *all, int count, int with_pointers)
{
    int i;
    for (i = 0; i < count; i += 2) {
        int step = with_pointers ? 2 : 1;
        CHECK_EQ(number_of(all[i].at), 2 * i);
        CHECK_PTR(get(all[i].at + NEXT), i + step < count ? all[i + step].at : NULL);
        CHECK_STR((char *)get(all[i].at + NAME), "box");
    }
}

static box *start_boxes(int count)
{
    box *all;
    start(NULL);
    boxes_open();
    all = haul_arena_new(the_arena, box_type, (size_t)count);
    CHECK(all != NULL);
    return fill_boxes(all, count);
}

static void end_boxes(void)
{
    haul_type_free(&box_type);
    end();
}

static void boxes_there_and_back(int count, int is_direct)
{
    box *all = start_boxes(count);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    if (is_direct)
        CHECK_STATUS(haul_return_directly(the_shipment), HAUL_OK);
    check_boxes(the_shipment, all, count);
    run_on(thin_out, all);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    check_thinned(all, count, 0);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_thinned(all, count, 1);
    put_number(all[0].at, 7);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    run_on(thin_out, all);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(number_of(all[0].at), 14);
    CHECK_PTR(get(all[0].at + NEXT), all[4].at);
    end_boxes();
}

enum { FEW = 20, MANY = 60000 }; /* small enough to cross as one, and not */

TEST(ship_arena_special, pointers_off_the_grid_are_patched_and_come_back_T6)
{
    boxes_there_and_back(FEW, 0);
    boxes_there_and_back(FEW, 1);
    boxes_there_and_back(MANY, 0);
}

TEST(ship_arena_special, allocated_one_by_one_too)
{
    box *first = NULL, *last = NULL, *b;
    int i;
    start(NULL);
    boxes_open();
    for (i = 0; i < FEW; i++, last = b) {
        b = fill_boxes(haul_arena_new(the_arena, box_type, 1), 1);
        put_number(b->at, i);
        if (last)
            put(last->at + NEXT, b);
        else
            first = b;
    }
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    check_boxes(the_shipment, first, FEW);
    end_boxes();
}

static void ship_with_one_outside(int count, haul_outside rule, haul_status expected)
{
    static char outside[BOX];
    char path[40];
    haul_ship_options how;
    tour t;
    box *all = start_boxes(count);
    unsigned char *last = all[count - 1].at;
    memset(&how, 0, sizeof how);
    memset(&t, 0, sizeof t);
    how.outside = rule;
    put(last + NEXT, outside);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
                 expected);
    if (expected != HAUL_OK) {
        snprintf(path, sizeof path, "arena+%zu", (size_t)(last + NEXT - all[0].at));
        CHECK_STR(haul_context_error(haul_device_context(the_device))->path, path);
    } else {
        check_boxes(the_shipment, all, count);
        CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
        CHECK_PTR(get(last + NEXT), outside);
    }
    end_boxes();
}

TEST(ship_arena_special, one_that_leads_out_is_refused_or_null)
{
    ship_with_one_outside(FEW, HAUL_OUTSIDE_REFUSE, HAUL_ERROR_GRAPH);
    ship_with_one_outside(MANY, HAUL_OUTSIDE_REFUSE, HAUL_ERROR_GRAPH);
    ship_with_one_outside(FEW, HAUL_OUTSIDE_NULL, HAUL_OK);
    ship_with_one_outside(MANY, HAUL_OUTSIDE_NULL, HAUL_OK);
}

static void spoil_box(void *argument)
{
    unsigned char *b = argument;
    put_number(b, 99);
    put(b + NEXT, (void *)8);
}

TEST(ship_arena_special, one_that_the_device_has_spoilt_is_refused_and_nothing_is_written)
{
    box *all = start_boxes(FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(spoil_box, all);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_ERROR_GRAPH);
    CHECK_EQ(number_of(all[0].at), 0);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(number_of(all[0].at), 99);
    CHECK_PTR(get(all[0].at + NEXT), all[1].at);
    end_boxes();
}

TEST(ship_arena_special, updates_leave_pointers_off_the_grid_alone)
{
    box *all = start_boxes(FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, RANGE(all, FEW * sizeof(box)), NULL), HAUL_OK);
    check_boxes(the_shipment, all, FEW);
    run_on(thin_out, all);
    CHECK_STATUS(haul_update_host(the_shipment, RANGE(all, FEW * sizeof(box)), NULL), HAUL_OK);
    check_thinned(all, FEW, 0);
    end_boxes();
}

TEST(ship_arena_special, what_is_released_leaves_no_pointer_behind)
{
    box *all = start_boxes(FEW);
    haul_arena_mark mark = haul_arena_checkpoint(the_arena);
    unsigned char *bytes;
    CHECK(haul_arena_new(the_arena, box_type, 9) != NULL);
    CHECK_STATUS(haul_arena_rollback(the_arena, mark), HAUL_OK);
    bytes = haul_arena_bytes(the_arena, 9 * sizeof(box), 0);
    memset(bytes, 0xee, 9 * sizeof(box));
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    check_boxes(the_shipment, all, FEW);
    end_boxes();
}

/* An untyped arena, shipped from its root. */
TEST(ship_arena_special, discovered_ones_are_patched_as_well)
{
    unsigned char *memory;
    box *all;
    start(NULL);
    boxes_open();
    memory = haul_arena_bytes(the_arena, FEW * sizeof(box) + 3, 0);
    all = fill_boxes((box *)(memory + 3), FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, all, box_type), NULL,
                                NULL, &the_shipment),
                 HAUL_OK);
    check_boxes(the_shipment, all, FEW);
    run_on(thin_out, all);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_thinned(all, FEW, 1);
    end_boxes();
}

/* ---- Rules. */

typedef struct leaf {
    int kind;
    struct leaf *up;    /* an alias */
    struct leaf *cache; /* null on the device */
    void (*done)(void); /* opaque */
    union {
        struct leaf *leaf;
        uintptr_t number;
    } u;
} leaf;

enum { BRANCH = 1, NUMBERED = 2 };

static haul_type *leaf_type;

static void leaves_open(int with_union)
{
    const haul_field fields[] = {
        HAUL_OBJECT(leaf, up, &leaf_type, .ownership = HAUL_BORROWED),
        HAUL_SKIP(leaf, cache),
        HAUL_RAW(leaf, done),
        HAUL_OBJECT(leaf, u.leaf, &leaf_type, .when = HAUL_EQUALS(leaf, kind, BRANCH),
                    .else_raw = 1),
    };
    CHECK_STATUS(type_make("leaf", sizeof(leaf), fields, with_union ? 4 : 3, &leaf_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(leaf_type), HAUL_OK);
}

static leaf *leaves_make(leaf *l)
{
    l[0].kind = BRANCH;
    l[0].up = &l[1];
    l[0].u.leaf = &l[1];
    l[1].kind = NUMBERED;
    l[1].up = &l[0];
    l[1].u.number = (uintptr_t)&l[0];
    l[0].cache = l[1].cache = (leaf *)(uintptr_t)0x1230;
    l[0].done = l[1].done = links_close;
    return l;
}

typedef struct leaf_tour {
    leaf *first;
    int is_right, with_union;
    uintptr_t number;
} leaf_tour;

static void look_at_leaves(void *argument)
{
    leaf_tour *t = argument;
    leaf *l = t->first;
    t->is_right = l[0].up == &l[1] && l[1].up == &l[0] && !l[0].cache && !l[1].cache &&
                  l[0].done == links_close &&
                  (!t->with_union || (l[0].u.leaf == &l[1] && l[1].u.number == t->number));
    l[1].u.number += t->with_union ? 1 : 0;
    l[0].cache = l;
    l[1].kind = 5;
}

static void check_leaves(leaf *l, int with_union)
{
    leaf_tour t;
    t.first = haul_device_pointer(the_shipment, l);
    t.with_union = with_union;
    t.number = l[1].u.number;
    CHECK_STATUS(haul_host_launch(the_device, look_at_leaves, &t), HAUL_OK);
    CHECK_EQ(t.is_right, 1);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_EQ(l[1].kind, 5);
    CHECK_EQ(l[1].u.number, t.number + (uintptr_t)with_union);
    CHECK_PTR(l[0].cache, (void *)(uintptr_t)0x1230);
    CHECK_PTR(l[0].up, &l[1]);
    l[1].kind = NUMBERED;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_host_launch(the_device, look_at_leaves, &t), HAUL_OK);
}

TEST(ship_arena_special, rows_whose_rules_say_the_same_of_every_object_are_typed_G25)
{
    leaf *l;
    start(NULL);
    leaves_open(0);
    l = leaves_make(haul_arena_new(the_arena, leaf_type, 2));
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    check_leaves(l, 0);
    haul_type_free(&leaf_type);
    end();
}

TEST(ship_arena_special, others_are_refused_at_allocation_with_advice_and_discovered)
{
    haul_ship_options options;
    haul_device_layout stamp;
    leaf *l;
    start(NULL);
    leaves_open(1);
    CHECK_PTR(haul_arena_new(the_arena, leaf_type, 2), NULL);
    CHECK_EQ(haul_arena_error(the_arena)->status, HAUL_ERROR_UNSUPPORTED);
    CHECK_HAS(haul_arena_error(the_arena)->text, "haul_from_arena_root");
    CHECK_STATUS(haul_device_layout_of(leaf_type, &stamp), HAUL_ERROR_UNSUPPORTED);
    l = leaves_make(haul_arena_bytes(the_arena, 2 * sizeof(leaf), 0));
    memset(&options, 0, sizeof options);
    options.let_counts_change = 1; /* a kind becomes another one */
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, l, leaf_type), &options,
                                NULL, &the_shipment),
                 HAUL_OK);
    check_leaves(l, 1);
    haul_type_free(&leaf_type);
    end();
}

typedef struct text {
    struct text *next;
    int length;
    char letters[];
} text;

static void shout(void *argument)
{
    text *t;
    int i;
    for (t = argument; t; t = t->next)
        for (i = 0; i < t->length; i++)
            t->letters[i] = (char)(t->letters[i] - 'a' + 'A');
}

/* Two texts whose letters are made capitals on the device. */
static void shout_tails(const haul_field *fields, haul_type **type, text **first, text **second)
{
    start(NULL);
    CHECK_STATUS(type_make("text", sizeof(text), fields, 2, type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(*type), HAUL_OK);
    *first = haul_arena_new_tail(the_arena, *type, 40);
    *second = haul_arena_new_tail(the_arena, *type, 3);
    CHECK(*first != NULL && *second != NULL);
    (*first)->next = *second;
    (*first)->length = 40;
    (*second)->length = 3;
    memset((*first)->letters, 'a', 40);
    memset((*second)->letters, 'b', 3);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(shout, *first);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
}

TEST(ship_arena_special, a_tail_of_plain_elements_travels_with_its_object)
{
    haul_type *type;
    text *first, *second;
    const haul_field fields[] = { HAUL_OBJECT(text, next, &type),
                                  HAUL_TAIL(text, letters, HAUL_COUNT(text, length)) };
    shout_tails(fields, &type, &first, &second);
    CHECK_EQ(first->letters[0], 'A');
    CHECK_EQ(first->letters[39], 'A');
    CHECK_BYTES(second->letters, "BBB", 3);
    CHECK_PTR(first->next, second);
    haul_type_free(&type);
    end();
}

TEST(ship_arena_special, a_tail_that_only_goes_there_does_not_come_back_from_a_typed_arena)
{
    haul_type *type;
    text *first, *second;
    const haul_field fields[] = { HAUL_OBJECT(text, next, &type),
                                  HAUL_TAIL(text, letters, HAUL_COUNT(text, length),
                                            .transfer = HAUL_COPYIN) };
    shout_tails(fields, &type, &first, &second);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(first->letters[0], 'a');
    CHECK_EQ(first->letters[39], 'a');
    CHECK_BYTES(second->letters, "bbb", 3);
    CHECK_PTR(first->next, second);
    haul_type_free(&type);
    end();
}

/* Input in the object, and behind it. */
typedef struct task {
    double factor;
    double *values;
    int count, done;
} task;

static void work_on(void *argument)
{
    task *t = argument;
    int i;
    for (i = 0; i < t->count; i++)
        t->values[i] *= t->factor;
    t->factor = 0;
    t->done++;
}

static void see_task(void *argument)
{
    task *t = argument;
    t->done = t->factor == 3 && t->values[0] == 5 && t->values[1] == 7 ? 100 : -1;
}

static void update_input(int discovered)
{
    haul_type *task_type;
    task *t;
    start(NULL);
    {
        const haul_field fields[] = {
            HAUL_RAW(task, factor, .transfer = HAUL_COPYIN),
            HAUL_ARRAY(task, values, HAUL_COUNT(task, count), .transfer = HAUL_COPYIN),
        };
        CHECK_STATUS(type_make("task", sizeof(task), fields, 2, &task_type), HAUL_OK);
    }
    CHECK_STATUS(haul_type_commit(task_type), HAUL_OK);
    t = haul_arena_new(the_arena, task_type, 1);
    CHECK(t != NULL && (t->values = haul_arena_bytes(the_arena, 2 * sizeof *t->values, 0)) != NULL);
    t->factor = 3;
    t->count = 2;
    t->values[0] = 5, t->values[1] = 7;
    CHECK_STATUS(
        discovered
            ? haul_ship_from(the_device, haul_from_arena_root(the_arena, t, task_type), NULL, NULL,
                             &the_shipment)
            : haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
        HAUL_OK);
    run_on(work_on, t);
    CHECK_STATUS(haul_update_device(the_shipment, RANGE(t, sizeof *t), NULL), HAUL_OK);
    CHECK_STATUS(haul_update_device(the_shipment, RANGE(t->values, 2 * sizeof *t->values), NULL),
                 HAUL_OK);
    run_on(see_task, t);
    CHECK_STATUS(haul_update_host(the_shipment, RANGE(t, sizeof *t), NULL), HAUL_OK);
    CHECK_EQ(t->done, 100);
    CHECK_EQ(t->factor == 3, 1);
    haul_type_free(&task_type);
    end();
}

TEST(ship_arena_special, what_only_goes_there_goes_with_an_update_of_the_device)
{
    update_input(0);
    update_input(1);
}

typedef struct hop {
    struct hop *next;
    double length;
} hop;

TEST(ship_arena_special, a_pointer_that_is_null_there_stays_through_a_direct_return)
{
    static hop outside;
    haul_ship_options how;
    haul_type *hop_type;
    hop *first;
    start(NULL);
    {
        const haul_field fields[] = { HAUL_OBJECT(hop, next, &hop_type) };
        CHECK_STATUS(type_make("hop", sizeof(hop), fields, 1, &hop_type), HAUL_OK);
    }
    CHECK_STATUS(haul_type_commit(hop_type), HAUL_OK);
    first = haul_arena_new(the_arena, hop_type, 1);
    CHECK(first != NULL);
    first->next = &outside;
    memset(&how, 0, sizeof how);
    how.outside = HAUL_OUTSIDE_NULL;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), &how, NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_return_directly(the_shipment), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_PTR(first->next, &outside);
    first->next = first;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    first->next = &outside;
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    CHECK_PTR(first->next, &outside);
    haul_type_free(&hop_type);
    end();
}

/* A pointer to the inside of a node, which lies in front of where the pointer leads; and a tagged
 * one. */
typedef struct hook {
    struct hook *next;
} hook;

typedef struct hooked {
    uintptr_t colour; /* a pointer to a hooked, with two bits of colour, or a small number */
    int value;
    char room[2000];
    hook link; /* leads 5000 bytes behind the next one's beginning */
} hooked;

static haul_type *hooked_type;

static void hooked_open(void)
{
    const haul_field fields[] = {
        HAUL_ADDRESS(hooked, colour, .target = &hooked_type, .tag_bits = 3, .integers_below = 64),
        HAUL_ADDRESS(hooked, link.next, .target = &hooked_type, .base = -5000),
    };
    CHECK_STATUS(type_make("hooked", sizeof(hooked), fields, 2, &hooked_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(hooked_type), HAUL_OK);
}

static hooked *next_hooked(const hooked *h)
{
    return h->link.next ? (hooked *)((uintptr_t)h->link.next - 5000) : NULL;
}

static void look_at_hooked(void *argument)
{
    hooked **h = argument, *second = next_hooked(*h);
    int is_right = (*h)->value == 1 && second->value == 2 && !next_hooked(second) &&
                   second->colour == 17 && (*h)->colour == ((uintptr_t)second | 3);
    (*h)->link.next = (hook *)((uintptr_t)*h + 5000);
    second->value = 20;
    h[1] = is_right ? second : NULL;
}

TEST(ship_arena_special, pointers_beside_their_blocks_and_tagged_ones_are_discovered)
{
    hooked *two, *seen[2] = { NULL, NULL };
    start(NULL);
    hooked_open();
    two = haul_arena_bytes(the_arena, 2 * sizeof(hooked), 0);
    two[0].value = 1;
    two[1].value = 2;
    two[0].colour = (uintptr_t)&two[1] | 3;
    two[1].colour = 17;
    two[0].link.next = (hook *)((uintptr_t)&two[1] + 5000);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, two, hooked_type), NULL,
                                NULL, &the_shipment),
                 HAUL_OK);
    seen[0] = haul_device_pointer(the_shipment, two);
    CHECK_STATUS(haul_host_launch(the_device, look_at_hooked, seen), HAUL_OK);
    CHECK_PTR(seen[1], haul_device_pointer(the_shipment, &two[1]));
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    CHECK_EQ(two[1].value, 20);
    CHECK_PTR(next_hooked(&two[0]), &two[0]);
    CHECK_EQ(two[1].colour, 17);
    CHECK_EQ(two[0].colour, (uintptr_t)&two[1] | 3);
    haul_type_free(&hooked_type);
    end();
}

/* ---- Elements that reach into one another. */

TEST(ship_arena_special, data_of_elements_that_lie_between_one_another_comes_back)
{
    haul_type *column, *narrow;
    int32_t *matrix;
    int i;
    start(NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "entry", 4, &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_vector(3, 1, 4, narrow, &column), HAUL_OK);
    haul_type_free(&narrow);
    CHECK_STATUS(haul_type_create_resized(column, 0, 4, &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_commit(narrow), HAUL_OK);
    matrix = haul_arena_new(the_arena, narrow, 4); /* the columns of a matrix of 3 x 4 */
    for (i = 0; i < 12; i++)
        matrix[i] = i;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    for (i = 0; i < 12; i++)
        matrix[i] = 0;
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (i = 0; i < 12; i++)
        CHECK_EQ(matrix[i], i);
    haul_type_free(&narrow);
    haul_type_free(&column);
    end();
}

typedef struct cell {
    int64_t data, cache;
} cell;

enum { COLUMNS = 4, ROWS = 1000 };

/* Changes all, and counts what has not come. */
typedef struct visit {
    cell *cells;
    int wrong;
} visit;

static void visit_cells(void *argument)
{
    visit *v = argument;
    int i;
    for (i = 0; i < ROWS * COLUMNS; i++) {
        v->wrong += v->cells[i].data != i || v->cells[i].cache != 7;
        v->cells[i].data = -i;
        v->cells[i].cache = 8;
    }
}

/* As bytes between objects do. */
TEST(ship_arena_special, skipped_fields_of_columns_that_lie_between_one_another_travel)
{
    static const haul_field fields[] = { HAUL_SKIP(cell, cache) };
    haul_type *cell_type, *column, *narrow, *columns, *matrix;
    visit v = { NULL, 0 };
    cell *cells;
    int i;
    start(NULL);
    cell_type = TYPE_NEW(cell, fields);
    CHECK_STATUS(haul_type_vector(ROWS, 1, COLUMNS, cell_type, &column), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(column, 0, sizeof(cell), &narrow), HAUL_OK);
    CHECK_STATUS(haul_type_contiguous(COLUMNS, narrow, &columns), HAUL_OK);
    CHECK_STATUS(haul_type_create_resized(columns, 0, ROWS * COLUMNS * sizeof(cell), &matrix),
                 HAUL_OK);
    CHECK_STATUS(haul_type_commit(matrix), HAUL_OK);
    cells = haul_arena_new(the_arena, matrix, 1);
    CHECK(cells != NULL);
    for (i = 0; i < ROWS * COLUMNS; i++)
        cells[i].data = i, cells[i].cache = 7;
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    v.cells = haul_device_pointer(the_shipment, cells);
    CHECK_STATUS(haul_host_launch(the_device, visit_cells, &v), HAUL_OK);
    CHECK_EQ(v.wrong, 0);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (i = 0; i < ROWS * COLUMNS; i++) {
        CHECK_EQ(cells[i].data, -i);
        CHECK_EQ(cells[i].cache, 8);
    }
    haul_type_free(&matrix);
    haul_type_free(&columns);
    haul_type_free(&narrow);
    haul_type_free(&column);
    haul_type_free(&cell_type);
    end();
}

enum { ENTRY = 64, ENTRIES = 4 * 4 };

typedef struct behind {
    unsigned char *at, seen[ENTRY];
} behind;

static void look_behind(void *argument)
{
    behind *b = argument;
    memcpy(b->seen, b->at, ENTRY);
    memset(b->at, 7, ENTRY);
}

TEST(ship_arena_special, bytes_behind_a_subarray_belong_to_nobody_and_travel)
{
    static const size_t sizes[] = { 4, 4 }, subsizes[] = { 3, 2 }, starts[] = { 1, 2 };
    haul_type *entry, *part;
    unsigned char *array, *rest;
    haul_arena_info before, after;
    behind b;
    int i;
    start(NULL);
    CHECK_STATUS(haul_type_bytes(type_context(), "entry", ENTRY, &entry), HAUL_OK);
    CHECK_STATUS(haul_type_create_subarray(2, sizes, subsizes, starts, HAUL_ORDER_C, entry, &part),
                 HAUL_OK);
    CHECK_STATUS(haul_type_commit(part), HAUL_OK);
    array = haul_arena_bytes(the_arena, (ENTRIES + 1) * ENTRY, 0);
    rest = array + ENTRIES * ENTRY;
    memset(array, 5, (ENTRIES + 1) * ENTRY);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, array, part), NULL,
                                NULL, &the_shipment),
                 HAUL_OK);
    b.at = haul_device_pointer(the_shipment, rest);
    CHECK_STATUS(haul_host_launch(the_device, look_behind, &b), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (i = 0; i < ENTRY; i++) {
        CHECK_EQ(b.seen[i], 5);
        CHECK_EQ(rest[i], 7);
    }
    haul_arena_get_info(the_arena, &before);
    CHECK(haul_arena_new(the_arena, part, 1) != NULL);
    haul_arena_get_info(the_arena, &after);
    CHECK_EQ(after.used_bytes - before.used_bytes, ENTRIES * ENTRY);
    haul_type_free(&part);
    haul_type_free(&entry);
    end();
}

/* ---- Copies. */

static void check_links(haul_device *device, haul_shipment *shipment, const link *first, int count)
{
    sight seen;
    memset(&seen, 0, sizeof seen);
    seen.from = haul_device_pointer(shipment, first);
    CHECK_STATUS(haul_host_launch(device, links_look, &seen), HAUL_OK);
    check_sight(&seen, count);
}

static haul_device *second_device(void)
{
    test_device options;
    haul_device *device;
    memset(&options, 0, sizeof options);
    options.context = haul_device_context(the_device);
    CHECK_STATUS(test_open(haul_host_device(), &options, &device), HAUL_OK);
    return device;
}

/* From base to base, with nothing but the bits: there, on to another device, back, and home. */
static void wander(int count)
{
    haul_device *other;
    haul_shipment *next;
    link *first;
    int step;
    start(NULL);
    other = second_device();
    first = links_make(the_arena, count);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    for (step = 0; step < 5; step++) {
        haul_device *to = step % 2 ? the_device : other;
        CHECK_STATUS(haul_shipment_copy(the_shipment, to, &next), HAUL_OK);
        CHECK(device_address(next, first) != device_address(the_shipment, first));
        haul_shipment_free(&the_shipment);
        the_shipment = next;
        check_links(to, the_shipment, first, count);
    }
    CHECK_STATUS(haul_host_launch(other, links_double, haul_device_pointer(the_shipment, first)),
                 HAUL_OK);
    CHECK_STATUS(haul_update_host(the_shipment, WITH_POINTERS, NULL), HAUL_OK);
    check_doubled(first);
    CHECK_STATUS(haul_update_device(the_shipment, NULL, NULL), HAUL_OK);
    haul_shipment_free(&the_shipment);
    haul_device_close(&other);
    end();
}

TEST(ship_arena_special, a_typed_arena_moves_from_base_to_base_any_number_of_times)
{
    wander(FEW);
    wander(MANY);
}

TEST(ship_arena_special, a_copy_has_what_kernels_have_written_and_goes_its_own_way)
{
    haul_shipment *copy;
    link *first;
    start(NULL);
    first = links_make(the_arena, FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment),
                 HAUL_OK);
    run_on(links_double, first);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_OK);
    run_on(links_double, first);
    CHECK_STATUS(haul_unmarshal(copy), HAUL_OK);
    check_doubled(first);
    haul_shipment_free(&copy);
    haul_arena_reset(the_arena);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_ERROR_STALE);
    CHECK_PTR(copy, NULL);
    end();
}

TEST(ship_arena_special, pointers_off_the_grid_and_discovered_ones_are_copied)
{
    haul_shipment *copy;
    box *all = start_boxes(FEW);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, all, box_type), NULL,
                                NULL, &the_shipment),
                 HAUL_OK);
    CHECK_STATUS(haul_shipment_copy(the_shipment, the_device, &copy), HAUL_OK);
    haul_shipment_free(&the_shipment);
    the_shipment = copy;
    check_boxes(the_shipment, all, FEW);
    CHECK_STATUS(haul_reship(the_shipment, NULL), HAUL_OK);
    check_boxes(the_shipment, all, FEW);
    end_boxes();
}

/* ---- Every fault. */

static haul_shipment *the_copy;
static box *the_boxes;
static int is_discovered;

static haul_status ship_boxes(void)
{
    if (is_discovered)
        return haul_ship_from(the_device, haul_from_arena_root(the_arena, the_boxes, box_type),
                              NULL, NULL, &the_shipment);
    return haul_ship_from(the_device, haul_from_arena(the_arena), NULL, NULL, &the_shipment);
}

/* Ships, copies, and brings pointers back from the copy. */
static haul_status journey(void *user)
{
    haul_status status = ship_boxes();
    (void)user;
    if (status == HAUL_OK)
        status = haul_shipment_copy(the_shipment, the_device, &the_copy);
    if (status == HAUL_OK)
        status = haul_update_host(the_copy, WITH_POINTERS, NULL);
    return status;
}

static void check(void *user, haul_status status)
{
    int i;
    (void)user;
    (void)status;
    for (i = 0; i < FEW; i++) {
        CHECK_EQ(number_of(the_boxes[i].at), i);
        CHECK_PTR(get(the_boxes[i].at + NEXT), i + 1 < FEW ? the_boxes[i + 1].at : NULL);
    }
    haul_shipment_free(&the_copy);
    haul_shipment_free(&the_shipment);
}

static void prepare(void *user, fault_plan *plan)
{
    CHECK_STATUS(fault_open(plan, NULL, &the_device), HAUL_OK);
    boxes_open();
    CHECK_STATUS(test_arena(the_device, NULL, &the_arena), HAUL_OK);
    the_boxes = fill_boxes(haul_arena_new(the_arena, box_type, FEW), FEW);
    CHECK_STATUS(journey(user), HAUL_OK);
    check(user, HAUL_OK);
}

static void finish(void *user)
{
    (void)user;
    haul_arena_free(&the_arena);
    haul_device_close(&the_device);
    haul_type_free(&box_type);
}

static void travel_with_faults(int discovered)
{
    fault_operation operation = {
        .prepare = prepare, .run = journey, .check = check, .finish = finish
    };
    is_discovered = discovered;
    fault_everywhere(&operation);
}

TEST(ship_arena_special, shipping_and_copying_survive_every_fault_H1_H2_D1_D4_D5_D6)
{
    travel_with_faults(0);
    travel_with_faults(1);
}

/* ---- To the byte: what is withheld or becomes another is what is described, whoever shares its
 * granule. */

enum { OF_NOBODY, OF_DATA, OF_SKIP, OF_NULL, OF_IN, OF_OUT, OF_POINTER, KINDS };
enum { CHUNK = 1024, FIELDS = 24, ITEM_WORDS = 9 };

typedef struct to_the_byte {
    random_source random;
    haul_field fields[FIELDS];
    size_t ref_count, bytes; /* of an object: rows, and how long it is */
    unsigned char of[ITEM_WORDS * sizeof(void *)];
    unsigned char chunk_of[CHUNK]; /* of each byte of the chunk */
    unsigned char before[CHUNK], seen[CHUNK];
    unsigned char *chunk, *there;
} to_the_byte;

static haul_type *item_type;

static void add_row(to_the_byte *b, size_t at, size_t bytes, int of)
{
    haul_field *field = &b->fields[b->ref_count++];
    static const char *const names[FIELDS] = { "next", "b", "c", "d", "e", "f", "g", "h",
                                               "i",    "j", "k", "l", "m", "n", "o", "p",
                                               "q",    "r", "s", "t", "u", "v", "w", "x" };
    memset(field, 0, sizeof *field);
    field->name = names[b->ref_count - 1];
    field->kind = of == OF_POINTER                 ? HAUL_FIELD_POINTER
                  : of == OF_SKIP || of == OF_NULL ? HAUL_FIELD_SKIP
                                                   : HAUL_FIELD_RAW;
    field->offset = at;
    field->bytes = bytes;
    field->target = of == OF_POINTER ? &item_type : NULL;
    field->transfer = of == OF_IN ? HAUL_COPYIN : of == OF_OUT ? HAUL_COPYOUT : HAUL_COPY;
}

/* A pointer to the next one, then runs of bytes of any length and kind; some have no row. */
static void draw_type(to_the_byte *b)
{
    size_t at = sizeof(void *), run;
    b->ref_count = 0;
    b->bytes = sizeof(void *) * random_between(&b->random, 2, ITEM_WORDS);
    add_row(b, 0, sizeof(void *), OF_POINTER);
    memset(b->of, OF_POINTER, sizeof(void *));
    for (; at < b->bytes; at += run) {
        int of = (int)random_between(&b->random, OF_DATA, OF_OUT);
        run = random_between(&b->random, 1, 20);
        if (of == OF_NULL && (at % sizeof(void *) != 0 || at + sizeof(void *) > b->bytes))
            of = OF_SKIP;
        if (of == OF_NULL)
            run = sizeof(void *);
        if (run > b->bytes - at)
            run = b->bytes - at;
        if (b->ref_count == FIELDS)
            of = OF_DATA;
        else if (of != OF_DATA)
            add_row(b, at, run, of);
        memset(b->of + at, of, run);
    }
    CHECK_STATUS(type_make("item", b->bytes, b->fields, b->ref_count, &item_type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(item_type), HAUL_OK);
}

/* Items in a row, some with a few words of nobody's between; each leads to the one behind it. */
static unsigned char *place_items(to_the_byte *b)
{
    unsigned char *first = NULL, *last = NULL;
    size_t at;
    random_fill(&b->random, b->chunk, CHUNK);
    memset(b->chunk_of, OF_NOBODY, CHUNK);
    for (at = sizeof(void *) * random_below(&b->random, 4); at + b->bytes <= CHUNK;
         at += b->bytes + sizeof(void *) * random_below(&b->random, 4)) {
        unsigned char *item = b->chunk + at;
        memcpy(b->chunk_of + at, b->of, b->bytes);
        memset(item, 0, sizeof(void *));
        if (last)
            memcpy(last, &item, sizeof item);
        first = first ? first : item;
        last = item;
    }
    return first;
}

static void look_and_change(void *argument)
{
    to_the_byte *b = argument;
    size_t i;
    memcpy(b->seen, b->there, CHUNK);
    for (i = 0; i < CHUNK; i++)
        if (b->chunk_of[i] != OF_POINTER)
            b->there[i] ^= 0x55;
}

static void check_byte(const to_the_byte *b, size_t i)
{
    const unsigned char of = b->chunk_of[i],
                        sent = of == OF_SKIP || of == OF_NULL ? 0 : b->before[i];
    const int returns = of == OF_NOBODY || of == OF_DATA || of == OF_OUT;
    if (of != OF_POINTER)
        CHECK_EQ(b->seen[i], sent);
    CHECK_EQ(b->chunk[i], returns ? (unsigned char)(sent ^ 0x55) : b->before[i]);
}

static void cross_to_the_byte(to_the_byte *b)
{
    unsigned char *first;
    size_t i;
    draw_type(b);
    b->chunk = haul_arena_bytes(the_arena, CHUNK, 0);
    CHECK(b->chunk != NULL);
    first = place_items(b);
    memcpy(b->before, b->chunk, CHUNK);
    CHECK_STATUS(haul_ship_from(the_device, haul_from_arena_root(the_arena, first, item_type), NULL,
                                NULL, &the_shipment),
                 HAUL_OK);
    b->there = haul_device_pointer(the_shipment, b->chunk);
    CHECK_STATUS(haul_host_launch(the_device, look_and_change, b), HAUL_OK);
    CHECK_STATUS(haul_unmarshal(the_shipment), HAUL_OK);
    for (i = 0; i < CHUNK; i++)
        check_byte(b, i);
    haul_shipment_free(&the_shipment);
    haul_type_free(&item_type);
    CHECK_STATUS(haul_arena_reset(the_arena), HAUL_OK);
}

TEST(ship_arena_special, each_byte_beside_one_that_stays_or_is_another_there_travels_as_it_is)
{
    to_the_byte b;
    int round;
    memset(&b, 0, sizeof b);
    b.random = random_start("bytes beside others");
    start(NULL);
    for (round = 0; round < 300; round++)
        cross_to_the_byte(&b);
    end();
}
