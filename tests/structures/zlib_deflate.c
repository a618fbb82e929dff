/* zlib's deflate_state. Its trees' descriptors lead to its own arrays and to static
 * tables, its output and its symbols lie in one buffer, and stream and state know each other.
 */
#define _DEFAULT_SOURCE
#include "journey.h"
#include "support/open.h"

enum { W_BITS = 15, LITERALS = 573, DISTANCES = 61, HASHES = 1 << 12 };

typedef struct ct_data {
    uint16_t freq, dad;
} ct_data;

typedef struct static_tree_desc {
    int32_t extra_base, elems, max_length;
} static_tree_desc;

typedef struct tree_desc {
    ct_data *dyn_tree;
    int32_t max_code;
    const static_tree_desc *stat_desc;
} tree_desc;

typedef struct deflate_state deflate_state;

typedef struct z_stream {
    uint8_t *next_in;
    uint32_t avail_in;
    uint8_t *next_out;
    uint32_t avail_out;
    deflate_state *state;
    void *(*zalloc)(void *, unsigned, unsigned);
    void (*zfree)(void *, void *);
} z_stream;

struct deflate_state {
    z_stream *strm;
    uint8_t *pending_buf, *pending_out;
    uint32_t pending_buf_size, pending;
    uint32_t w_size, w_bits, w_mask;
    uint8_t *window;
    uint16_t *prev, *head;
    uint32_t hash_size, strstart;
    ct_data dyn_ltree[LITERALS], dyn_dtree[DISTANCES];
    tree_desc l_desc, d_desc;
    uint8_t *sym_buf;
};

/* Apart: one past the end of a registered range counts as in it. */
static const struct {
    static_tree_desc l_desc, between, d_desc;
} tables = { { 257, 286, 15 }, { 0, 0, 0 }, { 0, 30, 15 } };
static const test_static zlib_statics[] = {
    { &tables.l_desc, sizeof tables.l_desc, HAUL_STATIC_KEEP },
    { &tables.d_desc, sizeof tables.d_desc, HAUL_STATIC_KEEP }
};
static haul_type *stream_type, *state_type, *desc_type;

HAUL_FUNCTION(window_bytes, deflate_state, 2 * (int64_t)self->w_size)

#define STATE_ROWS(previous)                                                                       \
    HAUL_OBJECT(deflate_state, strm, &stream_type),                                                \
        HAUL_ARRAY(deflate_state, pending_buf, HAUL_COUNT(deflate_state, pending_buf_size)),       \
        HAUL_ADDRESS(deflate_state, pending_out, .ownership = HAUL_BORROWED),                      \
        HAUL_ADDRESS(deflate_state, sym_buf, .ownership = HAUL_BORROWED),                          \
        HAUL_ARRAY(deflate_state, window, HAUL_COUNT_FN(window_bytes)),                            \
        HAUL_ARRAY(deflate_state, prev, HAUL_COUNT(deflate_state, previous)),                      \
        HAUL_ARRAY(deflate_state, head, HAUL_COUNT(deflate_state, hash_size)),                     \
        HAUL_EMBED(deflate_state, l_desc, &desc_type),                                             \
        HAUL_EMBED(deflate_state, d_desc, &desc_type)

static const haul_field state_fields[] = { STATE_ROWS(w_size) };

