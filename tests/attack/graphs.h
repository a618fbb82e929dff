/* What calls on graphs share, asynchronous or not.
 */
#ifndef ATTACK_GRAPHS_H
#define ATTACK_GRAPHS_H

#include "world.h"

/* A range of an object. */
typedef struct part {
    unsigned char *at;
    size_t first, bytes;
} part;

/* Answers how many. */
int draw_roots(world *w, int *root);
haul_ship_options draw_ship_options(world *w);
/* A stream or none, an event or none. */
haul_async draw_async(world *w, cargo *c);
void make_roots(const world *w, const int *root, int count, haul_root *roots);
/* The shipment is there, with what the host has. */
void cargo_begin(world *w, cargo *c, const haul_ship_options *o);
/* A range in an object of the shipment's, and now and then in one that is not: the object; -1:
 * there is none. */
int draw_part(world *w, const cargo *c, part *p);

/* What a call answers where nothing fails. */
haul_status right_answer(const world *w, const cargo *c, int looks_at_pointers);
haul_status right_answer_for_part(const world *w, const cargo *c, int i, const part *p);

#endif
