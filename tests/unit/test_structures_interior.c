/* Pointers that lead into other things: rows of one block (ROWS: LAMMPS' arrays), and the very
 * object that holds them (SELF: the strings of libstdc++, zlib's deflate_state).
 */
#define _DEFAULT_SOURCE
#include "structures_a.h"
#include "support/open.h"

/* ---- ROWS: LAMMPS. Each array is a table of rows and one block that they lie in: so much of each
 * row, as many as another array says, or a brick whose indices do not begin at 0, so that the
 * pointers of all three levels lie beside what they are for. A brick is described as three types:
 * of a pointer to planes, to rows, and to numbers. */

typedef struct brick_row {
    double *x;
} brick_row;

typedef struct brick_plane {
    brick_row *y;
} brick_plane;

typedef struct lammps {
    int32_t nlocal, nmax;
    double **x;
    int32_t *num_bond, **bond_atom;
    int32_t nxlo_out, nxhi_out, nylo_out, nyhi_out, nzlo_out, nzhi_out;
    double ***density_brick;
} lammps;

enum { ATOMS = 700, ATOMS_MAX = 1024 };

static haul_type *row_type, *plane_type;

HAUL_FUNCTION(bonds_of_atom, lammps, self->num_bond[here->index])
HAUL_FUNCTION(z_bias, lammps, (int64_t)sizeof(void *) * self->nzlo_out)
HAUL_FUNCTION(z_count, lammps, self->nzhi_out - self->nzlo_out + 1)

static const lammps *system_of(const haul_here *here)
{
    return here->root;
}

HAUL_FUNCTION(y_bias, void, (int64_t)sizeof(void *) * system_of(here)->nylo_out)
HAUL_FUNCTION(y_count, void, system_of(here)->nyhi_out - system_of(here)->nylo_out + 1)
HAUL_FUNCTION(x_bias, void, (int64_t)sizeof(double) * system_of(here)->nxlo_out)
HAUL_FUNCTION(x_count, void, system_of(here)->nxhi_out - system_of(here)->nxlo_out + 1)

#define LAMMPS_ROWS(width)                                                                         \
    HAUL_ARRAYS(lammps, x, HAUL_COUNT(lammps, nmax), HAUL_FIXED(width)),                           \
        HAUL_ARRAY(lammps, num_bond, HAUL_COUNT(lammps, nlocal)),                                  \
        HAUL_ARRAYS(lammps, bond_atom, HAUL_COUNT(lammps, nlocal), HAUL_COUNT_FN(bonds_of_atom))

static haul_type *lammps_open(void)
{
    static const haul_field row_fields[] = { HAUL_ARRAY(brick_row, x, HAUL_COUNT_FN(x_count),
                                                        .base_fn = x_bias) };
    static const haul_field plane_fields[] = { HAUL_ADDRESS(
        brick_plane, y, .target = &row_type, .count = HAUL_COUNT_FN(y_count), .base_fn = y_bias) };
    static const haul_field fields[] = {
        LAMMPS_ROWS(3),
        HAUL_ADDRESS(lammps, density_brick, .target = &plane_type, .count = HAUL_COUNT_FN(z_count),
                     .base_fn = z_bias),
    };
    haul_type *type = YARD_TYPE(lammps, fields);
    row_type = YARD_TYPE(brick_row, row_fields);
    plane_type = YARD_TYPE(brick_plane, plane_fields);
    yard_commit(type);
    return type;
}

static void lammps_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&row_type);
    haul_type_free(&plane_type);
    yard_close();
}

/* An address that may lie outside of its block. */
static void *beside(void *block, int64_t elements, size_t bytes)
{
    return (void *)((uintptr_t)block - (uintptr_t)(elements * (int64_t)bytes));
}

