/* Environments: the pointers of present objects that enters and calls have attached.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <time.h>

#include "environment_graphs.h"

#define P (host.parts)

static void attach(part **pointer, part *target)
{
    *pointer = target;
    CHECK_STATUS(haul_environment_attach(env, pointer), HAUL_OK);
}

static void detach(part **pointer)
{
    CHECK_STATUS(haul_environment_detach(env, pointer), HAUL_OK);
}

/* ---- What an attach costs. */

enum { MANY = LARGE(4000, 1000) };

/* Of this thread, for 50 attaches and detaches: the best of five. */
static double attach_seconds(void)
{
    double best = 1e9;
    int i, round;
    for (round = 0; round < 5; round++) {
        struct timespec from, to;
        double seconds;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        for (i = 0; i < 50; i++) {
            attach(&P[0].a, &P[1]);
            detach(&P[0].a);
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        best = seconds < best ? seconds : best;
    }
    return best;
}

TEST(environment_attach, a_first_attach_takes_no_longer_beside_thousands_of_groups)
{
    part *others = calloc(MANY, sizeof *others);
    double alone, beside;
    int i;
    start();
    CHECK(others != NULL);
    enter(&P[0]);
    enter(&P[1]);
    alone = attach_seconds();
    for (i = 0; i < MANY; i++)
        enter(&others[i]);
    beside = attach_seconds();
    check_note("%g us alone, %g us beside %d groups", 2e4 * alone, 2e4 * beside, MANY);
    CHECK(beside < 8 * alone);
    check_note(NULL);
    finish();
    free(others);
}

/* ---- Objects within objects. A label leads to a box, to the lid in it, or to both. */

typedef struct lid {
    struct label *back;
    int64_t value;
} lid;

typedef struct box {
    lid top; /* at the address of the box */
    struct label *late;
    int64_t value;
} box;

typedef struct chest {
    int64_t value;
    lid top;
} chest;

typedef struct label {
    lid *first;
    box *second;
    chest *third;
} label;

static haul_type *lid_type, *box_type, *chest_type, *label_type;
static const haul_field lid_fields[] = { HAUL_OBJECT(lid, back, &label_type) };
static const haul_field box_fields[] = { HAUL_EMBED(box, top, &lid_type),
                                         HAUL_OBJECT(box, late, &label_type) };
static const haul_field chest_fields[] = { HAUL_EMBED(chest, top, &lid_type) };
static const haul_field label_fields[] = { HAUL_OBJECT(label, first, &lid_type),
                                           HAUL_OBJECT(label, second, &box_type),
                                           HAUL_OBJECT(label, third, &chest_type) };

static void start_boxes(void)
{
    start();
    lid_type = TYPE_NEW(lid, lid_fields);
    box_type = TYPE_NEW(box, box_fields);
    chest_type = TYPE_NEW(chest, chest_fields);
    label_type = TYPE_NEW(label, label_fields);
    CHECK_STATUS(haul_type_commit(label_type), HAUL_OK);
}

static void finish_boxes(void)
{
    haul_type_free(&label_type);
    haul_type_free(&chest_type);
    haul_type_free(&box_type);
    haul_type_free(&lid_type);
    finish();
}

static void put(void *root, const haul_type *type)
{
    CHECK_STATUS(haul_environment_enter(env, root, type, 1, NULL, NULL), HAUL_OK);
}

typedef struct word_look {
    void *const *at;
    void *seen;
} word_look;

static void look_at_word(void *argument)
{
    word_look *w = argument;
    w->seen = *w->at;
}

/* The device's copy of a pointer that is present. */
static void *word_there(const void *pointer)
{
    word_look w = { haul_environment_device_pointer(env, pointer), NULL };
    CHECK_STATUS(haul_host_launch(device, look_at_word, &w), HAUL_OK);
    return w.seen;
}

TEST(environment_attach, a_struct_is_looked_through_even_if_its_first_member_was_met_before)
{
    static box b;
    static label l;
    int is_both;
    for (is_both = 0; is_both < 2; is_both++) {
        start_boxes();
        memset(&b, 0, sizeof b);
        put(&b, box_type);
        b.late = &l;
        l.first = is_both ? &b.top : NULL;
        l.second = &b;
        put(&l, label_type);
        check_note("with%s the lid", is_both ? "" : "out");
        CHECK_PTR(word_there(&b.late), there(&l));
        CHECK_EQ(info().attached, 1);
        check_note(NULL);
        finish_boxes();
    }
}

TEST(environment_attach, a_pointer_in_a_struct_and_in_its_member_is_attached_once)
{
    static chest c;
    static label l;
    start_boxes();
    memset(&c, 0, sizeof c);
    memset(&l, 0, sizeof l);
    put(&c, chest_type);
    c.top.back = &l;
    l.first = &c.top;
    l.third = &c;
    put(&l, label_type);
    CHECK_PTR(word_there(&c.top.back), there(&l));
    CHECK_EQ(info().attached, 1);
    finish_boxes();
}
