/* Rows: found by offset, and read with their rules.
 */
#ifndef HAUL_TYPE_ROW_H
#define HAUL_TYPE_ROW_H

#include "type/record.h"

/* Does the rule change nothing of a pointer, except its direction? */
int haul__rule_is_trivial(const haul__rule *rule);
/* Must each object be asked for the meaning of this row? */
int haul__row_is_ruled(const haul__row *row);
/* The rule's condition; NULL: it always holds. */
const haul_when *haul__row_when(const haul__row *row);
/* Is it one condition, given twice? NULL, a field that always holds, is none. */
int haul__is_same_arm(const haul_when *a, const haul_when *b);
/* The directions that the row's bytes are excluded from: HAUL__UNSENT, HAUL__UNRETURNED. */
unsigned haul__row_exclusions(const haul__row *row);
/* The direction in words, of a row that is not sent. */
const char *haul__transfer_name(const haul__row *row);
/* Does it hold bytes that are not sent, whatever its condition? */
int haul__row_is_unsent(const haul__row *row);
size_t haul__row_unit(const haul__row *row);
/* The row's counts by number: those of its levels, then the extents and strides of its section.
 * NULL: there are no more. */
const haul_count *haul__row_count(const haul_type *type, const haul__row *row, unsigned i);
/* The row of the pointers that a pointer to pointers leads to, from its `each` rule. */
haul__row haul__each_row(const haul__row *row);

HAUL__INLINE int haul__row_is_distance(const haul__row *row)
{
    return row->rule && row->rule->said.kind == HAUL_FIELD_RELATIVE;
}

/* For types whose rows are in order. The row that holds the byte at `offset`; NULL: none does. */
const haul__row *haul__find_row(const haul_type *type, size_t offset);
/* Does an element of the type `wanted` begin at the offset, in the embedded structs? */
int haul__embeds(const haul_type *type, size_t offset, const haul_type *wanted);
/* The last row that begins before `limit`; NULL: none does. */
const haul__row *haul__last_row_before(const haul_type *type, size_t limit);
/* The row whose array ends at this limit; it holds while the limit does. NULL: none. */
const haul__row *haul__limited_row(const haul_type *type, const haul__row *limit);
/* Does a row of pointers, whatever its rule, touch [offset, offset + bytes)? Does a row of bytes
 * that are not sent? */
int haul__touches_pointer_row(const haul_type *type, size_t offset, size_t bytes);
int haul__touches_unsent_row(const haul_type *type, size_t offset, size_t bytes);
/* Bytes that the type gives every object: those before a tail. */
size_t haul__fixed_bytes(const haul_type *type);
void haul__type_sort_rows(haul_type *type);
/* Do its objects have sizes of their own? */
int haul__type_is_sized(const haul_type *type);

#endif
