/* MPFR. As many limbs as the precision needs, and in the word in front of them how many there is
 * room for.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

typedef struct limbs {
    uint64_t alloc;
    uint64_t limb[1];
} limbs;

typedef struct mpfr {
    int64_t _mpfr_prec;
    int32_t _mpfr_sign, _mpfr_exp;
    uint64_t *_mpfr_d;
} mpfr;

enum { NUMBERS = 500 };

static haul_type *mpfr_open(haul_type **limbs_type, const haul_field *row)
{
    static const haul_field tail[] = { HAUL_TAIL(limbs, limb, HAUL_COUNT(limbs, alloc)) };
    haul_type *type = type_open("mpfr", sizeof(mpfr), row, 1);
    *limbs_type = OPEN(limbs, tail, .alignment = sizeof(uint64_t));
    type_close(type);
    return type;
}

static mpfr *numbers_make(void)
{
    mpfr *x = put_elements(NUMBERS, sizeof *x);
    int i;
    for (i = 0; i < NUMBERS; i++) {
        size_t used, room;
        x[i]._mpfr_prec = chance(2, 1000);
        used = (size_t)(x[i]._mpfr_prec + 63) / 64;
        room = used + (size_t)chance(0, 2);
        x[i]._mpfr_d = (uint64_t *)put_elements(room + 1, sizeof(uint64_t)) + 1;
        x[i]._mpfr_d[-1] = room;
        memset(x[i]._mpfr_d, 0xFF, used * sizeof(uint64_t));
        the.told += (int64_t)used;
    }
    return x;
}

/* Adds one unit at the lowest place: all ones become zeros. */
static int64_t mpfr_walk(void *root, size_t count)
{
    mpfr *x;
    int64_t sum = 0, i;
    for (x = root; count > 0; count--, x++) {
        int64_t used = (x->_mpfr_prec + 63) / 64;
        if ((uint64_t)used > x->_mpfr_d[-1])
            return -1;
        for (i = 0; i < used && ++x->_mpfr_d[i] == 0; i++)
            sum++;
        x->_mpfr_exp++;
    }
    return sum;
}

static haul_type *limbs_type;

TEST(structures_mpfr, numbers_with_their_room_in_the_word_in_front_of_them)
{
    static const haul_field row =
        HAUL_ADDRESS(mpfr, _mpfr_d, .target = &limbs_type, .base = HAUL_CONTAINER_OF(limbs, limb));
    haul_type *type;
    site_start(23);
    type = mpfr_open(&limbs_type, &row);
    travel_and_sum(numbers_make(), type, NUMBERS, mpfr_walk);
    haul_type_free(&type);
    haul_type_free(&limbs_type);
    site_end();
}

TEST(structures_mpfr, a_header_that_is_looked_for_at_the_wrong_place_is_refused)
{
    static const haul_field nowhere_row = HAUL_ADDRESS(mpfr, _mpfr_d, .target = &limbs_type),
                            half_row =
                                HAUL_ADDRESS(mpfr, _mpfr_d, .target = &limbs_type, .base = -4);
    haul_type *type;
    site_start(24);
    type = mpfr_open(&limbs_type, &nowhere_row);
    refuse_ship(numbers_make(), type, NUMBERS, HAUL_ERROR_LIMIT, "root[0]._mpfr_d.limb",
                "its count is above 2^63");
    haul_type_free(&type);
    haul_type_free(&limbs_type);
    type = mpfr_open(&limbs_type, &half_row);
    refuse_ship(numbers_make(), type, NUMBERS, HAUL_ERROR_GRAPH, "root[0]._mpfr_d",
                "a misaligned pointer: its address modulo 8 is 4");
    haul_type_free(&type);
    haul_type_free(&limbs_type);
    site_end();
}
