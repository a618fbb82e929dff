/* Limits: pointers to the end of a room, which in the copy are the end of the elements that travel
 * (HAUL_END_OF). So a container whose capacity stays behind is full there.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"

typedef struct vec {
    int32_t *begin, *end, *room;
} vec;

/* The same with a count, as an array of pointers, and with a condition. */
typedef struct table {
    vec **all, **all_room;
    int32_t count, is_open;
    union {
        struct {
            int32_t *cells, *room;
        } open;
        int64_t number[2];
    } u;
    vec own;
} table;

#pragma pack(push, 1)
typedef struct packed {
    char head;
    vec v;
} packed;
#pragma pack(pop)

static haul_type *vec_type, *table_type, *packed_type;

static const haul_field vec_fields[] = { HAUL_ARRAY(vec, begin, HAUL_UNTIL(vec, end)),
                                         HAUL_END_OF(vec, room, begin) };
#define OPEN .when = HAUL_EQUALS(table, is_open, 1)
static const haul_field table_fields[] = {
    HAUL_POINTERS(table, all, &vec_type, HAUL_COUNT(table, count)),
    HAUL_END_OF(table, all_room, all),
    HAUL_ARRAY(table, u.open.cells, HAUL_COUNT_TIMES(table, count, 2), OPEN),
    HAUL_END_OF(table, u.open.room, u.open.cells, OPEN),
    HAUL_RAW(table, u.number, .when = HAUL_EQUALS(table, is_open, 0)),
    HAUL_EMBED(table, own, &vec_type)
};
static const haul_field packed_fields[] = { HAUL_ARRAY(packed, v.begin, HAUL_UNTIL(packed, v.end),
                                                       .packed = 1),
                                            HAUL_END_OF(packed, v.room, v.begin, .packed = 1) };

static void open_types(void)
{
    vec_type = TYPE_OPEN(vec, vec_fields);
    table_type = TYPE_OPEN(table, table_fields);
    packed_type = TYPE_OPEN(packed, packed_fields);
    type_commit(packed_type);
    type_commit(table_type);
}

static void close_types(void)
{
    haul_type_free(&vec_type);
    haul_type_free(&table_type);
    haul_type_free(&packed_type);
}

static int32_t *numbers(size_t count)
{
    int32_t *all = take(count * sizeof *all, 8);
    size_t i;
    for (i = 0; i < count; i++)
        all[i] = (int32_t)(i + 1);
    return all;
}

static void fill_vec(vec *v, int32_t *begin, size_t count, size_t capacity)
{
    v->begin = begin;
    v->end = begin ? begin + count : NULL;
    v->room = begin ? begin + capacity : NULL;
    points(&v->begin);
    points(&v->end);
    own_check(&v->room, sizeof v->room);
}

static vec *vec_make(int32_t *begin, size_t count, size_t capacity)
{
    vec *v = take(sizeof *v, 8);
    fill_vec(v, begin, count, capacity);
    return v;
}

/* ---- Plans. */

static void check_vec(const vec *v)
{
    CHECK_EQ(copied_word(&v->room), copied_word(&v->end));
    CHECK_EQ(copied_word(&v->end) - copied_word(&v->begin),
             (uintptr_t)v->end - (uintptr_t)v->begin);
}

static void check_table(const table *t, int is_open)
{
    const uintptr_t cells = copied_word(&t->u.open.cells);
    int32_t i;
    for (i = 0; i < t->count; i++)
        check_vec(t->all[i]);
    check_vec(&t->own);
    CHECK_EQ(copied_word(&t->all_room), copied_word(&t->all) + (size_t)t->count * WORD);
    if (is_open)
        CHECK_EQ(copied_word(&t->u.open.room), cells + 2 * (size_t)t->count * sizeof(int32_t));
}

/* Behind the elements lie: the room of the vector, another object, and bytes of nobody. */
static table *table_make(int is_open)
{
    table *t = take(sizeof *t, 8);
    int32_t i, *shared = numbers(8);
    t->count = 5;
    t->all = take(5 * sizeof *t->all, 8);
    t->all_room = t->all + 9;
    points(&t->all);
    own_check(&t->all_room, WORD);
    t->all[0] = vec_make(numbers(6), 6, 100);
    t->all[1] = vec_make(numbers(4), 4, 4);
    t->all[2] = vec_make(shared, 8, 16);
    t->all[3] = vec_make(shared, 3, 8);     /* its end lies in the last one's elements */
    t->all[4] = vec_make(take(0, 8), 0, 9); /* reserved, and empty */
    for (i = 0; i < t->count; i++)
        points(&t->all[i]);
    t->is_open = is_open;
    t->u.number[0] = 5;
    t->u.number[1] = -6;
    if (is_open) {
        t->u.open.cells = numbers(10);
        t->u.open.room = NULL; /* whatever it is */
        hole(&t->u, sizeof t->u);
        points(&t->u.open.cells);
        own_check(&t->u.open.room, WORD);
    }
    fill_vec(&t->own, NULL, 0, 0);
    t->own.room = (int32_t *)(uintptr_t)0x10; /* this too */
    return t;
}