static void brick_make(lammps *s)
{
    int nx = s->nxhi_out - s->nxlo_out + 1, ny = s->nyhi_out - s->nylo_out + 1,
        nz = s->nzhi_out - s->nzlo_out + 1;
    int i;
    double *data = yard_take((size_t)(nx * ny * nz), sizeof *data);
    double **rows = yard_take((size_t)(ny * nz), sizeof *rows);
    double ***planes = yard_take((size_t)nz, sizeof *planes);
    for (i = 0; i < nx * ny * nz; i++)
        yard.told += (int64_t)(data[i] = yard_int(0, 999));
    for (i = 0; i < ny * nz; i++)
        rows[i] = beside(data + i * nx, s->nxlo_out, sizeof *data);
    for (i = 0; i < nz; i++)
        planes[i] = beside(rows + i * ny, s->nylo_out, sizeof *rows);
    s->density_brick = beside(planes, s->nzlo_out, sizeof *planes);
}

static void bonds_make(lammps *s)
{
    int i, all = 0;
    int32_t *data;
    s->num_bond = yard_take(ATOMS, sizeof *s->num_bond);
    s->bond_atom = yard_take(ATOMS, sizeof *s->bond_atom);
    for (i = 0; i < ATOMS; i++)
        all += s->num_bond[i] = yard_int(0, 4);
    data = yard_take((size_t)all, sizeof *data);
    for (i = 0; i < all; i++)
        yard.told += data[i] = yard_int(0, ATOMS - 1);
    for (i = 0; i < ATOMS; i++) {
        s->bond_atom[i] = data;
        data += s->num_bond[i];
    }
}

static lammps *lammps_make(void)
{
    lammps *s = yard_take(1, sizeof *s);
    double *data = yard_take(3 * ATOMS_MAX, sizeof *data);
    int i;
    s->nlocal = ATOMS;
    s->nmax = ATOMS_MAX;
    s->x = yard_take(ATOMS_MAX, sizeof *s->x);
    for (i = 0; i < ATOMS_MAX; i++)
        s->x[i] = data + 3 * i;
    for (i = 0; i < 3 * ATOMS; i++)
        yard.told += (int64_t)(data[i] = yard_int(0, 99));
    bonds_make(s);
    s->nxlo_out = -3, s->nxhi_out = 12;
    s->nylo_out = 5, s->nyhi_out = 14;
    s->nzlo_out = -2, s->nzhi_out = 9;
    brick_make(s);
    return s;
}

static int64_t brick_walk(lammps *s)
{
    int64_t sum = 0;
    int x, y, z;
    for (z = s->nzlo_out; z <= s->nzhi_out; z++)
        for (y = s->nylo_out; y <= s->nyhi_out; y++)
            for (x = s->nxlo_out; x <= s->nxhi_out; x++) {
                sum += (int64_t)s->density_brick[z][y][x];
                s->density_brick[z][y][x] += 0.5;
            }
    return sum;
}

/* Coordinates through their rows and, as LAMMPS does, in one go from the first. */
static int64_t lammps_walk(void *root, size_t count)
{
    lammps *s = root;
    double *all = s->x[0];
    int64_t sum = brick_walk(s);
    int i, k;
    (void)count;
    for (i = 0; i < s->nlocal; i++) {
        sum += s->x[i] == all + 3 * i ? (int64_t)(s->x[i][0] + s->x[i][1] + s->x[i][2]) : -1;
        for (k = 0; k < s->num_bond[i]; k++)
            sum += s->bond_atom[i][k]++;
    }
    for (i = 0; i < 3 * s->nmax; i++)
        all[i] += 0.25;
    return sum;
}

TEST(structures, ROWS_of_one_block_even_ragged_and_those_whose_indices_begin_elsewhere)
{
    haul_type *type;
    yard_open(1 << 20, 31);
    type = lammps_open();
    yard_prove(lammps_make(), type, 1, lammps_walk);
    lammps_close(&type);
}

HAUL_FUNCTION(y_count_here, lammps, self->nyhi_out - self->nylo_out + 1)
HAUL_FUNCTION(x_count_here, lammps, self->nxhi_out - self->nxlo_out + 1)

