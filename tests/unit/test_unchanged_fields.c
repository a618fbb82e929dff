/* Integers that must come back unchanged: counts, tags, conditions and terminators, which the
 * host's own pointers rely on.
 *
 * Faults by number (docs/testing.md): D14 (device results are hostile).
 */
#define _DEFAULT_SOURCE
#include "ship_faults.h"
#include "support/open.h"
#include "support/short_forms.h"
#include "support/types.h"

typedef struct part part;
struct part {
    int32_t kind;
    uint16_t count;
    uint8_t input; /* HAUL_COPYIN */
    uint8_t flags;
    int64_t wide; /* of a value for which a guard has no room */
    union {
        part *child;
        uint64_t number;
    } u;
    int32_t *numbers; /* count of them */
    char *name;
    int16_t *list;  /* ends at -1 */
    double *many;   /* wide of them */
    int32_t *extra; /* input of them, if flags & 1 */
};

static haul_type *part_type;

static const haul_field part_fields[] = {
    HAUL_OBJECT(part, u.child, &part_type, .when = HAUL_EQUALS(part, kind, 1)),
    HAUL_RAW(part, u.number, .when = HAUL_DIFFERS(part, kind, 1), .else_raw = 1),
    HAUL_ARRAY(part, numbers, HAUL_COUNT(part, count)),
    HAUL_STRING(part, name),
    HAUL_ARRAY(part, list, HAUL_TERMINATED_BY(-1)),
    HAUL_ARRAY(part, many, HAUL_COUNT(part, wide)),
    HAUL_RAW(part, input, .transfer = HAUL_COPYIN),
    HAUL_ARRAY(part, extra, HAUL_COUNT(part, input), .when = HAUL_ANY_BIT(part, flags, 1)),
};

enum { MANY = 20000 };

/* In several blocks, and with counts in the first and the last of them. */
typedef struct site {
    part first;
    int32_t numbers[4];
    char name[8];
    int16_t list[8];
    double many[MANY];
    int32_t extra[3];
    part second;
} site;

typedef struct lab {
    site *at, before;
    haul_device *device;
    haul_shipment *s;
    haul_arena *arena;
} lab;

static lab the_lab;

static void site_fill(site *at)
{
    int i;
    memset(at, 0, sizeof *at);
    at->first.kind = 1;
    at->first.u.child = &at->second;
    at->first.count = 3;
    at->first.numbers = at->numbers;
    at->first.name = at->name;
    strcpy(at->name, "part");
    at->first.list = at->list;
    at->list[0] = 3;
    at->list[1] = -1;
    at->first.wide = MANY;
    at->first.many = at->many;
    for (i = 0; i < MANY; i++)
        at->many[i] = i;
    at->first.flags = 1;
    at->first.input = 3;
    at->first.extra = at->extra;
    at->second.kind = 7;
    at->second.u.number = 70;
}

/* One way back, and how the graph is shipped for it. */
typedef struct way {
    const char *name;
    haul_status (*back)(void);
    haul_ship_options options;
    int in_pieces, in_arena, direct;
} way;

static haul_status plain(void)
{
    return haul_unmarshal(the_lab.s);
}

static haul_status with_pointers(void)
{
    return haul_update_host(the_lab.s, WITH_POINTERS, NULL);
}

static haul_status later(void)
{
    haul_status status = haul_update_host(the_lab.s, NULL, OWN_STREAM);
    return status == HAUL_OK ? haul_wait(the_lab.s) : status;
}

static haul_status pointers_later(void)
{
    haul_status status = haul_update_host(the_lab.s, WITH_POINTERS, OWN_STREAM);
    return status == HAUL_OK ? haul_wait(the_lab.s) : status;
}

static haul_status whole(void)
{
    return haul_update_host(the_lab.s, ALL_OR_NOTHING, NULL);
}

static haul_status by_update(void)
{
    return haul_update_host(the_lab.s, RANGE(the_lab.at, sizeof *the_lab.at), NULL);
}

static haul_status by_update_later(void)
{
    haul_status status =
        haul_update_host(the_lab.s, RANGE(the_lab.at, sizeof *the_lab.at), OWN_STREAM);
    return status == HAUL_OK ? haul_wait(the_lab.s) : status;
}

