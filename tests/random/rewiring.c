/* Pointers that the device has changed: they come back as the host's, tags and all, or are refused.
 */
#include "kernels.h"
#include "steps.h"

#include <string.h>

#include "haul/host.h"
#include "support/short_forms.h"

/* One past an object is, on the device, where another one may begin; and an odd address in a word
 * with tags is another address with tags. */
static int is_plain_pointer(const trial *t, const reference_slot *s)
{
    uintptr_t copy;
    if (s->high_tags != 0)
        return 0;
    return s->kind == SLOT_FOLLOWED ||
           (s->kind == SLOT_ALIAS && s->value == s->target &&
            reference_find(&t->device_side, (uintptr_t)s->target, &copy));
}

static int comes_back(const trial *t, const reference_slot *s)
{
    int unreturned;
    reference_stretch(t->host.unreturned, t->host.unreturned_count, (uintptr_t)s->at, 1,
                      &unreturned);
    return !unreturned;
}

/* `back` 0: one that does not come back. */
static const reference_slot *some_followed(trial *t, int back)
{
    size_t n = t->device_side.slot_count,
           start = n != 0 ? (size_t)random_word(&t->c->filler) % n : 0;
    for (size_t i = 0; i < n; i++) {
        const reference_slot *s = &t->device_side.slots[(start + i) % n];
        if (is_plain_pointer(t, s) && comes_back(t, s) == back)
            return s;
    }
    return NULL;
}

int trial_retags(trial *t)
{
    size_t n = t->device_side.slot_count,
           start = n != 0 ? (size_t)random_word(&t->c->filler) % n : 0;
    kernel_retag r = { NULL, 0 };
    uintptr_t now, copy;
    for (size_t i = 0; i < n && r.slot == NULL; i++) {
        const reference_slot *s = &t->device_side.slots[(start + i) % n];
        if (s->high_tags != 0 && comes_back(t, s) &&
            reference_find(&t->device_side, (uintptr_t)s->target, &copy))
            r.slot = s;
    }
    if (r.slot == NULL)
        return 1;
    if (haul_host_launch(t->device, kernel_turn_bit, &r) != HAUL_OK ||
        haul_update_host(t->shipment, WITH_POINTERS, NULL) != HAUL_OK)
        return trial_fail(t, "unmarshal with a tag of the device's");
    now = (uintptr_t)graph_read_pointer(r.slot->at);
    if (r.bit != 0 && now != ((uintptr_t)r.slot->value ^ r.bit))
        return trial_fail(t, "unmarshal with pointers: a tagged %p came back as %p", r.slot->value,
                          (void *)now);
    graph_write_pointer(r.slot->at, r.slot->value);
    return trial_restore_unsent(t) &&
           trial_source_is_unchanged(t, "unmarshal with a tag of the device's") &&
           trial_refresh(t, "after a change of a tag");
}

int trial_unmarshal_pointers(trial *t)
{
    const reference_slot *a = some_followed(t, 1), *b = some_followed(t, 1),
                         *stays = some_followed(t, 0);
    haul_shipment_info statistics;
    kernel_store s;
    haul_status status;
    if (a == NULL)
        return 1;
    haul_shipment_get_info(t->shipment, &statistics);
    s.at = a->copy;
    s.value = b->copy;
    s.from_slot = 1;
    if (haul_host_launch(t->device, kernel_write, &s) != HAUL_OK)
        return trial_fail(t, "launch");
    s.at = stays != NULL ? stays->copy : a->copy;
    if (haul_host_launch(t->device, kernel_write, &s) != HAUL_OK)
        return trial_fail(t, "launch");
    s.at = a->copy;
    status = haul_update_host(t->shipment, WITH_POINTERS, NULL);
    if (status != HAUL_OK)
        return trial_fail(t, "unmarshal with pointers: %s", haul_status_name(status));
    if (graph_read_pointer(a->at) != b->value)
        return trial_fail(t, "unmarshal with pointers: %p came back at %p, not %p",
                          graph_read_pointer(a->at), (void *)a->at, b->value);
    graph_write_pointer(a->at, a->value);
    if (!trial_restore_unsent(t) || !trial_source_is_unchanged(t, "unmarshal with pointers"))
        return 0;
    s.value = (uintptr_t)statistics.base + statistics.arena_bytes + 65536;
    s.from_slot = 0;
    if (haul_host_launch(t->device, kernel_write, &s) != HAUL_OK)
        return trial_fail(t, "launch");
    status = haul_update_host(t->shipment, WITH_POINTERS, NULL);
    if (status != HAUL_ERROR_GRAPH)
        return trial_fail(t, "unmarshal with a pointer out of the graph: %s",
                          haul_status_name(status));
    if (haul_context_error(t->context)->path[0] == '\0')
        return trial_fail(t, "unmarshal with a pointer out of the graph: no path");
    return trial_source_is_unchanged(t, "refused unmarshal") &&
           trial_refresh(t, "after a refused unmarshal");
}
