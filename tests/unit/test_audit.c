/* The audit: each kind of finding is reported at its place and nowhere else; a right description
 * has none; bytes beyond a block are not read; every fault of the allocator is survived.
 *
 * Faults by number (docs/testing.md): H1, H2, C3 (a callback that calls back in). A forgotten
 * pointer and a count that is too long are errors that no other call can see.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>

#include "core_graphs.h"
#include "ship_graphs.h"
#include "type/type.h"

/* ---- An auditor that keeps what it was told. */

enum { KEPT = 16, BOOK = 16 };

static struct {
    haul_audit_finding kept[KEPT];
    size_t count;
    haul_audit_info summary;
    haul_audit_options options;
    struct {
        const void *block;
        size_t bytes;
    } book[BOOK]; /* the allocator's */
    size_t booked;
} audit;

static void keep(void *user, const haul_audit_finding *finding)
{
    (void)user;
    CHECK(finding->path[0] != '\0');
    CHECK(finding->text[0] != '\0');
    CHECK(finding->times > 0);
    if (audit.count < KEPT)
        audit.kept[audit.count] = *finding;
    audit.count++;
}

static size_t find_in_book(void *user, const void *address, const void **begin)
{
    size_t i;
    (void)user;
    for (i = 0; i < audit.booked; i++)
        if ((uintptr_t)address - (uintptr_t)audit.book[i].block < audit.book[i].bytes) {
            *begin = audit.book[i].block;
            return audit.book[i].bytes;
        }
    return 0;
}

static void book(const void *block, size_t bytes)
{
    audit.book[audit.booked].block = block;
    audit.book[audit.booked++].bytes = bytes;
    audit.options.block = find_in_book;
}

static void audit_start(void)
{
    lab_start();
    memset(&audit, 0, sizeof audit);
    audit.options.finding = keep;
}

/* Of the graph alone: what else the process has is for the tests further down. */
static haul_status audit_graph(const haul_root *roots, size_t count,
                               const haul_audit_options *options, haul_audit_info *info)
{
    const haul_source source = haul_from_roots(roots, count);
    return haul_audit_sized(the.context, NULL, &source, sizeof source, options, sizeof *options,
                            info, sizeof *info);
}

/* With the source read-only and the rest of the lab out of reach; the same in all four kinds of
 * context. */
static void audit_roots(const haul_root *roots, size_t count)
{
    int variant;
    haul_audit_info summary;
    for (variant = 0; variant < VARIANTS; variant++) {
        unsigned char *before = world_picture(&the.w);
        lab_drop();
        lab_open_context(variant);
        audit.count = 0;
        lab_lock(PROT_READ);
        CHECK_STATUS(audit_graph(roots, count, &audit.options, &summary), HAUL_OK);
        lab_unlock();
        lab_check_untouched(before);
        CHECK_EQ(haul_context_error(the.context)->status, HAUL_OK);
        CHECK_EQ(summary.reported, audit.count);
        if (variant > 0)
            CHECK_BYTES(&summary, &audit.summary, sizeof summary);
        audit.summary = summary;
    }
    lab_drop();
}

static void audit_one(void *root, const haul_type *type, size_t count)
{
    haul_root one;
    one.address = root;
    one.type = type;
    one.count = count;
    audit_roots(&one, 1);
}

static void check_found(size_t i, haul_audit_kind kind, const char *path, const char *other_path)
{
    CHECK(i < audit.count);
    CHECK_EQ(audit.kept[i].kind, kind);
    CHECK_STR(audit.kept[i].path, path);
    CHECK_STR(audit.kept[i].other_path, other_path);
    CHECK_EQ(audit.kept[i].is_hint,
             kind == HAUL_AUDIT_UNUSED_FIELD || kind == HAUL_AUDIT_LITTLE_OF_BLOCK ||
                 kind == HAUL_AUDIT_OUTSIDE_ADDRESS || kind == HAUL_AUDIT_LEFT_OUT);
}

/* ---- Words that are pointers and not described. */

typedef struct cell {
    struct cell *next;
    struct cell *prev; /* forgotten, in cell_refs */
    uint64_t id;
    char *name;
} cell;

static haul_type *cell_type, *whole_cell_type;
static const haul_field cell_fields[] = { HAUL_OBJECT(cell, next, &cell_type),
                                          HAUL_STRING(cell, name) };
static const haul_field whole_cell_fields[] = { HAUL_OBJECT(cell, next, &whole_cell_type),
                                                HAUL_STRING(cell, name),
                                                HAUL_OBJECT(cell, prev, &whole_cell_type) };

static cell *cells_make(size_t count)
{
    cell *first = NULL, *last = NULL;
    while (count--) {
        cell *c = take(sizeof *c, sizeof(uint64_t));
        c->name = text("cell");
        c->prev = last;
        if (last)
            last->next = c;
        else
            first = c;
        last = c;
    }
    return first;
}

static void cells_start(void)
{
    audit_start();
    cell_type = TYPE_OPEN(cell, cell_fields);
    whole_cell_type = TYPE_OPEN(cell, whole_cell_fields);
    type_commit(cell_type);
    type_commit(whole_cell_type);
}

static void cells_end(void)
{
    haul_type_free(&cell_type);
    haul_type_free(&whole_cell_type);
    lab_end();
}

TEST(audit, a_forgotten_pointer_is_found_once_with_its_path_and_what_it_leads_to)
{
    cell *first;
    char part[80];
    cells_start();
    first = cells_make(4);
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.count, 1);
    snprintf(part, sizeof part, "root.next+%zu", offsetof(cell, prev));
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, part, "root");
    snprintf(part, sizeof part, "offset %zu of cell", offsetof(cell, prev));
    CHECK_HAS(audit.kept[0].text, part);
    CHECK_PTR(audit.kept[0].address, &first->next->prev);
    CHECK_EQ(audit.kept[0].value, (uintptr_t)first);
    CHECK_EQ(audit.kept[0].times, 3);
    CHECK_EQ(audit.summary.hidden_pointers, 3);
    cells_end();
}

TEST(audit, every_word_is_a_finding_where_that_is_asked_for)
{
    cell *first;
    char part[80];
    cells_start();
    first = cells_make(4);
    audit.options.every_word = 1;
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.count, 3);
    snprintf(part, sizeof part, "root(.next)*3+%zu", offsetof(cell, prev));
    check_found(2, HAUL_AUDIT_HIDDEN_POINTER, part, "root.next.next");
    CHECK_EQ(audit.kept[2].times, 1);
    cells_end();
}

TEST(audit, a_right_description_is_left_in_peace)
{
    cell *first;
    cells_start();
    first = cells_make(4);
    audit_one(first, whole_cell_type, 1);
    CHECK_EQ(audit.count, 0);
    CHECK_EQ(audit.summary.hidden_pointers + audit.summary.unused_fields +
                 audit.summary.beyond_block,
             0);
    CHECK_EQ(audit.summary.fields, 3);
    CHECK(audit.summary.words >= 4);
    cells_end();
}

TEST(audit, an_integer_that_looks_like_a_pointer_is_reported_once_with_its_path)
{
    cell *first;
    uintptr_t looks;
    char part[80];
    cells_start();
    first = cells_make(3);
    looks = (uintptr_t)&first->next->id;
    memcpy(&first->next->next->id, &looks, sizeof looks);
    audit_one(first, whole_cell_type, 1);
    CHECK_EQ(audit.count, 1);
    CHECK_EQ(audit.kept[0].times, 1);
    snprintf(part, sizeof part, "root.next.next+%zu", offsetof(cell, id));
    CHECK_STR(audit.kept[0].path, part);
    snprintf(part, sizeof part, "root.next+%zu", offsetof(cell, id));
    CHECK_STR(audit.kept[0].other_path, part);
    cells_end();
}

TEST(audit, one_past_the_end_counts_as_in_the_graph_and_further_does_not)
{
    cell *first;
    uintptr_t looks;
    cells_start();
    first = cells_make(1);
    take(3 * PAGE, 1);
    memset(the.what + lab_offset(first->name) + 5, OF_NOBODY, 3 * PAGE);
    looks = (uintptr_t)(first->name + 5);
    memcpy(&first->id, &looks, sizeof looks);
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.summary.hidden_pointers, 1);
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, audit.kept[0].path, "root.name[4] (its end)");
    looks++;
    memcpy(&first->id, &looks, sizeof looks);
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.summary.hidden_pointers, 0);
    looks = (uintptr_t)first - 1;
    memcpy(&first->id, &looks, sizeof looks);
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.summary.hidden_pointers, 0);
    cells_end();
}

