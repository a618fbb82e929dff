/* Checks of one row, with the types that it leads to known (or NULL).
 */
#ifndef HAUL_TYPE_CHECK_ROWS_H
#define HAUL_TYPE_CHECK_ROWS_H

#include "type/record.h"

/* Element size, shapes, and the rule. */
haul_status haul__check_row(const haul_type *type, const haul__row *row, haul_error *error);
/* check_rule.c: the rule, with the targets of its cases known. */
haul_status haul__check_rule(const haul_type *type, const haul__row *row, haul_error *error);

#endif