/* A table in a lab with a plan of it. */
static table *table_start(int is_open)
{
    table *t;
    lab_start();
    open_types();
    t = table_make(is_open);
    lab_pack(t, table_type, 1);
    check_table(t, is_open);
    return t;
}

static void table_end(void)
{
    close_types();
    lab_end();
}

TEST(limit_pointers, in_the_copy_the_end_of_the_room_is_the_end_of_the_elements)
{
    haul_root root;
    table *t = table_start(1);
    root.address = t;
    root.type = table_type;
    root.count = 1;
    pack_ordered(&root, 1);
    check_table(t, 1);
    table_end();
}

TEST(limit_pointers, a_condition_that_does_not_hold_leaves_the_bytes_to_another_arm)
{
    table_start(0);
    table_end();
}

TEST(limit_pointers, off_the_grid_too)
{
    packed *p;
    vec v;
    lab_start();
    open_types();
    p = take(sizeof *p, 8);
    v.begin = numbers(3);
    v.end = v.begin + 3;
    v.room = v.begin + 30;
    memcpy(&p->v, &v, sizeof v);
    points((char *)p + offsetof(packed, v.begin));
    points((char *)p + offsetof(packed, v.end));
    own_check((char *)p + offsetof(packed, v.room), WORD);
    lab_pack(p, packed_type, 1);
    CHECK_EQ(copied_word((char *)p + offsetof(packed, v.room)),
             copied_word((char *)p + offsetof(packed, v.end)));
    close_types();
    lab_end();
}

TEST(limit_pointers, a_new_end_of_the_room_is_no_new_graph_but_a_new_count_is)
{
    table *t = table_start(1);
    t->all[0]->room = NULL;
    t->all_room = NULL;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_OK);
    check_table(t, 1);
    CHECK_STATUS(haul_plan_unpack(the.plan, the.arena, the.bytes, 0), HAUL_OK);
    CHECK_PTR(t->all_room, NULL);
    t->all[0]->end--;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    t->all[0]->end++;
    t->count--;
    CHECK_STATUS(haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap), HAUL_ERROR_STALE);
    table_end();
}

TEST(limit_pointers, a_wrong_end_is_told_of_the_array)
{
    vec *v;
    lab_start();
    open_types();
    v = vec_make(numbers(6), 6, 100);
    v->end = v->begin - 1;
    lab_refuse(v, vec_type, HAUL_ERROR_GRAPH, "root.begin", "its end lies before its begin");
    close_types();
    lab_end();
}

/* ---- Devices. */

/* Pushes where there is room, as a vector would, and takes the last element of a vector away. */
static void push_and_pop(void *argument)
{
    table *t = argument;
    int32_t i;
    for (i = 0; i < t->count; i++) {
        vec *v = t->all[i];
        if (v->end != v->room)
            *v->end++ = -1;
        else if (v->begin != v->end)
            v->begin[0] += 100;
    }
    t->all[0]->end--;
    t->all[1]->room = t->all[1]->begin;
    t->all[2]->room = (int32_t *)t;
    t->all[3]->room = NULL;
}

static void ship_push_and_return(int ordered, int pointers)
{
    haul_ship_options how;
    haul_update_options back;
    haul_device *device;
    haul_shipment *s = NULL;
    table *t;
    vec old[5];
    int i;
    memset(&how, 0, sizeof how);
    memset(&back, 0, sizeof back);
    how.ordered = ordered;
    back.pointers = pointers;
    lab_start();
    open_types();
    t = table_make(1);
    for (i = 0; i < 5; i++)
        old[i] = *t->all[i];
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, t, table_type, 1, &how, &s), HAUL_OK);
    CHECK_STATUS(haul_host_launch(device, push_and_pop, haul_device_pointer(s, t)), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, &back, NULL), HAUL_OK);
    for (i = 0; i < 5; i++) {
        CHECK_PTR(t->all[i]->room, old[i].room);
        CHECK_PTR(t->all[i]->begin, old[i].begin);
        CHECK_PTR(t->all[i]->end, old[i].end - (pointers && i == 0));
    }
    CHECK_EQ(t->all[0]->begin[0], 101);
    CHECK_EQ(t->all[2]->begin[0], 201); /* two vectors have it */
    CHECK_EQ(t->all[3]->begin[2], 3);
    CHECK_PTR(t->u.open.room, NULL);
    haul_shipment_free(&s);
    haul_device_close(&device);
    close_types();
    lab_end();
}