typedef struct said {
    void *opaque, *skipped;
    char *first;
} said;

TEST(audit, words_that_a_row_declares_to_be_data_or_to_stay_at_home_are_not_reported)
{
    static const haul_field fields[] = { HAUL_RAW(said, opaque), HAUL_SKIP(said, skipped),
                                         HAUL_STRING(said, first) };
    haul_type *type;
    said *s;
    audit_start();
    type = TYPE_OPEN(said, fields);
    type_commit(type);
    s = take(sizeof *s, sizeof(void *));
    hole(&s->skipped, sizeof s->skipped);
    s->first = text("first");
    s->opaque = s->skipped = s;
    audit_one(s, type, 1);
    CHECK_EQ(audit.count, 0);
    haul_type_free(&type);
    lab_end();
}

typedef struct corner {
    uint64_t before;
    char *name;
    void *hidden;
} corner;

enum { FEW = 3, MANY = 200 };

typedef struct building {
    char *name;
    corner few[FEW];
    corner many[MANY]; /* too many to be flattened */
} building;

TEST(audit, a_word_of_an_embedded_struct_has_the_path_through_it)
{
    static haul_type *corner_type;
    static const haul_field corner_fields[] = { HAUL_STRING(corner, name) };
    static const haul_field building_fields[] = { HAUL_STRING(building, name),
                                                  HAUL_EMBED(building, few, &corner_type),
                                                  HAUL_EMBED(building, many, &corner_type) };
    haul_type *type;
    building *b;
    char part[80];
    audit_start();
    corner_type = TYPE_OPEN(corner, corner_fields);
    type = TYPE_OPEN(building, building_fields);
    type_commit(type);
    b = take(sizeof *b, sizeof(uint64_t));
    b->name = text("town hall");
    b->few[0].name = b->many[7].name = b->name;
    b->few[2].hidden = &b->many[5].name;
    b->many[150].hidden = &b->few[1];
    audit.options.every_word = 1;
    audit_one(b, type, 1);
    CHECK_EQ(audit.count, 2);
    snprintf(part, sizeof part, "root.few[2]+%zu", offsetof(corner, hidden));
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, part, "root.many[5].name");
    snprintf(part, sizeof part, "root.many[150]+%zu", offsetof(corner, hidden));
    check_found(1, HAUL_AUDIT_HIDDEN_POINTER, part, "root.few[1]");
    audit.options.every_word = 0; /* the same place of the same type */
    audit_one(b, type, 1);
    CHECK_EQ(audit.count, 1);
    CHECK_EQ(audit.kept[0].times, 2);
    haul_type_free(&type);
    haul_type_free(&corner_type);
    lab_end();
}

typedef struct seat {
    char *name;
    void *hidden;
} seat;

typedef struct hall {
    void *forgotten[2];
    char *names[200];
    int64_t count;
    seat seats[];
} hall;

TEST(audit, a_word_that_leads_into_an_embedded_array_or_a_tail_has_the_path_of_its_element)
{
    static haul_type *seat_type;
    static const haul_field seat_fields[] = { HAUL_STRING(seat, name) };
    static const haul_field hall_fields[] = { HAUL_EACH(hall, names, .count = HAUL_TERMINATED),
                                              HAUL_TAIL(hall, seats, HAUL_COUNT(hall, count),
                                                        .target = &seat_type) };
    haul_type *type;
    hall *h;
    char second[32], hidden[32];
    audit_start();
    seat_type = TYPE_OPEN(seat, seat_fields);
    type = TYPE_OPEN(hall, hall_fields);
    type_commit(type);
    h = take(sizeof *h + 5 * sizeof(seat), sizeof(uint64_t));
    memset(h, 0, sizeof *h + 5 * sizeof(seat));
    h->count = 5;
    h->names[3] = h->seats[1].name = text("a name");
    h->forgotten[0] = &h->names[150];
    h->forgotten[1] = &h->seats[4].hidden;
    audit.options.every_word = 1;
    audit_one(h, type, 1);
    CHECK_EQ(audit.count, 2);
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, "root", "root.names[150]");
    snprintf(second, sizeof second, "root+%zu", sizeof(void *));
    snprintf(hidden, sizeof hidden, "root.seats[4]+%zu", offsetof(seat, hidden));
    check_found(1, HAUL_AUDIT_HIDDEN_POINTER, second, hidden);
    haul_type_free(&type);
    haul_type_free(&seat_type);
    lab_end();
}

typedef struct table {
    uint32_t count;
    uintptr_t *numbers;
    uintptr_t *again;
} table;

static haul_type *table_type;
static const haul_field table_fields[] = { HAUL_ARRAY(table, numbers, HAUL_COUNT(table, count)),
                                           HAUL_ARRAY(table, again, HAUL_FIXED(8)) };

static table *table_start(void)
{
    table *t;
    audit_start();
    table_type = TYPE_OPEN(table, table_fields);
    type_commit(table_type);
    t = take(sizeof *t, sizeof(uint64_t));
    t->count = 6;
    t->numbers = take(10 * sizeof *t->numbers, sizeof(uint64_t));
    t->again = t->numbers + 2;
    return t;
}

static void table_end(void)
{
    haul_type_free(&table_type);
    lab_end();
}

TEST(audit, plain_data_that_holds_pointers_has_the_path_of_its_element)
{
    table *t = table_start();
    t->numbers[3] = (uintptr_t)&t->again;
    t->numbers[5] = (uintptr_t)t;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, "root.numbers[3]", "root.again");
    CHECK_EQ(audit.kept[0].times, 2);
    table_end();
}

TEST(audit, a_word_in_two_ranges_is_one_word)
{
    table *t = table_start();
    t->numbers[4] = (uintptr_t)t;
    audit.options.every_word = 1;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 1);
    CHECK_EQ(audit.summary.hidden_pointers, 1);
    t->numbers[9] = (uintptr_t)t; /* in the second range alone */
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 2);
    check_found(1, HAUL_AUDIT_HIDDEN_POINTER, "root.again[7]", "root");
    table_end();
}

TEST(audit, a_word_of_which_only_a_part_is_described_is_not_looked_at)
{
    typedef struct bytes {
        char *at;
    } bytes;
    static const haul_field fields[] = { HAUL_ARRAY(bytes, at,
                                                    HAUL_FIXED(2 * sizeof(void *) - 1)) };
    haul_type *type;
    bytes *b;
    audit_start();
    type = TYPE_OPEN(bytes, fields);
    type_commit(type);
    b = take(sizeof *b, sizeof(uint64_t));
    b->at = take_at_page_end(2 * sizeof(void *) + 1); /* one word of it is whole, one is not */
    audit_one(b, type, 1);
    CHECK_EQ(audit.summary.words, 1);
    b->at++;
    audit_one(b, type, 1);
    CHECK_EQ(audit.summary.words, 1);
    haul_type_free(&type);
    lab_end();
}

TEST(audit, findings_are_bounded_for_each_kind_and_the_summary_counts_on)
{
    cell *first;
    cells_start();
    first = cells_make(9);
    audit.options.every_word = 1;
    audit.options.findings = 2;
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.count, 2);
    CHECK_EQ(audit.summary.hidden_pointers, 8);
    audit.options.findings = 0;
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.count, 8);
    cells_end();
}

/* ---- Rows that never led anywhere. */

typedef struct junction {
    struct junction *left, *right;
    uint32_t count, pair_count;
    char *label;
    struct junction **pairs;
    struct junction *each[2];
} junction;

static haul_type *junction_type;
static const haul_field junction_fields[] = {
    HAUL_OBJECT(junction, left, &junction_type),
    HAUL_OBJECT(junction, right, &junction_type),
    HAUL_ARRAY(junction, label, HAUL_COUNT(junction, count)),
    HAUL_POINTERS(junction, pairs, &junction_type, HAUL_COUNT(junction, pair_count)),
    HAUL_EACH(junction, each, .target = &junction_type),
};

static junction *junction_start(void)
{
    junction *j;
    audit_start();
    junction_type = TYPE_OPEN(junction, junction_fields);
    type_commit(junction_type);
    j = take(sizeof *j, sizeof(uint64_t));
    j->left = take(sizeof *j, sizeof(uint64_t));
    return j;
}

static void junction_end(void)
{
    haul_type_free(&junction_type);
    lab_end();
}

