/* The bytes of an image, front to back.
 */
#include "image/input.h"

#include "base/status.h"

#define FIRST_BYTES ((size_t)1 << 20) /* of memory for bytes whose number is a claim */

haul_status haul__input_read(haul__input *input, void *to, size_t count)
{
    unsigned char *at = to;
    while (count > 0) {
        size_t got = 0;
        if (input->bytes) {
            got = count < input->left ? count : input->left;
            memcpy(at, input->bytes, got);
            input->bytes += got;
        } else if (input->file->read(input->file->user, at, count, &got) != HAUL_OK ||
                   got > count) {
            return haul__fail(input->error, HAUL_ERROR_FILE, "the file refuses to be read");
        }
        if (got == 0)
            return haul__fail(input->error, HAUL_ERROR_FORMAT,
                              "the image ends after %llu bytes, before it is complete",
                              (unsigned long long)input->done);
        at += got;
        count -= got;
        input->done += got;
        if (input->left != SIZE_MAX)
            input->left -= got < input->left ? got : input->left;
    }
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

haul_status haul__input_take(haul__input *input, size_t count, size_t alignment, void **memory)
{
    unsigned char *taken = NULL;
    size_t capacity = 0, done = 0;
    haul_status status = HAUL_OK;
    while (done < count && status == HAUL_OK) {
        const size_t room = taken && capacity <= count / 2 ? capacity * 2 : count;
        const size_t next =
            taken || input->left != SIZE_MAX || count <= FIRST_BYTES ? room : FIRST_BYTES;
        unsigned char *larger = haul__allocate(input->allocator, next, alignment);
        if (!larger) {
            status = haul__fail(input->error, HAUL_ERROR_MEMORY,
                                "out of memory for %zu bytes of an image", count);
            break;
        }
        if (taken)
            memcpy(larger, taken, done);
        haul__release(input->allocator, taken, capacity);
        taken = larger;
        capacity = next;
        status = haul__input_read(input, larger + done, next - done);
        done = next;
    }
    if (status != HAUL_OK) {
        haul__release(input->allocator, taken, capacity);
        taken = NULL;
    }
    *memory = taken;
    return status;
}
