/* zlib's inflate_state. The tables in use are parts of its own codes, or constant ones for fixed
 * blocks; next leads to the first code that is free. The window has 1 << wbits bytes, whatever
 * wsize says, and comes when it is first needed.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

enum {
    ENOUGH = 1444,
    LENGTH_BITS = 9,
    FIXED_LENGTHS = 512,
    FIXED_DISTANCES = 32,
    STREAMS = 30,
    HELD = 64
};

typedef struct code {
    uint8_t op, bits;
    uint16_t val;
} code;

typedef struct inflate_state inflate_state;

typedef struct z_stream {
    const uint8_t *next_in;
    unsigned avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    inflate_state *state;
    void *(*zalloc)(void *, unsigned, unsigned);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
} z_stream;

struct inflate_state {
    z_stream *strm;
    int mode, last, wrap, havedict, flags;
    unsigned dmax;
    unsigned long check, total;
    void *head; /* the user's, of a gzip header */
    unsigned wbits, wsize, whave, wnext;
    uint8_t *window;
    unsigned long hold;
    unsigned bits, length, offset, extra;
    const code *lencode, *distcode;
    unsigned lenbits, distbits, ncode, nlen, ndist, have;
    code *next;
    uint16_t lens[320], work[288];
    code codes[ENOUGH];
    int sane, back;
    unsigned was;
};

/* One past the end of a registered table is still in it: so they do not lie side by side. */
static const struct {
    code lengths[FIXED_LENGTHS];
    code gap[16];
    code distances[FIXED_DISTANCES];
} fixed = { { { 96, 7, 0 }, { 0, 8, 80 } }, { { 0, 0, 0 } }, { { 16, 5, 1 }, { 23, 5, 257 } } };
static const char message[] = "invalid distance too far back";
static const test_static inflate_statics[] = {
    { fixed.lengths, sizeof fixed.lengths, HAUL_STATIC_KEEP },
    { fixed.distances, sizeof fixed.distances, HAUL_STATIC_KEEP },
    { message, sizeof message, HAUL_STATIC_KEEP }
};
static haul_type *stream_type, *state_type;

HAUL_FUNCTION(window_bytes, inflate_state, (int64_t)1 << self->wbits)

static void inflate_open(size_t statics)
{
#define OWN_OR_CONSTANT .ownership = HAUL_BORROWED, .maybe_static = 1
    static const haul_field stream_fields[] = {
        HAUL_ARRAY(z_stream, next_in, HAUL_COUNT(z_stream, avail_in)),
        HAUL_ARRAY(z_stream, next_out, HAUL_COUNT(z_stream, avail_out)),
        HAUL_ADDRESS(z_stream, msg, OWN_OR_CONSTANT),
        HAUL_OBJECT(z_stream, state, &state_type),
        HAUL_ADDRESS(z_stream, zalloc, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(z_stream, zfree, .ownership = HAUL_EXTERNAL),
        HAUL_RAW(z_stream, opaque),
    };
    static const haul_field state_fields[] = {
        HAUL_OBJECT(inflate_state, strm, &stream_type),
        HAUL_RAW(inflate_state, head),
        HAUL_ARRAY(inflate_state, window, HAUL_COUNT_FN(window_bytes)),
        HAUL_ADDRESS(inflate_state, lencode, OWN_OR_CONSTANT),
        HAUL_ADDRESS(inflate_state, distcode, OWN_OR_CONSTANT),
        HAUL_ADDRESS(inflate_state, next, .ownership = HAUL_BORROWED),
    };
    the.known.statics = inflate_statics;
    the.known.static_count = statics;
    stream_type = OPEN(z_stream, stream_fields);
    state_type = OPEN(inflate_state, state_fields);
    type_close(stream_type);
}

static void *zalloc(void *opaque, unsigned items, unsigned size)
{
    (void)opaque;
    (void)items;
    (void)size;
    return NULL;
}

static void zfree(void *opaque, void *block)
{
    (void)opaque;
    (void)block;
}

/* Tables of 2^9 lengths and 2^6 distances in its own codes. */
static void tables_make(inflate_state *s)
{
    int i;
    s->lencode = s->codes;
    s->lenbits = LENGTH_BITS;
    s->distcode = s->codes + (1 << LENGTH_BITS);
    s->distbits = 6;
    s->next = s->codes + (1 << LENGTH_BITS) + (1 << 6);
    for (i = 0; i < (1 << LENGTH_BITS) + (1 << 6); i++) {
        s->codes[i].bits = 8;
        s->codes[i].val = (uint16_t)chance(0, 255);
    }
}

static z_stream *streams_make(void)
{
    z_stream *all = put_elements(STREAMS, sizeof *all);
    int i, k;
    for (i = 0; i < STREAMS; i++) {
        z_stream *z = &all[i];
        inflate_state *s = z->state = put_elements(1, sizeof *s);
        uint8_t *in = put_elements(HELD, 1);
        z->next_in = in;
        z->avail_in = HELD;
        z->next_out = put_elements(HELD, 1);
        z->avail_out = HELD;
        z->zalloc = zalloc;
        z->zfree = zfree;
        z->msg = i == 5 ? message : NULL;
        s->strm = z;
        s->wbits = 8 + (unsigned)i % 8;
        s->window = i % 3 ? put_elements((size_t)1 << s->wbits, 1) : NULL;
        s->next = s->codes;
        s->lencode = fixed.lengths;
        s->lenbits = 9;
        s->distcode = fixed.distances;
        s->distbits = 5;
        if (i % 2)
            tables_make(s);
        for (k = 0; k < HELD; k++) {
            in[k] = (uint8_t)chance(0, 63); /* no four of which look like an address */
            the.told += s->lencode[in[k]].val + (int64_t)s->distcode[in[k] % FIXED_DISTANCES].val;
        }
    }
    return all;
}

/* A symbol for each byte, into the output and the window. */
static int64_t streams_walk(void *root, size_t count)
{
    z_stream *z = root;
    int64_t sum = 0;
    size_t i;
    for (i = 0; i < count; i++, z++) {
        inflate_state *s = z->state;
        const int is_own = s->lencode == s->codes;
        if (s->strm != z || (!is_own && s->lencode != fixed.lengths) ||
            (is_own && s->next != s->distcode + (1 << 6)))
            return -1;
        for (; z->avail_in; z->avail_in--, z->avail_out--) {
            const uint8_t byte = z->next_in[HELD - z->avail_in];
            const uint16_t symbol = s->lencode[byte].val;
            sum += symbol + (int64_t)s->distcode[byte % FIXED_DISTANCES].val;
            z->next_out[HELD - z->avail_out] = (uint8_t)symbol;
            if (s->window)
                s->window[((1u << s->wbits) - HELD + z->total_out) % (1u << s->wbits)] =
                    (uint8_t)(symbol + 1);
            z->total_out++;
        }
        s->codes[ENOUGH - 1].val = 1;
    }
    return sum;
}

TEST(structures_zlib, zlib_inflate_states_with_tables_of_their_own_or_constant_ones)
{
    site_start(140);
    inflate_open(3);
    the.lets_change = 1; /* avail_in and avail_out become less, as they do at home */
    travel_and_sum(streams_make(), stream_type, STREAMS, streams_walk);
    SITE_END(&stream_type, &state_type);
}

TEST(structures_zlib, zlib_a_constant_table_that_is_not_registered_is_refused)
{
    site_start(141);
    inflate_open(1);
    refuse_ship(streams_make(), stream_type, 1, HAUL_ERROR_GRAPH, "root.state.distcode",
                "nor into a registered static range");
    SITE_END(&stream_type, &state_type);
}
