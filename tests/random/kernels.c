/* Kernels that change one word.
 */
#include "kernels.h"

void kernel_write(void *argument)
{
    const kernel_store *s = argument;
    const void *value =
        s->from_slot ? graph_read_pointer((const void *)s->value) : (const void *)s->value;
    graph_write_pointer((void *)s->at, value);
}

void kernel_turn_bit(void *argument)
{
    kernel_retag *r = argument;
    uintptr_t word = (uintptr_t)graph_read_pointer((const void *)r->slot->copy);
    r->bit = (word & ~r->slot->high_tags) != 0 ? r->slot->high_tags & HAUL_HIGH_TAGS : 0;
    r->bit &= ~(r->bit - 1);
    graph_write_pointer((void *)r->slot->copy, (void *)(word ^ r->bit));
}
