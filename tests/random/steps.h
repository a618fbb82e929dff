/* The steps of a trial, by subject. Each answers 1 when all is as it must be; else the trial's
 * message says what is not.
 */
#ifndef RANDOM_STEPS_H
#define RANDOM_STEPS_H

#include "trial.h"

typedef struct trial {
    trial_world *world;
    choices *c;
    model *model;
    graph g;
    reference host;        /* of the source alone */
    reference packed;      /* with the packed arena */
    reference device_side; /* with the device's copy */
    haul_device *device;
    haul_context *context;
    haul_plan *plan;
    haul_shipment *shipment;
    int is_ordered;  /* plan and shipment are in the order of discovery */
    int lets_change; /* what the description reads may come back changed */
    unsigned char *arena_memory, *arena;
    size_t bytes;
    unsigned char *results; /* what the kernel left in the data bytes, range after range */
    char *message;
    size_t message_bytes;
} trial;

/* Writes the message, with the library's words, and answers 0. */
int trial_fail(trial *t, const char *format, ...);

/* ---- The source (source.c). */

int trial_source_is_unchanged(trial *t, const char *after);
/* [first, first + bytes) as it was drawn. */
void trial_restore(trial *t, uintptr_t first, size_t bytes);
/* New contents for all data but counts and terminated arrays. */
void trial_change_source(trial *t);
/* New contents for a copy's data, or for what of it is sent alone; t->results is then what is to
 * come back. Unless it may change, what the description reads stays. */
void trial_change_copies(trial *t, const reference *copy, int all);
/* The data bytes within [first, end) are those of t->results, and no other byte has changed. Puts
 * the source back. */
int trial_source_has_results(trial *t, uintptr_t first, uintptr_t end, const char *after);
/* What is not sent has come back as the zeros that it is there, unless it does not come back
 * either. */
int trial_restore_unsent(trial *t);

/* ---- Without a device (packing.c, auditing.c, damage.c). */

int trial_plan(trial *t);
/* By chance a distance may be 0 in the copy, which is null there: packing must then say so. */
int trial_has_zero_distance(const trial *t);
int trial_refuses_zero_distance(trial *t);
int trial_pack(trial *t);
int trial_pack_again(trial *t);
int trial_look_up_described(trial *t);
int trial_look_up_roots(trial *t);
int trial_look_up_others(trial *t);
int trial_unpack(trial *t);
int trial_audit(trial *t);
int trial_image(trial *t); /* imaging.c */
int trial_reference_sees(trial *t);

/* Neither kept nor a distance. */
int trial_is_pointer(const reference_slot *s);
/* The first described byte of an element: what lies below a type's lower bound has no place. */
const void *trial_first_described(const trial *t, const void *element);

/* Does the world's context, which has several threads, do what one thread does (teams.c)? A world
 * without such contexts has nothing to compare. */
int trial_teams(trial *t);

/* ---- On the device (shipping.c, staleness.c, rewiring.c). */

int trial_ship(trial *t);
int trial_image_of_device(trial *t); /* imaging.c */
int trial_device_agrees(trial *t, const char *after);
int trial_addresses_agree(trial *t);
int trial_extents_agree(trial *t);
int trial_pointers_agree(trial *t);
int trial_unmarshal(trial *t);
/* A count that the device has changed is refused, or comes back. */
int trial_unmarshal_a_count(trial *t);
int trial_refresh(trial *t, const char *why);
int trial_refresh_after_change(trial *t);
int trial_unmarshal_again(trial *t);
int trial_update(trial *t);
int trial_replan(trial *t);
/* One change that a refresh must refuse. */
int trial_stale(trial *t);
int trial_retags(trial *t);
int trial_unmarshal_pointers(trial *t);

#endif