TEST(audit, a_row_that_is_null_in_every_object_is_a_hint)
{
    junction *j = junction_start();
    audit_one(j, junction_type, 1);
    CHECK_EQ(audit.count, 4);
    check_found(0, HAUL_AUDIT_UNUSED_FIELD, "root.right", "");
    check_found(1, HAUL_AUDIT_UNUSED_FIELD, "root.label", "");
    check_found(2, HAUL_AUDIT_UNUSED_FIELD, "root.pairs", "");
    check_found(3, HAUL_AUDIT_UNUSED_FIELD, "root.each[0]", "");
    CHECK_EQ(audit.kept[0].times, 2);
    CHECK_EQ(audit.kept[3].times, 4);
    CHECK_PTR(audit.kept[0].address, &j->right);
    CHECK_EQ(audit.summary.unused_fields, 4);
    CHECK_EQ(audit.summary.fields, 5);
    j->left->right = j;
    j->left->each[1] = j;
    audit_one(j, junction_type, 1);
    CHECK_EQ(audit.count, 2);
    junction_end();
}

TEST(audit, the_elements_of_an_array_of_pointers_are_looked_at_too)
{
    junction *j = junction_start();
    j->right = j->each[0] = j;
    j->label = text("y");
    j->count = 1;
    j->pair_count = 3;
    j->pairs = take(3 * sizeof *j->pairs, sizeof *j->pairs);
    audit_one(j, junction_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_UNUSED_FIELD, "root.pairs[0]", "");
    CHECK_EQ(audit.kept[0].times, 3);
    j->pairs[2] = j->left;
    audit_one(j, junction_type, 1);
    CHECK_EQ(audit.count, 0);
    junction_end();
}

TEST(audit, a_row_that_leads_out_of_the_graph_with_no_elements_is_a_hint)
{
    junction *j = junction_start();
    j->right = j->each[0] = j;
    j->pairs = take(sizeof *j->pairs, sizeof *j->pairs);
    j->pair_count = 1;
    j->pairs[0] = j;
    j->label = (char *)the.memory + LAB_BYTES;
    audit_one(j, junction_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_UNUSED_FIELD, "root.label", "");
    CHECK_HAS(audit.kept[0].text, "no elements");
    junction_end();
}

typedef struct valve {
    uint64_t kind;
    struct valve *known;            /* holds by a field, */
    struct valve *asked;            /* by a function: of it nothing is said, */
    struct valve *small, *coloured; /* always: an integer, or an address and a colour */
    int32_t near;                   /* a distance */
    int32_t unused;
} valve;

static haul_type *valve_type;

static int64_t is_never(const haul_here *here)
{
    (void)here;
    return 0;
}

static const haul_field valve_fields[] = {
    HAUL_OBJECT(valve, known, &valve_type, .when = HAUL_EQUALS(valve, kind, 1)),
    HAUL_OBJECT(valve, asked, &valve_type, .when = HAUL_WHEN_FN(is_never)),
    HAUL_OBJECT(valve, small, &valve_type, .integers_below = 100),
    HAUL_OBJECT(valve, coloured, &valve_type, .tag_bits = 3),
    HAUL_RELATIVE(valve, near, .target = &valve_type),
};

typedef struct masked {
    void *cache[2]; /* stay at home */
    uint64_t id;
} masked;

typedef struct holder {
    masked *known, *forgotten;
} holder;

TEST(audit, what_begins_with_bytes_that_do_not_travel_is_led_to_all_the_same)
{
    static haul_type *masked_type;
    static const haul_field masked_fields[] = { HAUL_SKIP(masked, cache) };
    static const haul_field holder_fields[] = { HAUL_OBJECT(holder, known, &masked_type) };
    haul_type *type;
    holder *h;
    char place[40];
    audit_start();
    masked_type = TYPE_OPEN(masked, masked_fields);
    type = TYPE_OPEN(holder, holder_fields);
    type_commit(type);
    h = take(sizeof *h, sizeof(void *));
    h->known = take(sizeof *h->known, sizeof(uint64_t));
    h->forgotten = NULL;
    audit_one(h, type, 1);
    CHECK_EQ(audit.count, 0);
    h->forgotten = h->known;
    audit_one(h, type, 1);
    CHECK_EQ(audit.count, 1);
    snprintf(place, sizeof place, "root+%zu", offsetof(holder, forgotten));
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, place, "root.known");
    haul_type_free(&type);
    haul_type_free(&masked_type);
    lab_end();
}

typedef struct rack {
    int used, room;
    uint64_t **slots; /* the last so many are used */
} rack;

static int64_t slot_is_used(const haul_here *here)
{
    const rack *r = here->self;
    return (int)here->index >= r->room - r->used;
}

TEST(audit, a_row_that_leads_to_what_no_row_claims_at_its_beginning_leads_somewhere)
{
    static const haul_field is_used = { .when = HAUL_WHEN_FN(slot_is_used) };
    static const haul_field fields[] = { HAUL_ARRAYS(rack, slots, HAUL_COUNT(rack, room), HAUL_ONE,
                                                     .each_pointer = &is_used) };
    haul_type *type;
    rack *r;
    audit_start();
    type = TYPE_OPEN(rack, fields);
    type_commit(type);
    r = take(sizeof *r, sizeof(void *));
    r->room = 4;
    r->used = 1;
    r->slots = take(4 * sizeof *r->slots, sizeof(void *));
    r->slots[3] = take(sizeof **r->slots, sizeof(uint64_t));
    audit_one(r, type, 1);
    CHECK_EQ(audit.count, 0);
    r->room = r->used = 0;
    r->slots = (uint64_t **)(the.memory + LAB_BYTES);
    audit_one(r, type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_UNUSED_FIELD, "root.slots", "");
    haul_type_free(&type);
    lab_end();
}

TEST(audit, a_row_with_a_rule_that_never_led_anywhere_is_a_hint_too)
{
    valve *v;
    audit_start();
    valve_type = TYPE_OPEN(valve, valve_fields);
    type_commit(valve_type);
    v = take(2 * sizeof *v, sizeof(uint64_t));
    memset(v, 0, 2 * sizeof *v);
    v[0].known = v[1].known = (valve *)(uintptr_t)64; /* something else: kind is 0 */
    v[1].small = (valve *)(uintptr_t)99;
    v[0].coloured = (valve *)(uintptr_t)3;
    audit_one(v, valve_type, 2);
    CHECK_EQ(audit.count, 4);
    check_found(0, HAUL_AUDIT_UNUSED_FIELD, "root[0].known", "");
    CHECK_HAS(audit.kept[0].text, "NULL, an integer or something else in all of 2 places");
    check_found(1, HAUL_AUDIT_UNUSED_FIELD, "root[0].small", "");
    check_found(2, HAUL_AUDIT_UNUSED_FIELD, "root[0].coloured", "");
    check_found(3, HAUL_AUDIT_UNUSED_FIELD, "root[0].near", "");
    v[1].kind = 1;
    v[1].known = v[1].asked = v[1].small = v;
    v[0].known = v[1].asked = NULL;
    v[0].coloured = (valve *)((uintptr_t)v | 1);
    v[1].near = (int32_t)((unsigned char *)v - (unsigned char *)&v[1].near);
    audit_one(v, valve_type, 2);
    CHECK_EQ(audit.count, 0);
    CHECK_EQ(audit.summary.fields, 5);
    haul_type_free(&valve_type);
    lab_end();
}

/* ---- Ranges and blocks. */

TEST(audit, a_count_beyond_the_block_is_found_and_what_lies_there_is_not_read)
{
    table *t = table_start();
    t->numbers = take_at_page_end(4 * sizeof *t->numbers);
    t->again = NULL;
    haul_type_free(&table_type);
    table_type = type_open("table", sizeof *t, table_fields, 1);
    type_commit(table_type);
    book(t->numbers, 4 * sizeof *t->numbers);
    t->count = 4;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 0);
    CHECK_EQ(audit.summary.blocks, 1);
    t->count = 9; /* over the page's end, which is out of reach */
    t->numbers[1] = (uintptr_t)t;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 2);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root.numbers[0]", "");
    CHECK_EQ(audit.kept[0].bytes, 9 * sizeof *t->numbers);
    CHECK_EQ(audit.kept[0].value, 4 * sizeof *t->numbers);
    CHECK_HAS(audit.kept[0].text, sizeof(void *) == 8 ? "40 bytes earlier" : "20 bytes earlier");
    CHECK_EQ(audit.kept[1].kind, HAUL_AUDIT_HIDDEN_POINTER);
    table_end();
}

