/* The tables of a shipment: their sums are those of the info, each slow path is told with its row
 * or type and its number, and a graph without one is told to have none.
 *
 * Faults by number (docs/testing.md): H1, H2, C3.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/doors.h"
#include "support/open.h"
#include "support/outcomes.h"
#include "support/types.h"

/* So many that all threads find them. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { MANY = 1500 };
#else
enum { MANY = 33000 };
#endif

/* ---- Paper. */

typedef struct sheet {
    char text[16384];
    size_t length, writes, allowed;
    haul_shipment *asked; /* written again at each write; NULL: none is */
    haul_status answered;
} sheet;

static sheet paper;

static haul_status write_sheet(void *user, const void *data, size_t bytes)
{
    sheet *s = user;
    const haul_file file = { user, write_sheet, NULL };
    if (s->asked)
        s->answered = haul_shipment_write_table(s->asked, &file);
    if (s->writes++ == s->allowed || bytes >= sizeof s->text - s->length)
        return HAUL_ERROR_DEVICE; /* anything but HAUL_OK */
    memcpy(s->text + s->length, data, bytes);
    s->length += bytes;
    s->text[s->length] = '\0';
    return HAUL_OK;
}

static haul_file clean_sheet(void)
{
    const haul_file file = { &paper, write_sheet, NULL };
    memset(&paper, 0, sizeof paper);
    paper.allowed = SIZE_MAX;
    return file;
}

/* The sum of a column, from the left, over the lines that have this text. */
static size_t sum_of(const char *name, unsigned column)
{
    const char *at = paper.text;
    size_t sum = 0;
    for (; (at = strstr(at, name)) != NULL; at++) {
        const char *begin = at;
        char *number;
        unsigned i;
        while (begin > paper.text && begin[-1] != '\n')
            begin--;
        number = (char *)(uintptr_t)begin;
        for (i = 0; i < column; i++)
            strtoull(number, &number, 10);
        sum += (size_t)strtoull(number, NULL, 10);
    }
    return sum;
}

