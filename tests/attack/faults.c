/* Faults around calls.
 */
#include <string.h>

#include "attack.h"
#include "calls.h"
#include "support/check.h"

int call_may_free(const world *w)
{
    return w->was_late && w->lets_arenas_go;
}

static fault_mode draw_mode(world *w, unsigned what)
{
    switch (random_below(&w->random, 12)) {
    case 0:
        return FAULT_LOST;
    case 1:
    case 2:
        return FAULT_FROM;
    case 3:
    case 4:
        return what & CALL_IS_ASYNC ? FAULT_ONCE : FAULT_LATE;
    case 5:
    case 6: /* a free that waits in vain leaves memory to the system */
        return call_may_free(w) ? FAULT_ONCE : FAULT_SLOW;
    default:
        return FAULT_ONCE;
    }
}

void call_begin(world *w, unsigned what)
{
    fault_mode mode = FAULT_ONCE;
    uint64_t at = 0;
    int lost = w->plan.lost;
    w->call = what;
    w->plan.impatient = w->faults && random_one_in(&w->random, 16) && !call_may_free(w);
    if (w->faults && !w->plan.impatient && random_one_in(&w->random, 3)) {
        mode = draw_mode(w, what);
        at = 1 + random_below(&w->random, random_one_in(&w->random, 4) ? 60 : 12);
    }
    progress_begin(w);
    fault_arm(&w->plan, mode, at);
    w->plan.lost = lost;
}

static void check_error(const world *w, const char *name, haul_status status)
{
    const haul_error *error = haul_context_error(haul_device_context(w->device[0]));
    check_note("the error of %s", name);
    CHECK_STATUS(error->status, status);
    CHECK(error->text[0] != '\0');
    check_note(NULL);
}

/* A call may finish the free of an arena, which waits for the device that gave the memory. A fault
 * on a device that the call does not work with is the free's, and changes no answer
 * (docs/asynchronous.md). */
static int was_in_a_free(const world *w)
{
    unsigned on = 0;
    for (unsigned i = 0; i < DEVICES; i++)
        if (haul_device_state(w->device[i]) == w->plan.failed_on)
            on = CALL_ON(i);
    return call_may_free(w) && on && w->call >= CALL_ON(0) && !(w->call & on);
}

/* Each call asks a late device what it has finished of things that nobody waits for: when that
 * fails, the call goes on. Nor has a free anybody to tell. */
static int was_told_to_nobody(const world *w)
{
    if (!w->plan.failed || w->has_freed)
        return w->plan.failed != NULL;
    return was_in_a_free(w) || (w->was_late && (strcmp(w->plan.failed, "poll") == 0 ||
                                                strcmp(w->plan.failed, "select") == 0));
}

static int may_answer(const world *w, haul_status status, haul_status right)
{
    const fault_plan *plan = &w->plan;
    if (w->also != HAUL_OK && status == w->also)
        return 1;
    if (plan->impatient && status == HAUL_ERROR_PENDING)
        return 1;
    if (w->is_cancelled && (status == HAUL_OK || status == HAUL_ERROR_CANCELLED))
        return status == HAUL_ERROR_CANCELLED;
    if (status == right)
        return status != HAUL_OK || plan->fired == 0 || w->forgives || was_told_to_nobody(w);
    if (plan->fired > 1 && was_told_to_nobody(w)) /* one of the next ones was told */
        return status == HAUL_ERROR_MEMORY || status == HAUL_ERROR_DEVICE_MEMORY ||
               status == HAUL_ERROR_DEVICE || status == HAUL_ERROR_DEVICE_LOST;
    return plan->fired > 0 &&
           (status == plan->first || (w->lost && status == HAUL_ERROR_DEVICE_LOST));
}

int call_end(world *w, const char *name, haul_status status, haul_status right)
{
    fault_plan *plan = &w->plan;
    int lost = plan->lost;
    attack_say("  %s: %s%s%s", name, haul_status_name(status), plan->fired ? ", failed at " : "",
               plan->fired ? plan->failed : "");
    check_note("%s, %llu faults, the first at %s, the last event %s", name,
               (unsigned long long)plan->fired, plan->fired ? plan->failed : "none", plan->last);
    w->act = LISTENS;
    if (!may_answer(w, status, right))
        CHECK_STATUS(status, plan->fired > 0 ? plan->first : right);
    w->was_late |= status == HAUL_ERROR_PENDING;
    CHECK_STR(plan->misuse, NULL);
    check_note(NULL);
    if (status != HAUL_OK)
        check_error(w, name, status);
    w->also = HAUL_OK;
    /* A wait may have been slow: one of a call that fails for another reason, or one of a free in
     * the callback, which tells nobody. */
    int may_be_late = plan->impatient || (plan->fired > 0 && plan->first == HAUL_ERROR_PENDING);
    w->left_late = may_be_late && status != HAUL_OK;
    w->was_late |= may_be_late && (status != HAUL_OK || w->has_freed);
    w->forgives = plan->impatient = 0;
    w->has_reported = plan->fired > 0 && plan->first != HAUL_ERROR_PENDING;
    for (int i = 0; i < CARGOES_MAX && w->has_reported; i++)
        w->cargoes[i].doubtful |= w->cargoes[i].on_the_way;
    fault_disarm(plan);
    plan->lost = lost;
    for (int i = 0; i < CARGOES_MAX && lost && !w->lost; i++)
        w->cargoes[i].known = 0;
    w->lost = lost;
    return status == HAUL_OK;
}
