/* Numbers of GMP, integers and fractions (EXPR CAP): the sign of a number is that of its length.
 * MPFR's, with the room in front of the limbs (HDR BIAS), are in mpfr_numbers.c.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { NUMBERS = 400, LIMB_MAX = 9 };

typedef uint64_t mp_limb;

typedef struct mpz {
    int _mp_alloc; /* 0: it has no limbs of its own */
    int _mp_size;  /* below 0: the number is */
    mp_limb *_mp_d;
} mpz;

typedef struct mpq {
    mpz _mp_num, _mp_den;
} mpq;

typedef struct mpf {
    int _mp_prec, _mp_size; /* room for _mp_prec limbs and one */
    long _mp_exp;
    mp_limb *_mp_d;
} mpf;

typedef struct numbers {
    int count;
    mpq *fraction;
    mpf *real;
} numbers;

static haul_type *mpz_type, *mpq_type, *mpf_type, *numbers_type;

/* What every number leads to that nobody has set. */
static mp_limb nobodys_limb = 1;

/* Constants of a program (MPZ_ROINIT_N) say 0 for their room, too. */
HAUL_FUNCTION(limbs, mpz, self->_mp_alloc ? self->_mp_alloc : abs(self->_mp_size))
HAUL_FUNCTION(length, mpz, self->_mp_size)

static void numbers_open(haul_function *count)
{
    const haul_field mpz_fields[] = { HAUL_ARRAY(mpz, _mp_d, HAUL_COUNT_FN(count)) };
    static const haul_field mpq_fields[] = { HAUL_EMBED(mpq, _mp_num, &mpz_type),
                                             HAUL_EMBED(mpq, _mp_den, &mpz_type) };
    static const haul_field mpf_fields[] = { HAUL_ARRAY(mpf, _mp_d,
                                                        HAUL_COUNT_PLUS(mpf, _mp_prec, 1)) };
    static const haul_field fields[] = {
        HAUL_OBJECTS(numbers, fraction, &mpq_type, HAUL_COUNT(numbers, count)),
        HAUL_OBJECTS(numbers, real, &mpf_type, HAUL_COUNT(numbers, count))
    };
    mpz_type = OPEN(mpz, mpz_fields);
    mpq_type = OPEN(mpq, mpq_fields);
    mpf_type = OPEN(mpf, mpf_fields);
    numbers_type = OPEN(numbers, fields);
    type_close(numbers_type);
}

static void numbers_close(void)
{
    haul_type_free(&numbers_type);
    haul_type_free(&mpf_type);
    haul_type_free(&mpq_type);
    haul_type_free(&mpz_type);
}

/* All ones: one unit more carries through all of them. */
static mp_limb *ones(size_t count, size_t room)
{
    mp_limb *d = PUT_ARRAY(mp_limb, room);
    memset(d, 0xFF, count * sizeof *d);
    return d;
}

static void integer_make(mpz *z, int number, uint64_t *seen)
{
    int size = (int)random_between(&the.random, 1, LIMB_MAX), room = number % 5 == 1 ? 0 : size + 1;
    if (number % 5 == 0) {
        z->_mp_d = &nobodys_limb;
    } else {
        z->_mp_alloc = room;
        z->_mp_size = number % 2 ? -size : size;
        z->_mp_d = ones((size_t)size, (size_t)(room ? room : size));
    }
    see(seen, (uint64_t)(number % 5 ? (number % 2 ? -size : size) : 0));
}

static numbers *numbers_make(uint64_t *seen)
{
    numbers *n = PUT(numbers);
    int i;
    n->count = NUMBERS;
    n->fraction = PUT_ARRAY(mpq, NUMBERS);
    n->real = PUT_ARRAY(mpf, NUMBERS);
    for (i = 0; i < NUMBERS; i++) {
        integer_make(&n->fraction[i]._mp_num, i, seen);
        integer_make(&n->fraction[i]._mp_den, i / 5 * 10 + i % 4 + 1, seen);
        n->real[i]._mp_prec = i % 7 + 1;
        n->real[i]._mp_size = -1;
        n->real[i]._mp_d = ones(1, (size_t)i % 7 + 2);
    }
    return n;
}

/* One unit away from 0, into the room that there is. */
static void grow(mpz *z)
{
    int size = abs(z->_mp_size), i;
    for (i = 0; i < size && ++z->_mp_d[i] == 0;)
        i++;
    if (i == size && z->_mp_alloc > size) {
        z->_mp_d[size] = 1;
        z->_mp_size += z->_mp_size < 0 ? -1 : 1;
    }
}

static void meet_integer(mpz *z, uint64_t *seen)
{
    see(seen, (uint64_t)z->_mp_size);
    grow(z);
}

static void numbers_walk(void *argument)
{
    visit *v = argument;
    numbers *n = v->root;
    int i;
    for (i = 0; i < n->count; i++) {
        meet_integer(&n->fraction[i]._mp_num, &v->seen);
        meet_integer(&n->fraction[i]._mp_den, &v->seen);
        n->real[i]._mp_d[n->real[i]._mp_prec] = 3;
    }
}

TEST(structures_gmp, GMP_numbers_grow_there_into_their_room_and_have_none_where_they_say_so)
{
    journey j = { .walk = numbers_walk };
    site_start(85);
    numbers_open(limbs);
    j.root = numbers_make(&j.seen);
    j.type = numbers_type;
    travel(&j);
    numbers_close();
    site_end();
}

TEST(structures_gmp, GMP_a_length_whose_sign_is_forgotten_is_refused)
{
    uint64_t seen = 0;
    site_start(85);
    numbers_open(length);
    refuse_graph(numbers_make(&seen), numbers_type, HAUL_ERROR_GRAPH,
                 "root.fraction[0]._mp_den._mp_d", NULL, "its callback answered -2");
    numbers_close();
    site_end();
}
