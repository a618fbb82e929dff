/* Pieces of an arena that carry little: only that crosses, and the device makes the rest zeros.
 */
#ifndef HAUL_SHIP_SQUEEZE_H
#define HAUL_SHIP_SQUEEZE_H

#include "device/device.h"
#include "pack/pieces.h"

/* The fewest bytes that a graph must save: on an H100 the zeros and the strips, two orders,
 * take about as long as so many bytes on the bus. One piece of several needs to save less, because
 * its orders hide behind the packing of others. */
#define HAUL__SQUEEZE_LEAST ((size_t)512 << 10)
#define HAUL__SQUEEZE_PIECE_LEAST ((size_t)16 << 10)

/* A piece in memory: | what it carries | list of strips |. */
typedef struct haul__squeezed {
    size_t bytes;   /* that it carries */
    size_t list_at; /* a multiple of 8 */
    size_t strips;
    size_t saved; /* of the piece's bytes; 0: the piece crosses as it is */
} haul__squeezed;

/* Works out how the piece would cross, from the plan alone; as it is, if less than `least` bytes
 * are saved. */
haul__squeezed haul__try_squeeze(const haul_device *device, const haul_plan *plan,
                                 const haul__piece *piece, size_t least);
/* Squeezes the gathered piece, whose place on the device is `to`. */
void haul__squeeze(const haul_plan *plan, const haul__piece *piece, const haul__squeezed *squeezed,
                   unsigned char *memory, haul_address to);
/* Orders the zeros, and what the piece carries. On failure the stream is drained. */
haul_status haul__send_squeezed(haul_device *device, const haul__piece *piece,
                                const haul__squeezed *squeezed, const unsigned char *memory,
                                haul_address to);

#endif