TEST(structures, ROWS_a_forgotten_bias_is_refused_and_rows_too_long_or_too_short_are_told)
{
    static const haul_field plain_fields[] = { HAUL_ADDRESS(
        lammps, density_brick, .levels = 3,
        .element_bytes = sizeof(***((lammps *)0)->density_brick), .count = HAUL_COUNT_FN(z_count),
        .count2 = HAUL_COUNT_FN(y_count_here), .count3 = HAUL_COUNT_FN(x_count_here)) };
    static const haul_field long_fields[] = { LAMMPS_ROWS(4) }, short_fields[] = { LAMMPS_ROWS(1) };
    haul_type *type;
    lammps *s;
    char words[80];
    yard_open(1 << 20, 32);
    s = lammps_make();
    type = YARD_TYPE(lammps, plain_fields);
    yard_commit(type);
    yard_refuse(s, type, 1, HAUL_ERROR_GRAPH, "root.density_brick[10]",
                "outside any process's address range");
    haul_type_free(&type);
    type = YARD_TYPE(lammps, long_fields);
    yard_commit(type);
    yard_tell(s, type, 1, HAUL_AUDIT_BEYOND_BLOCK, "root.x[1023][0]",
              "described as 32 bytes, but its block of 24576");
    haul_type_free(&type);
    type = YARD_TYPE(lammps, short_fields);
    yard_commit(type);
    s->nmax = 500; /* and fewer of them */
    snprintf(words, sizeof words, "only the first %d bytes of its block of 24576 are described",
             499 * 24 + 8);
    yard_tell(s, type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.x[0]", words);
    haul_type_free(&type);
    yard_close();
}

/* ---- SELF: a string of libstdc++. Up to 15 characters lie in the string itself. */

enum { LOCAL = 15, STRINGS = 2000 };

typedef struct string {
    char *_M_p;
    size_t _M_string_length;
    union {
        char _M_local_buf[LOCAL + 1];
        size_t _M_allocated_capacity;
    } u;
} string;

HAUL_FUNCTION(string_room, string,
              (self->_M_p == self->u._M_local_buf ? (size_t)LOCAL : self->u._M_allocated_capacity) +
                  1)

static string *strings_make(void)
{
    string *all = yard_take(STRINGS, sizeof *all), *s;
    for (s = all; s < all + STRINGS; s++) {
        size_t length = (size_t)yard_int(0, s == all ? 3 : 40), room = length + length / 2;
        s->_M_p = s->u._M_local_buf;
        if (length > LOCAL) {
            s->_M_p = yard_take(room + 1, 1);
            s->u._M_allocated_capacity = room;
        }
        memset(s->_M_p, 'a' + (int)(length % 26), length);
        s->_M_string_length = length;
        yard.told += (int64_t)length + (length > LOCAL ? (int64_t)room : 0);
    }
    return all;
}

/* Each gets one more character, where it has the room. */
static int64_t strings_walk(void *root, size_t count)
{
    string *s;
    int64_t sum = 0;
    for (s = root; count > 0; count--, s++) {
        int is_local = s->_M_p == s->u._M_local_buf;
        size_t room = is_local ? (size_t)LOCAL : s->u._M_allocated_capacity;
        sum += strlen(s->_M_p) == s->_M_string_length ? (int64_t)s->_M_string_length : -1;
        sum += is_local ? 0 : (int64_t)room;
        if (s->_M_string_length < room)
            s->_M_p[s->_M_string_length++] = '+';
    }
    return sum;
}

TEST(structures, SELF_short_strings_that_point_into_themselves_and_long_ones_that_do_not)
{
    static const haul_field fields[] = { HAUL_ARRAY(string, _M_p, HAUL_COUNT_FN(string_room)) };
    haul_type *type = YARD_TYPE(string, fields);
    yard_open(1 << 20, 33);
    yard_commit(type);
    yard_prove(strings_make(), type, STRINGS, strings_walk);
    haul_type_free(&type);
    yard_close();
}

static size_t word(const char *text)
{
    size_t value = 0;
    memcpy(&value, text, sizeof value);
    return value;
}

TEST(structures, SELF_text_read_as_a_capacity_is_refused_and_a_forgotten_pointer_told)
{
    static const haul_field fields[] = { HAUL_ARRAY(string, _M_p,
                                                    HAUL_COUNT(string, u._M_allocated_capacity)) };
    static const haul_field no_fields[] = { HAUL_RAW(string, _M_string_length) };
    haul_type *type = YARD_TYPE(string, fields);
    string *s;
    char words[80];
    yard_open(1 << 20, 34);
    yard.options.max_array_elements = 1 << 24;
    yard_commit(type);
    s = strings_make();
    memcpy(s->u._M_local_buf, "short and so", 13);
    snprintf(words, sizeof words, "%zu elements, more than the limit array_elements",
             word("short and so"));
    yard_refuse(s, type, STRINGS, HAUL_ERROR_LIMIT, "root[0]._M_p", words);
    haul_type_free(&type);
    type = YARD_TYPE(string, no_fields);
    yard_commit(type);
    yard_tell(s, type, STRINGS, HAUL_AUDIT_HIDDEN_POINTER, "root[0]",
              "the word at offset 0 of string");
    haul_type_free(&type);
    yard_close();
}

/* ---- SELF: zlib's deflate_state. Its trees' descriptors lead to its own arrays and to static
 * tables, its output and its symbols lie in one buffer, and stream and state know each other. */

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
    yard.known.statics = zlib_statics;
    yard.known.static_count = statics;
    stream_type = YARD_TYPE(z_stream, stream_fields);
    state_type = yard_type("deflate_state", sizeof(deflate_state), fields,
                           sizeof state_fields / sizeof *state_fields);
    desc_type = YARD_TYPE(tree_desc, desc_fields);
    yard_commit(stream_type);
}