static const way ways[] = {
    { "plain", plain, { .ordered = 0 }, 0, 0, 0 },
    { "with pointers", with_pointers, { .ordered = 0 }, 0, 0, 0 },
    { "whole", whole, { .ordered = 0 }, 1, 0, 0 },
    { "in pieces", plain, { .ordered = 0 }, 1, 0, 0 },
    { "ordered", plain, { .ordered = 1 }, 0, 0, 0 },
    { "ordered, with pointers", with_pointers, { .ordered = 1 }, 0, 0, 0 },
    { "later", later, { .ordered = 0 }, 0, 0, 0 },
    { "pointers later", pointers_later, { .ordered = 0 }, 0, 0, 0 },
    { "an update", by_update, { .ordered = 0 }, 0, 0, 0 },
    { "an update of an ordered arena", by_update, { .ordered = 1 }, 0, 0, 0 },
    { "an update later", by_update_later, { .ordered = 0 }, 0, 0, 0 },
    { "locked", plain, { .lock_source = 1 }, 0, 0, 1 },
    { "an arena", plain, { .ordered = 0 }, 0, 1, 0 },
    { "an arena, with pointers", with_pointers, { .ordered = 0 }, 0, 1, 0 },
    { "an arena in pieces", plain, { .ordered = 0 }, 1, 1, 0 },
    { "an arena later", later, { .ordered = 0 }, 0, 1, 0 },
    { "an update of an arena", by_update, { .ordered = 0 }, 0, 1, 0 },
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static void ship_site(const way *w, int lets_change)
{
    haul_ship_options options = w->options;
    haul_ship_options in_arena;
    memset(&in_arena, 0, sizeof in_arena);
    options.let_counts_change = in_arena.let_counts_change = lets_change;
    if (w->in_arena)
        CHECK_STATUS(
            haul_ship_from(the_lab.device,
                           haul_from_arena_root(the_lab.arena, &the_lab.at->first, part_type),
                           &in_arena, NULL, &the_lab.s),
            HAUL_OK);
    else
        CHECK_STATUS(
            haul_ship(the_lab.device, &the_lab.at->first, part_type, 1, &options, &the_lab.s),
            HAUL_OK);
    if (w->direct) {
        CHECK_STATUS(haul_update_device(the_lab.s, NULL, NULL), HAUL_OK);
        CHECK_STATUS(haul_update_device(the_lab.s, NULL, NULL), HAUL_OK);
    }
}

static void lab_open(fault_plan *plan, const way *w, int lets_change)
{
    memset(&the_lab, 0, sizeof the_lab);
    memset(plan, 0, sizeof *plan);
    plan->chunk_bytes = !w->in_pieces ? 0 : w->in_arena ? 4096 : 1;
    CHECK_STATUS(type_make("part", sizeof(part), part_fields,
                           sizeof part_fields / sizeof part_fields[0], &part_type),
                 HAUL_OK);
    CHECK_STATUS(haul_type_commit(part_type), HAUL_OK);
    CHECK_STATUS(fault_open(plan, NULL, &the_lab.device), HAUL_OK);
    if (w->in_pieces)
        the_lab.device->whole_bytes = 0;
    if (w->in_arena) {
        CHECK_STATUS(haul_arena_create(haul_device_context(the_lab.device), NULL, &the_lab.arena),
                     HAUL_OK);
        the_lab.at = haul_arena_bytes(the_lab.arena, sizeof *the_lab.at, 0);
    } else {
        the_lab.at = malloc(sizeof *the_lab.at);
    }
    CHECK(the_lab.at != NULL);
    site_fill(the_lab.at);
    memcpy(&the_lab.before, the_lab.at, sizeof the_lab.before);
    ship_site(w, lets_change);
}

static void lab_close(const fault_plan *plan)
{
    haul_shipment_free(&the_lab.s);
    if (the_lab.arena)
        haul_arena_free(&the_lab.arena);
    else
        free(the_lab.at);
    haul_device_close(&the_lab.device);
    haul_type_free(&part_type);
    fault_check_clean(plan);
    check_note(NULL);
}

/* What the device writes over a field. */
typedef struct poke {
    size_t at, bytes;
    int64_t value;
    const char *path, *text;
} poke;

#define POKE(member, value, path, text)                                                            \
    {                                                                                              \
        offsetof(site, member), sizeof(((site *)0)->member), value, path, text                     \
    }

static const poke pokes[] = {
    POKE(first.kind, 2, "root.u.child", "from 1 to 2"),
    POKE(second.kind, 1, "root.u.child.u.child", "from 7 to 1"),
    POKE(first.count, 2, "root.numbers", "from 3 to 2"),
    POKE(first.wide, MANY + 1, "root.many", "from 20000 to 20001"),
    POKE(first.wide, 3, "root.many", "from 20000 to 3"),
    POKE(second.wide, -1, "root.u.child.many", "from 0 to -1"),
    POKE(first.flags, 2, "root.extra", "from 1 to 2"),
    POKE(name[4], 'x', "root.name", "from 0 to 120"),
    POKE(list[1], 5, "root.list", "from -1 to 5"),
};

enum { POKES = sizeof pokes / sizeof pokes[0] };

static void write_there(const poke *p, int64_t value)
{
    unsigned char bytes[8];
    const uint8_t u8 = (uint8_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;
    memcpy(bytes,
           p->bytes == 1   ? (const void *)&u8
           : p->bytes == 2 ? (const void *)&u16
           : p->bytes == 4 ? (const void *)&u32
                           : (const void *)&value,
           p->bytes);
    device_write(the_lab.device, device_address(the_lab.s, (unsigned char *)the_lab.at + p->at),
                 bytes, p->bytes);
}

static int64_t read_here(const site *at, const poke *p)
{
    const unsigned char *from = (const unsigned char *)at + p->at;
    int64_t i64;
    int32_t i32;
    int16_t i16;
    int8_t i8;
    switch (p->bytes) {
    case 1:
        memcpy(&i8, from, sizeof i8);
        return i8;
    case 2:
        memcpy(&i16, from, sizeof i16);
        return i16;
    case 4:
        memcpy(&i32, from, sizeof i32);
        return i32;
    default:
        memcpy(&i64, from, sizeof i64);
        return i64;
    }
}

/* A result, in front of the field or behind it. */
static void write_results(void)
{
    double result = 0.5;
    int32_t number = 77;
    device_write(the_lab.device, device_address(the_lab.s, &the_lab.at->many[0]), &result,
                 sizeof result);
    device_write(the_lab.device, device_address(the_lab.s, &the_lab.at->many[MANY - 1]), &result,
                 sizeof result);
    device_write(the_lab.device, device_address(the_lab.s, &the_lab.at->numbers[1]), &number,
                 sizeof number);
}

static void check_results_are_here(int64_t value, const poke *p)
{
    CHECK_EQ(the_lab.at->many[0] == 0.5 && the_lab.at->many[MANY - 1] == 0.5, 1);
    CHECK_EQ(the_lab.at->numbers[1], 77);
    CHECK_EQ(read_here(the_lab.at, p), value);
    CHECK_PTR(the_lab.at->first.numbers, the_lab.at->numbers);
}

static void refuse_then_take(const way *w, const poke *p)
{
    fault_plan plan;
    char path[64];
    int64_t was;
    lab_open(&plan, w, 0);
    was = read_here(the_lab.at, p);
    snprintf(path, sizeof path, "arena+%zu", p->at);
    write_results();
    write_there(p, p->value);
    CHECK_STATUS(w->back(), HAUL_ERROR_GRAPH);
    CHECK_HAS(haul_context_error(haul_device_context(the_lab.device))->text, p->text);
    CHECK_HAS(haul_context_error(haul_device_context(the_lab.device))->text, "let_counts_change");
    CHECK_BYTES(the_lab.at, &the_lab.before, sizeof the_lab.before);
    CHECK_STR(haul_context_error(haul_device_context(the_lab.device))->path,
              w->in_arena ? path : p->path);
    write_there(p, was);
    CHECK_STATUS(w->back(), HAUL_OK);
    check_results_are_here(was, p);
    lab_close(&plan);
}

TEST(unchanged_fields,
     a_field_that_the_description_reads_is_refused_before_anything_is_written_on_every_way_D14)
{
    size_t i, k;
    for (i = 0; i < WAYS; i++)
        for (k = 0; k < POKES; k++) {
            check_note("%s: %s, %s", ways[i].name, pokes[k].path, pokes[k].text);
            refuse_then_take(&ways[i], &pokes[k]);
        }
}

TEST(unchanged_fields, who_asks_for_it_gets_such_fields_as_the_device_has_left_them)
{
    fault_plan plan;
    size_t i, k;
    for (i = 0; i < WAYS; i++)
        for (k = 0; k < POKES; k++) {
            check_note("%s: %s, %s", ways[i].name, pokes[k].path, pokes[k].text);
            lab_open(&plan, &ways[i], 1);
            write_results();
            write_there(&pokes[k], pokes[k].value);
            CHECK_STATUS(ways[i].back(), HAUL_OK);
            check_results_are_here(pokes[k].value, &pokes[k]);
            lab_close(&plan);
        }
}

/* Bytes that are not written do not matter, nor do those that nothing reads; a string may become
 * shorter. */
TEST(unchanged_fields, what_does_not_come_back_or_is_read_by_nothing_may_change)
{
    static const poke others[] = {
        POKE(first.input, 1, NULL, NULL), POKE(second.u.number, 71, NULL, NULL),
        POKE(name[1], 0, NULL, NULL),     POKE(list[0], 9, NULL, NULL),
        POKE(extra[2], 9, NULL, NULL),
    };
    fault_plan plan;
    size_t i, k;
    for (i = 0; i < WAYS; i++)
        for (k = 0; k < sizeof others / sizeof others[0]; k++) {
            check_note("%s: %zu", ways[i].name, k);
            lab_open(&plan, &ways[i], 0);
            write_results();
            write_there(&others[k], others[k].value);
            CHECK_STATUS(ways[i].back(), HAUL_OK);
            check_results_are_here(k == 0 ? 3 : others[k].value, &others[k]);
            lab_close(&plan);
        }
}

/* Beside the range of an update anything may stand. */
TEST(unchanged_fields, an_update_looks_at_its_own_range_alone)
{
    fault_plan plan;
    size_t i;
    for (i = 0; i < 2; i++) {
        lab_open(&plan, &ways[8 + i], 0);
        write_results();
        write_there(&pokes[2], 2);
        CHECK_STATUS(
            haul_update_host(the_lab.s, RANGE(the_lab.at->many, sizeof the_lab.at->many), NULL),
            HAUL_OK);
        CHECK_EQ(the_lab.at->many[0] == 0.5, 1);
        CHECK_EQ(the_lab.at->first.count, 3);
        CHECK_STATUS(
            haul_update_host(the_lab.s, RANGE(&the_lab.at->first.kind, sizeof(int32_t)), NULL),
            HAUL_OK);
        CHECK_STATUS(haul_update_host(
                         the_lab.s, RANGE((unsigned char *)&the_lab.at->first.count + 1, 1), NULL),
                     HAUL_OK);
        CHECK_STATUS(haul_update_host(the_lab.s, RANGE(&the_lab.at->first.count, 1), NULL),
                     HAUL_ERROR_GRAPH);
        lab_close(&plan);
    }
}

TEST(unchanged_fields, a_copy_of_a_shipment_refuses_and_takes_what_its_original_does)
{
    fault_plan plan;
    int lets, in_arena;
    for (lets = 0; lets < 2; lets++)
        for (in_arena = 0; in_arena < 2; in_arena++) {
            haul_shipment *copy;
            lab_open(&plan, &ways[in_arena ? 12 : 0], lets);
            write_there(&pokes[2], 2);
            CHECK_STATUS(haul_shipment_copy(the_lab.s, the_lab.device, &copy), HAUL_OK);
            CHECK_STATUS(haul_unmarshal(copy), lets ? HAUL_OK : HAUL_ERROR_GRAPH);
            CHECK_EQ(the_lab.at->first.count, lets ? 2 : 3);
            haul_shipment_free(&copy);
            lab_close(&plan);
        }
}

TEST(unchanged_fields, an_arena_planned_again_still_refuses)
{
    fault_plan plan;
    lab_open(&plan, &ways[12], 0);
    CHECK_STATUS(haul_reship(the_lab.s, NULL), HAUL_OK);
    write_there(&pokes[2], 2);
    CHECK_STATUS(haul_unmarshal(the_lab.s), HAUL_ERROR_GRAPH);
    lab_close(&plan);
}

TEST(unchanged_fields, unpacking_refuses_changed_counts_too)
{
    fault_plan plan;
    haul_plan *made;
    haul_root root;
    unsigned char *packed;
    size_t at;
    const uint16_t two = 2;
    lab_open(&plan, &ways[0], 0);
    root.address = &the_lab.at->first;
    root.type = part_type;
    root.count = 1;
    CHECK_STATUS(haul_plan_create(haul_device_context(the_lab.device), haul_from_roots(&root, 1),
                                  NULL, &made),
                 HAUL_OK);
    packed = malloc(plan_bytes(made));
    CHECK(packed != NULL);
    CHECK_STATUS(haul_plan_pack(made, packed, plan_bytes(made), 4096, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_offset(made, &the_lab.at->first.count, &at), HAUL_OK);
    memcpy(packed + at, &two, sizeof two);
    CHECK_STATUS(haul_plan_unpack(made, packed, plan_bytes(made), 0), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(haul_device_context(the_lab.device))->path, "root.numbers");
    CHECK_BYTES(the_lab.at, &the_lab.before, sizeof the_lab.before);
    CHECK_STATUS(haul_plan_unpack(made, packed, plan_bytes(made), 1), HAUL_OK);
    CHECK_EQ(the_lab.at->first.count, 2);
    free(packed);
    haul_plan_free(&made);
    lab_close(&plan);
}

/* ---- Fields of several widths, in any order of addresses and of rows. */

typedef struct wide_first {
    int64_t wide;
    int16_t narrow;
    int32_t *of_wide, *of_narrow;
} wide_first;

typedef struct narrow_first {
    int16_t narrow;
    int64_t wide;
    int32_t *of_wide, *of_narrow;
} narrow_first;

static const haul_field wide_first_fields[] = {
    HAUL_ARRAY(wide_first, of_wide, HAUL_COUNT(wide_first, wide)),
    HAUL_ARRAY(wide_first, of_narrow, HAUL_COUNT(wide_first, narrow)),
};
static const haul_field crossed_fields[] = {
    HAUL_ARRAY(wide_first, of_wide, HAUL_COUNT(wide_first, narrow)),
    HAUL_ARRAY(wide_first, of_narrow, HAUL_COUNT(wide_first, wide)),
};
static const haul_field narrow_first_fields[] = {
    HAUL_ARRAY(narrow_first, of_wide, HAUL_COUNT(narrow_first, wide)),
    HAUL_ARRAY(narrow_first, of_narrow, HAUL_COUNT(narrow_first, narrow)),
};

typedef struct poked {
    void *at;
    size_t bytes;
} poked;

static void poke_one(void *argument)
{
    const poked *p = argument;
    memset(p->at, 1, 1);
    memset((char *)p->at + 1, 0, p->bytes - 1);
}

/* Changes `bytes` at `field` on the device, and asks for them back. */
static void check_that_it_stays(haul_device *device, haul_shipment *s, void *field, size_t bytes)
{
    poked p;
    unsigned char before[8];
    memcpy(before, field, bytes);
    p.at = haul_device_pointer(s, field);
    p.bytes = bytes;
    CHECK_STATUS(haul_host_launch(device, poke_one, &p), HAUL_OK);
    CHECK_STATUS(haul_update_host(s, RANGE(field, bytes), NULL), HAUL_ERROR_GRAPH);
    CHECK_BYTES(field, before, bytes);
    CHECK_STATUS(haul_update_device(s, NULL, NULL), HAUL_OK);
}

static void widths(const haul_field *fields, int is_wide_first)
{
    haul_type *type;
    haul_device *device;
    haul_arena *arena;
    haul_shipment *s;
    wide_first *a;
    narrow_first *b;
    CHECK_STATUS(type_make("widths", sizeof(wide_first), fields, 2, &type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(type), HAUL_OK);
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(haul_arena_create(haul_device_context(device), NULL, &arena), HAUL_OK);
    a = haul_arena_bytes(arena, sizeof *a, 0);
    b = (narrow_first *)(void *)a;
    if (is_wide_first)
        a->wide = a->narrow = 3;
    else
        b->wide = b->narrow = 3;
    a->of_wide = haul_arena_bytes(arena, 3 * sizeof(int32_t), 0);
    a->of_narrow = haul_arena_bytes(arena, 3 * sizeof(int32_t), 0);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena_root(arena, a, type), NULL, NULL, &s),
                 HAUL_OK);
    check_that_it_stays(device, s, is_wide_first ? &a->wide : &b->wide, sizeof(int64_t));
    check_that_it_stays(device, s, is_wide_first ? &a->narrow : &b->narrow, sizeof(int16_t));
    haul_shipment_free(&s);
    haul_arena_free(&arena);
    haul_device_close(&device);
    haul_type_free(&type);
}

TEST(unchanged_fields, fields_of_several_widths_stay_in_any_order)
{
    widths(wide_first_fields, 1);
    widths(crossed_fields, 1);
    widths(narrow_first_fields, 0);
}