TEST(audit, embedded_arrays_of_an_object_beyond_its_block_are_not_read)
{
    typedef struct street {
        building *houses;
    } street;
    static haul_type *corner_type, *building_type;
    static const haul_field corner_fields[] = { HAUL_STRING(corner, name) };
    static const haul_field building_fields[] = { HAUL_EMBED(building, many, &corner_type) };
    static const haul_field street_fields[] = { HAUL_OBJECTS(street, houses, &building_type,
                                                             HAUL_FIXED(2)) };
    haul_type *type;
    street *s;
    audit_start();
    corner_type = TYPE_OPEN(corner, corner_fields);
    building_type = TYPE_OPEN(building, building_fields);
    type = TYPE_OPEN(street, street_fields);
    type_commit(type);
    s = take(sizeof *s, sizeof(uint64_t));
    s->houses = take(2 * sizeof *s->houses, sizeof(uint64_t));
    s->houses[0].many[3].hidden = s->houses[1].many[3].hidden = s;
    book(s->houses, 2 * sizeof *s->houses - 1);
    audit_one(s, type, 1);
    CHECK_EQ(audit.summary.beyond_block, 1);
    CHECK_EQ(audit.summary.hidden_pointers, 1);
    haul_type_free(&type);
    haul_type_free(&building_type);
    haul_type_free(&corner_type);
    lab_end();
}

TEST(audit, a_block_of_which_little_is_described_is_a_hint)
{
    table *t = table_start();
    t->count = 8;
    t->again = t->numbers;
    book(t->numbers, 16 * sizeof *t->numbers);
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 0);
    audit.book[0].bytes = 100 * sizeof *t->numbers;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.numbers[0]", "");
    CHECK_EQ(audit.kept[0].bytes, 8 * sizeof *t->numbers);
    CHECK_EQ(audit.kept[0].value, 100 * sizeof *t->numbers);
    t->again = t->numbers + 52; /* whoever describes the rest */
    memset(the.what + lab_offset(t->numbers), OF_DATA, 60 * sizeof *t->numbers);
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 0);
    table_end();
}

TEST(audit, a_block_whose_size_is_known_to_the_byte_is_to_be_described_to_its_end)
{
    table *t = table_start();
    t->count = 8;
    t->again = t->numbers;
    book(t->numbers, 8 * sizeof *t->numbers);
    audit.options.exact_blocks = 1;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 0);
    audit.book[0].bytes += 1;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.numbers[0]", "");
    CHECK_EQ(audit.kept[0].bytes, 8 * sizeof *t->numbers);
    CHECK_EQ(audit.kept[0].value, 8 * sizeof *t->numbers + 1);
    audit.options.exact_blocks = 0;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 0);
    table_end();
}

typedef struct train {
    size_t count;
    uintptr_t cars[1];
} train;

typedef struct station {
    train *leaves;
} station;

TEST(audit, an_object_that_ends_in_an_array_is_as_long_as_that)
{
    static haul_type *train_type;
    static const haul_field train_fields[] = { HAUL_TAIL(train, cars, HAUL_COUNT(train, count)) };
    static const haul_field station_fields[] = { HAUL_OBJECT(station, leaves, &train_type) };
    haul_type *type;
    station *s;
    size_t bytes = offsetof(train, cars) + 30 * sizeof(uintptr_t);
    audit_start();
    train_type = TYPE_OPEN(train, train_fields);
    type = TYPE_OPEN(station, station_fields);
    type_commit(type);
    CHECK_EQ(haul__type_walk(train_type)->kind, HAUL__WALK_SIZED);
    s = take(sizeof *s, sizeof(uint64_t));
    s->leaves = take(bytes, sizeof(uint64_t));
    s->leaves->count = 30;
    book(s->leaves, bytes);
    audit_one(s, type, 1);
    CHECK_EQ(audit.count, 0);
    audit.book[0].bytes--;
    audit_one(s, type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root.leaves", "");
    haul_type_free(&type);
    haul_type_free(&train_type);
    lab_end();
}

typedef struct matrix {
    int32_t n, m;
    double **row;
} matrix;

TEST(audit, a_row_that_ends_behind_the_block_that_all_rows_share_is_found)
{
    static const haul_field fields[] = { HAUL_ARRAYS(matrix, row, HAUL_COUNT(matrix, n),
                                                     HAUL_COUNT(matrix, m)) };
    haul_type *type;
    matrix *x;
    double *all;
    int32_t i;
    audit_start();
    type = TYPE_OPEN(matrix, fields);
    type_commit(type);
    x = take(sizeof *x, sizeof(double));
    x->n = 3;
    x->m = 5;
    x->row = take(3 * sizeof *x->row, sizeof(double));
    all = take(20 * sizeof *all, sizeof(double));
    for (i = 0; i < 3; i++)
        x->row[i] = all + 5 * i;
    book(all, 15 * sizeof *all);
    book(x->row, 3 * sizeof *x->row);
    audit_one(x, type, 1);
    CHECK_EQ(audit.count, 0);
    CHECK_EQ(audit.summary.blocks, 2);
    x->row[2] += 1;
    audit_one(x, type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root.row[2][0]", "");
    haul_type_free(&type);
    lab_end();
}

TEST(audit, ranges_inside_a_root_begin_no_block_and_the_root_may)
{
    cell *cells;
    cells_start();
    cells = take(4 * sizeof *cells, sizeof(uint64_t));
    cells[0].next = &cells[2]; /* inside the root's range */
    cells[2].name = text("second");
    cells[0].prev = &cells[0];
    book(cells, 4 * sizeof *cells);
    audit_one(cells, whole_cell_type, 4);
    CHECK_EQ(audit.summary.blocks, 1);
    CHECK_EQ(audit.summary.beyond_block, 0);
    audit.book[0].bytes -= 1;
    audit_one(cells, whole_cell_type, 4);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root[0]", "");
    cells_end();
}

TEST(audit, a_range_that_begins_in_another_is_asked_about_only_if_that_one_begins_a_block)
{
    table *t = table_start();
    book(t, sizeof *t);
    audit_one(t, table_type, 1); /* `again` begins in `numbers` and ends behind it */
    CHECK_EQ(audit.summary.blocks, 1);
    book(t->numbers, 10 * sizeof *t->numbers);
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.summary.blocks, 2);
    CHECK_EQ(audit.count, 0);
    audit.book[1].bytes -= 1;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root.again[0]", "");
    table_end();
}

TEST(audit, ranges_of_one_field_that_leave_their_blocks_are_one_finding)
{
    cell *first, *c;
    cells_start();
    first = cells_make(5);
    for (c = first->next; c; c = c->next)
        book(c, sizeof *c - 1);
    audit_one(first, cell_type, 1);
    CHECK_EQ(audit.summary.beyond_block, 4);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root.next", "");
    CHECK_EQ(audit.kept[0].times, 4);
    CHECK_HAS(audit.kept[0].text, "(the first of 4)");
    cells_end();
}

typedef struct trailing {
    struct trailing *next;
    void *cache; /* stays at home */
} trailing;

TEST(audit, skipped_bytes_at_the_end_of_a_block_are_described)
{
    static haul_type *type;
    static const haul_field fields[] = { HAUL_OBJECT(trailing, next, &type),
                                         HAUL_SKIP(trailing, cache) };
    trailing *t;
    audit_start();
    type = TYPE_OPEN(trailing, fields);
    type_commit(type);
    t = take(sizeof *t, sizeof(uint64_t));
    t->next = take(sizeof *t, sizeof(uint64_t));
    hole(&t->cache, sizeof t->cache);
    hole(&t->next->cache, sizeof t->cache);
    book(t, sizeof *t);
    book(t->next, sizeof *t);
    audit.options.exact_blocks = 1;
    audit_one(t, type, 1);
    CHECK_EQ(audit.summary.blocks, 2);
    CHECK_EQ(audit.count, 0);
    haul_type_free(&type);
    lab_end();
}

/* ---- Words that lead out of the graph: into a process that the test makes up. */

enum { PLACES = 8 };

typedef struct made_up {
    haul_memory places[PLACES];
    size_t count;
    haul_status opens; /* what open answers */
    int is_silent;     /* it has no picture */
    size_t open;       /* pictures */
} made_up;

static made_up process;

static haul_status open_made_up(const haul_allocator *allocator, void **picture)
{
    CHECK(allocator->allocate != NULL);
    *picture = process.opens == HAUL_OK && !process.is_silent ? &process : NULL;
    process.open += *picture != NULL;
    return process.opens;
}

static int find_made_up(void *picture, uintptr_t address, haul_memory *memory)
{
    size_t i;
    CHECK_PTR(picture, &process);
    for (i = 0; i < process.count; i++)
        if (address - process.places[i].begin < process.places[i].bytes) {
            *memory = process.places[i];
            return 1;
        }
    if (address - (uintptr_t)the.memory >= LAB_BYTES)
        return 0;
    memset(memory, 0, sizeof *memory);
    memory->kind = HAUL_MEMORY_MAPPING;
    memory->begin = (uintptr_t)the.memory;
    memory->bytes = LAB_BYTES;
    memory->name = "";
    return 1;
}

static void close_made_up(void *picture)
{
    CHECK_PTR(picture, &process);
    process.open--;
}

static const haul_process made_up_process = { sizeof made_up_process, open_made_up, find_made_up,
                                              close_made_up };

static void process_has(int kind, uintptr_t begin, size_t bytes, const char *name)
{
    haul_memory *place = &process.places[process.count++];
    memset(place, 0, sizeof *place);
    place->kind = kind;
    place->begin = begin;
    place->bytes = bytes;
    place->name = name;
}

static haul_status audit_process(void *address, const haul_type *type, const haul_process *table)
{
    const haul_source source = haul_from_object(address, type);
    haul_status status;
    audit.count = 0;
    lab_drop();
    lab_open_context(CHECKED);
    status = haul_audit_sized(the.context, table, &source, sizeof source, &audit.options,
                              sizeof audit.options, &audit.summary, sizeof audit.summary);
    CHECK_EQ(process.open, 0);
    return status;
}

enum { HEAP = 0x100000, CODE = 0x200000, MAPPED = 0x300000, STACK = 0x400000 };

static void process_start(void)
{
    memset(&process, 0, sizeof process);
    process_has(HAUL_MEMORY_BLOCK, HEAP, 24, "[heap]");
    process_has(HAUL_MEMORY_STATIC, CODE, 4096, "/usr/lib/libm.so");
    process_has(HAUL_MEMORY_MAPPING, MAPPED, 8192, "");
    process_has(HAUL_MEMORY_STACK, STACK, 4096, "[stack]");
}

static void words_start(void)
{
    cells_start();
    process_start();
}

static void set_id(cell *c, uintptr_t value)
{
    memcpy(&c->id, &value, sizeof value);
}

TEST(audit, a_word_that_leads_to_a_heap_block_outside_of_the_graph_is_found)
{
    cell *first;
    char part[80];
    words_start();
    first = cells_make(4);
    set_id(first, HEAP + 24); /* behind it */
    set_id(first->next, HEAP);
    set_id(first->next->next, HEAP);
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    CHECK_EQ(audit.count, 1);
    snprintf(part, sizeof part, "root.next+%zu", offsetof(cell, id));
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, part, "");
    CHECK_HAS(audit.kept[0].text, "2 times): 0x100000 leads to a heap block of 24 bytes");
    CHECK_EQ(audit.kept[0].times, 2);
    CHECK_EQ(audit.kept[0].memory.begin, HEAP);
    CHECK_EQ(audit.kept[0].memory.bytes, 24);
    CHECK_EQ(audit.summary.hidden_pointers, 2);
    audit.options.every_word = 1;
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    CHECK_EQ(audit.count, 2);
    CHECK_PTR(audit.kept[1].address, &first->next->next->id);
    set_id(first->next, HEAP + 8);
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    CHECK_EQ(audit.summary.hidden_pointers, sizeof(void *) > 4 ? 2 : 1);
    CHECK_EQ(audit.summary.outside_addresses, sizeof(void *) > 4 ? 0 : 1);
    CHECK_HAS(audit.kept[0].text, "0x100008 leads 8 bytes into a heap block of 24 bytes");
    CHECK_STATUS(audit_process(first, whole_cell_type, NULL), HAUL_OK);
    CHECK_EQ(audit.count, 0);
    cells_end();
}