static void deflate_open(const haul_field *fields, size_t statics)
{
    static const haul_field stream_fields[] = {
        HAUL_ARRAY(z_stream, next_in, HAUL_COUNT(z_stream, avail_in)),
        HAUL_ARRAY(z_stream, next_out, HAUL_COUNT(z_stream, avail_out)),
        HAUL_OBJECT(z_stream, state, &state_type),
        HAUL_ADDRESS(z_stream, zalloc, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(z_stream, zfree, .ownership = HAUL_EXTERNAL),
    };
    static const haul_field desc_fields[] = {
        HAUL_ADDRESS(tree_desc, dyn_tree, .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(tree_desc, stat_desc, .ownership = HAUL_BORROWED, .maybe_static = 1)
    };
    the.known.statics = zlib_statics;
    the.known.static_count = statics;
    stream_type = OPEN(z_stream, stream_fields);
    state_type = type_open("deflate_state", sizeof(deflate_state), fields,
                           sizeof state_fields / sizeof *state_fields);
    desc_type = OPEN(tree_desc, desc_fields);
    type_close(stream_type);
}

static void deflate_close(void)
{
    haul_type_free(&stream_type);
    haul_type_free(&state_type);
    haul_type_free(&desc_type);
    site_end();
}

static uint8_t *bytes_make(size_t bytes, int high)
{
    uint8_t *at = put_elements(bytes, 1);
    size_t i;
    for (i = 0; i < bytes; i++)
        at[i] = (uint8_t)chance(0, high);
    return at;
}

static z_stream *deflate_make(void)
{
    z_stream *z = put_elements(1, sizeof *z);
    deflate_state *s = z->state = put_elements(1, sizeof *s);
    s->strm = z;
    z->avail_in = 9000;
    z->avail_out = 7000;
    z->next_in = bytes_make(z->avail_in, 3);
    z->next_out = bytes_make(z->avail_out, 0);
    s->w_bits = W_BITS;
    s->w_size = 1 << W_BITS;
    s->w_mask = s->w_size - 1;
    s->window = bytes_make(2 * (size_t)s->w_size, 3);
    s->prev = put_elements(s->w_size, sizeof *s->prev);
    s->hash_size = HASHES;
    s->head = put_elements(HASHES, sizeof *s->head);
    s->pending_buf_size = 4 * 4096;
    s->pending_buf = put_elements(s->pending_buf_size, 1);
    s->pending_out = s->pending_buf + 100;
    s->sym_buf = s->pending_buf + 4096;
    s->l_desc.dyn_tree = s->dyn_ltree;
    s->l_desc.stat_desc = &tables.l_desc;
    s->d_desc.dyn_tree = s->dyn_dtree;
    s->d_desc.stat_desc = &tables.d_desc;
    the.told = z->avail_in + 287;
    return z;
}

/* Reads the input into the window, chains equal hashes, and counts literals through the tree's
 * descriptor. */
static int64_t deflate_walk(void *root, size_t count)
{
    z_stream *z = root;
    deflate_state *s = z->state;
    uint32_t i, hash = 0, literals = 0;
    (void)count;
    if (s->strm != z || s->l_desc.dyn_tree != s->dyn_ltree || s->d_desc.dyn_tree != s->dyn_dtree)
        return -1;
    memcpy(s->window, z->next_in, z->avail_in);
    for (i = 0; i < z->avail_in; i++) {
        hash = (hash << 4 ^ s->window[i]) & (HASHES - 1);
        s->prev[i & s->w_mask] = s->head[hash];
        s->head[hash] = (uint16_t)i;
        s->l_desc.dyn_tree[s->window[i]].freq++;
        s->sym_buf[i % 4096] = s->pending_out[i % 3996] = s->window[i];
    }
    for (i = 0; i < 4; i++)
        literals += s->dyn_ltree[i].freq;
    s->strstart = z->avail_in;
    memcpy(z->next_out, s->pending_buf, z->avail_out);
    return (int64_t)literals + s->l_desc.stat_desc->elems + s->d_desc.stat_desc->elems - 29;
}

TEST(structures_zlib, a_state_whose_parts_point_into_it_and_to_static_tables)
{
    site_start(35);
    deflate_open(state_fields, 2);
    travel_and_sum(deflate_make(), stream_type, 1, deflate_walk);
    deflate_close();
}

TEST(structures_zlib, a_table_that_is_not_registered_is_refused_and_bits_taken_for_a_size_told)
{
    static const haul_field bits_fields[] = { STATE_ROWS(w_bits) };
    site_start(36);
    deflate_open(state_fields, 1);
    refuse_ship(deflate_make(), stream_type, 1, HAUL_ERROR_GRAPH, "root.state.d_desc.stat_desc",
                "nor into a registered static range");
    deflate_close();
    site_start(36);
    deflate_open(bits_fields, 2);
    audit_tells(deflate_make(), stream_type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.state.prev[0]",
                "only the first 30 bytes of its block of 65536 are described");
    deflate_close();
}