static void deflate_close(void)
{
    haul_type_free(&stream_type);
    haul_type_free(&state_type);
    haul_type_free(&desc_type);
    yard_close();
}

static uint8_t *bytes_make(size_t bytes, int high)
{
    uint8_t *at = yard_take(bytes, 1);
    size_t i;
    for (i = 0; i < bytes; i++)
        at[i] = (uint8_t)yard_int(0, high);
    return at;
}

static z_stream *deflate_make(void)
{
    z_stream *z = yard_take(1, sizeof *z);
    deflate_state *s = z->state = yard_take(1, sizeof *s);
    s->strm = z;
    z->avail_in = 9000;
    z->avail_out = 7000;
    z->next_in = bytes_make(z->avail_in, 3);
    z->next_out = bytes_make(z->avail_out, 0);
    s->w_bits = W_BITS;
    s->w_size = 1 << W_BITS;
    s->w_mask = s->w_size - 1;
    s->window = bytes_make(2 * (size_t)s->w_size, 3);
    s->prev = yard_take(s->w_size, sizeof *s->prev);
    s->hash_size = HASHES;
    s->head = yard_take(HASHES, sizeof *s->head);
    s->pending_buf_size = 4 * 4096;
    s->pending_buf = yard_take(s->pending_buf_size, 1);
    s->pending_out = s->pending_buf + 100;
    s->sym_buf = s->pending_buf + 4096;
    s->l_desc.dyn_tree = s->dyn_ltree;
    s->l_desc.stat_desc = &tables.l_desc;
    s->d_desc.dyn_tree = s->dyn_dtree;
    s->d_desc.stat_desc = &tables.d_desc;
    yard.told = z->avail_in + 287;
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

TEST(structures, SELF_a_state_whose_parts_point_into_it_and_to_static_tables)
{
    yard_open(1 << 20, 35);
    deflate_open(state_fields, 2);
    yard_prove(deflate_make(), stream_type, 1, deflate_walk);
    deflate_close();
}

TEST(structures, SELF_a_table_that_is_not_registered_is_refused_and_bits_taken_for_a_size_told)
{
    static const haul_field bits_fields[] = { STATE_ROWS(w_bits) };
    yard_open(1 << 20, 36);
    deflate_open(state_fields, 1);
    yard_refuse(deflate_make(), stream_type, 1, HAUL_ERROR_GRAPH, "root.state.d_desc.stat_desc",
                "nor into a registered static range");
    deflate_close();
    yard_open(1 << 20, 36);
    deflate_open(bits_fields, 2);
    yard_tell(deflate_make(), stream_type, 1, HAUL_AUDIT_LITTLE_OF_BLOCK, "root.state.prev[0]",
              "only the first 30 bytes of its block of 65536 are described");
    deflate_close();
}
