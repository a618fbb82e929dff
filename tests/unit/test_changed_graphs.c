/* Naming what has changed: the walk that finds the path reads only objects of the plan, whatever
 * pointers, counts and sizes have become, and calls no callback. A device may have written them.
 */
#define _DEFAULT_SOURCE
#include "core_graphs.h"

static haul_status answered;

/* On a page that is nobody's: of several changed pointers, one that leads out of the graph is
 * sought. */
static void *nowhere(void)
{
    return the.memory + LAB_BYTES - PAGE;
}

static void pack_stale(void *user)
{
    (void)user;
    memset(the.arena, 0x55, the.bytes);
    answered = haul_plan_pack(the.plan, the.arena, the.bytes, 0, the.bitmap);
}

/* What is nobody's is out of reach meanwhile. */
static void check_named(const char *path)
{
    unsigned char *before = lab_picture();
    const haul_error *error = haul_context_error(the.context);
    int faulted;
    lab_lock(PROT_READ);
    faulted = check_faults(pack_stale, NULL);
    lab_unlock();
    CHECK_EQ(faulted, 0);
    CHECK_STATUS(answered, HAUL_ERROR_STALE);
    CHECK_STR(error->path, path);
    lab_check_picture(before);
}

/* ---- Memory that has a place, and belongs to nobody. */

typedef struct grid {
    struct grid *first, *second;
    char *name;
    unsigned char *rows; /* two, with two pages between */
} grid;

enum { ROW = 64, BETWEEN = 3 * PAGE };

static haul_type *grid_type;

static const haul_dimension dimensions[] = {
    HAUL_DIMENSION(HAUL_FIXED(ROW), HAUL_FIXED(1)),
    HAUL_DIMENSION(HAUL_FIXED(2), HAUL_FIXED(BETWEEN)),
};

static const haul_field grid_fields[] = {
    HAUL_OBJECT(grid, first, &grid_type),
    HAUL_OBJECT(grid, second, &grid_type),
    HAUL_STRING(grid, name),
    HAUL_SECTION(grid, rows, dimensions),
};

static grid *grid_make(void)
{
    grid *g = take(sizeof *g, WORD);
    points(&g->first), points(&g->second), points(&g->name), points(&g->rows);
    return g;
}

static grid *grid_start(void)
{
    grid *g;
    lab_start();
    grid_type = TYPE_OPEN(grid, grid_fields);
    type_commit(grid_type);
    g = grid_make();
    g->first = grid_make();
    g->second = grid_make();
    return g;
}

static void grid_end(void)
{
    haul_type_free(&grid_type);
    lab_end();
}

TEST(changed_graphs, no_page_between_the_rows_of_a_section_is_read)
{
    grid *g = grid_start();
    unsigned char *rows;
    the.used = (the.used + PAGE - 1) / PAGE * PAGE;
    rows = take_at(the.used, ROW);
    take_at(lab_offset(rows) + BETWEEN, ROW);
    g->rows = rows;
    lab_pack(g, grid_type, 1);
    g->first = (grid *)(void *)(rows + PAGE);
    g->name = (char *)rows + PAGE;
    g->second->second = nowhere();
    check_named("root.second.second");
    grid_end();
}

/* A sanitizer sees the bytes behind a name, though they have its place. */
TEST(changed_graphs, no_byte_behind_a_string_is_read)
{
    grid *g = grid_start();
    char *names = take(0, GRANULE);
    size_t i;
    for (i = 0; i < 8; i++)
        take_at(lab_offset(names) + i * GRANULE, 1);
    g->first->name = names;
    g->name = names + GRANULE;
    for (i = 2; i < 8; i++) {
        grid *h = grid_make();
        h->name = names + i * GRANULE;
        h->first = g->first->first;
        g->first->first = h;
    }
    lab_pack(g, grid_type, 1);
    g->first->second = (grid *)(void *)names;
    g->second->first = nowhere();
    check_named("root.second.first");
    grid_end();
}

