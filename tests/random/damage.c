/* The reference itself: it knows its own copy of a graph, and sees one wrong byte in it.
 */
#include "steps.h"

/* Damages a copy in one place: a data byte, or a pointer that something stands behind. */
static int damage(trial *t, const reference *copy)
{
    size_t i = (size_t)random_word(&t->c->filler);
    if (copy->data_count != 0 && chance(t->c, 1, 2)) {
        const reference_range *r = &copy->data[i % copy->data_count];
        *(unsigned char *)(r->copy + (size_t)random_word(&t->c->filler) % r->bytes) ^= 1;
        return 1;
    }
    for (size_t k = 0; k < copy->slot_count; k++) {
        const reference_slot *s = &copy->slots[(i + k) % copy->slot_count];
        unsigned char *at = (unsigned char *)s->copy;
        if (s->kind != SLOT_FOLLOWED)
            continue;
        graph_write_pointer(at, (k & 1) != 0 ? NULL : (unsigned char *)graph_read_pointer(at) + 1);
        return 1;
    }
    return 0;
}

/* A copy that the reference makes is the same graph to it, and is not once one byte of it is
 * wrong. */
int trial_reference_sees(trial *t)
{
    reference_copy copy;
    reference walk;
    int good = 1;
    reference_copy_make(&t->g, &t->host, &copy);
    if (!reference_walk(&t->g, &copy.place, &walk))
        good = trial_fail(t, "the reference does not know its own copy: %s", walk.wrong);
    if (good && damage(t, &walk)) {
        reference_free(&walk);
        if (reference_walk(&t->g, &copy.place, &walk))
            good = trial_fail(t, "the reference does not see a damaged copy");
    }
    reference_free(&walk);
    reference_copy_free(&copy);
    return good;
}
