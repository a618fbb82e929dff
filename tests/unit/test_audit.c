/* The audit: each kind of finding is found where it is and only there; what is right is left in
 * peace; what lies beyond a block is not read; and the audit survives every fault of its allocator.
 *
 * Faults by number (docs/testing.md): H1, H2, C3 (a callback that calls back in); an undescribed
 * pointer and a count that is too long are the errors of the user that no other call can see.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"
#include "ship_graphs.h"
#include "type/type.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

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
    size_t booked, asked;
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

static size_t usable_by_book(void *user, const void *block)
{
    size_t i;
    (void)user;
    audit.asked++;
    for (i = 0; i < audit.booked; i++)
        if (audit.book[i].block == block)
            return audit.book[i].bytes;
    return 0;
}

static void book(const void *block, size_t bytes)
{
    audit.book[audit.booked].block = block;
    audit.book[audit.booked++].bytes = bytes;
    audit.options.usable = usable_by_book;
}

static void audit_start(void)
{
    lab_start();
    memset(&audit, 0, sizeof audit);
    audit.options.finding = keep;
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
        audit.count = audit.asked = 0;
        lab_lock(PROT_READ);
        CHECK_STATUS(
            haul_audit(the.context, haul_from_roots(roots, count), &audit.options, &summary),
            HAUL_OK);
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
             kind == HAUL_AUDIT_UNUSED_ROW || kind == HAUL_AUDIT_LITTLE_OF_BLOCK);
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
    CHECK_EQ(audit.summary.hidden_pointers + audit.summary.unused_rows + audit.summary.beyond_block,
             0);
    CHECK_EQ(audit.summary.rows, 3);
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
    check_found(0, HAUL_AUDIT_UNUSED_ROW, "root.right", "");
    check_found(1, HAUL_AUDIT_UNUSED_ROW, "root.label", "");
    check_found(2, HAUL_AUDIT_UNUSED_ROW, "root.pairs", "");
    check_found(3, HAUL_AUDIT_UNUSED_ROW, "root.each[0]", "");
    CHECK_EQ(audit.kept[0].times, 2);
    CHECK_EQ(audit.kept[3].times, 4);
    CHECK_PTR(audit.kept[0].address, &j->right);
    CHECK_EQ(audit.summary.unused_rows, 4);
    CHECK_EQ(audit.summary.rows, 5);
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
    check_found(0, HAUL_AUDIT_UNUSED_ROW, "root.pairs[0]", "");
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
    check_found(0, HAUL_AUDIT_UNUSED_ROW, "root.label", "");
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
    check_found(0, HAUL_AUDIT_UNUSED_ROW, "root.slots", "");
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
    check_found(0, HAUL_AUDIT_UNUSED_ROW, "root[0].known", "");
    CHECK_HAS(audit.kept[0].text, "NULL, an integer or something else in all of 2 places");
    check_found(1, HAUL_AUDIT_UNUSED_ROW, "root[0].small", "");
    check_found(2, HAUL_AUDIT_UNUSED_ROW, "root[0].coloured", "");
    check_found(3, HAUL_AUDIT_UNUSED_ROW, "root[0].near", "");
    v[1].kind = 1;
    v[1].known = v[1].asked = v[1].small = v;
    v[0].coloured = (valve *)((uintptr_t)v | 1);
    v[1].near = (int32_t)((unsigned char *)v - (unsigned char *)&v[1].near);
    audit_one(v, valve_type, 2);
    CHECK_EQ(audit.count, 0);
    CHECK_EQ(audit.summary.rows, 5);
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

TEST(audit, only_ranges_that_lie_in_no_other_are_asked_about_and_roots_on_demand)
{
    cell *cells;
    cells_start();
    cells = take(4 * sizeof *cells, sizeof(uint64_t));
    cells[0].next = &cells[2]; /* inside the root's range */
    cells[2].name = text("second");
    cells[0].prev = &cells[0];
    book(cells, 4 * sizeof *cells);
    audit_one(cells, whole_cell_type, 4);
    CHECK_EQ(audit.asked, 1);
    CHECK_EQ(audit.summary.blocks, 0);
    audit.options.roots_are_blocks = 1;
    audit_one(cells, whole_cell_type, 4);
    CHECK_EQ(audit.asked, 2);
    CHECK_EQ(audit.summary.blocks, 1);
    CHECK_EQ(audit.summary.beyond_block, 0);
    audit.book[0].bytes -= 1;
    audit_one(cells, whole_cell_type, 4);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root[0]", "");
    cells_end();
}

