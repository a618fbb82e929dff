/* What a kernel ran into: the memory at an address, and the device's words that lead there. */
#ifndef HAUL_HOST_FAULT_H
#define HAUL_HOST_FAULT_H

#include "host.h"
#include "maps.h"

#define HAUL__HOST_WORDS 8u

/* A pointer-sized word of device memory. */
typedef struct haul__host_word {
    haul_address at;
    uintptr_t value;
    haul_address allocation; /* that it lies in */
    uint64_t bytes;          /* of it */
} haul__host_word;

typedef enum haul__host_place {
    HAUL__AT_UNKNOWN,   /* the processor does not tell the address */
    HAUL__AT_NULL,      /* close to address 0 */
    HAUL__AT_NOTHING,   /* no memory */
    HAUL__AT_READ_ONLY, /* memory that nobody may write */
    HAUL__AT_DEVICE,    /* beside an allocation of device memory */
    HAUL__AT_HOST       /* memory of the host */
} haul__host_place;

typedef struct haul__host_fault {
    uintptr_t address;
    haul__host_place place;
    uintptr_t block;            /* of a HAUL__AT_HOST: the heap block that has the address, */
    size_t block_bytes;         /* or 0 */
    haul__host_map map;         /* that has the address; begin = end: none */
    haul__host_word allocation; /* of a HAUL__AT_DEVICE: without the word */
    /* the words that lead closest to the address, the closest first */
    haul__host_word words[HAUL__HOST_WORDS];
    size_t word_count;
} haul__host_fault;

/* Fills in the rest. Reads device memory at its addresses, and host memory near `address`. */
void haul__host_look(const haul__host *host, haul__host_maps *maps, int is_host,
                     haul__host_fault *fault);
/* One sentence about a word, or about the fault without one (NULL). */
void haul__host_say(const haul__host_fault *fault, const haul__host_word *word, char *text,
                    size_t room);

#endif
