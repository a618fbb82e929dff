/* What flattening puts together, and how it is sealed: shared by scratch.c, seal.c and flatten.c.
 */
#ifndef HAUL_TYPE_SCRATCH_H
#define HAUL_TYPE_SCRATCH_H

#include "type/build.h"

/* Empties the lists, keeps their memory. */
void haul__scratch_clear(haul__scratch *s);

/* One more run, slot or part; 0: out of memory. Runs that touch the last one are joined to it. */
int haul__put_new_run(haul__scratch *s, size_t offset, size_t bytes);
int haul__put_run(haul__scratch *s, size_t offset, size_t bytes);
int haul__put_slot(haul__scratch *s, const haul__slot *slot, size_t name);
int haul__put_part(haul__scratch *s, size_t offset, size_t count, size_t stride,
                   const haul_type *type, size_t name);
int haul__put_ruled(haul__scratch *s, const haul__ruled *ruled, size_t name);
int haul__put_excluded(haul__scratch *s, size_t offset, size_t bytes, unsigned bars);
/* Puts a name together, "outer[index].inner", and answers where it stands. */
int haul__put_name(haul__scratch *s, const char *outer, size_t index, size_t count,
                   const char *inner, size_t *name);

/* The lists, sorted, checked and copied into the type's own memory. */
haul_status haul__seal(haul__scratch *s, haul_type *type, haul_error *error);
/* A nameless type of `type`'s own, sealed from the scratch, which is empty afterwards but for its
 * alignment. */
haul_status haul__seal_inner(haul__scratch *s, haul_type *type, size_t bytes, haul_type **inner,
                             haul_error *error);

#endif