TEST(audit, a_range_that_begins_in_another_is_not_asked_about_whatever_is_known_of_that_one)
{
    table *t = table_start();
    book(t, sizeof *t);
    audit_one(t, table_type, 1); /* `again` begins in `numbers` and ends behind it */
    CHECK_EQ(audit.asked, 1);
    CHECK_EQ(audit.summary.blocks, 0);
    book(t->numbers, 10 * sizeof *t->numbers);
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.asked, 1);
    CHECK_EQ(audit.count, 0);
    audit.book[1].bytes -= 1;
    audit_one(t, table_type, 1);
    CHECK_EQ(audit.count, 1);
    check_found(0, HAUL_AUDIT_BEYOND_BLOCK, "root.again[0]", "");
    table_end();
}

#ifdef __GLIBC__
static size_t usable_by_malloc(void *user, const void *block)
{
    (void)user;
    return malloc_usable_size((void *)(uintptr_t)block);
}

TEST(audit, malloc_tells_the_sizes_of_its_blocks)
{
    table t, *root = &t;
    haul_context *context;
    haul_root roots[1];
    audit_start();
    table_type = type_open("table", sizeof t, table_fields, 1);
    type_commit(table_type);
    memset(&t, 0, sizeof t);
    t.count = 100;
    t.numbers = calloc(t.count, sizeof *t.numbers);
    roots[0].address = root;
    roots[0].type = table_type;
    roots[0].count = 1;
    audit.options.usable = usable_by_malloc;
    CHECK_STATUS(haul_context_create(NULL, &context), HAUL_OK);
    CHECK_STATUS(haul_audit(context, haul_from_roots(roots, 1), &audit.options, &audit.summary),
                 HAUL_OK);
    CHECK_EQ(audit.summary.blocks, 1);
    CHECK_EQ(audit.count, 0);
    t.count = 104;
    CHECK_STATUS(haul_audit(context, haul_from_roots(roots, 1), &audit.options, &audit.summary),
                 HAUL_OK);
    CHECK_EQ(audit.summary.beyond_block, 1);
    t.count = 10;
    CHECK_STATUS(haul_audit(context, haul_from_roots(roots, 1), &audit.options, &audit.summary),
                 HAUL_OK);
    CHECK_EQ(audit.summary.little_of_block, 1);
    free(t.numbers);
    haul_context_free(&context);
    haul_type_free(&table_type);
    lab_end();
}
#endif

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
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), &printing, &audit.summary),
                 HAUL_ERROR_GRAPH);
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
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), &audit.options, NULL), HAUL_OK);
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
    CHECK_EQ(audit.summary.rows, 5);
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
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), &audit.options, &audit.summary),
                 HAUL_OK);
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
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), &printing, &audit.summary),
                 HAUL_OK);
    CHECK_HAS(p.text, "FOUND  root.next+");
    CHECK_HAS(p.text, " -> root: the word at offset ");
    CHECK_HAS(p.text, "\nhint   root.name: ");
    CHECK_HAS(p.text, "\n2 hidden pointers in ");
    CHECK_EQ(audit.summary.reported, 2);
    p.length = p.calls = 0;
    p.room = 20;
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), &printing, &audit.summary),
                 HAUL_ERROR_FILE);
    CHECK_EQ(p.calls, 1); /* nothing is written after what was refused */
    CHECK_EQ(audit.summary.reported, 2);
    file.write = NULL;
    CHECK_STATUS(haul_audit(the.context, haul_from_roots(&root, 1), &printing, &audit.summary),
                 HAUL_ERROR_ARGUMENT);
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
    return haul_audit(the.context, haul_from_roots(&fault_root, 1), &audit.options, &audit.summary);
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

TEST(audit, every_allocation_fails_once_and_from_then_on_H1_H2)
{
    for (fault_variant = 0; fault_variant < VARIANTS; fault_variant++) {
        fault_operation operation = { .prepare = fault_prepare,
                                      .run = fault_run,
                                      .check = fault_check,
                                      .finish = fault_finish,
                                      .modes = FAULT_MEMORY };
        CHECK(fault_everywhere(&operation) > 100);
    }
}