TEST(changed_graphs, what_cannot_be_followed_does_not_hide_what_is_sought)
{
    grid *g = grid_start(), *far;
    far = grid_make();
    far->name = text("far");
    far->second = g->first;
    g->second->second = far;
    g->name = text("name");
    lab_pack(g, grid_type, 1);
    g->first->first = (grid *)(void *)(g->name + 1); /* misaligned */
    g->first->name = (char *)g->second;
    far->first = nowhere();
    check_named("root.second.second.first");
    grid_end();
}

/* ---- Counts and sizes. */

typedef struct leaf {
    struct leaf *next;
    char *name;
} leaf;

typedef struct row {
    int32_t count, kind;
    struct row *next;
    leaf leaves[];
} row;

static haul_type *leaf_type, *row_type;

static const haul_field leaf_fields[] = { HAUL_OBJECT(leaf, next, &leaf_type),
                                          HAUL_STRING(leaf, name) };
static const haul_field row_fields[] = {
    HAUL_OBJECT(row, next, &row_type),
    HAUL_TAIL(row, leaves, HAUL_COUNT(row, count), .target = &leaf_type),
};

static row *row_make(int32_t count)
{
    row *r = take_at_page_end(sizeof *r + (size_t)count * sizeof(leaf));
    int32_t i;
    r->count = count;
    points(&r->next);
    for (i = 0; i < count; i++)
        points(&r->leaves[i].next), points(&r->leaves[i].name);
    return r;
}

TEST(changed_graphs, no_byte_behind_an_object_is_read_that_a_count_has_lengthened)
{
    row *r;
    lab_start();
    leaf_type = TYPE_OPEN(leaf, leaf_fields);
    row_type = TYPE_OPEN(row, row_fields);
    type_commit(row_type);
    r = row_make(3);
    r->next = row_make(2);
    r->next->next = row_make(1);
    lab_pack(r, row_type, 1);
    r->count = r->next->next->count = 100000;
    check_named("root.leaves"); /* one of both */
    r->count = 3;
    check_named("root.next.next.leaves");
    haul_type_free(&row_type);
    haul_type_free(&leaf_type);
    lab_end();
}

/* ---- Callbacks. */

typedef struct words {
    struct words *next, *other;
    int32_t *numbers;
} words;

enum { WORDS = 3, NUMBERS = 8 };

static haul_type *words_type;
static int32_t *known_numbers[WORDS];
static int strangers;

static int64_t count_numbers(const haul_here *here)
{
    int i;
    for (i = 0; i < WORDS; i++)
        if (here->target == known_numbers[i])
            return NUMBERS;
    strangers++;
    return 1;
}

static const haul_field words_fields[] = {
    HAUL_OBJECT(words, next, &words_type),
    HAUL_OBJECT(words, other, &words_type),
    HAUL_ARRAY(words, numbers, HAUL_COUNT_FN(count_numbers)),
};

/* A changed pointer leads to numbers, which look like an object with a pointer to anywhere. */
TEST(changed_graphs, no_callback_gets_what_a_changed_pointer_leads_to)
{
    words *w[WORDS], forged;
    int i;
    lab_start();
    words_type = TYPE_OPEN(words, words_fields);
    type_commit(words_type);
    memset(&forged, 0, sizeof forged);
    forged.numbers = nowhere();
    for (i = 0; i < WORDS; i++) {
        known_numbers[i] = take(NUMBERS * sizeof(int32_t), WORD);
        memcpy(known_numbers[i], &forged, sizeof forged);
        w[i] = take(sizeof(words), WORD);
        points(&w[i]->next), points(&w[i]->other), points(&w[i]->numbers);
        w[i]->numbers = known_numbers[i];
    }
    w[0]->next = w[1];
    w[0]->other = w[2];
    lab_pack(w[0], words_type, 1);
    CHECK_EQ(strangers, 0);
    w[0]->next = (words *)(void *)known_numbers[1];
    w[2]->next = nowhere();
    check_named("root.other.next");
    CHECK_EQ(strangers, 0);
    haul_type_free(&words_type);
    lab_end();
}

/* ---- Work. `readable` is asked for each range that a walk reaches. */

enum { WORK_OBJECTS = 1 << 24 }; /* ends a walk that would go on for good */

