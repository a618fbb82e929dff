/* A device that is not trusted, and objects that it has cut off (haul_ship_options.untrusted): with
 * the last pointer to them gone, nobody looks at their pointers, and the host's bytes stay.
 *
 * Faults by number (docs/testing.md): D14 (device results are hostile).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/types.h"
#include "untrusted_returns.h"

#pragma pack(push, 1)
typedef struct knot {
    char letter;
    struct knot *next; /* off the grid of words, so that a list tells of it and no bit */
} knot;
#pragma pack(pop)

typedef struct chest {
    struct chest *next;
    double *numbers;
    knot *knots;
    int64_t count, knot_count;
} chest;

enum { CHESTS = 3, NUMBERS = 50000, KNOTS = 3 };

static haul_type *knot_type, *chest_type;
static chest chests[CHESTS];
static double *numbers[CHESTS];
static knot knots[CHESTS][KNOTS];

static void fill(void)
{
    int i, k;
    memset(chests, 0, sizeof chests);
    for (i = 0; i < CHESTS; i++) {
        CHECK((numbers[i] = malloc(NUMBERS * sizeof(double))) != NULL);
        for (k = 0; k < NUMBERS; k++)
            numbers[i][k] = i + 3 * k;
        for (k = 0; k < KNOTS; k++) {
            knot *next = &knots[i][0];
            knots[i][k].letter = (char)('a' + k);
            memcpy((char *)&knots[i][k] + offsetof(knot, next), &next, sizeof next);
        }
        chests[i].next = i + 1 < CHESTS ? &chests[i + 1] : NULL;
        chests[i].numbers = numbers[i];
        chests[i].knots = knots[i];
        chests[i].count = NUMBERS;
        chests[i].knot_count = KNOTS;
    }
}

static void open_all(int ordered)
{
    static const haul_field knot_fields[] = { HAUL_OBJECT(knot, next, &knot_type, .packed = 1) };
    static const haul_field chest_fields[] = {
        HAUL_OBJECT(chest, next, &chest_type),
        HAUL_ARRAY(chest, numbers, HAUL_COUNT(chest, count)),
        HAUL_OBJECTS(chest, knots, &knot_type, HAUL_COUNT(chest, knot_count)),
    };
    open_device(NULL);
    knot_type = TYPE_NEW(knot, knot_fields);
    CHECK_STATUS(haul_type_commit(knot_type), HAUL_OK);
    chest_type = TYPE_NEW(chest, chest_fields);
    CHECK_STATUS(haul_type_commit(chest_type), HAUL_OK);
    fill();
    ship(chests, chest_type, ordered, 1);
}

static void close_all(void)
{
    int i;
    close_device();
    haul_type_free(&chest_type);
    haul_type_free(&knot_type);
    for (i = 0; i < CHESTS; i++)
        free(numbers[i]);
}

static void lead(const knot *host, const void *target)
{
    const void *there = haul_device_pointer(shipment, target);
    put((const char *)host + offsetof(knot, next), &there, sizeof there);
}

/* Within the arena, but to no knot. */
static void put_wrong(const knot *host)
{
    lead(host, &numbers[0][1]);
}

/* All that is cut off is some blocks of the map and some granules of others. */
TEST(untrusted, large_objects_that_are_cut_off_keep_their_bytes)
{
    static const uintptr_t null;
    static const double seven = 7, eight = 8;
    knot was[CHESTS][KNOTS];
    int ordered, i, k;
    for (ordered = 0; ordered < 2; ordered++) {
        open_all(ordered);
        memcpy(was, knots, sizeof was);
        put(&chests[0].next, &null, sizeof null);
        put(&numbers[0][9], &seven, sizeof seven);
        put(&numbers[1][9], &eight, sizeof eight);
        put_wrong(&knots[2][1]);
        CHECK_STATUS(come_back(1), HAUL_OK);
        CHECK_PTR(chests[0].next, NULL);
        CHECK_PTR(chests[1].next, &chests[2]);
        for (i = 0; i < CHESTS; i++)
            for (k = 0; k < NUMBERS; k++)
                CHECK(numbers[i][k] == (i == 0 && k == 9 ? seven : i + 3 * k));
        CHECK_BYTES(knots, was, sizeof was);
        close_all();
    }
}

/* What is left of an array shares a granule with a pointer that is cut off. */
TEST(untrusted, elements_that_are_cut_off_keep_their_bytes)
{
    knot was[CHESTS][KNOTS];
    int ordered;
    int64_t left;
    for (ordered = 0; ordered < 2; ordered++)
        for (left = 0; left < KNOTS; left++) {
            open_all(ordered);
            memcpy(was, knots, sizeof was);
            put_wrong(&knots[2][left]); /* nothing is cut off there */
            CHECK_STATUS(come_back(1), HAUL_ERROR_GRAPH);
            CHECK_BYTES(knots, was, sizeof was);
            lead(&knots[2][left], &knots[2][0]);
            put(&chests[1].knot_count, &left, sizeof left);
            put_wrong(&knots[1][left]);
            put(&knots[1][left].letter, "z", 1);
            CHECK_STATUS(come_back(1), HAUL_OK);
            CHECK_EQ(chests[1].knot_count, left);
            CHECK_BYTES(knots, was, sizeof was);
            close_all();
        }
}
