/* Directions, found by all threads: the same bytes go and come back as by one thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/outcomes.h"
#include "support/random.h"
#include "support/store.h"
#include "support/types.h"

/* So many that a shared walk is worth it. */
#if defined(HAUL_STRESS_THREADS) || defined(HAUL_EMULATED)
enum { COUNT = 400 };
#else
enum { COUNT = 20000 };
#endif
enum { NUMBERS = 4 * COUNT, MOST = 40, LABELS = COUNT / 4, LABEL = 16 };

typedef struct part {
    struct part *next;
    double value;
} part;

/* What is not sent has no pointers. */
typedef struct spot {
    double x, y;
} spot;

/* Without fields that have a direction. */
typedef struct plain {
    struct plain *next, *in_plain;
    part *both, *in;
    spot *to, *out, *made;
    double *input, *result;
    const char *label;
    int64_t input_count, result_count;
} plain;

/* With such fields. */
typedef struct record {
    struct record *next, *in_record;
    plain *plain, *in_plain;
    spot *out;
    double *room;
    double residual, tolerance, scratch;
    int32_t room_count, rounds;
} record;

typedef struct holder {
    record *records;
    record **listed;
    plain *first_plain;
    double *long_in, *long_out, *long_both;
    part *parts;
    int64_t record_count, listed_count, long_in_count, long_out_count, long_both_count, part_count;
} holder;

/* Leads to an array of pointers that is known already. */
typedef struct lister {
    holder *all;
    record **listed;
    int64_t listed_count;
} lister;

static haul_type *spot_type, *part_type, *plain_type, *record_type, *holder_type;

