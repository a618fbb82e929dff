/* Asides: what the caller's thread alone does in a walk by aims, between two rounds.
 *
 * It finds out counts that a callback answers. The thread that meets such a pointer puts it aside,
 * so callbacks run on the caller's thread. No thread waits for one as long as there is other work.
 * The count is asked for by the code that one thread uses. From then on the array goes the way of
 * any other.
 *
 * Why it is right: a count does not depend on the order of finding, nor does what is noted of it:
 * the lists are sorted afterwards. Each object is visited once, so this walk asks once for each
 * pointer, as one thread does. The walk by one thread before it may have asked, too, and so does
 * one that comes after it. Whatever is refused here, one thread refuses again, with its path.
 *
 * Why it pays: common graphs have few such pointers above many plain objects. If there are many, or
 * if they stand one behind the other, so that each takes a round, one thread walks again. What all
 * threads have put aside is compared with all that they have found, as it happens, so that little
 * is lost by then.
 */
#include "walk/asides.h"
#include "walk/extent.h"
#include "walk/mark_inline.h"
#include "walk/why.h"

/* A round takes as long as one thread takes for some hundred objects. */
#define TURNS_LEAST ((size_t)64)
#define OBJECTS_A_TURN ((size_t)1024)

int haul__are_too_many_asides(const haul__discovery *d, haul__share *share)
{
#ifdef HAUL_STRESS_THREADS
    (void)d;
    (void)share;
    return 0;
#else
    const haul__aim *last = &share->aims->list.at[share->asides_about];
    const size_t objects = d->found->objects;
    if (haul__is_unfinished(share) || share->asides == share->asides_before)
        return 0;
    share->asides_before = share->asides;
    share->turns++;
    if ((share->turns < TURNS_LEAST || objects / OBJECTS_A_TURN >= share->turns) &&
        !haul__are_many_asked(share->asides, objects))
        return 0;
    haul__give_up(share, haul__why_uncounted(&last->slot->shape[0]), share->asides_about);
    return 1;
#endif
}

/* Lists a pointer to no elements. */
static haul_status note_empty(haul__discovery *d, uintptr_t place)
{
    haul__found *found = d->found;
    if (!haul__grow(d->allocator, &found->empty, &found->empty_capacity, found->empty_count + 1,
                    sizeof *found->empty))
        return HAUL_ERROR_MEMORY;
    found->empty[found->empty_count++] = place;
    return HAUL_OK;
}

haul_status haul__ask_count(haul__discovery *d, haul__share *share, uint64_t *entry,
                            uint64_t *bytes)
{
    const haul__aim *aim = &share->aims->list.at[HAUL__ENTRY_TYPE(*entry)];
    const haul__met_type *of = &d->met_types[aim->of];
    const uintptr_t place = HAUL__ENTRY_ADDRESS(*entry);
    const uint64_t unit = (uint64_t)aim->count.unit;
    haul__pointer p;
    size_t count;
    haul_status status;
    memset(&p, 0, sizeof p);
    p.slot = aim->slot;
    p.place = place;
    p.value = haul__load_word((const void *)place);
    p.self = place - aim->slot->offset + aim->slot->self;
    p.index = aim->slot->index;
    if (of->arrays)
        of->arrays[aim->slot - of->walk->slots].general++;
    share->asides_about = HAUL__ENTRY_TYPE(*entry);
    status = haul__count_of(d, &p, HAUL__NOTED, &count);
    if (status == HAUL_ERROR_MEMORY)
        return status;
    if (status != HAUL_OK || count > d->context->options.max_array_elements ||
        count > HAUL__HIGHEST / unit || p.value > HAUL__HIGHEST) {
        haul__give_up(share, HAUL__WHY_FAULT, HAUL__ENTRY_TYPE(*entry));
        return HAUL_ERROR_GRAPH;
    }
    *entry = (uint64_t)p.value | haul__type_bits(*entry);
    *bytes = p.value ? count * unit : 0;
    return p.value && !count ? note_empty(d, place) : HAUL_OK;
}
