/* Calls of the user's callbacks. Each answer joins the read set. In checked mode, the answer for a
 * place must be the same for every ancestor that the place is found through.
 */
#include "walk/callbacks.h"
#include "walk/checked.h"
#include "walk/paths.h"

static const char *const question_names[] = { "count", "condition", "choice of type", "base",
                                              "size" };

static haul_status meet_answer(haul__discovery *d, const haul__asked *asked, int64_t answer)
{
    const uintptr_t place = (uintptr_t)asked->here.place;
    int is_new = 0;
    haul__seen *seen = haul__see(d, place, HAUL__AS_ANSWER + (int)asked->question, asked->slot,
                                 asked->slot, &is_new);
    haul_status status;
    if (!seen)
        return HAUL_ERROR_MEMORY;
    if (is_new) {
        seen->parent = asked->nearest.object;
        seen->answer = answer;
    }
    if (seen->answer == answer || seen->parent == asked->nearest.object)
        return HAUL_OK;
    status = haul__refuse(d, HAUL_ERROR_GRAPH, asked->slot,
                          "it was found through two objects of type %s, and the %s that its "
                          "callback answers is %lld for one and %lld for the other",
                          haul_type_name(asked->nearest.type), question_names[asked->question],
                          (long long)answer, (long long)seen->answer);
    haul__name_seen(d, seen);
    return status;
}

/* In a changed graph, the answer is the plan's: pointers that the callback gets or finds may lead
 * anywhere. */
static haul_status take_answer(haul__discovery *d, const haul__asked *asked, int64_t *answer)
{
    int has = 0;
    const haul_status status = haul__answer_of(d, asked, answer, &has);
    return status != HAUL_OK || has ? status : haul__refuse_unreadable(d, asked->slot);
}

haul_status haul__call_back(haul__discovery *d, haul__asked *asked, unsigned mode, int64_t *answer)
{
    const haul_type *ancestor = asked->nearest.type;
    haul_here *here = &asked->here;
    haul_status status = HAUL_OK;
    if (d->wants_aims) /* this walk is over, and the next one asks */
        return HAUL_ERROR_STATE;
    here->root = d->roots[d->root].address;
    here->argument = d->context->options.argument;
    here->ancestor = (const void *)asked->nearest.object;
    if (!(mode & HAUL__DRY) && d->sought.call_self &&
        d->sought.call_self == (uintptr_t)here->self &&
        d->sought.call_target == (uintptr_t)here->target)
        return haul__refuse(d, HAUL_ERROR_STALE, asked->slot,
                            "the %s that its callback answers has changed",
                            question_names[asked->question]);
    if (ancestor && !here->ancestor)
        return haul__refuse(d, HAUL_ERROR_GRAPH, asked->slot,
                            "it names %s as `.ancestor` for its %s, but it was found through none",
                            haul_type_name(ancestor), question_names[asked->question]);
    if (d->changed)
        return take_answer(d, asked, answer);
    *answer = asked->function(here);
    if (mode & HAUL__DRY)
        return HAUL_OK;
    if (ancestor && d->recording && d->context->options.checked)
        status = meet_answer(d, asked, *answer);
    return status == HAUL_OK ? haul__note_call(d, asked, *answer) : status;
}
