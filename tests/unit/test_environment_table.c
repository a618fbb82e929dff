/* The present table: random ranges of all sizes, against a simple model, byte by byte.
 *
 * Faults by number (docs/testing.md): H1, H2.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "environment/present_find.h"
#include "support/builds.h"
#include "support/check.h"
#include "support/random.h"

/* 5 blocks of 64 KiB, the first and the last one in part. */
#define BASE ((uintptr_t)(UINTPTR_MAX > 0xffffffffu ? UINT64_C(0x7f0000001000) : 0x40001000u))
enum { SPAN = 0x48000, MOST = 4000, TOGETHER = 100, ROUNDS = LARGE(60, 6), NONE = -1 };

typedef struct model_range {
    uintptr_t begin;
    size_t bytes;
    uint32_t group;
    int is_there;
} model_range;

static model_range ranges[MOST];
static int owner[SPAN];
static haul_allocator allocator;
static long allocations_left;

static void *give(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (allocations_left-- <= 0 || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    return memory;
}

static void take_back(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static uintptr_t step = 0x10000001u; /* from one range's delta to that of the next one */

static int odd = NONE; /* a range whose delta is another one */

static uintptr_t delta_of(int i)
{
    return (uintptr_t)i * step + (i == odd);
}

/* Is the byte found without a record of its page? */
static int is_in_row(const haul__present *table, size_t at)
{
    haul__found_range found, quickly;
    const haul__page_entry *entry;
    haul__glimpse glimpse;
    uintptr_t delta;
    if (!haul__present_find_row(table, BASE + at, &delta, &glimpse))
        return 0;
    CHECK(haul__present_find(table, BASE + at, &found));
    CHECK_EQ(delta, found.delta);
    entry = haul__present_entry(table, BASE + at);
    CHECK(haul__present_in_row(entry, entry->word, BASE + at, &quickly));
    CHECK(quickly.group == found.group && quickly.delta == found.delta &&
          quickly.end == found.end && quickly.goes_on == found.goes_on);
    CHECK_EQ(haul__present_find_on(table, glimpse.version, glimpse.word, glimpse.entry, BASE + at,
                                   &quickly),
             1);
    return 1;
}

static void check_byte(haul__present *table, size_t at)
{
    haul__found_range found, held;
    const int own = owner[at], is = haul__present_find(table, BASE + at, &found);
    CHECK_EQ(is, own != NONE);
    CHECK_EQ(haul__present_find_held(table, BASE + at, &held), is);
    if (!is) {
        CHECK(!is_in_row(table, at));
        return;
    }
    CHECK(held.group == found.group && held.delta == found.delta && held.end == found.end &&
          held.goes_on == found.goes_on);
    (void)is_in_row(table, at);
    CHECK_EQ(found.group, ranges[own].group);
    CHECK_EQ(found.delta, delta_of(own));
    CHECK(found.end > BASE + at);
    CHECK(found.goes_on ? found.end < ranges[own].begin + ranges[own].bytes
                        : found.end == ranges[own].begin + ranges[own].bytes);
}

static size_t next_byte(size_t at, size_t end)
{
    while (at < end && owner[at] == NONE)
        at++;
    return at;
}

static int is_free(size_t at, size_t bytes)
{
    return next_byte(at, at + bytes) == at + bytes;
}

static void fill(size_t at, size_t bytes, int with)
{
    for (; bytes > 0; bytes--)
        owner[at++] = with;
}

static size_t a_size(random_source *random)
{
    switch (random_below(random, 12)) {
    case 0:
        return 1 + (size_t)random_below(random, 0x18000);
    case 1:
        return 0x1000;
    case 2:
        return 1 + (size_t)random_below(random, 0x2800);
    case 3:
        return 1;
    default:
        return 1 + (size_t)random_below(random, 90);
    }
}

static void add(haul__present *table, random_source *random, int i)
{
    const size_t bytes = a_size(random), at = (size_t)random_below(random, SPAN - bytes),
                 place = random_below(random, 3) ? at : at & ~(size_t)0xfff;
    if (!is_free(place, bytes))
        return;
    ranges[i].begin = BASE + place;
    ranges[i].bytes = bytes;
    ranges[i].group = (uint32_t)i;
    if (random_below(random, 8) == 0) {
        allocations_left = 0;
        if (!haul__present_add(table, BASE + place, bytes, delta_of(i), (uint32_t)i)) {
            CHECK_EQ(haul__present_next(table, BASE + place, BASE + place + bytes),
                     BASE + place + bytes);
            allocations_left = 1000000;
            CHECK(haul__present_add(table, BASE + place, bytes, delta_of(i), (uint32_t)i));
        }
        allocations_left = 1000000;
    } else {
        CHECK(haul__present_add(table, BASE + place, bytes, delta_of(i), (uint32_t)i));
    }
    fill(place, bytes, i);
    ranges[i].is_there = 1;
}

/* Lists ranges from number i on, as long as none of them is there, in order of address. */
static size_t list_many(random_source *random, int i, int is_there, haul__covered *list)
{
    const size_t wanted = 1 + (size_t)random_below(random, TOGETHER);
    size_t at = (size_t)random_below(random, SPAN), count = 0;
    for (; count < wanted && i < MOST && !ranges[i].is_there; i++) {
        const size_t bytes = a_size(random);
        at += random_below(random, 2) ? 0 : (size_t)random_below(random, 200);
        if (bytes > SPAN || at > SPAN - bytes || !is_free(at, bytes))
            break;
        ranges[i].begin = BASE + at;
        ranges[i].bytes = list[count].bytes = bytes;
        list[count].begin = is_there ? BASE + at + delta_of(i) : BASE + at;
        list[count].device = is_there ? BASE + at : BASE + at + delta_of(i);
        at += bytes;
        count++;
    }
    return count;
}

/* Adds some ranges together, sometimes once more after a failure, which leaves nothing. */
static void add_many(haul__present *table, random_source *random, int i)
{
    static haul__covered list[TOGETHER];
    const int is_there = (int)random_below(random, 2);
    const size_t count = list_many(random, i, is_there, list);
    const uint32_t group = (uint32_t)random_below(random, 1000);
    size_t k;
    if (random_below(random, 3) == 0)
        allocations_left = (long)random_below(random, 2);
    if (!haul__present_add_all(table, list, count, is_there, group)) {
        for (k = 0; k < count; k++)
            CHECK_EQ(haul__present_next(table, ranges[i + (int)k].begin,
                                        ranges[i + (int)k].begin + list[k].bytes),
                     ranges[i + (int)k].begin + list[k].bytes);
        allocations_left = 1000000;
        CHECK(haul__present_add_all(table, list, count, is_there, group));
    }
    allocations_left = 1000000;
    for (k = 0; k < count; k++, i++) {
        ranges[i].group = group;
        ranges[i].is_there = 1;
        fill((size_t)(ranges[i].begin - BASE), ranges[i].bytes, i);
    }
}

static void take_out(haul__present *table, int i)
{
    haul__present_remove(table, ranges[i].begin, ranges[i].bytes);
    fill((size_t)(ranges[i].begin - BASE), ranges[i].bytes, NONE);
    ranges[i].is_there = 0;
}

/* Takes out ranges from number i on, as long as they lie in order of address. */
static void take_out_many(haul__present *table, random_source *random, int i)
{
    static haul__covered list[TOGETHER];
    const size_t wanted = 1 + (size_t)random_below(random, TOGETHER);
    size_t count = 0;
    for (; i < MOST && count < wanted && ranges[i].is_there; i++) {
        if (count && ranges[i].begin < list[count - 1].begin)
            break;
        list[count].begin = list[count].device = ranges[i].begin;
        list[count++].bytes = ranges[i].bytes;
        fill((size_t)(ranges[i].begin - BASE), ranges[i].bytes, NONE);
        ranges[i].is_there = 0;
    }
    haul__present_remove_all(table, list, count, (int)random_below(random, 2));
}

/* Ranges side by side or apart, from anywhere on: the first that holds a byte of the table ends
 * them. */
static void check_clear(haul__present *table, random_source *random)
{
    haul__covered list[TOGETHER];
    const size_t most = (size_t)1 << (1 + random_below(random, 13)),
                 gap = random_below(random, 200);
    size_t at = (size_t)random_below(random, SPAN), count = 0, clear = 0, bytes;
    uintptr_t there = 0;
    for (; at < SPAN && count < TOGETHER; count++, at += bytes + random_below(random, gap + 1)) {
        bytes = 1 + (size_t)random_below(random, most);
        bytes = bytes < SPAN - at ? bytes : SPAN - at;
        list[count].begin = BASE + at;
        list[count].bytes = bytes;
        if (clear == count && is_free(at, bytes))
            clear++;
    }
    CHECK_EQ(haul__present_count_clear(table, list, count, &there), clear);
    if (clear < count) {
        at = (size_t)(list[clear].begin - BASE);
        CHECK_EQ(there, BASE + next_byte(at, at + list[clear].bytes));
    }
}

static void check_all(haul__present *table, random_source *random)
{
    size_t at, k;
    for (at = 0; at < SPAN; at += 1 + (size_t)random_below(random, 7))
        check_byte(table, at);
    for (k = 0; k < 100; k++) {
        const size_t first = (size_t)random_below(random, SPAN),
                     end = first + (size_t)random_below(random, SPAN - first);
        CHECK_EQ(haul__present_next(table, BASE + first, BASE + end), BASE + next_byte(first, end));
        check_clear(table, random);
    }
}

TEST(environment_table, it_knows_each_byte_whatever_comes_and_goes)
{
    random_source random = random_start("the present table agrees with the model");
    int round, i;
    haul__present table;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    allocations_left = 1000000;
    haul__present_open(&table, &allocator);
    fill(0, SPAN, NONE);
    memset(ranges, 0, sizeof ranges);
    for (round = 0; round < ROUNDS; round++) {
        const uint64_t share = 1 + random_below(&random, 4); /* fuller and emptier rounds */
        for (i = 0; i < MOST; i++) {
            if (ranges[i].is_there && random_below(&random, 5) < share && random_below(&random, 4))
                take_out(&table, i);
            else if (ranges[i].is_there && random_below(&random, 20) < share)
                take_out_many(&table, &random, i);
            else if (!ranges[i].is_there && random_below(&random, 5) >= share)
                (random_below(&random, 4) ? add : add_many)(&table, &random, i);
        }
        check_all(&table, &random);
    }
    for (i = 0; i < MOST; i++)
        if (ranges[i].is_there)
            take_out(&table, i);
    CHECK_EQ(haul__present_next(&table, BASE, BASE + SPAN), BASE + SPAN);
    haul__present_close(&table);
}

/* Adds ranges of one size at one distance, all at once or one by one. Answers how many. */
static int add_row(haul__present *table, random_source *random, size_t bytes, size_t distance)
{
    static haul__covered list[MOST];
    size_t at = (size_t)random_below(random, 0x3000);
    int count = 0, i;
    for (; count < MOST && at + bytes <= SPAN; at += distance, count++) {
        ranges[count].begin = list[count].begin = BASE + at;
        ranges[count].bytes = list[count].bytes = bytes;
        ranges[count].group = 7;
        list[count].device = BASE + at + delta_of(count);
        fill(at, bytes, count);
    }
    if (random_below(random, 2))
        CHECK(haul__present_add_all(table, list, (size_t)count, 0, 7));
    else
        for (i = 0; i < count; i++)
            CHECK(haul__present_add(table, list[i].begin, bytes, delta_of(i), 7));
    return count;
}

/* Are all bytes of the ranges found without a record? */
static int are_in_rows(haul__present *table)
{
    size_t at, end;
    int are = 1;
    for (at = 0; at < SPAN; at++) {
        check_byte(table, at);
        end = (at | 0xfff) + 1 - at % 7;
        if (at < end)
            CHECK_EQ(haul__present_next(table, BASE + at, BASE + end), BASE + next_byte(at, end));
        are &= owner[at] == NONE || is_in_row(table, at);
    }
    return are;
}

TEST(environment_table, equal_ranges_at_equal_distances_need_no_record)
{
    random_source random = random_start("rows of the present table");
    int round, count, i, turn, is_amid;
    haul__present table;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    allocations_left = 1000000;
    haul__present_open(&table, &allocator);
    for (round = 0; round < (ROUNDS + 7) / 8; round++) {
        const size_t bytes = 1 + (size_t)random_below(&random, round % 2 ? 200 : 3000),
                     least = bytes < 16 ? 16 : bytes, gap = (size_t)random_below(&random, 80);
        step = (uintptr_t)0 - 0x8000 + (uintptr_t)random_below(&random, 0x10000);
        fill(0, SPAN, NONE);
        count = add_row(&table, &random, bytes, least + gap);
        CHECK(are_in_rows(&table));
        i = 1 + (int)random_below(&random, (size_t)count - 2);
        is_amid = least + gap < 0x200 && ((ranges[i].begin & 0xfff) - 0x400) < 0x800;
        take_out(&table, i);
        CHECK(!(are_in_rows(&table) && is_amid));
        for (turn = 0; turn < 3; turn++) { /* of another delta, of another group, and as before */
            odd = turn == 0 ? i : NONE;
            ranges[i].group = turn == 1 ? 8 : 7;
            CHECK(haul__present_add(&table, ranges[i].begin, bytes, delta_of(i), ranges[i].group));
            fill((size_t)(ranges[i].begin - BASE), bytes, i);
            CHECK(are_in_rows(&table) ? turn == 2 || !is_amid : turn < 2);
            if (turn < 2)
                take_out(&table, i);
        }
        for (i = 0; i < count; i++)
            take_out(&table, i);
        CHECK_EQ(haul__present_next(&table, BASE, BASE + SPAN), BASE + SPAN);
    }
    haul__present_close(&table);
    step = 0x10000001u;
}

/* How many of the first bytes of ranges does the slot of their block tell? */
static int count_told(const haul__present *table, int count)
{
    int told = 0, i;
    for (i = 0; i < count; i++) {
        const haul__present_slot *slot = haul__present_slot_found(table, ranges[i].begin);
        uintptr_t delta;
        if (!slot || !haul__present_in_block(&slot->row, ranges[i].begin, &delta))
            continue;
        CHECK_EQ(delta, delta_of(i));
        told++;
    }
    return told;
}

/* The table's bytes are 3 blocks of 16 pages, 15 pages before these, and 9 behind them. */
TEST(environment_table, a_block_of_even_ranges_is_told_until_one_of_its_pages_changes)
{
    enum { EACH = 96, STRIDE = 128, ALL = SPAN / STRIDE - 1, IN_BLOCK = 0x10000 / STRIDE };
    static haul__covered list[ALL];
    haul__present table;
    int i, amid, turn;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    allocations_left = 1000000;
    haul__present_open(&table, &allocator);
    for (turn = 0; turn < 2; turn++) {
        step = turn ? (uintptr_t)0 - 32 : 0;
        fill(0, SPAN, NONE);
        for (i = 0; i < ALL; i++) {
            ranges[i].begin = list[i].begin = BASE + 64 + (size_t)i * STRIDE;
            list[i].device = list[i].begin + delta_of(i);
            ranges[i].bytes = list[i].bytes = EACH;
            ranges[i].group = 7;
            fill(64 + (size_t)i * STRIDE, EACH, i);
        }
        CHECK(haul__present_add_all(&table, list, ALL, 0, 7));
        CHECK_EQ(count_told(&table, ALL), 3 * IN_BLOCK);
        CHECK(are_in_rows(&table));
        amid = ALL / 2;
        take_out(&table, amid);
        CHECK_EQ(count_told(&table, ALL), 2 * IN_BLOCK);
        CHECK(haul__present_add(&table, ranges[amid].begin, EACH, delta_of(amid), 7));
        fill((size_t)(ranges[amid].begin - BASE), EACH, amid);
        CHECK(haul__present_add(&table, BASE + 64 + EACH + STRIDE * (15 * 32 + 5), 32, 1, 8));
        CHECK_EQ(count_told(&table, ALL), IN_BLOCK); /* of another group, between two */
        haul__present_remove(&table, BASE + 64 + EACH + STRIDE * (15 * 32 + 5), 32);
        CHECK(are_in_rows(&table));
        haul__present_remove_all(&table, list, ALL, 0);
        CHECK_EQ(count_told(&table, ALL), 0);
        fill(0, SPAN, NONE);
        check_byte(&table, SPAN / 2);
        CHECK_EQ(haul__present_next(&table, BASE, BASE + SPAN), BASE + SPAN);
    }
    haul__present_close(&table);
    step = 0x10000001u;
}

/* A row that comes and goes as a whole, or in parts; if it is there, from number `first` on. */
typedef struct whole_row {
    size_t at, bytes, distance;
    int first, count, is_there;
} whole_row;

enum { ROWS = 8, ROW_MOST = MOST / ROWS };

static size_t list_row(const whole_row *row, int from, int to, int is_device, haul__covered *list)
{
    int i;
    for (i = from; i < to; i++) {
        const uintptr_t here = BASE + row->at + (size_t)i * row->distance,
                        other = here + delta_of(row->first + i);
        list[i - from].begin = is_device ? other : here;
        list[i - from].device = is_device ? here : other;
        list[i - from].bytes = row->bytes;
    }
    return (size_t)(to - from);
}

/* Adds a row at a free place, once more after a failure, which leaves nothing. */
static void put_row(haul__present *table, random_source *random, whole_row *row)
{
    static haul__covered list[ROW_MOST];
    const int is_device = (int)random_below(random, 2);
    int i;
    row->bytes = 1 + (size_t)random_below(random, random_below(random, 4) ? 120 : 2000);
    row->distance =
        row->bytes + (size_t)random_below(random, 2) * (size_t)random_below(random, 600);
    row->at = (size_t)random_below(random, SPAN);
    for (row->count = 0; row->count < ROW_MOST; row->count++) {
        const size_t at = row->at + (size_t)row->count * row->distance;
        if (at + row->bytes > SPAN || !is_free(at, row->bytes))
            break;
    }
    if (!row->count)
        return;
    list_row(row, 0, row->count, is_device, list);
    if (random_below(random, 3) == 0)
        allocations_left = (long)random_below(random, 2);
    if (!haul__present_add_all(table, list, (size_t)row->count, is_device, (uint32_t)row->first)) {
        for (i = 0; i < row->count; i++) {
            const uintptr_t begin = BASE + row->at + (size_t)i * row->distance;
            CHECK_EQ(haul__present_next(table, begin, begin + row->bytes), begin + row->bytes);
        }
        allocations_left = 1000000;
        CHECK(haul__present_add_all(table, list, (size_t)row->count, is_device,
                                    (uint32_t)row->first));
    }
    allocations_left = 1000000;
    for (i = 0; i < row->count; i++) {
        const size_t at = row->at + (size_t)i * row->distance;
        ranges[row->first + i].begin = BASE + at;
        ranges[row->first + i].bytes = row->bytes;
        ranges[row->first + i].group = (uint32_t)row->first;
        fill(at, row->bytes, row->first + i);
    }
    row->is_there = 1;
}

static void take_part(haul__present *table, random_source *random, const whole_row *row, int from,
                      int to)
{
    static haul__covered list[ROW_MOST];
    const int is_device = (int)random_below(random, 2);
    int i;
    haul__present_remove_all(table, list, list_row(row, from, to, is_device, list), is_device);
    for (i = from; i < to; i++)
        fill(row->at + (size_t)i * row->distance, row->bytes, NONE);
}

TEST(environment_table, rows_come_together_and_go_as_they_came_or_in_parts)
{
    random_source random = random_start("rows that come and go");
    static whole_row rows[ROWS];
    int round, i;
    haul__present table;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    allocations_left = 1000000;
    haul__present_open(&table, &allocator);
    fill(0, SPAN, NONE);
    memset(rows, 0, sizeof rows);
    for (round = 0; round < LARGE(400, 60); round++) {
        whole_row *row = &rows[random_below(&random, ROWS)];
        for (i = 0; i < ROWS && !rows[i].is_there; i++)
            ;
        if (i == ROWS) /* deltas change while no row is there */
            step =
                random_below(&random, 4) ? (uintptr_t)random_below(&random, 0x8000) : 0x10000001u;
        row->first = (int)(row - rows) * ROW_MOST;
        if (!row->is_there) {
            put_row(&table, &random, row);
        } else {
            const int from = (int)random_below(&random, (size_t)row->count),
                      to = from + (int)random_below(&random, (size_t)(row->count - from) + 1);
            if (random_below(&random, 2)) {
                take_part(&table, &random, row, 0, row->count);
            } else {
                take_part(&table, &random, row, from, to);
                check_all(&table, &random);
                take_part(&table, &random, row, 0, from);
                take_part(&table, &random, row, to, row->count);
            }
            row->is_there = 0;
        }
        check_all(&table, &random);
    }
    for (i = 0; i < ROWS; i++)
        if (rows[i].is_there)
            take_part(&table, &random, &rows[i], 0, rows[i].count);
    CHECK_EQ(haul__present_next(&table, BASE, BASE + SPAN), BASE + SPAN);
    haul__present_close(&table);
    step = 0x10000001u;
}

/* ---- A page whose record is given to another. */

/* While `step_of` is odd, no range holds the byte AWAY. */
#define AWAY (BASE + 200)

typedef struct watched_page {
    haul__present table;
    unsigned step_of;
    int is_over;
    size_t found_away;
} watched_page;

static void *look_away(void *user)
{
    watched_page *w = user;
    haul__found_range found;
    while (!__atomic_load_n(&w->is_over, __ATOMIC_ACQUIRE)) {
        const unsigned before = __atomic_load_n(&w->step_of, __ATOMIC_SEQ_CST);
        const int is_found = haul__present_find(&w->table, AWAY, &found);
        if (is_found && before % 2 == 1 && __atomic_load_n(&w->step_of, __ATOMIC_SEQ_CST) == before)
            w->found_away++;
    }
    return NULL;
}

static void open_watched(watched_page *w)
{
    memset(w, 0, sizeof *w);
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    allocations_left = 1000000;
    haul__present_open(&w->table, &allocator);
}

TEST(environment_table, a_page_never_shows_what_its_record_held_before)
{
    enum { TURNS = LARGE(400000, 4000) };
    static watched_page w;
    pthread_t reader;
    int turn;
    open_watched(&w);
    CHECK_EQ(pthread_create(&reader, NULL, look_away, &w), 0);
    for (turn = 0; turn < TURNS; turn++) {
        CHECK(haul__present_add(&w.table, BASE, 16, 0x1000, 1));
        CHECK(haul__present_add(&w.table, AWAY, 24, 0x5010, 1));
        haul__present_remove(&w.table, BASE, 16);
        haul__present_remove(&w.table, AWAY, 24);
        __atomic_add_fetch(&w.step_of, 1, __ATOMIC_SEQ_CST);
        CHECK(haul__present_add(&w.table, BASE + 150, 16, 0x7000, 2));
        haul__present_remove(&w.table, BASE + 150, 16);
        __atomic_add_fetch(&w.step_of, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&w.is_over, 1, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
    CHECK_EQ(w.found_away, 0);
    haul__present_close(&w.table);
}

/* While `step_of` is odd, even ranges fill a block, at the distance 0x1000 times `step_of`. */
static void *look_in_block(void *user)
{
    watched_page *w = user;
    haul__glimpse glimpse;
    uintptr_t delta;
    while (!__atomic_load_n(&w->is_over, __ATOMIC_ACQUIRE)) {
        const unsigned before = __atomic_load_n(&w->step_of, __ATOMIC_SEQ_CST);
        const int is_found = haul__present_find_row(&w->table, BASE + 0x18000, &delta, &glimpse);
        if (before % 2 == 1 && __atomic_load_n(&w->step_of, __ATOMIC_SEQ_CST) == before)
            w->found_away += !is_found || delta != 0x1000u * (uintptr_t)before;
    }
    return NULL;
}

TEST(environment_table, a_block_never_shows_ranges_that_it_held_before)
{
    enum { ALL = 0x20000 / 256, TURNS = LARGE(1000, 100) };
    static watched_page w;
    static haul__covered list[ALL];
    haul__found_range found;
    pthread_t reader;
    unsigned turn;
    size_t i;
    open_watched(&w);
    CHECK_EQ(pthread_create(&reader, NULL, look_in_block, &w), 0);
    for (turn = 1; turn < 2 * TURNS; turn += 2) {
        for (i = 0; i < ALL; i++) {
            list[i].begin = BASE + i * 256;
            list[i].bytes = 200;
            list[i].device = list[i].begin + 0x1000u * (uintptr_t)turn;
        }
        CHECK(haul__present_add_all(&w.table, list, ALL, 0, 1));
        __atomic_add_fetch(&w.step_of, 1, __ATOMIC_SEQ_CST);
        for (i = 0; i < ALL; i++)
            CHECK(haul__present_find(&w.table, list[i].begin, &found));
        __atomic_add_fetch(&w.step_of, 1, __ATOMIC_SEQ_CST);
        haul__present_remove_all(&w.table, list, ALL, 0);
    }
    __atomic_store_n(&w.is_over, 1, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
    CHECK_EQ(w.found_away, 0);
    haul__present_close(&w.table);
}

/* Is the table quiet since a moment? */
static int is_quiet_since(const haul__present *table, uintptr_t begin, uintptr_t end,
                          uint32_t since)
{
    return haul__present_is_quiet(table, begin, end, &since);
}

TEST(environment_table, changes_elsewhere_are_told_from_those_in_the_pages_that_are_asked_for)
{
    const uintptr_t begin = BASE + 0x4000, end = BASE + 0x9000;
    haul__covered two[2];
    haul__present table;
    uint32_t since;
    unsigned i;
    memset(&allocator, 0, sizeof allocator);
    allocator.allocate = give;
    allocator.release = take_back;
    allocations_left = 1000;
    haul__present_open(&table, &allocator);
    since = haul__present_moment(&table);
    CHECK(haul__present_add(&table, begin - 100, 100, 0, 1)); /* ends where it begins */
    CHECK(haul__present_add(&table, end, 0x3000, 0, 1));
    CHECK(is_quiet_since(&table, begin, end, since));
    CHECK(!is_quiet_since(&table, begin - 1, end, since));
    CHECK(!is_quiet_since(&table, begin, end + 1, since));
    haul__present_remove(&table, begin - 100, 100);
    CHECK(is_quiet_since(&table, begin, end, since));
    CHECK(haul__present_is_quiet(&table, begin, end, &since));
    CHECK(is_quiet_since(&table, begin - 100, end, since)); /* it is later now */
    /* any byte, of a range alone and of several, that come or go */
    CHECK(haul__present_add(&table, end - 1, 1, 0, 1));
    CHECK(!is_quiet_since(&table, begin, end, since));
    since = haul__present_moment(&table);
    haul__present_remove(&table, end - 1, 1);
    CHECK(!is_quiet_since(&table, begin, end, since));
    for (i = 0; i < 2; i++) {
        two[i].begin = two[i].device = begin + 0x100 + i * 0x200;
        two[i].bytes = 64 + i;
    }
    since = haul__present_moment(&table);
    CHECK(haul__present_add_all(&table, two, 2, 0, 1));
    CHECK(!is_quiet_since(&table, two[1].begin + 64, end, since));
    CHECK(is_quiet_since(&table, two[1].begin + 65, end, since));
    since = haul__present_moment(&table);
    haul__present_remove_all(&table, two, 2, 0);
    CHECK(!is_quiet_since(&table, begin, two[0].begin + 1, since));
    CHECK(is_quiet_since(&table, begin, two[0].begin, since));
    /* so many that their places are given to others */
    since = haul__present_moment(&table);
    for (i = 0; i < HAUL__PRESENT_LATELY - 1; i++) {
        CHECK(is_quiet_since(&table, begin, end, since));
        CHECK(haul__present_add(&table, end + 0x4000 + 64 * i, 32, 0, 1));
    }
    CHECK(is_quiet_since(&table, begin, end, since));
    CHECK(haul__present_add(&table, end + 0x4000 + 64 * i, 32, 0, 1));
    CHECK(!is_quiet_since(&table, begin, end, since));
    haul__present_close(&table);
}
