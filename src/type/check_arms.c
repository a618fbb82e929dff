/* Arms: rows with conditions that share bytes, as in a union. May two of them hold at once?
 *
 * If two conditions read the same bits of one field, they must have no value in common. Other
 * conditions cannot be compared here: an object in which two of them hold is refused during
 * discovery.
 *
 * The slow obvious version compares each arm with all others. Here arms are taken in the order of
 * their offsets. The earlier arms that overlap the present one have no value in common, or the
 * check would have ended. So their ranges of values lie one behind the other, and the present arm
 * can collide only with its neighbours in the order of values. A tree over that order finds these
 * neighbours: each node knows how far the arms below it reach.
 */
#include <inttypes.h>

#include "base/sort.h"
#include "type/check_places.h"
#include "type/refuse.h"
#include "type/row.h"

typedef struct arm {
    const haul__row *row;
    size_t place; /* its number in the order of rows */
} arm;

typedef struct arms {
    arm *sorted;  /* by the bits that the condition reads, then by values */
    size_t *rank; /* by number in the order of rows: the arm's place in `sorted` */
    size_t *ends; /* the tree, its root at 1: where the farthest arm below a node ends, so far */
    size_t count, leaves;
} arms;

static const haul_when *condition_of(const haul__row *row)
{
    const haul_when *when = haul__row_when(row);
    return when && when->kind == HAUL_WHEN_KIND_FIELD ? when : NULL;
}

static int value_comes_before(const void *a, const void *b)
{
    const haul_when *x = condition_of(((const arm *)a)->row),
                    *y = condition_of(((const arm *)b)->row);
    if (x->field.offset != y->field.offset)
        return x->field.offset < y->field.offset;
    if (x->field.bytes != y->field.bytes)
        return x->field.bytes < y->field.bytes;
    return x->mask != y->mask ? x->mask < y->mask : x->low < y->low;
}

/* The nearest arm so far with lower (side 1) or higher (side 0) values that ends behind `offset`;
 * NULL: none. */
static const haul__row *neighbour(const arms *a, size_t rank, size_t side, size_t offset)
{
    size_t node;
    for (node = a->leaves + rank; node > 1; node /= 2)
        if ((node & 1) == side && a->ends[node ^ 1] > offset)
            break;
    if (node <= 1)
        return NULL;
    /* from there down, to the last (side 1) or first (side 0) arm that ends behind `offset` */
    for (node ^= 1; node < a->leaves;)
        node = 2 * node + (a->ends[2 * node + side] > offset ? side : 1 - side);
    return a->sorted[node - a->leaves].row;
}

static haul_status check_pair(const haul_type *type, const haul__row *row, const haul__row *other,
                              haul_error *error)
{
    const haul_when *a = condition_of(row), *b = other ? condition_of(other) : NULL;
    if (!b || a->field.offset != b->field.offset || a->field.bytes != b->field.bytes ||
        a->mask != b->mask || a->low > b->high || b->low > a->high)
        return HAUL_OK;
    return haul__wrong(
        error, type, row->name,
        "The field overlaps field %s, and both hold where the field at offset %zu is %" PRId64 ".",
        other->name, a->field.offset, a->low > b->low ? a->low : b->low);
}

static haul_status compare(const arms *a, const haul_type *type, haul_error *error)
{
    haul_status status = HAUL_OK;
    size_t i, n = 0;
    for (i = 0; i < type->row_count && status == HAUL_OK; i++) {
        const haul__row *row = &type->rows[i];
        size_t rank, node;
        if (!condition_of(row))
            continue;
        rank = a->rank[n++];
        status = check_pair(type, row, neighbour(a, rank, 1, row->offset), error);
        if (status == HAUL_OK)
            status = check_pair(type, row, neighbour(a, rank, 0, row->offset), error);
        for (node = a->leaves + rank; node > 0 && a->ends[node] < row->offset + row->bytes;
             node /= 2)
            a->ends[node] = row->offset + row->bytes;
    }
    return status;
}

haul_status haul__check_arms(const haul_type *type, haul_error *error)
{
    const haul_allocator *allocator = &type->allocator;
    haul_status status = HAUL_ERROR_MEMORY;
    size_t i, n = 0, bytes;
    char *memory;
    arms a;
    memset(&a, 0, sizeof a);
    for (i = 0; i < type->row_count; i++)
        a.count += condition_of(&type->rows[i]) != NULL;
    if (a.count < 2)
        return HAUL_OK;
    for (a.leaves = 1; a.leaves < a.count; a.leaves *= 2)
        ;
    bytes = a.count * (sizeof *a.sorted + sizeof *a.rank) + 2 * a.leaves * sizeof *a.ends;
    memory = haul__allocate_zeroed(allocator, bytes);
    if (memory) {
        a.sorted = (arm *)(void *)memory;
        a.rank = (size_t *)(void *)(a.sorted + a.count);
        a.ends = a.rank + a.count;
        for (i = 0; i < type->row_count; i++)
            if (condition_of(&type->rows[i])) {
                a.sorted[n].row = &type->rows[i];
                a.sorted[n].place = n;
                n++;
            }
        haul__sort(a.sorted, n, sizeof *a.sorted, value_comes_before);
        for (i = 0; i < n; i++)
            a.rank[a.sorted[i].place] = i;
        status = compare(&a, type, error);
    }
    haul__release(allocator, memory, bytes);
    return status;
}
