/* Arrays of structs whose pointers all lead to short arrays, visited in line.
 */
#ifndef HAUL_WALK_VISIT_RECORDS_H
#define HAUL_WALK_VISIT_RECORDS_H

#include "walk/met_types.h"

/* Visits the elements of an array of such structs (met->is_record). */
haul_status haul__visit_records(haul__discovery *d, const haul__entry *entry);

#endif