static size_t ranges;

static int count_range(void *user, const void *address, size_t bytes)
{
    (void)user, (void)address, (void)bytes;
    ranges++;
    return 1;
}

/* Packs a graph of which a part has changed. `ranges` is then what the walk has reached that names
 * the change. */
static void pack_changed(haul_type *type, void *root, void (*change)(void), const char *path)
{
    static unsigned char arena[8 * PAGE];
    haul_context_options options = { .readable = count_range, .max_objects = WORK_OBJECTS };
    haul_context *context = NULL;
    haul_plan *plan = NULL;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    CHECK_STATUS(haul_plan_create(context, haul_from_object(root, type), NULL, &plan), HAUL_OK);
    CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_OK);
    change();
    ranges = 0;
    CHECK_STATUS(haul_plan_pack(plan, arena, sizeof arena, 4096, NULL), HAUL_ERROR_STALE);
    CHECK_STR(haul_context_error(context)->path, path);
    haul_plan_free(&plan);
    haul_context_free(&context);
}

typedef struct twin {
    struct twin *pair; /* two */
    struct far *far;   /* the address of the one before it */
} twin;

typedef struct far {
    struct far *next, *other;
} far;

static struct {
    far before, found, lost;
    twin pair[2], root;
} twins;

static void lose_twins(void)
{
    twins.lost.next = (far *)(void *)((uintptr_t)0 - 64); /* the change that is sought */
    twins.pair[0].far = (far *)(void *)((uintptr_t)0 - 32);
}

/* One of two objects refuses its rules whenever a pointer leads to both; the other one leads to
 * both. */
TEST(changed_graphs, objects_that_cannot_be_followed_are_visited_once)
{
    haul_type *far_type = NULL, *twin_type = NULL;
    const haul_field far_fields[] = { HAUL_OBJECT(far, next, &far_type),
                                      HAUL_OBJECT(far, other, &far_type) };
    const haul_field twin_fields[] = {
        HAUL_OBJECTS(twin, pair, &twin_type, HAUL_FIXED(2)),
        HAUL_OBJECT(twin, far, &far_type, .base = sizeof(far)),
    };
    far_type = TYPE_OPEN(far, far_fields);
    twin_type = TYPE_OPEN(twin, twin_fields);
    type_commit(twin_type);
    memset(&twins, 0, sizeof twins);
    twins.root.pair = twins.pair[0].pair = twins.pair[1].pair = twins.pair;
    twins.root.far = &twins.before;
    twins.pair[0].far = &twins.found;
    twins.pair[1].far = &twins.before;
    pack_changed(twin_type, &twins.root, lose_twins, "root.pair[0].far");
    CHECK(ranges > 0 && ranges < 16);
    haul_type_free(&twin_type);
    haul_type_free(&far_type);
}

typedef struct grille {
    struct grille *bars, *next;
    uint32_t count, unused;
} grille;

static grille grilles[4];

static void lengthen_grilles(void)
{
    grilles[3].count = 1u << 23;
    grilles[2].count = 2; /* the change that is sought: the last count that was read */
}

/* Two places, 2^23 times each. What is sought comes behind them. */
TEST(changed_graphs, elements_that_a_count_has_made_many_are_not_all_reached)
{
    haul_type *type = NULL;
    static const haul_dimension across[] = {
        HAUL_DIMENSION(HAUL_COUNT(grille, count), HAUL_FIXED(0)),
        HAUL_DIMENSION(HAUL_FIXED(2), HAUL_FIXED(2)),
    };
    const haul_field fields[] = { HAUL_SECTION(grille, bars, across, .target = &type),
                                  HAUL_OBJECT(grille, next, &type) };
    type = TYPE_OPEN(grille, fields);
    type_commit(type);
    memset(grilles, 0, sizeof grilles);
    grilles[3].bars = grilles;
    grilles[3].next = &grilles[2];
    grilles[2].bars = grilles;
    grilles[3].count = grilles[2].count = 1;
    pack_changed(type, &grilles[3], lengthen_grilles, "root");
    CHECK(ranges < 65536);
    haul_type_free(&type);
}
