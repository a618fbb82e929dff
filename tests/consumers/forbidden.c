/* Fields that do not fit their forms: each case is refused by the compiler with the sentence behind
 * it, in C11 and in C++. Case 0 compiles. */
#include <haul.h>

#ifndef CASE
#define CASE 0
#endif

typedef struct thing {
    double *values, *four[4];
    int64_t far;
    int count;
    short near;
    double here[4];
    char text[5];
} thing;

static const haul_field fields[] = {
    HAUL_ARRAY(thing, values, HAUL_COUNT(thing, count)),
    HAUL_EACH(thing, four),
    HAUL_RELATIVE(thing, far, .element_bytes = 4),
#if CASE == 1 /* the form wants one pointer, and this field has another size (arrays: HAUL_EACH) */
    HAUL_ARRAY(thing, here, HAUL_COUNT(thing, count)),
#elif CASE == 2 /* the form wants pointers, and this field is no number of them */
    HAUL_EACH(thing, text),
#elif CASE == 3 /* a distance is an integer of 4 or 8 bytes */
    HAUL_RELATIVE(thing, near, .element_bytes = 4),
#endif
};

#if CASE == 4 /* pass the table itself, an array of the right struct */
static const haul_case table[] = { { 0, NULL, 0 }, { 0, NULL, 0 }, { 0, NULL, 0 } };
#else
#define table fields
#endif

static haul_type *type;
static const haul_struct structs[] = { HAUL_STRUCT(thing, &type, table) };

int main(void)
{
    return structs[0].field_count + fields[0].levels > 100;
}
