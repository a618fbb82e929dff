/* Piece sizes: how much of an arena crosses at a time.
 *
 * Packing one piece overlaps with the transfer of those before it. Pieces shrink with the graph, so
 * that a medium graph has several. A small graph crosses whole, because each piece costs an order.
 */
#include "device/device.h"
#include "device/piece_sizes.h"

/* The smallest piece. Smaller: an order costs more than it hides. Several threads pack faster, so
 * there is less to hide, and they wait for each other at the end of each piece. */
#define PIECE_MIN ((size_t)512 << 10)
#define POOL_PIECE_MIN ((size_t)1 << 20)
#define END_BYTES ((size_t)64 << 10)
#define PIECES 8u /* of a medium graph */

static int has_pool(const haul_device *device)
{
    return device->context->options.threads > 1;
}

size_t haul__piece_most(const haul_device *device)
{
    return has_pool(device) ? HAUL__POOL_PIECE_BYTES : HAUL__PIECE_BYTES;
}

/* Pieces end at the ends of blocks. Room for one more block keeps the last piece from being a small
 * rest. */
size_t haul__piece_bytes(const haul_device *device, size_t total)
{
    const size_t least = has_pool(device) ? POOL_PIECE_MIN : PIECE_MIN,
                 most = haul__piece_most(device);
    const size_t pieces = total / least < PIECES ? total / least : PIECES;
    const size_t bytes = total / (pieces ? pieces : 1);
    if (device->capabilities.chunk_bytes != 0)
        return device->capabilities.chunk_bytes;
    return bytes < most - END_BYTES ? bytes + END_BYTES : most;
}

size_t haul__piece_limit(const haul_device *device)
{
    const size_t chunk = device->capabilities.chunk_bytes, most = haul__piece_most(device);
    return chunk != 0 && chunk < most ? chunk : most;
}

int haul__crosses_whole(const haul_device *device, size_t total)
{
    return total <= device->capabilities.send_bytes || total <= haul__piece_bytes(device, total);
}
