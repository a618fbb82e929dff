/* Calls of the library on a world's plans, shipments and arenas. Each function makes one call, with
 * a fault or without, and checks its answer; what it did is then part of the world.
 */
#ifndef ATTACK_CALLS_H
#define ATTACK_CALLS_H

#include "world.h"

/* ---- Around each call (faults.c). */

enum { CALL_IS_ASYNC = 1 };
#define CALL_ON(device) (2u << (device)) /* it works with this device of the world's */

/* Before a call: now and then one of its allocations or verbs is to fail. */
void call_begin(world *w, unsigned what);
/* After it. `right` is the answer where nothing fails. 1: the call has succeeded. */
int call_end(world *w, const char *name, haul_status status, haul_status right);
/* May a call finish the free of an arena that a late device has held? */
int call_may_free(const world *w);

/* ---- The progress callback (progress.c). */

void progress_begin(world *w);
void progress_choose(world *w, haul_context_options *o);

/* ---- Shipments (cargo.c). */

cargo *cargo_some(world *w);
/* A free place; NULL: none. */
cargo *cargo_place(world *w);
/* Before a call on a shipment. */
void cargo_call_begin(world *w, cargo *c, unsigned what);
/* The call that has ended leaves work of the shipment's under way. */
void cargo_sets_out(const world *w, cargo *c);
/* Waits until nothing is on the way any more. */
void cargo_wait(world *w, cargo *c);
/* Without faults, after a failure: what was on its way is over, written or not; so may `writes`
 * (NULL: none) be. */
void cargo_give_up(world *w, cargo *c, const results *writes);
/* After a call: 1: the callback has freed the shipment in it. What the call had to write, and what
 * was on its way if it has waited, has been written as if it had not; what else was coming never
 * comes. */
int cargo_is_gone(world *w, cargo *c, int has_waited, haul_status status, const results *writes);
/* A call on the shipment has failed so. 1: it is left at that, and can be waited for. */
int cargo_goes_on(world *w, cargo *c, haul_status status);
/* With all shipments whose pointers lead into it. */
void cargo_free(world *w, cargo *c);
/* Do others' pointers lead into it? */
int cargo_is_near(const world *w, const cargo *c);
/* It has another place on its device: what leads into it leads to where it was, and what is made
 * there next might lie in that place. */
void cargo_moved(world *w, const cargo *c);
/* Does it lie where a neighbour was that has moved? Pointers to there cannot be told from its own.
 * */
int cargo_meets_strays(const cargo *c);
/* The device holds what the host does, pointers that lead out of an arena as its rule says. */
void cargo_send(world *w, cargo *c);
/* What the device was told is done; nothing has been written here. */
int cargo_has_settled(world *w, const cargo *c);
/* Some object of the shipment's; -1: none. */
int cargo_object(world *w, const cargo *c);
/* A call on the shipment that is not asynchronous. 1: it has succeeded, and all that was on its way
 * has been written. */
typedef struct cargo_call {
    const char *name;
    haul_status (*run)(cargo *c, void *argument);
    void *argument;
    haul_status right;
    results *writes; /* that it may have written when it fails; NULL: none */
} cargo_call;
int cargo_do(world *w, cargo *c, const cargo_call *call);

/* ---- Steps: each draws what it needs, or does nothing. */

void step_any(world *w); /* one of them, and of the host's own (sequences.c) */
void step_ship(world *w);
void step_refresh(world *w);
void step_replan(world *w);
void step_unmarshal(world *w);
void step_update_device(world *w);
void step_update_host(world *w);
void step_copy(world *w);
void step_look_up(world *w);
void step_free(world *w);
void step_kernel(world *w);
void step_wait(world *w);
void step_poll(world *w);

void step_ship_async(world *w);
void step_refresh_async(world *w);
void step_update_device_async(world *w);
void step_update_host_async(world *w);
void step_unmarshal_async(world *w);

/* ---- Plans (plans.c). */

