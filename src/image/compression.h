/* Arenas that are compressed by zstd.
 */
#ifndef HAUL_IMAGE_COMPRESSION_H
#define HAUL_IMAGE_COMPRESSION_H

#include "context/context.h"
#include "image/input.h"

/* Can this library compress? */
int haul__can_compress(void);

typedef struct haul__compressed {
    void *at; /* new memory of `room` bytes; NULL: none */
    size_t bytes, room;
} haul__compressed;
/* Compresses into new memory. HAUL_ERROR_UNSUPPORTED: the library was built without zstd.
 * HAUL_ERROR_MEMORY. After a failure too, the caller releases the memory. */
haul_status haul__compress(haul_context *context, int level, const void *bytes, size_t count,
                           haul__compressed *compressed);

typedef struct haul__decompressor {
    haul_context *context;
    haul__input *from;
    uint64_t left;         /* compressed bytes that have not been read */
    uint64_t hash, wanted; /* of those that have been read; of all */
    void *state;           /* libzstd's */
    unsigned char *piece;  /* compressed bytes, [begin, end) of which wait */
    size_t number, begin, end;
    int has_ended;     /* the frame has */
    haul__input bytes; /* the decompressed bytes, for anyone to read */
} haul__decompressor;

/* The next `compressed` bytes of an input become an input of `count` bytes: `bytes`. Its reads
 * answer HAUL_ERROR_FORMAT if the bytes are damaged or do not have the checksum. The struct must
 * stay where it is. HAUL_ERROR_UNSUPPORTED: the library was built without zstd. HAUL_ERROR_MEMORY.
 * After a failure too, the caller closes it. */
haul_status haul__decompressor_open(haul__decompressor *d, haul_context *context, haul__input *from,
                                    uint64_t compressed, uint64_t hash, size_t count);
/* After all of them have been read. HAUL_ERROR_FORMAT: there are more. */
haul_status haul__decompressor_end(haul__decompressor *d);
void haul__decompressor_close(haul__decompressor *d);

#endif
