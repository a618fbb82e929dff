/* Drawing a universe, in parts: structs (model.c), optional members of a field (rules.c), derived
 * types (derived.c).
 */
#ifndef RANDOM_DRAW_H
#define RANDOM_DRAW_H

#include "model.h"
#include "support/open.h"

/* A field of count 1 at the end of the type's list, without a place yet. */
model_field *draw_new_field(model_type *t, model_kind kind, size_t bytes);
/* A pointer, with the fields that its shapes read: its index. Targets are drawn when all types are
 * known: -2 stands for "some type". */
unsigned draw_pointer(choices *c, model_type *t);
/* `plain`: the elements are integers of 1, 2, 4 or 8 bytes, or pointers, so that a terminator can
 * be looked for. */
model_shape draw_shape(choices *c, model_type *t, int plain, int pointers);
model_shape draw_constant(int64_t add);
size_t draw_element_bytes(choices *c);
/* An order of so many things. */
void draw_order(choices *c, unsigned *order, unsigned count);
size_t draw_round_up(size_t n, size_t alignment);
/* The span of what travels, holes at both ends left out. */
void draw_true_extent(const model *m, model_type *t);
/* Elements of such a type can stand in a row and be pointed to one by one. */
int draw_stands_in_rows(const model_type *t);
/* Structs embedded in struct number `index`; 0: the drawn type is not fit for that. */
int draw_embed(choices *c, model *m, model_type *t, unsigned index);

/* rules.c: a field with a rule, and perhaps other arms of it. */
void draw_ruled(choices *c, model *m, model_type *t, unsigned index);
/* The types that a choice may make; and tag bits as wide as the target's alignment allows. */
void draw_cases(choices *c, model *m, model_field *f);
void draw_wide_tags(choices *c, const model *m, model_field *f);
/* Which way the bytes of a struct's own fields travel, when it has all of them; and those behind a
 * pointer, when all types are known. */
void draw_field_directions(choices *c, const model *m, model_type *t);
void draw_pointer_direction(choices *c, const model *m, model_field *f);

/* derived.c: type number `index`, by one of MPI's constructors over those before it. */
void draw_derived(choices *c, model *m, unsigned index);

#endif
