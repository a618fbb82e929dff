/* The block that an image's graph lies in: new memory, the caller's, or pages of a file.
 *
 * A file is mapped as a whole, and its head and lists are read like any memory. The arena of an
 * image begins at a multiple of 4096, as far as it is large; so it stays where it is.
 */
#include "image/graph_block.h"

#include "base/status.h"

static haul_status read_into_buffer(haul__image_block *block, haul__input *input, size_t bytes,
                                    size_t alignment)
{
    if (bytes > block->buffer_bytes)
        return haul__fail(input->error, HAUL_ERROR_ARGUMENT,
                          "the image needs %zu bytes at a multiple of %zu: the buffer has %zu",
                          bytes, alignment, block->buffer_bytes);
    if (((uintptr_t)block->buffer & (alignment - 1)) != 0)
        return haul__fail(input->error, HAUL_ERROR_ARGUMENT,
                          "the image needs %zu bytes at a multiple of %zu: the buffer begins "
                          "elsewhere",
                          bytes, alignment);
    block->at = block->buffer;
    block->bytes = bytes;
    block->is_lent = 1;
    return haul__input_read(input, block->at, block->bytes);
}

haul_status haul__image_block_read(haul__image_block *block, haul__input *input, size_t bytes,
                                   size_t alignment)
{
    haul_status status;
    void *taken;
    if (block->buffer)
        return read_into_buffer(block, input, bytes, alignment);
    if (block->mapping.at && bytes <= input->left &&
        ((uintptr_t)input->bytes & (alignment - 1)) == 0) {
        block->at = (unsigned char *)block->mapping.at + (block->mapping.bytes - input->left);
        block->bytes = bytes;
        block->is_lent = 1;
        input->bytes += block->bytes;
        input->left -= block->bytes;
        input->done += block->bytes;
        return HAUL_OK;
    }
    status = haul__input_take(input, bytes, alignment, &taken);
    block->at = taken;
    block->bytes = status == HAUL_OK ? bytes : 0;
    return status;
}

void haul__image_block_release(haul__image_block *block, const haul_allocator *allocator)
{
    if (block->at && !block->is_lent)
        haul__release(allocator, block->at, block->bytes);
    if (block->mapping.at)
        haul__file_unmap(&block->mapping);
}