TEST(limit_pointers, nothing_is_pushed_behind_the_elements_there_and_the_host_keeps_its_room)
{
    ship_push_and_return(0, 0);
    ship_push_and_return(0, 1);
    ship_push_and_return(1, 0);
    ship_push_and_return(1, 1);
}

static void push_one(void *argument)
{
    vec *v = argument;
    if (v->end != v->room)
        *v->end++ = 77;
}

TEST(limit_pointers, an_arena_is_sent_as_it_lies_with_the_room)
{
    haul_update_options back;
    haul_device *device;
    haul_arena *arena;
    haul_shipment *s = NULL;
    vec *v;
    int32_t *all;
    int discovered;
    memset(&back, 0, sizeof back);
    back.pointers = 1;
    open_types();
    for (discovered = 0; discovered < 2; discovered++) {
        CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
        CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
        CHECK((all = haul_arena_bytes(arena, 40, 0)) != NULL);
        v = discovered ? haul_arena_bytes(arena, sizeof *v, 0) : haul_arena_new(arena, vec_type, 1);
        CHECK(v != NULL);
        memset(all, 0, 40);
        v->begin = all;
        v->end = all + 3;
        v->room = all + 10;
        CHECK_STATUS(haul_ship_from(device,
                                    discovered ? haul_from_arena_root(arena, v, vec_type)
                                               : haul_from_arena(arena),
                                    NULL, NULL, &s),
                     HAUL_OK);
        CHECK_STATUS(haul_host_launch(device, push_one, haul_device_pointer(s, v)), HAUL_OK);
        CHECK_STATUS(haul_update_host(s, &back, NULL), HAUL_OK);
        CHECK_EQ(all[3], 77);
        CHECK_PTR(v->end, all + 4);
        CHECK_PTR(v->room, all + 10);
        haul_shipment_free(&s);
        haul_arena_free(&arena);
        haul_device_close(&device);
    }
    close_types();
}

/* ---- What is refused. */

typedef struct thing {
    int32_t count, kind;
    int32_t *begin, *room, *end;
} thing;

static void refuse(const haul_field *fields, size_t count, const char *path, const char *words)
{
    haul_type *type = type_open("thing", sizeof(thing), fields, count);
    CHECK_STATUS(haul_type_commit(type), HAUL_ERROR_TYPE);
    CHECK_STR(type_error()->path, path);
    CHECK_HAS(type_error()->text, words);
    haul_type_free(&type);
}

TEST(limit_pointers, is_the_end_of_an_array_that_the_struct_owns_and_counts)
{
    static const haul_count wrong[] = { HAUL_ONE, HAUL_FIXED(4), HAUL_TERMINATED };
    haul_field fields[] = { HAUL_ARRAY(thing, begin, HAUL_COUNT(thing, count)),
                            HAUL_END_OF(thing, room, begin) };
    const haul_field good = fields[0];
    size_t i;
    for (i = 0; i < COUNT_OF(wrong); i++) {
        fields[0].count = wrong[i];
        refuse(fields, 2, "thing.room", "no pointer to a counted array");
    }
    fields[0] = good;
    fields[0].ownership = HAUL_BORROWED;
    refuse(fields, 2, "thing.room", "names field begin, which has optional members");
    fields[0] = good;
    fields[0].tag_bits = 1;
    refuse(fields, 2, "thing.room", "names field begin, which has optional members");
    fields[0] = good;
    fields[0].when = (haul_when)HAUL_EQUALS(thing, kind, 1);
    refuse(fields, 2, "thing.room", "no pointer to a counted array with the same `.when`");
    refuse(fields + 1, 1, "thing.room", "no pointer to a counted array");
    fields[0] = good;
    fields[1].end_of.offset = offsetof(thing, room);
    refuse(fields, 2, "thing.room", "no pointer to a counted array");
}

TEST(limit_pointers, has_no_other_members)
{
    haul_field fields[] = { HAUL_ARRAY(thing, begin, HAUL_COUNT(thing, count)),
                            HAUL_END_OF(thing, room, begin), HAUL_SKIP(thing, end) };
    const haul_field good = fields[1];
    fields[1].ownership = HAUL_EXTERNAL;
    refuse(fields, 3, "thing.room", "`.when`, `.else_raw` and `.packed` only");
    fields[1] = good;
    fields[1].transfer = HAUL_COPYIN;
    refuse(fields, 3, "thing.room", "`.when`, `.else_raw` and `.packed` only");
    fields[1] = good;
    fields[1].count = (haul_count)HAUL_COUNT(thing, count);
    refuse(fields, 3, "thing.room", "`.when`, `.else_raw` and `.packed` only");
    fields[1] = good;
    fields[2].end_of = good.end_of;
    refuse(fields, 3, "thing.end", "no pointer can have");
    fields[0] = (haul_field)HAUL_ARRAY(thing, begin, HAUL_UNTIL(thing, room));
    refuse(fields, 2, "thing.begin", "overlaps field room");
}
