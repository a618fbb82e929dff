/* Classes that tables must not describe: each case is refused by the compiler with the sentence
 * behind it. Case 0 compiles.
 *
 * Compiled by tests/consumers/check.sh.
 */
#include <haul.h>

#ifndef CASE
#define CASE 0
#endif

struct data {
    data *next;
};
struct derived : data {
    int more;
};
struct virtuals {
    virtuals *next;
    virtual ~virtuals()
    {
    }
};

static haul_type *type;
static const haul_field fields[] = { HAUL_OBJECT(data, next, &type) };
static const haul_struct structs[] = {
    HAUL_STRUCT(data, &type, fields),
    HAUL_PLAIN(int, &type),
#if CASE == 0
    HAUL_STRUCT(derived, &type, fields),
#elif CASE == 1 /* a class with virtual functions cannot travel */
    HAUL_STRUCT(virtuals, &type, fields),
#elif CASE == 2 /* a class with virtual functions cannot travel */
    HAUL_PLAIN(virtuals, &type),
#endif
};

int main()
{
    return structs[0].bytes != sizeof(void *);
}