static void make_types(void)
{
    static const haul_field part_fields[] = { HAUL_OBJECT(part, next, &part_type) };
    static const haul_field plain_fields[] = {
        HAUL_OBJECT(plain, next, &plain_type),
        HAUL_OBJECT(plain, in_plain, &plain_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(plain, both, &part_type),
        HAUL_OBJECT(plain, in, &part_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(plain, to, &spot_type),
        HAUL_OBJECT(plain, out, &spot_type, .transfer = HAUL_COPYOUT),
        HAUL_OBJECT(plain, made, &spot_type, .transfer = HAUL_CREATE),
        HAUL_ARRAY(plain, input, HAUL_COUNT(plain, input_count), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(plain, result, HAUL_COUNT(plain, result_count), .transfer = HAUL_COPYOUT),
        HAUL_STRING(plain, label, .transfer = HAUL_COPYIN),
    };
    static const haul_field record_fields[] = {
        HAUL_OBJECT(record, next, &record_type),
        HAUL_OBJECT(record, in_record, &record_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(record, plain, &plain_type),
        HAUL_OBJECT(record, in_plain, &plain_type, .transfer = HAUL_COPYIN),
        HAUL_OBJECT(record, out, &spot_type, .transfer = HAUL_COPYOUT),
        HAUL_ARRAY(record, room, HAUL_COUNT(record, room_count), .transfer = HAUL_CREATE),
        HAUL_RAW(record, residual, .transfer = HAUL_COPYOUT),
        HAUL_RAW(record, tolerance, .transfer = HAUL_COPYIN),
        HAUL_RAW(record, scratch, .transfer = HAUL_CREATE),
    };
    static const haul_field holder_fields[] = {
        HAUL_OBJECTS(holder, records, &record_type, HAUL_COUNT(holder, record_count)),
        HAUL_POINTERS(holder, listed, &record_type, HAUL_COUNT(holder, listed_count)),
        HAUL_OBJECT(holder, first_plain, &plain_type),
        HAUL_ARRAY(holder, long_in, HAUL_COUNT(holder, long_in_count), .transfer = HAUL_COPYIN),
        HAUL_ARRAY(holder, long_out, HAUL_COUNT(holder, long_out_count), .transfer = HAUL_COPYOUT),
        HAUL_ARRAY(holder, long_both, HAUL_COUNT(holder, long_both_count)),
        HAUL_OBJECTS(holder, parts, &part_type, HAUL_COUNT(holder, part_count),
                     .transfer = HAUL_COPYIN),
    };
    spot_type = type_new(
        &(const haul_struct){ .name = "spot", .bytes = sizeof(spot), .alignment = sizeof(void *) });
    part_type = TYPE_NEW(part, part_fields);
    plain_type = TYPE_NEW(plain, plain_fields);
    record_type = TYPE_NEW(record, record_fields);
    holder_type = TYPE_NEW(holder, holder_fields);
    CHECK_STATUS(haul_type_commit(holder_type), HAUL_OK);
}

static void free_types(void)
{
    haul_type_free(&holder_type);
    haul_type_free(&record_type);
    haul_type_free(&plain_type);
    haul_type_free(&part_type);
    haul_type_free(&spot_type);
}

/* All of it, so that it is compared as a whole. */
typedef struct world {
    const haul_type *root_type;
    void *root;
    lister lister;
    holder holder;
    part parts[COUNT];
    spot spots[COUNT];
    plain plains[COUNT];
    record records[COUNT];
    record *listed[COUNT];
    double numbers[NUMBERS], rooms[COUNT][2], long_in[NUMBERS], long_out[NUMBERS];
    char labels[LABELS][LABEL];
} world;

static part *any_part(world *w, random_source *r)
{
    return random_one_in(r, 4) ? NULL : &w->parts[random_below(r, COUNT)];
}

static spot *any_spot(world *w, random_source *r)
{
    return random_one_in(r, 4) ? NULL : &w->spots[random_below(r, COUNT)];
}

static plain *any_plain(world *w, random_source *r)
{
    return random_one_in(r, 4) ? NULL : &w->plains[random_below(r, COUNT)];
}

static void fill_plain(world *w, random_source *r, plain *p)
{
    p->in_plain = any_plain(w, r);
    p->both = any_part(w, r);
    p->in = any_part(w, r);
    p->to = any_spot(w, r);
    p->out = random_one_in(r, 3) ? any_spot(w, r) : NULL;
    p->made = random_one_in(r, 9) ? any_spot(w, r) : NULL;
    p->input = &w->numbers[MOST * random_below(r, NUMBERS / MOST)];
    p->input_count = MOST; /* ranges are equal or apart */
    p->result = &w->numbers[MOST * random_below(r, NUMBERS / MOST)];
    p->result_count = MOST;
    p->label = random_one_in(r, 3) ? NULL : w->labels[random_below(r, LABELS)];
}

static world *world_make(const char *name)
{
    random_source random = random_start(name), *r = &random;
    world *w = calloc(1, sizeof *w);
    size_t i;
    CHECK(w != NULL);
    make_types();
    for (i = 0; i < COUNT; i++) {
        record *one = &w->records[i];
        w->parts[i].value = w->spots[i].x = w->spots[i].y = (double)i;
        w->parts[i].next = any_part(w, r);
        w->plains[i].next = i + 1 < COUNT ? &w->plains[i + 1] : NULL;
        fill_plain(w, r, &w->plains[i]);
        one->next = random_one_in(r, 2) ? NULL : &w->records[random_below(r, COUNT)];
        one->in_record = random_one_in(r, 2) ? NULL : &w->records[random_below(r, COUNT)];
        one->plain = any_plain(w, r);
        one->in_plain = any_plain(w, r);
        one->out = random_one_in(r, 3) ? any_spot(w, r) : NULL;
        one->room = w->rooms[i];
        one->room_count = 2;
        one->residual = one->tolerance = one->scratch = 0.25 + (double)i;
        one->rounds = (int32_t)i;
        w->listed[i] = &w->records[random_below(r, COUNT)];
    }
    for (i = 0; i < NUMBERS; i++)
        w->numbers[i] = w->long_in[i] = w->long_out[i] = 0.5 + (double)i;
    for (i = 0; i < LABELS; i++)
        memset(w->labels[i], 'a' + (int)(i % 26), 1 + i % (LABEL - 1));
    w->root = &w->holder;
    w->root_type = holder_type;
    w->holder.listed = w->listed;
    w->holder.listed_count = COUNT;
    w->holder.first_plain = w->plains;
    return w;
}

static haul_plan *plan_by(unsigned threads, const world *w, haul_context **context)
{
    haul_context_options options = { 0 };
    haul_root root = { 0 };
    haul_plan *plan = NULL;
    root.address = w->root;
    root.type = w->root_type;
    root.count = 1;
    options.threads = threads;
    CHECK_STATUS(haul_context_create(&options, context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(*context, haul_from_roots(&root, 1), NULL, &plan), HAUL_OK);
    return plan;
}

/* Every byte of the copy changes and comes back, by the plan of some threads and of one. */
static void check_alike(world *w, haul_plan *one, haul_plan *several, world *kept, world *came)
{
    haul_plan_info info, other;
    unsigned char *arena, *again;
    size_t i;
    haul_plan_get_info(one, &info);
    haul_plan_get_info(several, &other);
    CHECK_EQ(info.objects, other.objects);
    CHECK_EQ(info.pointers, other.pointers);
    CHECK_EQ(info.arena_bytes, other.arena_bytes);
    arena = calloc(1, info.arena_bytes);
    again = calloc(1, info.arena_bytes);
    CHECK(arena != NULL && again != NULL);
    CHECK_STATUS(haul_plan_pack(one, arena, info.arena_bytes, 4096, NULL), HAUL_OK);
    CHECK_STATUS(haul_plan_pack(several, again, info.arena_bytes, 4096, NULL), HAUL_OK);
    CHECK(memcmp(arena, again, info.arena_bytes) == 0);
    for (i = 0; i < info.arena_bytes; i++)
        arena[i] ^= 0x33;
    *kept = *w;
    CHECK_STATUS(haul_plan_unpack(one, arena, info.arena_bytes, 1), HAUL_OK);
    *came = *w;
    *w = *kept;
    CHECK_STATUS(haul_plan_unpack(several, arena, info.arena_bytes, 1), HAUL_OK);
    CHECK(memcmp(w, came, sizeof *w) == 0);
    CHECK(memcmp(w, kept, sizeof *w) != 0);
    *w = *kept;
    free(arena);
    free(again);
}

/* Answers whether all teams shared the walk. */
static int agree(world *w)
{
    static const unsigned team[] = { 2, 3, 5 };
    haul_context *alone, *together;
    haul_plan *one = plan_by(1, w, &alone);
    world *kept = malloc(sizeof *kept), *came = malloc(sizeof *came);
    haul_plan_info info, other;
    int shared = 1;
    size_t i;
    CHECK(kept != NULL && came != NULL);
    haul_plan_get_info(one, &info);
    for (i = 0; i < sizeof team / sizeof *team; i++) {
        haul_plan *several = plan_by(team[i], w, &together);
        check_alike(w, one, several, kept, came);
        haul_plan_get_info(several, &other);
        shared &= info.worklist_bytes != other.worklist_bytes;
        haul_plan_free(&several);
        haul_context_free(&together);
    }
    free(kept);
    free(came);
    haul_plan_free(&one);
    haul_context_free(&alone);
    return shared;
}

TEST(directions_by_threads, rows_and_fields_with_directions_are_shared)
{
    world *w = world_make("directions by threads: rows");
    CHECK(agree(w) || !CAN_SHARE);
    free(w);
    free_types();
}

TEST(directions_by_threads, long_arrays_keep_the_directions_of_each_row_that_leads_to_them)
{
    world *w = world_make("directions by threads: long");
    w->holder.long_in = w->long_in;
    w->holder.long_out = w->long_out;
    w->holder.long_in_count = w->holder.long_out_count = NUMBERS;
    CHECK(agree(w) || !CAN_SHARE);
    w->holder.long_both = w->long_in;
    w->holder.long_both_count = NUMBERS;
    CHECK(agree(w) || !CAN_SHARE);
    w->holder.long_out = w->long_in;
    CHECK(agree(w) || !CAN_SHARE);
    free(w);
    free_types();
}

TEST(directions_by_threads, arrays_of_objects_with_directions_count_as_with_one_thread)
{
    world *w = world_make("directions by threads: arrays");
    w->holder.records = w->records;
    w->holder.record_count = COUNT;
    (void)agree(w);
    w->holder.parts = w->parts;
    w->holder.part_count = COUNT;
    (void)agree(w);
    free(w);
    free_types();
}

TEST(directions_by_threads, a_known_array_of_pointers_gives_its_targets_the_direction_of_each_row)
{
    world *w = world_make("directions by threads: pointers");
    const haul_field fields[] = {
        HAUL_OBJECT(lister, all, &holder_type),
        HAUL_POINTERS(lister, listed, &record_type, HAUL_COUNT(lister, listed_count),
                      .transfer = HAUL_COPYIN),
    };
    haul_type *lister_type = TYPE_NEW(lister, fields);
    CHECK_STATUS(haul_type_commit(lister_type), HAUL_OK);
    w->lister.all = &w->holder;
    w->lister.listed = w->listed;
    w->lister.listed_count = COUNT;
    w->root = &w->lister;
    w->root_type = lister_type;
    CHECK(!agree(w)); /* one thread visits the array again for the second row */
    haul_type_free(&lister_type);
    free(w);
    free_types();
}

TEST(directions_by_threads,
     memory_that_runs_out_in_any_thread_is_told_and_all_of_it_given_back_H1_H2)
{
    world *w = world_make("directions by threads: no memory");
    random_source random = random_start("directions by threads: no memory");
    const haul_source source = haul_from_object(&w->holder, holder_type);
    haul_status status;
    size_t all, i, failed = 0;
    w->holder.long_in = w->long_in;
    w->holder.long_in_count = NUMBERS;
    all = plan_from_store(source, SIZE_MAX, &status);
    CHECK_STATUS(status, HAUL_OK);
    for (i = 0; i < 30; i++) {
        plan_from_store(source, i < 15 ? i : random_below(&random, all), &status);
        failed += status == HAUL_ERROR_MEMORY;
    }
    CHECK(failed > 15);
    free(w);
    free_types();
}
