/* The bytes of an image, front to back.
 */
#include "image/input.h"

#include "base/status.h"

#define FIRST_BYTES ((size_t)1 << 20) /* of memory for bytes whose number is a claim */

haul_status haul__input_too_short(const haul__input *input)
{
    return haul__fail(input->error, HAUL_ERROR_FORMAT,
                      "the image ends after %llu bytes, before it is complete",
                      (unsigned long long)input->done);
}

/* Up to `count` bytes; *got == 0: the end. */
static haul_status read_some(haul__input *input, void *to, size_t count, size_t *got)
{
    if (input->give)
        return input->give(input->giver, to, count, got);
    if (input->bytes) {
        *got = count < input->left ? count : input->left;
        memcpy(to, input->bytes, *got);
        input->bytes += *got;
        return HAUL_OK;
    }
    *got = 0;
    if (input->file->read(input->file->user, to, count, got) != HAUL_OK || *got > count)
        return haul__fail(input->error, HAUL_ERROR_FILE, "the file refuses to be read");
    return HAUL_OK;
}

haul_status haul__input_read(haul__input *input, void *to, size_t count)
{
    unsigned char *at = to;
    while (count > 0) {
        size_t got;
        haul_status status = read_some(input, at, count, &got);
        if (status != HAUL_OK)
            return status;
        if (got == 0)
            return haul__input_too_short(input);
        at += got;
        count -= got;
        input->done += got;
        if (input->left != SIZE_MAX)
            input->left -= got < input->left ? got : input->left;
    }
    return HAUL_OK;
}

void haul__input_pass(haul__input *input, size_t count)
{
    input->bytes += count;
    input->left -= count;
    input->done += count;
}

haul_status haul__input_lend(haul__input *input, size_t count, const void **memory)
{
    *memory = input->bytes;
    if (count > input->left)
        return haul__input_too_short(input);
    haul__input_pass(input, count);
    return HAUL_OK;
}

haul_status haul__input_skip(haul__input *input, uint64_t offset, int *is_zero)
{
    unsigned char bytes[512];
    size_t i;
    while (input->done < offset) {
        const uint64_t rest = offset - input->done;
        const size_t piece = rest < sizeof bytes ? (size_t)rest : sizeof bytes;
        haul_status status = haul__input_read(input, bytes, piece);
        if (status != HAUL_OK)
            return status;
        for (i = 0; i < piece; i++)
            *is_zero &= bytes[i] == 0;
    }
    return HAUL_OK;
}

static haul_status no_memory(const haul__input *input, size_t count)
{
    return haul__fail(input->error, HAUL_ERROR_MEMORY, "out of memory for %zu bytes of an image",
                      count);
}

haul_status haul__input_room(haul__input *input, size_t count, size_t alignment, void **memory)
{
    *memory = NULL;
    if (count > input->left)
        return haul__input_too_short(input);
    *memory = haul__allocate(input->allocator, count, alignment);
    return *memory ? HAUL_OK : no_memory(input, count);
}

/* Doubles the memory until all of it has arrived. `*memory`, of *capacity bytes, is the caller's
 * after a failure too. */
static haul_status take_growing(haul__input *input, size_t count, size_t alignment,
                                size_t *capacity, void **memory)
{
    haul_status status = haul__input_read(input, *memory, *capacity);
    while (status == HAUL_OK && *capacity < count) {
        const size_t done = *capacity, next = done <= count / 2 ? done * 2 : count;
        unsigned char *larger = haul__allocate(input->allocator, next, alignment);
        if (!larger)
            return no_memory(input, count);
        memcpy(larger, *memory, done);
        haul__release(input->allocator, *memory, done);
        *memory = larger;
        *capacity = next;
        status = haul__input_read(input, larger + done, next - done);
    }
    return status;
}

haul_status haul__input_take(haul__input *input, size_t count, size_t alignment, void **memory)
{
    size_t capacity = input->left == SIZE_MAX && count > FIRST_BYTES ? FIRST_BYTES : count;
    haul_status status;
    *memory = NULL;
    if (count == 0)
        return HAUL_OK;
    status = haul__input_room(input, capacity, alignment, memory);
    if (status != HAUL_OK)
        return status;
    status = take_growing(input, count, alignment, &capacity, memory);
    if (status != HAUL_OK) {
        haul__release(input->allocator, *memory, capacity);
        *memory = NULL;
    }
    return status;
}
