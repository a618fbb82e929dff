/* Callbacks of the user's, called from a discovery. What one answers is noted for later packs; in
 * checked mode it must be the same for every holder that a place is found through.
 */
#include "walk/callbacks.h"
#include "walk/checked.h"
#include "walk/paths.h"

static const char *const haul__question_names[] = { "count", "condition", "choice of type", "base",
                                                    "size" };

static haul_status haul__meet_answer(haul__discovery *d, const haul__slot *slot,
                                     const haul_here *here, haul__question question, int64_t answer)
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
                          "it was found through two of %s, and the %s that its "
                          "callback answers is %lld for one and %lld "
                          "for the other",
                          haul_type_name(d->asked.type), haul__question_names[question],
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
    here->parent = (const void *)d->asked.parent;
    here->holder = (const void *)d->asked.holder;
    if (!d->dry_run && d->sought.call_self && d->sought.call_self == (uintptr_t)here->self &&
        d->sought.call_target == (uintptr_t)here->target)
        return haul__refuse(d, HAUL_ERROR_STALE, slot,
                            "the %s that its callback answers has changed",
                            haul__question_names[question]);
    if (d->asked.type && !here->holder)
        return haul__refuse(
            d, HAUL_ERROR_GRAPH, slot,
            "it was found through no %s, which its rule names as the holder and its %s asks for",
            haul_type_name(d->asked.type), haul__question_names[question]);
    *answer = function(here);
    if (d->asked.type && d->recording && !d->dry_run && d->context->options.checked)
        status = haul__meet_answer(d, slot, here, question, *answer);
    return status == HAUL_OK ? haul__note_call(d, function, here, question, *answer) : status;
}
