/* CHOLMOD's structs in Haul's words. */
#ifndef HAUL_TESTS_CHOLMOD_TYPES_H
#define HAUL_TESTS_CHOLMOD_TYPES_H

#include <cholmod.h>

#include "haul.h"

extern haul_type *sparse_type, *dense_type, *triplet_type, *factor_type;
/* Their elements. */
extern haul_type *int_type, *long_type, *double_type, *complex_type;

int cholmod_types_open(void); /* 0: Haul refuses them */
void cholmod_types_close(void);

/* cholmod_sparse once more, with `row` in the place of the row or rows of that name. NULL: Haul
 * refuses it. */
haul_type *sparse_type_with(const haul_field *row);

#endif