TEST(audit, a_word_that_leads_to_other_memory_is_a_hint_beside_a_finding_at_the_same_place)
{
    static const char *const words[] = { "leads to static data or code of /usr/lib/libm.so",
                                         "leads into a mapping of 8192 bytes",
                                         "leads into a stack" };
    static const uintptr_t values[] = { CODE + 16, MAPPED, STACK + 8 };
    cell *first;
    size_t i;
    words_start();
    first = cells_make(3);
    set_id(first, HEAP);
    for (i = 0; i < 3; i++) {
        set_id(first->next, values[i]);
        CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
        CHECK_EQ(audit.count, 2);
        check_found(0, HAUL_AUDIT_HIDDEN_POINTER, audit.kept[0].path, "");
        check_found(1, HAUL_AUDIT_OUTSIDE_ADDRESS, audit.kept[1].path, "");
        CHECK_HAS(audit.kept[1].text, words[i]);
        CHECK_EQ(audit.summary.hidden_pointers, 1);
        CHECK_EQ(audit.summary.outside_addresses, 1);
    }
    cells_end();
}

/* ---- Bytes of fields that do not hold. */

typedef struct choice {
    int64_t kind;
    union {
        struct choice *next; /* kind 0 */
        int32_t half;        /* kind 1 */
        char *text;          /* other kinds, which the fields forget */
    } u;
} choice;

static haul_type *choice_type;

enum { FORGETS, SKIPS, SENDS };

static void choice_open(int how)
{
    const haul_field fields[] = {
        HAUL_OBJECT(choice, u.next, &choice_type, .when = HAUL_EQUALS(choice, kind, 0),
                    .else_raw = how == SENDS),
        HAUL_RAW(choice, u.half, .when = HAUL_EQUALS(choice, kind, 1)),
        HAUL_SKIP(choice, u.text, .when = HAUL_EQUALS(choice, kind, 2)),
    };
    choice_type = type_open("choice", sizeof(choice), fields, how == SKIPS ? 3 : 2);
    type_commit(choice_type);
}

static haul_status audit_choices(choice *first, int knows_static)
{
    const haul_source source = haul_from_object(first, choice_type);
    audit.count = 0;
    lab_drop();
    lab_open_context(CHECKED);
    if (knows_static)
        CHECK_STATUS(
            haul_context_add_static(the.context, (void *)(uintptr_t)CODE, 64, HAUL_STATIC_KEEP),
            HAUL_OK);
    return haul_audit_sized(the.context, &made_up_process, &source, sizeof source, &audit.options,
                            sizeof audit.options, &audit.summary, sizeof audit.summary);
}

static choice *choices_make(uintptr_t text)
{
    choice *first = take(sizeof *first, sizeof(uint64_t)),
           *second = take(sizeof *second, sizeof(uint64_t));
    process_start();
    first->kind = 0;
    first->u.next = second;
    second->kind = 2;
    second->u.text = (char *)text;
    return first;
}

TEST(audit, a_pointer_on_the_word_of_a_field_that_does_not_hold_is_found)
{
    choice *first;
    audit_start();
    choice_open(FORGETS);
    first = choices_make(HEAP);
    CHECK_STATUS(audit_choices(first, 0), HAUL_OK);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, "root.u.next.u.next", "");
    CHECK_HAS(audit.kept[0].text, "no field that holds describes this pointer (offset 8 of choice, "
                                  "1 time): 0x100000 leads to a heap block of 24 bytes");
    CHECK_EQ(audit.summary.left_out, 0);
    first->u.next->u.text = (char *)(uintptr_t)(CODE + 8);
    CHECK_STATUS(audit_choices(first, 1), HAUL_OK);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, "root.u.next.u.next", "");
    CHECK_STATUS(audit_choices(first, 0), HAUL_OK); /* it may be a handle */
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_LEFT_OUT, "root.u.next.u.next", "");
    haul_type_free(&choice_type);
    lab_end();
}

TEST(audit, bytes_of_a_field_that_does_not_hold_are_a_hint_unless_a_field_that_holds_has_some)
{
    choice *first, *second;
    audit_start();
    choice_open(FORGETS);
    first = choices_make(7);
    second = first->u.next;
    CHECK_STATUS(audit_choices(first, 0), HAUL_OK);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_LEFT_OUT, "root.u.next.u.next", "");
    CHECK_HAS(audit.kept[0].text, sizeof(void *) == 8 ? "8 bytes that are" : "4 bytes that are");
    CHECK_HAS(audit.kept[0].text, " not zero do not travel, because its `.when` "
                                  "does not hold (1 time)");
    CHECK_EQ(audit.summary.left_out, 1);
    memset(&second->u, 0xff, sizeof second->u);
    second->kind = 1; /* the other four bytes are the rest of the union */
    CHECK_STATUS(audit_choices(first, 0), HAUL_OK);
    CHECK_EQ(audit.count, 0);
    memset(&second->u, 0, sizeof second->u);
    second->kind = 2;
    CHECK_STATUS(audit_choices(first, 0), HAUL_OK);
    CHECK_EQ(audit.count, 0);
    haul_type_free(&choice_type);
    lab_end();
}

