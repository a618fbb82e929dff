/* Parcels of a shared walk (walk/share_rounds.h): each has memory of its own.
 */
#include <string.h>

#include "context/context.h"
#include "support/check.h"
#include "walk/share_rounds.h"

enum { MANY_THREADS = 3 };

static unsigned char mark_of(size_t i)
{
    return (unsigned char)(i % 251 + 1);
}

static int has_marks(const haul__parcel *parcel, unsigned char mark)
{
    const unsigned char *bytes = (const unsigned char *)parcel;
    size_t i;
    for (i = 0; i < sizeof *parcel; i++)
        if (bytes[i] != mark)
            return 0;
    return 1;
}

static void check_parcels(const haul__share *share)
{
    size_t i;
    for (i = share->pool_taken; i < share->pool_count; i++)
        memset(share->pool[i], mark_of(i), sizeof(haul__parcel));
    for (i = share->pool_taken; i < share->pool_count; i++)
        CHECK(has_marks(share->pool[i], mark_of(i)));
}

/* Behind the last entry of a parcel one more word may be written. So the very last byte counts, in
 * memory that is new and in memory that the context has kept. */
TEST(parcels, written_to_the_last_byte_leave_their_neighbours_as_they_are)
{
    haul_context_options options;
    haul_context *context;
    haul__discovery d;
    haul__found found;
    haul__map map;
    unsigned i;
    memset(&options, 0, sizeof options);
    memset(&d, 0, sizeof d);
    memset(&found, 0, sizeof found);
    options.threads = MANY_THREADS;
    CHECK_STATUS(haul_context_create(&options, &context), HAUL_OK);
    haul__map_open(&map, &context->allocator);
    d.context = context;
    d.allocator = &context->allocator;
    d.map = &map;
    d.found = &found;
    for (i = 0; i < 2; i++) {
        haul__share *share = haul__share_open(&d, NULL);
        CHECK(share != NULL && share->pool_count - share->pool_taken > MANY_THREADS);
        check_parcels(share);
        haul__share_close(&d, share);
    }
    haul__map_close(&map);
    haul_context_free(&context);
}