void step_plan(world *w);
void step_plan_pack(world *w);
void step_plan_unpack(world *w);
void step_plan_free(world *w);
void step_ship_plan(world *w);
void step_trim(world *w);

void draft_free(world *w, draft *d);

/* ---- Arenas (arenas.c). */

void step_arena(world *w);
void step_arena_allocate(world *w);
void step_arena_realloc(world *w);
void step_arena_release(world *w);
void step_arena_rollback(world *w);
void step_arena_ship(world *w);
void step_arenas_ship(world *w);
void step_arena_free(world *w);
void step_arena_return(world *w);

void arena_free(world *w, int number);
/* One that may be allocated in, drawn; NULL: it may not. */
arena_of_world *some_free_arena(world *w, int *number);
/* Around a call on an arena: it says by itself why it fails, and asks for memory alone. */
void arena_call_begin(world *w);
void arena_call_end(world *w, haul_status status, haul_status right);
/* Full, or no memory: nothing has changed. */
void arena_refused(world *w, const haul_arena *arena);
/* From `offset` up to `end` something is not what it was. */
void arena_gives_back(world *w, int number, size_t offset, size_t end);
/* All objects of the arena from `offset` on, up to `end`, are no more. */
void arena_drop_objects(world *w, int number, size_t offset, size_t end);
/* Waits for what is on its way to and from the arena, but for one shipment's (NULL: none): while an
 * arena is sent it must stay as it is. */
void settle_arena(world *w, int number, const cargo *but);
/* The same of all arenas: pointers to what goes will be cut anywhere. */
void settle_arenas(world *w);
/* So that the shipment's arena may be written. What comes changes objects and nurseries: called
 * before a step looks at these. 0: there is no shipment, or a callback has freed it on the way. */
int cargo_alone(world *w, const cargo *c);
/* Does the arena's memory go with the shipment, because nothing else holds that? */
int arena_goes_with(const world *w, const cargo *c);
/* Does every pointer of the shipment's objects lead into what it carries? */
int arena_leads_in(const world *w, const cargo *c);
/* Nothing is refused if its pointers come back. */
int arena_may_return(const world *w, const cargo *c);
/* Does haul_unmarshal bring pointers, too, and look at nothing? */
int arena_returns_directly(const cargo *c);
/* The host draws what the shipment carries anew: a direct return has failed halfway. */
void arena_redraw(world *w, const cargo *c);
/* To ship it: not if it is empty, or a pointer leads out that must not. */
haul_status arena_right_answer(world *w, const cargo *c);
/* The shipment carries what the arena holds now. */
void cargo_draw_arena(world *w, cargo *c);

/* ---- Nurseries (nurseries.c). */

void step_nursery(world *w);
void step_nursery_kernel(world *w);
void step_nursery_return(world *w);
void step_nursery_release(world *w);

/* The shipment carries the nurseries as they are now. */
void nurseries_sent(world *w, cargo *c);
/* Has another shipment brought something into one of them since? */
int nurseries_have_grown(const world *w, const cargo *c);
/* Has the device something that no shipment has brought? */
int nurseries_have_made(const cargo *c);
/* Is there room in the table for all that the shipment would bring? */
int nurseries_have_room(const world *w, const cargo *c);
/* Does it carry one whose objects can come back? */
int nurseries_are_there(const cargo *c);
/* What kernels have made so far is on its way; it has arrived. */
void nurseries_set_out(world *w, cargo *c);
int nurseries_are_coming(const cargo *c);
void nurseries_land(world *w, cargo *c);
/* What kernels have made is here now; or is it, after a failure? */
void nurseries_bring(world *w, cargo *c);
void nurseries_bring_found(world *w, cargo *c);
/* Those of the arena whose objects have been dropped are no more. */
void nurseries_drop(world *w, int number);
/* Before a ship of the arena the host writes over the structs, and that is put right. */
void nurseries_spoil(world *w, int number);
void nurseries_mend(world *w, int number);

#endif
