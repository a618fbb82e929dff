/* Calls of the user's callbacks. Each answer joins the read set. In checked mode, the answer for a
 * place must be the same for every holder that the place is found through.
 */
#include "walk/callbacks.h"
#include "walk/checked.h"
#include "walk/paths.h"

static const char *const question_names[] = { "count", "condition", "choice of type", "base",
                                              "size" };

static haul_status meet_answer(haul__discovery *d, const haul__slot *slot, const haul_here *here,
                               haul__question question, int64_t answer)
{
    int is_new = 0;
    haul__seen *seen =
        haul__see(d, (uintptr_t)here->place, HAUL__AS_ANSWER + (int)question, slot, slot, &is_new);
    haul_status status;
    if (!seen)
        return HAUL_ERROR_MEMORY;
    if (is_new) {
        seen->parent = (uintptr_t)here->holder;
        seen->answer = answer;
    }
    if (seen->answer == answer || seen->parent == (uintptr_t)here->holder)
        return HAUL_OK;
    status = haul__refuse(d, HAUL_ERROR_GRAPH, slot,
                          "it was found through two objects of type %s, and the %s that its "
                          "callback answers is %lld for one and %lld for the other",
                          haul_type_name(d->callers.type), question_names[question],
                          (long long)answer, (long long)seen->answer);
    haul__name_seen(d, seen);
    return status;
}

haul_status haul__call_back(haul__discovery *d, const haul__slot *slot, haul_function *function,
                            haul_here *here, haul__question question, int64_t *answer)
{
    haul_status status = HAUL_OK;
    here->root = d->roots[d->root].address;
    here->argument = d->context->options.argument;
    here->parent = (const void *)d->callers.parent;
    here->holder = (const void *)d->callers.holder;
    if (!d->dry_run && d->sought.call_self && d->sought.call_self == (uintptr_t)here->self &&
        d->sought.call_target == (uintptr_t)here->target)
        return haul__refuse(d, HAUL_ERROR_STALE, slot,
                            "the %s that its callback answers has changed",
                            question_names[question]);
    if (d->callers.type && !here->holder)
        return haul__refuse(
            d, HAUL_ERROR_GRAPH, slot,
            "its rule names %s as the holder for its %s, but it was found through none",
            haul_type_name(d->callers.type), question_names[question]);
    *answer = function(here);
    if (d->callers.type && d->recording && !d->dry_run && d->context->options.checked)
        status = meet_answer(d, slot, here, question, *answer);
    return status == HAUL_OK ? haul__note_call(d, function, here, question, *answer) : status;
}
