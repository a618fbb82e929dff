/* One block for all statics, with margins between them.
 */
#include "surroundings.h"
#include "support/open.h"

#include <stdlib.h>
#include <string.h>

static test_static range(const void *address, size_t bytes, haul_static_policy policy)
{
    test_static s;
    s.address = address;
    s.bytes = bytes;
    s.policy = policy;
    return s;
}

int surroundings_open(surroundings *s)
{
    static const uintptr_t hosts[] = { 0x1010, 0x2021, 7 },
                           copies[] = { 0xD0000010, 0xD0000020, 0 };
    memset(s, 0, sizeof *s);
    s->memory = calloc(1, 5 * STATIC_MARGIN + 3 * STATIC_BYTES + STATIC_COPIED);
    if (s->memory == NULL)
        return 0;
    s->kept = s->memory + STATIC_MARGIN;
    s->nulls = s->kept + STATIC_BYTES + STATIC_MARGIN;
    s->copied = s->nulls + STATIC_BYTES + STATIC_MARGIN;
    s->stranger = s->copied + STATIC_COPIED + STATIC_MARGIN;
    s->statics[0] = range(s->kept, STATIC_BYTES, HAUL_STATIC_KEEP);
    s->statics[1] = range(s->nulls, STATIC_BYTES, HAUL_STATIC_NULL);
    s->statics[2] = range(s->copied, STATIC_COPIED, HAUL_STATIC_COPY);
    for (unsigned i = 0; i < 3; i++) {
        s->functions[i].host = hosts[i];
        s->functions[i].copy = copies[i];
    }
    return 1;
}

void surroundings_close(surroundings *s)
{
    free(s->memory);
    memset(s, 0, sizeof *s);
}

static int is_in(const void *address, size_t bytes, const unsigned char *first)
{
    size_t at = (size_t)((uintptr_t)address - (uintptr_t)first);
    return at <= STATIC_BYTES && bytes <= STATIC_BYTES - at;
}

int surroundings_have(const surroundings *s, const void *address, size_t bytes)
{
    return is_in(address, bytes, s->kept) || is_in(address, bytes, s->nulls);
}

test_known surroundings_known(const surroundings *s)
{
    test_known known;
    known.statics = s->statics;
    known.static_count = 3;
    known.translations = s->functions;
    known.translation_count = 3;
    return known;
}