static size_t count_of(const char *part)
{
    const char *at = paper.text;
    size_t count = 0;
    for (; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* ---- Shipments. */

static haul_device *device;
static haul_shipment *shipment;
static haul_shipment_info info;

static const char *table(void)
{
    const haul_file file = clean_sheet();
    CHECK_STATUS(haul_shipment_write_table(shipment, &file), HAUL_OK);
    return paper.text;
}

/* Ships `count` objects by a device of its own, and writes the table. Its sums are those of the
 * info. */
static void ship(void *root, const haul_type *type, size_t count,
                 const haul_context_options *options, int is_ordered)
{
    static const char *const form[] = { "  full\n",   "  bare\n",  "  uniform\n",
                                        "  ragged\n", "  mixed\n", "  masks and lists\n" };
    haul_ship_options how;
    test_device settings;
    size_t placed = 0, bytes = 0, i;
    memset(&how, 0, sizeof how);
    memset(&settings, 0, sizeof settings);
    how.ordered = is_ordered;
    if (options)
        settings.new_context = *options;
    if (!settings.new_context.threads)
        settings.new_context.threads = 1;
    CHECK_STATUS(test_open(haul_host_device(), &settings, &device), HAUL_OK);
    CHECK_STATUS(haul_ship(device, root, type, count, &how, &shipment), HAUL_OK);
    haul_shipment_get_info(shipment, &info);
    table();
    CHECK_EQ(sum_of("  the caller's thread\n", 0) + sum_of("  thread ", 0), info.objects);
    for (i = 0; i < sizeof form / sizeof form[0]; i++) {
        placed += sum_of(form[i], 1);
        bytes += sum_of(form[i], 2);
    }
    CHECK(info.graph_bytes <= placed && placed <= info.arena_bytes);
    CHECK(bytes > 0 && bytes <= info.bookkeeping_bytes);
}

static void unship(void)
{
    haul_shipment_free(&shipment);
    haul_device_close(&device);
}

/* ---- Objects with a row of each kind. */

typedef struct item {
    struct item *next, *list;
    double *data, *end;
    int32_t *codes;
    int64_t n, more, pad; /* 64 bytes */
} item;

static haul_type *item_type;
static double doubles[9];
static int32_t codes[] = { 3, 2, 1, 0 };
static item items[4], listed[2];

static int64_t count_three(const haul_here *here)
{
    (void)here;
    return 3;
}

static void make_type(const haul_field *fields, size_t count)
{
    const haul_struct what = { .name = "item",
                               .bytes = sizeof(item),
                               .fields = fields,
                               .field_count = count,
                               .field_bytes = sizeof *fields };
    item_type = type_new(&what);
    CHECK_STATUS(haul_type_commit(item_type), HAUL_OK);
}

static void make_items(void)
{
    size_t i;
    memset(items, 0, sizeof items);
    memset(listed, 0, sizeof listed);
    for (i = 0; i < 3; i++) {
        items[i].next = &items[i + 1];
        items[i].list = listed;
        items[i].data = doubles + 3 * i;
        items[i].end = doubles + 3 * i + 3;
        items[i].codes = codes;
        items[i].n = 2;
    }
}

/* Ships three items by one thread. */
static void check_row(const haul_field *fields, size_t count, const char *line)
{
    make_items();
    make_type(fields, count);
    ship(items, item_type, 3, NULL, 0);
    CHECK_HAS(paper.text, "one thread walked: the context has one thread\n");
    if (!CAN_SHARE) { /* without the table nothing is followed in line */
        CHECK_HAS(paper.text, "one thread walked: the context has one thread\n");
    } else if (line) {
        CHECK_HAS(paper.text, line);
        CHECK_EQ(count_of("  pointers  item") + count_of("  objects   item"), 1);
    } else {
        CHECK(!strstr(paper.text, "the general way"));
    }
    unship();
    haul_type_free(&item_type);
}

#define CHECK_ROW(line, ...)                                                                       \
    do {                                                                                           \
        const haul_field fields[] = { __VA_ARGS__ };                                               \
        check_row(fields, sizeof fields / sizeof fields[0], line);                                 \
    } while (0)

TEST(shipment_table, rows_that_are_followed_in_line_are_not_told)
{
    CHECK_ROW(NULL, HAUL_OBJECT(item, next, &item_type));
    CHECK_ROW(NULL, HAUL_ARRAY(item, data, HAUL_COUNT(item, n)));
    CHECK_ROW(NULL, HAUL_ARRAY(item, data, HAUL_COUNT(item, n), .transfer = HAUL_COPYOUT));
    CHECK_ROW(NULL, HAUL_OBJECT(item, next, &item_type, .transfer = HAUL_COPYIN));
    CHECK_ROW(NULL, HAUL_RAW(item, codes), HAUL_OBJECT(item, list, &item_type));
}

TEST(shipment_table, each_row_that_takes_the_general_way_is_told_with_its_reason)
{
    CHECK_ROW("           5  pointers  item.list to item: arrays of objects\n",
              HAUL_OBJECTS(item, list, &item_type, HAUL_COUNT(item, n)));
    CHECK_ROW("           3  pointers  item.data: a function counts\n",
              HAUL_ARRAY(item, data, HAUL_COUNT_FN(count_three)));
    CHECK_ROW("           3  pointers  item.data: fields that do not travel both ways\n",
              HAUL_ARRAY(item, data, HAUL_COUNT_FN(count_three), .transfer = HAUL_COPYIN));
    CHECK_ROW("           3  pointers  item.codes: another terminator than the NUL of a string\n",
              HAUL_ARRAY(item, codes, HAUL_TERMINATED));
    CHECK_ROW("           3  pointers  item.data: a count that is no product of its own fields\n",
              HAUL_ARRAY(item, data, HAUL_COUNT_TIMES(item, pad, 70000)));
}

TEST(shipment_table, each_type_that_takes_the_general_way_is_told_with_its_reason)
{
    CHECK_ROW("           4  objects   item.next: rows with rules\n",
              HAUL_OBJECT(item, next, &item_type, .when = HAUL_WHEN_FN(count_three)));
    CHECK_ROW(NULL, HAUL_OBJECT(item, next, &item_type, .when = HAUL_EQUALS(item, n, 1)));
    CHECK_ROW(NULL, HAUL_OBJECT(item, next, &item_type),
              HAUL_RAW(item, more, .transfer = HAUL_COPYIN));
    CHECK_ROW(NULL, HAUL_OBJECT(item, next, &item_type), HAUL_SKIP(item, more));
}

TEST(shipment_table, a_row_of_short_objects_that_takes_the_general_way_is_told)
{
    const haul_field fields[] = { HAUL_OBJECT(item, next, &item_type), HAUL_SKIP(item, more),
                                  HAUL_ARRAY(item, data, HAUL_COUNT_FN(count_three)) };
    make_items();
    make_type(fields, 3);
    ship(items, item_type, 1, NULL, 0);
    if (CAN_SHARE)
        CHECK_HAS(paper.text, "           3  pointers  item.data: a function counts\n");
    unship();
    haul_type_free(&item_type);
}

typedef struct long_item {
    struct long_item *next;
    int64_t skipped, data[64];
} long_item;

static haul_type *long_type;

TEST(shipment_table, skipped_fields_of_long_objects_are_the_reason)
{
    static const haul_field fields[] = { HAUL_OBJECT(long_item, next, &long_type),
                                         HAUL_SKIP(long_item, skipped) };
    static long_item all[3];
    all[0].next = &all[1];
    all[1].next = &all[2];
    long_type = TYPE_NEW(long_item, fields);
    CHECK_STATUS(haul_type_commit(long_type), HAUL_OK);
    ship(all, long_type, 1, NULL, 0);
    if (CAN_SHARE)
        CHECK_HAS(paper.text,
                  "  pointers  long_item.next to long_item: fields that do not travel\n");
    unship();
    haul_type_free(&long_type);
}

/* ---- Who walks. */

typedef struct holder {
    item **all;
    int64_t count;
} holder;

static haul_type *holder_type;
static item *many;
static item *all_items[MANY];
static holder root;

/* Items that are found one by one, most of them at once. */
static void make_many(const haul_field *fields, size_t count)
{
    static const haul_field holder_fields[] = {
        HAUL_POINTERS(holder, all, &item_type, HAUL_COUNT(holder, count)),
    };
    size_t i;
    make_type(fields, count);
    holder_type = TYPE_NEW(holder, holder_fields);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
    many = calloc(MANY, sizeof *many);
    CHECK(many != NULL);
    for (i = 0; i < MANY; i++) {
        all_items[i] = &many[i];
        many[i].next = &many[(i * 7 + 1) % MANY];
        many[i].data = doubles;
    }
    root.all = all_items;
    root.count = MANY;
}

static void free_many(void)
{
    free(many);
    haul_type_free(&holder_type);
    haul_type_free(&item_type);
}

static const haul_field linked[] = { HAUL_OBJECT(item, next, &item_type) };

/* `line` NULL: all threads find the graph. */
static void check_walk(haul_context_options *options, int is_ordered, const char *line)
{
    if (!options->threads)
        options->threads = 2;
    ship(&root, holder_type, 1, options, is_ordered);
    CHECK_EQ(info.objects, MANY + 2);
    if (!line)
        CHECK(!strstr(paper.text, "one thread walked"));
    else if (CAN_SHARE)
        CHECK_HAS(paper.text, line);
    unship();
}

static int any_range(void *user, const void *address, size_t bytes)
{
    (void)user;
    (void)address;
    (void)bytes;
    return 1;
}

static void *get_memory(void *user, size_t bytes, size_t alignment)
{
    void *memory;
    (void)user;
    return posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes)
               ? NULL
               : memory;
}

static void release_memory(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static void *get_range(void *user, size_t bytes)
{
    (void)user;
    return outcome_range(bytes);
}

static void release_range(void *user, void *memory, size_t bytes)
{
    (void)user;
    outcome_range_free(memory, bytes);
}

TEST(shipment_table, a_graph_that_all_threads_find_has_no_reason)
{
    haul_context_options options = { .threads = 3 };
    make_many(linked, 1);
    if (CAN_SHARE)
        check_walk(&options, 0, NULL);
    free_many();
}

TEST(shipment_table, an_option_that_asks_for_one_thread_is_told)
{
    haul_context_options one = { .threads = 1 }, checked = { .checked = 1 },
                         asking = { .readable = any_range },
                         limited = { .max_bytes = (size_t)1 << 30 }, plain = { .threads = 2 },
                         own = { .allocate = get_memory,
                                 .release = release_memory,
                                 .reserve = get_range,
                                 .unreserve = release_range };
    make_many(linked, 1);
    check_walk(&one, 0, "one thread walked: the context has one thread\n");
    check_walk(&checked, 0, "one thread walked: the context is checked\n");
    check_walk(&asking, 0, "one thread walked: the context has a function `readable`\n");
    check_walk(&limited, 0, "one thread walked: the context limits max_bytes\n");
    check_walk(&plain, 1, "one thread walked: the arena is ordered\n");
    check_walk(&own, 0, "one thread walked: only the caller's thread may call the allocator");
    free_many();
}

TEST(shipment_table, a_row_that_asks_for_one_thread_is_told)
{
    const haul_field counted[] = { HAUL_ARRAY(item, data, HAUL_COUNT_FN(count_three)) };
    const haul_field brief[] = { HAUL_OBJECT(item, next, &item_type,
                                             .when = HAUL_DIFFERS(item, n, 1)) };
    const haul_field ruled[] = { HAUL_OBJECT(item, next, &item_type,
                                             .when = HAUL_WHEN_FN(count_three)) };
    haul_context_options options = { .threads = 2 };
    char line[80];
    make_many(brief, 1);
    check_walk(&options, 0, CAN_SHARE ? NULL : "");
    free_many();
    make_many(ruled, 1);
    check_walk(&options, 0, "one thread walked: item.next: rows with rules\n");
    free_many();
    make_many(counted, 1);
    ship(&root, holder_type, 1, &options, 0);
#ifndef HAUL_STRESS_THREADS /* such builds share, however many pointers ask */
    if (CAN_SHARE)
        CHECK_HAS(paper.text, "one thread walked: item.data: a function counts\n");
#endif
    snprintf(line, sizeof line, "%12u  pointers  item.data: a function counts\n", (unsigned)MANY);
    if (CAN_SHARE)
        CHECK_HAS(paper.text, line);
    unship();
    free_many();
}

/* No function is called for NULL, so such a pointer does not count, whoever walks. */
TEST(shipment_table, null_pointers_ask_no_function_with_one_thread_and_with_several)
{
    enum { ASKING = 500 };
    const haul_field counted[] = { HAUL_OBJECT(item, next, &item_type),
                                   HAUL_ARRAY(item, data, HAUL_COUNT_FN(count_three)) };
    char line[80];
    unsigned threads;
    size_t i;
    make_many(counted, 2);
    for (i = ASKING; i < MANY; i++)
        many[i].data = NULL;
    snprintf(line, sizeof line, "%12u  pointers  item.data: a function counts\n", (unsigned)ASKING);
    for (threads = 1; threads <= 3; threads++) {
        const haul_context_options options = { .threads = threads };
        ship(&root, holder_type, 1, &options, 0);
        if (CAN_SHARE) { /* without the table that is the reason */
            CHECK_HAS(paper.text, line);
            CHECK((strstr(paper.text, "one thread walked") != NULL) == (threads == 1));
        }
        unship();
    }
    free_many();
}

TEST(shipment_table, a_range_that_makes_all_threads_give_up_is_told)
{
    const haul_field fields[] = { HAUL_OBJECT(item, next, &item_type),
                                  HAUL_ARRAY(item, data, HAUL_COUNT(item, n)) };
    haul_context_options options = { .threads = 2 };
    make_many(fields, 2);
    many[0].n = 4;
    many[1].n = 4;
    many[1].data = doubles + 2;
    ship(&root, holder_type, 1, &options, 0);
    if (CAN_SHARE) {
        CHECK_HAS(paper.text, "one thread walked: item.data: a range may overlap another one\n");
        CHECK(sum_of("  once more, because the walk began anew\n", 0) > 0);
    }
    unship();
    many[0].n = many[1].n = 0;
    many[2].data = (double *)(void *)((char *)doubles + sizeof(void *) / 2);
    many[2].n = 1;
    ship(&root, holder_type, 1, &options, 0);
    if (CAN_SHARE)
        CHECK_HAS(paper.text, "one thread walked: item.data: a range does not begin with a word\n");
    unship();
    free_many();
}

/* A tree with few objects in each block of the map: that blocks are made counts as work. */
TEST(shipment_table, a_graph_that_lies_scattered_is_shared_sooner)
{
    enum { BLOCKS = 1200, APART = 65536, SCATTERED = 4 * BLOCKS };
    static const haul_field forked[] = { HAUL_OBJECT(item, next, &item_type),
                                         HAUL_OBJECT(item, list, &item_type) };
    static item *at[2 * SCATTERED + 2];
    const haul_context_options options = { .threads = 2 };
    char *memory = calloc(BLOCKS, APART);
    size_t i;
    CHECK(memory != NULL);
    make_type(forked, 2);
    for (i = 0; i < SCATTERED; i++)
        at[i] = (item *)(void *)(memory + i % BLOCKS * APART + i / BLOCKS * 128);
    for (i = 0; i < SCATTERED; i++) {
        at[i]->next = at[2 * i + 1];
        at[i]->list = at[2 * i + 2];
    }
    ship(at[0], item_type, 1, &options, 0);
    CHECK_EQ(info.objects, SCATTERED);
    if (CAN_SHARE)
        CHECK(!strstr(paper.text, "one thread walked"));
    unship();
    haul_type_free(&item_type);
    free(memory);
}

#ifndef HAUL_STRESS_THREADS /* such a build shares every walk */
TEST(shipment_table, a_small_graph_and_a_list_are_told_as_such)
{
    const haul_context_options options = { .threads = 2 };
    size_t i;
    make_many(linked, 1);
    ship(all_items[0], item_type, 1, &options, 0);
    if (CAN_SHARE)
        CHECK_HAS(paper.text, "one thread walked: fewer than 16,000 objects\n");
    unship();
    for (i = 0; i < MANY; i++)
        many[i].next = i + 1 < MANY ? &many[i + 1] : NULL;
    ship(all_items[0], item_type, 1, &options, 0);
    if (MANY > 16000)
        CHECK_HAS(paper.text, "one thread walked: few objects waited at a time\n");
    unship();
    free_many();
}
#endif

/* ---- Phases, refusals, memory. */

TEST(shipment_table, the_way_back_is_told_once_it_was_taken)
{
    make_items();
    make_type(linked, 1);
    ship(items, item_type, 3, NULL, 0);
    CHECK_EQ(count_of("  discovery\n") + count_of("  layout\n") + count_of("  packing\n") +
                 count_of("  transfer\n") + count_of("  patching\n") + count_of("  all of these\n"),
             6);
    CHECK_EQ(count_of("  return\n") + count_of("  writing\n"), 0);
    CHECK_STATUS(haul_unmarshal(shipment), HAUL_OK);
    table();
    CHECK_EQ(count_of("  return\n") + count_of("  writing\n"), 2);
    unship();
    haul_type_free(&item_type);
}

TEST(shipment_table, an_arena_has_phases_alone)
{
    haul_arena *arena;
    CHECK_STATUS(test_open(haul_host_device(), NULL, &device), HAUL_OK);
    CHECK_STATUS(test_arena(device, NULL, &arena), HAUL_OK);
    CHECK(haul_arena_bytes(arena, 100, 16) != NULL);
    CHECK_STATUS(haul_ship_from(device, haul_from_arena(arena), NULL, NULL, &shipment), HAUL_OK);
    table();
    CHECK_EQ(count_of("  transfer\n"), 1);
    CHECK_EQ(count_of("found by") + count_of("blocks"), 0);
    unship();
    haul_arena_free(&arena);
}

TEST(shipment_table, a_file_that_refuses_is_told_and_a_call_from_inside_is_refused)
{
    haul_file file;
    size_t writes, i;
    make_items();
    make_type(linked, 1);
    ship(items, item_type, 3, NULL, 0);
    writes = paper.writes;
    for (i = 0; i < writes; i++) {
        file = clean_sheet();
        paper.allowed = i;
        CHECK_STATUS(haul_shipment_write_table(shipment, &file), HAUL_ERROR_FILE);
        CHECK_EQ(paper.writes, i + 1);
    }
    file = clean_sheet();
    paper.asked = shipment;
    CHECK_STATUS(haul_shipment_write_table(shipment, &file), HAUL_OK);
    CHECK_STATUS(paper.answered, HAUL_ERROR_BUSY);
    unship();
    haul_type_free(&item_type);
}

typedef struct failing {
    haul_device *device;
    haul_shipment *shipment;
} failing;

static void open_failing(void *user, fault_plan *plan)
{
    failing *f = user;
    CHECK_STATUS(fault_open(plan, NULL, &f->device), HAUL_OK);
}

static haul_status ship_failing(void *user)
{
    failing *f = user;
    const haul_file file = clean_sheet();
    const haul_status status = haul_ship(f->device, items, item_type, 3, NULL, &f->shipment);
    return status == HAUL_OK ? haul_shipment_write_table(f->shipment, &file) : status;
}

static void undo_failing(void *user)
{
    haul_shipment_free(&((failing *)user)->shipment);
}

static void close_failing(void *user)
{
    haul_device_close(&((failing *)user)->device);
}

TEST(shipment_table, without_memory_at_any_place_nothing_is_left_behind)
{
    const haul_field fields[] = {
        HAUL_OBJECTS(item, list, &item_type, HAUL_COUNT(item, n)),
        HAUL_ARRAY(item, data, HAUL_COUNT_FN(count_three)),
    };
    failing f = { NULL, NULL };
    const fault_operation operation = { .prepare = open_failing,
                                        .run = ship_failing,
                                        .undo = undo_failing,
                                        .finish = close_failing,
                                        .user = &f,
                                        .modes = FAULT_MEMORY,
                                        .keeps = 1 };
    make_items();
    make_type(fields, 2);
    CHECK(fault_everywhere(&operation) > 0);
    if (CAN_SHARE)
        CHECK_HAS(paper.text, "pointers  item.data: a function counts\n");
    haul_type_free(&item_type);
}
