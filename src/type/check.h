/* Checks of a description: the faults of one type that a commit refuses, in the order in which they
 * can be found.
 */
#ifndef HAUL_TYPE_CHECK_H
#define HAUL_TYPE_CHECK_H

#include "type/record.h"

/* check_places.c, from the description alone: size, alignment, where rows lie. Sorts the rows. */
haul_status haul__check_places(haul_type *type, haul_error *error);
/* check_arms.c: do the conditions of overlapping rows exclude each other, as far as can be seen
 * without an object? Rows lie in order, within the type. */
haul_status haul__check_arms(const haul_type *type, haul_error *error);

/* check_rows.c, with the row's target known (or NULL): element size and shapes. */
haul_status haul__check_row(const haul_type *type, const haul__row *row, haul_error *error);
/* check_rule.c, with the targets of its cases known (or NULL). */
haul_status haul__check_rule(const haul_type *type, const haul__row *row, haul_error *error);

/* check_flat.c, with the type's flat form made: no number is read from a pointer, or from bytes
 * that are not sent. */
haul_status haul__check_reads(const haul_type *type, haul_error *error);
/* check_zeros.c, with the type's flat form made: no arm of a union leaves zeros in the copy where
 * another row reads a number. */
haul_status haul__check_zeros(const haul_type *type, haul_error *error);
/* With all flat forms made: targets have bytes, and room for tag bits. */
haul_status haul__check_targets(const haul_type *type, haul_error *error);

#endif