/* The first arm ends with the page. */
TEST(audit, a_field_that_does_not_hold_and_lies_beyond_the_memory_is_not_read)
{
    typedef struct part {
        uint64_t kind;
        struct part *near, *far;
    } part;
    static haul_type *part_type;
    const haul_field fields[] = {
        HAUL_OBJECT(part, near, &part_type, .when = HAUL_EQUALS(part, kind, 1)),
        HAUL_OBJECT(part, far, &part_type, .when = HAUL_EQUALS(part, kind, 2)),
    };
    part *short_part;
    audit_start();
    part_type = TYPE_NEW(part, fields);
    type_commit(part_type);
    short_part = take_at_page_end(offsetof(part, far));
    short_part->kind = 1;
    short_part->near = NULL;
    lab_lock(PROT_READ);
    CHECK_STATUS(audit_process(short_part, part_type, haul_this_process()), HAUL_OK);
    lab_unlock();
    CHECK_EQ(audit.summary.left_out, 0);
    haul_type_free(&part_type);
    lab_end();
}

TEST(audit, bytes_that_are_skipped_or_sent_although_a_field_does_not_hold_are_no_hint)
{
    int how;
    for (how = SKIPS; how <= SENDS; how++) {
        choice *first;
        audit_start();
        choice_open(how);
        first = choices_make(7);
        CHECK_STATUS(audit_choices(first, 0), HAUL_OK);
        CHECK_EQ(audit.count, 0);
        haul_type_free(&choice_type);
        lab_end();
    }
}

TEST(audit, blocks_that_the_program_tells_of_come_before_those_of_the_process)
{
    cell *first;
    words_start();
    first = cells_make(2);
    book((const void *)(uintptr_t)(MAPPED + 64), 40);
    set_id(first, MAPPED + 64);
    set_id(first->next, MAPPED + 104); /* behind that block */
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    CHECK_EQ(audit.summary.hidden_pointers, 1);
    CHECK_EQ(audit.summary.outside_addresses, 1);
    CHECK_HAS(audit.kept[0].text, "leads to a heap block of 40 bytes");
    process.is_silent = 1; /* a system that tells nothing */
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    CHECK_EQ(audit.summary.hidden_pointers, 1);
    CHECK_EQ(audit.summary.outside_addresses, 0);
    cells_end();
}

TEST(audit, blocks_of_the_process_bound_ranges_but_not_to_the_byte)
{
    cell *first;
    words_start();
    first = cells_make(2);
    process_has(HAUL_MEMORY_BLOCK, (uintptr_t)first, sizeof *first + 8, "[heap]");
    audit.options.exact_blocks = 1;
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    CHECK_EQ(audit.summary.blocks, 1);
    CHECK_EQ(audit.count, 0);
    process.places[process.count - 1].bytes = sizeof *first - 1;
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_OK);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root", "");
    cells_end();
}

TEST(audit, a_process_that_cannot_be_looked_at_is_refused)
{
    haul_process lacking = made_up_process;
    struct {
        haul_process known;
        size_t more;
    } newer;
    cell *first;
    words_start();
    first = cells_make(2);
    memset(&newer, 0, sizeof newer);
    newer.known = made_up_process;
    newer.known.table_bytes = sizeof newer;
    CHECK_STATUS(audit_process(first, whole_cell_type, &newer.known), HAUL_OK);
    newer.more = 1;
    CHECK_STATUS(audit_process(first, whole_cell_type, &newer.known), HAUL_ERROR_VERSION);
    CHECK_HAS(haul_context_error(the.context)->text, "lacks");
    lacking.find = NULL;
    CHECK_STATUS(audit_process(first, whole_cell_type, &lacking), HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "lacks a function");
    process.opens = HAUL_ERROR_MEMORY;
    CHECK_STATUS(audit_process(first, whole_cell_type, &made_up_process), HAUL_ERROR_MEMORY);
    CHECK_HAS(haul_context_error(the.context)->text, "out of memory");
    cells_end();
}

/* ---- The process that this is. */

/* Emulators and other C libraries tell less. */
#if defined(__GLIBC__) && !defined(HAUL_EMULATED)
#define KNOWS_BLOCKS 1
#else
#define KNOWS_BLOCKS 0
#endif

static int some_static_data = 1;

typedef struct guest {
    struct guest *next;
    void *forgotten;
} guest;

static haul_type *guest_type;
static const haul_field guest_fields[] = { HAUL_OBJECT(guest, next, &guest_type) };

/* Audits a guest that remembers the address. */
static void remember(const void *address)
{
    guest g = { NULL, NULL };
    haul_context *context;
    g.forgotten = (void *)(uintptr_t)address;
    audit.count = 0;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(
        haul_audit(context, haul_from_object(&g, guest_type), &audit.options, &audit.summary),
        HAUL_OK);
    CHECK_EQ(audit.summary.unused_fields, 1);
    haul_context_free(&context);
}

static void check_block(const void *address, size_t least, size_t most)
{
    remember(address);
    CHECK(audit.count > 1);
    if (KNOWS_BLOCKS || audit.kept[0].memory.kind == HAUL_MEMORY_BLOCK) {
        check_found(0, HAUL_AUDIT_HIDDEN_POINTER, audit.kept[0].path, "");
        CHECK(audit.kept[0].memory.bytes >= least && audit.kept[0].memory.bytes <= most);
    }
}

static void *block_of_a_thread(void *bytes)
{
    return malloc(*(size_t *)bytes);
}

TEST(audit, blocks_of_malloc_are_found_with_their_sizes_in_each_heap)
{
    size_t bytes = 100, large = (size_t)4 << 20;
    pthread_t thread;
    void *block = malloc(bytes), *behind = malloc(bytes), *mapped = malloc(large), *other;
    audit_start();
    guest_type = TYPE_OPEN(guest, guest_fields);
    type_commit(guest_type);
    CHECK(block && behind && mapped);
    CHECK_EQ(pthread_create(&thread, NULL, block_of_a_thread, &bytes), 0);
    CHECK_EQ(pthread_join(thread, &other), 0);
    check_block(block, bytes, bytes + 32);
    check_block(other, bytes, bytes + 32);
    check_block(mapped, large, large + 2 * (size_t)PAGE);
    if (KNOWS_BLOCKS && !BUILD_SANITIZED) {
        remember((char *)block + 99); /* a hint, if pointers have 4 bytes */
        CHECK_HAS(audit.kept[0].text, "99 bytes into a heap block of");
        remember((char *)block + 128);
        CHECK(audit.kept[0].memory.begin != (uintptr_t)block);
    }
    free(other);
    free(mapped);
    free(behind);
    free(block);
    haul_type_free(&guest_type);
    lab_end();
}

TEST(audit, other_memory_is_told_by_what_it_is)
{
    int on_the_stack = 0;
    unsigned char *reserved;
    audit_start();
    guest_type = TYPE_OPEN(guest, guest_fields);
    type_commit(guest_type);
    remember((const void *)(uintptr_t)8);
    CHECK_EQ(audit.count, 1); /* the field that nobody uses */
    remember(&some_static_data);
    CHECK_EQ(audit.summary.outside_addresses, 1);
    check_found(0, HAUL_AUDIT_OUTSIDE_ADDRESS, audit.kept[0].path, "");
    if (KNOWS_BLOCKS) {
        CHECK_EQ(audit.kept[0].memory.kind, HAUL_MEMORY_STATIC);
        CHECK_HAS(audit.kept[0].text, "static data or code of /");
    }
    remember(&on_the_stack);
    CHECK_EQ(audit.summary.outside_addresses, 1);
    CHECK(!KNOWS_BLOCKS || BUILD_SANITIZED || audit.kept[0].memory.kind == HAUL_MEMORY_STACK);
    remember(the.memory);
    CHECK_EQ(audit.kept[0].memory.kind, HAUL_MEMORY_MAPPING);
    reserved = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(reserved != MAP_FAILED);
    remember(reserved + 3 * PAGE); /* nobody has touched it */
    check_note("%s", audit.kept[0].text);
    CHECK(!KNOWS_BLOCKS || audit.summary.outside_addresses == 0);
    check_note(NULL);
    munmap(reserved, BLOCK);
    haul_type_free(&guest_type);
    lab_end();
}

