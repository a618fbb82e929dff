/* What kernels do to pointers of a copy, launched on the host device.
 */
#ifndef RANDOM_KERNELS_H
#define RANDOM_KERNELS_H

#include "reference.h"

typedef struct kernel_store {
    uintptr_t at, value;
    int from_slot; /* value is the address of another slot to copy from */
} kernel_store;

/* A tagged pointer and the bit of its tag that is turned over; 0: nothing is there. */
typedef struct kernel_retag {
    const reference_slot *slot;
    uintptr_t bit;
} kernel_retag;

void kernel_write(void *store);
void kernel_turn_bit(void *retag);

#endif
