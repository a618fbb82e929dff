/* Stale plans: one change of the source that a refresh must refuse, with a path. The change is then
 * taken back.
 */
#include "steps.h"

#include <string.h>

static int refuses_as_stale(trial *t, const char *what, const void *at)
{
    haul_status status = haul_update_device(t->shipment, NULL, NULL);
    const haul_error *error = haul_context_error(t->context);
    if (status != HAUL_ERROR_STALE)
        return trial_fail(t, "refresh after a change of the %s at %p: %s", what, at,
                          haul_status_name(status));
    if (error->path[0] == '\0')
        return trial_fail(t, "refresh after a change of a %s: no path", what);
    graph_restore(&t->g);
    return trial_device_agrees(t, "after a refused refresh") &&
           trial_refresh(t, "after a refused refresh");
}

/* Another slot that may hold what this one holds, and does not. */
static const reference_slot *rival(trial *t, const reference_slot *s)
{
    size_t n = t->host.slot_count, start = (size_t)random_word(&t->c->filler) % n;
    for (size_t i = 0; i < n; i++) {
        const reference_slot *other = &t->host.slots[(start + i) % n];
        if (other->kind == SLOT_FOLLOWED && other->one_of == s->one_of && other->value != s->value)
            return other;
    }
    return NULL;
}

static int stale_pointer(trial *t)
{
    size_t n = t->host.slot_count, start = n != 0 ? (size_t)random_word(&t->c->filler) % n : 0;
    for (size_t i = 0; i < n && i < 16; i++) {
        const reference_slot *s = &t->host.slots[(start + i) % n], *other;
        if (s->one_of < 0 || (other = rival(t, s)) == NULL)
            continue;
        graph_write_pointer(s->at, other->value);
        return refuses_as_stale(t, "pointer", s->at);
    }
    return 1;
}

static int stale_count(trial *t)
{
    if (t->host.count_count == 0)
        return 1;
    const reference_count *k =
        &t->host.counts[(size_t)random_word(&t->c->filler) % t->host.count_count];
    uint16_t u2 = (uint16_t)k->smaller;
    uint32_t u4 = (uint32_t)k->smaller;
    if (k->bytes == 1)
        *k->at = (unsigned char)k->smaller;
    else
        memcpy(k->at,
               k->bytes == 2   ? (const void *)&u2
               : k->bytes == 4 ? (const void *)&u4
                               : (const void *)&k->smaller,
               k->bytes);
    return refuses_as_stale(t, "count", k->at);
}

/* A field that a rule has read, or a word that is no pointer: another value, and the plan does not
 * fit any more. */
static int stale_rule(trial *t)
{
    size_t n = t->host.read_count, slots = t->host.slot_count;
    size_t start = (size_t)random_word(&t->c->filler);
    if (n != 0 && chance(t->c, 1, 2)) {
        unsigned char *at = t->host.reads[start % n].at;
        *at ^= 1;
        return refuses_as_stale(t, "field that a rule reads", at);
    }
    for (size_t i = 0; i < slots; i++) {
        const reference_slot *s = &t->host.slots[(start + i) % slots];
        if (trial_is_pointer(s))
            continue;
        *s->at ^= 64;
        return refuses_as_stale(t, "word that is no pointer", s->at);
    }
    return 1;
}

int trial_stale(trial *t)
{
    switch (choose(t->c, 3)) {
    case 0:
        return stale_pointer(t);
    case 1:
        return stale_count(t);
    default:
        return stale_rule(t);
    }
}
