/* The block that an image's graph lies in: new memory, a buffer, a part of an arena, or pages of a
 * file.
 *
 * A file is mapped as a whole, and its head and lists are read like any memory. The arena of an
 * image begins at a multiple of 4096, as far as it is large; so it stays where it is.
 */
#include "image/graph_block.h"

#include "arena/allocate.h"
#include "base/status.h"

static haul_status lend_buffer(haul__image_block *block, const haul__input *input, size_t bytes,
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
    return HAUL_OK;
}

/* As plain bytes: their pointers are the arena's business once the graph is right. */
static haul_status take_from_arena(haul__image_block *block, const haul__input *input, size_t bytes,
                                   size_t alignment)
{
    const haul_error *why_not = &block->arena->error;
    block->at = haul_arena_bytes_slowly(block->arena, bytes, alignment);
    block->bytes = bytes;
    return block->at ? HAUL_OK : haul__fail(input->error, why_not->status, "%s", why_not->text);
}

/* Bytes of a number that is a mere claim are read before the arena grows. */
static haul_status read_into_arena(haul__image_block *block, haul__input *input, size_t bytes,
                                   size_t alignment)
{
    void *taken;
    haul_status status = haul__input_take(input, bytes, alignment, &taken);
    if (status == HAUL_OK)
        status = take_from_arena(block, input, bytes, alignment);
    if (status == HAUL_OK)
        memcpy(block->at, taken, bytes);
    haul__release(input->allocator, taken, bytes);
    return status;
}

haul_status haul__image_block_open(haul__image_block *block, haul__input *input, size_t bytes,
                                   size_t alignment, int *is_filled)
{
    haul_status status;
    void *taken;
    *is_filled = 0;
    if (bytes > input->left)
        return haul__input_too_short(input);
    if (block->buffer)
        return lend_buffer(block, input, bytes, alignment);
    *is_filled = input->left == SIZE_MAX;
    if (block->arena)
        return *is_filled ? read_into_arena(block, input, bytes, alignment)
                          : take_from_arena(block, input, bytes, alignment);
    if (block->mapping.at && input->bytes && ((uintptr_t)input->bytes & (alignment - 1)) == 0) {
        block->at = (unsigned char *)block->mapping.at + (block->mapping.bytes - input->left);
        block->bytes = bytes;
        block->is_lent = 1;
        *is_filled = 1;
        haul__input_pass(input, block->bytes);
        return HAUL_OK;
    }
    status = *is_filled ? haul__input_take(input, bytes, alignment, &taken)
                        : haul__input_room(input, bytes, alignment, &taken);
    block->at = taken;
    block->bytes = status == HAUL_OK ? bytes : 0;
    return status;
}

void haul__image_block_leave(haul__image_block *block, const uint64_t *bitmap)
{
    if (!block->arena)
        return;
    haul__set_slots(block->arena, block->at, bitmap, block->bytes / HAUL__WORD);
    block->is_lent = 1;
}

void haul__image_block_release(haul__image_block *block, const haul_allocator *allocator)
{
    if (block->at && !block->is_lent && block->arena)
        haul_arena_release(block->arena, block->at, block->bytes);
    else if (block->at && !block->is_lent)
        haul__release(allocator, block->at, block->bytes);
    if (block->mapping.at)
        haul__file_unmap(&block->mapping);
}