/* ---- The call itself. */

typedef struct hollow {
    uint64_t word;
} hollow;

TEST(audit, an_object_of_which_nothing_travels_has_nothing_to_be_found)
{
    static const haul_field fields[] = { HAUL_SKIP(hollow, word) };
    haul_type *type;
    hollow *h;
    audit_start();
    type = TYPE_OPEN(hollow, fields);
    type_commit(type);
    h = take(sizeof *h, sizeof(uint64_t));
    h->word = (uintptr_t)h;
    book(h, sizeof *h);
    audit_one(h, type, 1);
    CHECK_EQ(audit.count, 0);
    haul_type_free(&type);
    lab_end();
}

static haul_status write_nothing(void *user, const void *data, size_t bytes)
{
    (void)user;
    (void)data;
    (void)bytes;
    CHECK(0);
    return HAUL_OK;
}

TEST(audit, what_a_plan_refuses_is_refused_with_the_same_words)
{
    haul_root root;
    haul_plan *plan;
    haul_error said_before;
    haul_file file;
    haul_audit_options printing;
    table *t = table_start();
    memset(&audit.summary, 0xFF, sizeof audit.summary);
    CHECK_STATUS(haul_audit(NULL, haul_from_roots(&root, 1), NULL, &audit.summary),
                 HAUL_ERROR_ARGUMENT);
    CHECK_EQ(audit.summary.objects, 0);
    lab_open_context(0);
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(NULL, 0), NULL, NULL),
                 HAUL_ERROR_ARGUMENT);
    CHECK_HAS(haul_context_error(the.context)->text, "list of roots");
    root.address = t;
    root.type = table_type;
    root.count = 1;
    t->numbers = NULL;
    CHECK_STATUS(haul_plan_create(the.context, haul_from_roots(&root, 1), NULL, &plan),
                 HAUL_ERROR_GRAPH);
    said_before = *haul_context_error(the.context);
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), NULL, NULL), HAUL_ERROR_GRAPH);
    CHECK_STR(haul_context_error(the.context)->path, said_before.path);
    CHECK_STR(haul_context_error(the.context)->text, said_before.text);
    memset(&file, 0, sizeof file);
    file.write = write_nothing;
    memset(&printing, 0, sizeof printing);
    printing.file = &file;
    CHECK_STATUS(audit_graph(&root, 1, &printing, &audit.summary), HAUL_ERROR_GRAPH);
    CHECK_EQ(audit.summary.objects, 0);
    t->count = 0;
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), NULL, NULL), HAUL_OK);
    table_end();
}

static haul_status answer;

static void audit_again(void *user, const haul_audit_finding *finding)
{
    (void)finding;
    answer = haul_audit(the.context, haul_from_roots(user, 1), NULL, NULL);
}

TEST(audit, a_finding_that_calls_back_in_hears_that_the_context_is_busy_C3)
{
    haul_root root;
    cells_start();
    root.address = cells_make(2);
    root.type = cell_type;
    root.count = 1;
    audit.options.finding = audit_again;
    audit.options.user = &root;
    answer = HAUL_OK;
    lab_open_context(CHECKED);
    CHECK_STATUS(audit_graph(&root, 1, &audit.options, &audit.summary), HAUL_OK);
    CHECK_STATUS(answer, HAUL_ERROR_BUSY);
    cells_end();
}

TEST(audit, a_museum_is_clean_but_for_what_it_does_not_use)
{
    world w;
    audit_start();
    world_start(&w, 1 << 16);
    museum_open();
    audit_one(museum_make(&w, 12, 1), room_type, 1);
    CHECK_EQ(audit.count, 0);
    CHECK_EQ(audit.summary.fields, 5);
    museum_close();
    world_end(&w);
    lab_end();
}

TEST(audit, a_long_list_takes_no_deep_stack_and_has_a_short_path)
{
    enum { LONG = 100000 };
    cell *cells;
    haul_root root;
    size_t i;
    cells_start();
    cells = calloc(LONG, sizeof *cells);
    CHECK(cells != NULL);
    for (i = 0; i + 1 < LONG; i++)
        cells[i].next = &cells[i + 1];
    cells[0].name = text("first");
    cells[LONG - 1].prev = cells;
    root.address = cells;
    root.type = cell_type;
    root.count = 1;
    lab_open_context(FLAT);
    CHECK_STATUS(audit_graph(&root, 1, &audit.options, &audit.summary), HAUL_OK);
    CHECK_EQ(audit.count, 1);
    CHECK_HAS(audit.kept[0].path, "root(.next)*99999+");
    free(cells);
    cells_end();
}

/* ---- In words. */

typedef struct paper {
    char text[4096];
    size_t length, room; /* writes beyond the room are refused */
    unsigned calls;
} paper;

static haul_status write_on_paper(void *user, const void *data, size_t bytes)
{
    paper *p = user;
    p->calls++;
    if (p->length + bytes > p->room)
        return HAUL_ERROR_DEVICE; /* whatever it is, it becomes HAUL_ERROR_FILE */
    memcpy(p->text + p->length, data, bytes);
    p->length += bytes;
    p->text[p->length] = '\0';
    return HAUL_OK;
}

TEST(audit, findings_are_written_one_a_line_with_a_line_of_totals)
{
    haul_root root;
    haul_file file;
    haul_audit_options printing;
    paper p;
    memset(&p, 0, sizeof p);
    memset(&printing, 0, sizeof printing);
    printing.file = &file;
    cells_start();
    root.address = cells_make(3);
    ((cell *)root.address)->name = ((cell *)root.address)->next->name = NULL;
    ((cell *)root.address)->next->next->name = NULL;
    root.type = cell_type;
    root.count = 1;
    file.user = &p;
    file.write = write_on_paper;
    file.read = NULL;
    p.room = sizeof p.text - 1;
    lab_open_context(FLAT);
    CHECK_STATUS(audit_graph(&root, 1, &printing, &audit.summary), HAUL_OK);
    CHECK_HAS(p.text, "FOUND  root.next+");
    CHECK_HAS(p.text, " -> root: no field describes this pointer (offset ");
    CHECK_HAS(p.text, "\nhint   root.name: ");
    CHECK_HAS(p.text, "\n2 hidden pointers and 0 other addresses in ");
    CHECK_EQ(audit.summary.reported, 2);
    p.length = p.calls = 0;
    p.room = 20;
    CHECK_STATUS(audit_graph(&root, 1, &printing, &audit.summary), HAUL_ERROR_FILE);
    CHECK_EQ(p.calls, 1); /* nothing is written after what was refused */
    CHECK_EQ(audit.summary.reported, 2);
    file.write = NULL;
    CHECK_STATUS(audit_graph(&root, 1, &printing, &audit.summary), HAUL_ERROR_ARGUMENT);
    CHECK_EQ(audit.summary.reported, 0);
    cells_end();
}

/* ---- Faults. */

static int fault_variant;
static haul_root fault_root;

static void fault_prepare(void *user, fault_plan *plan)
{
    cell *first;
    (void)user;
    cells_start();
    first = cells_make(80);
    book(first->next, sizeof(cell) - 1);
    fault_root.address = first;
    fault_root.type = cell_type;
    fault_root.count = 1;
    audit.options.every_word = 1;
    plan->no_reserve = !(fault_variant & FLAT);
    the.options.checked = (fault_variant & CHECKED) != 0;
    CHECK_STATUS(fault_open_context(plan, &the.options, &the.context), HAUL_OK);
}

static haul_status fault_run(void *user)
{
    (void)user;
    audit.count = 0;
    return audit_graph(&fault_root, 1, &audit.options, &audit.summary);
}

static void fault_check(void *user, haul_status status)
{
    (void)user;
    if (status == HAUL_OK) {
        CHECK_EQ(audit.summary.beyond_block, 1);
        CHECK_EQ(audit.summary.hidden_pointers, 78); /* the cell that is too long is not read */
        CHECK_EQ(audit.count, 65);
    } else {
        CHECK_EQ(audit.summary.objects, 0);
        CHECK_EQ(haul_context_error(the.context)->status, status);
    }
}

static void fault_finish(void *user)
{
    (void)user;
    cells_end();
}

