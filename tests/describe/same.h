/* Do two descriptions say the same of the same bytes? */
#ifndef HAUL_TESTS_SAME_H
#define HAUL_TESTS_SAME_H

#include <haul.h>

/* Compares all fields of two committed types and of what they lead to; says what differs. Names of
 * types do not matter, and of functions only that there is one. Counts a test. */
void same(const char *what, const haul_type *one, const haul_type *other);
/* Counts a failure if the status is one. */
void made(haul_context *context, haul_status status);
/* "N passed, N failed"; main's exit code. */
int done(void);

#endif