/* A graph with findings in bytes that are left out. */
static void fault_prepare_choices(void *user, fault_plan *plan)
{
    choice *first;
    size_t i;
    (void)user;
    audit_start();
    choice_open(FORGETS);
    first = take(80 * sizeof *first, sizeof(uint64_t));
    for (i = 0; i < 80; i++) {
        first[i].kind = 2;
        first[i].u.text = (char *)(uintptr_t)(i % 2 ? HEAP : 7);
    }
    process_start();
    fault_root.address = first;
    fault_root.type = choice_type;
    fault_root.count = 80;
    audit.options.every_word = 1;
    plan->no_reserve = 1;
    CHECK_STATUS(fault_open_context(plan, &the.options, &the.context), HAUL_OK);
}

static haul_status fault_run_choices(void *user)
{
    const haul_source source = haul_from_roots(&fault_root, 1);
    (void)user;
    audit.count = 0;
    return haul_audit_sized(the.context, &made_up_process, &source, sizeof source, &audit.options,
                            sizeof audit.options, &audit.summary, sizeof audit.summary);
}

static void fault_check_choices(void *user, haul_status status)
{
    (void)user;
    CHECK_EQ(process.open, 0);
    CHECK_EQ(audit.summary.hidden_pointers, status == HAUL_OK ? 40 : 0);
    CHECK_EQ(audit.summary.left_out, status == HAUL_OK ? 40 : 0);
}

static void fault_finish_choices(void *user)
{
    (void)user;
    haul_type_free(&choice_type);
    lab_end();
}

/* ---- One report on several data sets. */

static haul_audit_report *report_begin(void)
{
    haul_audit_report *report;
    audit_start();
    cell_type = TYPE_OPEN(cell, cell_fields);
    type_commit(cell_type);
    lab_open_context(0);
    CHECK_STATUS(
        haul_audit_begin_sized(the.context, NULL, &audit.options, sizeof audit.options, &report),
        HAUL_OK);
    return report;
}

/* Two cells, of which the first leads to the second by a forgotten pointer, too. They lie where
 * those of the last call lay. */
static haul_status add_cells(haul_audit_report *report, int has_names, int is_broken)
{
    static cell cells[2];
    char name[] = "cell";
    haul_status status;
    memset(cells, 0, sizeof cells);
    cells[0].next = is_broken ? (cell *)(uintptr_t)1 : &cells[1];
    cells[0].prev = &cells[1];
    cells[1].name = has_names ? name : NULL;
    status = haul_audit_add(report, haul_from_object(cells, cell_type));
    memset(cells, 0xff, sizeof cells);
    return status;
}

TEST(audit, one_report_covers_data_that_does_not_live_at_once)
{
    haul_audit_report *report;
    haul_audit_info info;
    report = report_begin();
    CHECK_STATUS(add_cells(report, 0, 0), HAUL_OK);
    CHECK_STATUS(add_cells(report, 1, 0), HAUL_OK);
    CHECK_STATUS(add_cells(report, 0, 0), HAUL_OK);
    CHECK_EQ(audit.count, 0);
    CHECK_STATUS(haul_audit_end(&report, &info), HAUL_OK);
    CHECK(report == NULL);
    CHECK_EQ(audit.count, 1); /* the second one has a name */
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, sizeof(void *) == 8 ? "root+8" : "root+4",
                "root.next");
    CHECK_EQ(audit.kept[0].times, 3);
    CHECK_EQ(info.hidden_pointers, 3);
    CHECK_EQ(info.objects, 7);
    CHECK_EQ(info.fields, 2);
    CHECK_EQ(info.unused_fields, 0);
    CHECK_STATUS(haul_audit_end(&report, &info), HAUL_ERROR_ARGUMENT);
    haul_type_free(&cell_type);
    lab_drop();
    lab_end();
}

TEST(audit, a_report_outlives_its_types_and_a_source_that_is_refused)
{
    haul_audit_report *report;
    haul_audit_info info;
    report = report_begin();
    CHECK_STATUS(add_cells(report, 0, 0), HAUL_OK);
    CHECK_STATUS(add_cells(report, 1, 1), HAUL_ERROR_GRAPH);
    haul_type_free(&cell_type);
    CHECK_STATUS(haul_audit_end(&report, &info), HAUL_OK);
    CHECK_EQ(audit.count, 2);
    check_found(0, HAUL_AUDIT_HIDDEN_POINTER, sizeof(void *) == 8 ? "root+8" : "root+4",
                "root.next");
    CHECK_HAS(audit.kept[0].text, "of cell, 1 time)");
    check_found(1, HAUL_AUDIT_UNUSED_FIELD, "root.name", "");
    CHECK_HAS(audit.kept[1].text, "NULL in all of 2 places");
    lab_drop();
    lab_end();
}

TEST(audit, a_report_goes_on_when_its_context_has_been_freed)
{
    haul_audit_report *report;
    haul_audit_info info;
    report = report_begin();
    haul_context_free(&the.context);
    CHECK_STATUS(add_cells(report, 1, 0), HAUL_OK);
    CHECK_STATUS(haul_audit_end(&report, &info), HAUL_OK);
    CHECK_EQ(audit.count, 1);
    haul_type_free(&cell_type);
    lab_end();
}

static haul_audit_report *told;
static haul_status added, ended;

static void add_and_end(void *user, const haul_audit_finding *finding)
{
    (void)finding;
    added = haul_audit_add(told, haul_from_object(user, cell_type));
    ended = haul_audit_end(&told, NULL);
}

TEST(audit, a_finding_that_adds_to_its_report_or_ends_it_hears_that_the_context_is_busy_C3)
{
    haul_audit_report *report = report_begin(), *same;
    haul_audit_info info;
    cell more = { 0 };
    CHECK_STATUS(haul_audit_end(&report, &info), HAUL_OK);
    audit.options.finding = add_and_end;
    audit.options.user = &more;
    CHECK_STATUS(
        haul_audit_begin_sized(the.context, NULL, &audit.options, sizeof audit.options, &report),
        HAUL_OK);
    told = same = report;
    CHECK_STATUS(add_cells(report, 1, 0), HAUL_OK);
    added = ended = HAUL_OK;
    CHECK_STATUS(haul_audit_end(&report, &info), HAUL_OK);
    CHECK_STATUS(added, HAUL_ERROR_BUSY);
    CHECK_STATUS(ended, HAUL_ERROR_BUSY);
    CHECK(told == same);
    haul_type_free(&cell_type);
    lab_end();
}

static haul_status fault_run_report(void *user)
{
    haul_audit_report *report;
    haul_status status, ended;
    (void)user;
    status =
        haul_audit_begin_sized(the.context, NULL, &audit.options, sizeof audit.options, &report);
    if (status != HAUL_OK)
        return status;
    status = add_cells(report, 0, 0);
    ended = haul_audit_end(&report, &audit.summary);
    CHECK(report == NULL);
    return status == HAUL_OK ? ended : status;
}

static void fault_prepare_report(void *user, fault_plan *plan)
{
    (void)user;
    audit_start();
    cell_type = TYPE_OPEN(cell, cell_fields);
    type_commit(cell_type);
    plan->no_reserve = 1;
    CHECK_STATUS(fault_open_context(plan, &the.options, &the.context), HAUL_OK);
}

static void fault_check_report(void *user, haul_status status)
{
    (void)user;
    CHECK(status != HAUL_OK || audit.summary.hidden_pointers == 1);
}

static void fault_finish_report(void *user)
{
    (void)user;
    haul_type_free(&cell_type);
    lab_end();
}

TEST(audit, every_allocation_of_a_report_fails_H1_H2)
{
    fault_operation operation = { .prepare = fault_prepare_report,
                                  .run = fault_run_report,
                                  .check = fault_check_report,
                                  .finish = fault_finish_report,
                                  .modes = FAULT_MEMORY };
    CHECK(fault_everywhere(&operation) > 20);
}

TEST(audit, every_allocation_fails_while_bytes_are_left_out_H1_H2)
{
    fault_operation operation = { .prepare = fault_prepare_choices,
                                  .run = fault_run_choices,
                                  .check = fault_check_choices,
                                  .finish = fault_finish_choices,
                                  .modes = FAULT_MEMORY };
    CHECK(fault_everywhere(&operation) > 20);
}

TEST(audit, every_allocation_fails_once_and_from_then_on_H1_H2)
{
    for (fault_variant = 0; fault_variant < VARIANTS; fault_variant += LARGE(1, 3)) {
        fault_operation operation = { .prepare = fault_prepare,
                                      .run = fault_run,
                                      .check = fault_check,
                                      .finish = fault_finish,
                                      .modes = FAULT_MEMORY };
        CHECK(fault_everywhere(&operation) > 100);
    }
}
