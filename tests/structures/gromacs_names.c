/* GROMACS: an atom's name is the address of a slot in the table of symbols, and atoms of one name
 * share the slot.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { ATOMS = 6000, SYMBOLS = 203, SYMBOLS_IN_BUFFER = 40 };

typedef struct t_symbuf {
    int bufsize;
    char **buf;
    struct t_symbuf *next;
} t_symbuf;

typedef struct t_topology {
    int natoms;
    double *mass;
    char ***atomname;
    t_symbuf *symbuf;
} t_topology;

typedef struct symbol {
    char *text;
} symbol;

static haul_type *symbol_type, *symbuf_type, *atomname_type, *topology_type;

static void topology_open(const haul_field *atomname)
{
    static const haul_field symbol_fields[] = { HAUL_STRING(symbol, text) };
    static const haul_field symbuf_fields[] = {
        HAUL_ADDRESS(t_symbuf, buf, .target = &symbol_type, .count = HAUL_COUNT(t_symbuf, bufsize)),
        HAUL_OBJECT(t_symbuf, next, &symbuf_type)
    };
    const haul_field fields[] = { HAUL_ARRAY(t_topology, mass, HAUL_COUNT(t_topology, natoms)),
                                  *atomname, HAUL_OBJECT(t_topology, symbuf, &symbuf_type) };
    symbol_type = OPEN(symbol, symbol_fields);
    symbuf_type = OPEN(t_symbuf, symbuf_fields);
    topology_type = OPEN(t_topology, fields);
    type_close(topology_type);
}

static void topology_close(void)
{
    haul_type_free(&topology_type);
    haul_type_free(&symbuf_type);
    haul_type_free(&symbol_type);
    haul_type_free(&atomname_type);
}

static void symbol_text(int i, char *text, size_t room)
{
    snprintf(text, room, "%c%d", "CHNOPS"[i % 6], i);
}

static t_topology *topology_make(uint64_t *seen)
{
    static char **slot[SYMBOLS];
    t_topology *top = PUT(t_topology);
    t_symbuf **last = &top->symbuf;
    char text[16];
    int i, used = SYMBOLS_IN_BUFFER;
    top->natoms = ATOMS;
    top->mass = PUT_ARRAY(double, ATOMS);
    top->atomname = PUT_ARRAY(char **, ATOMS);
    for (i = 0; i < SYMBOLS; i++) {
        if (used == SYMBOLS_IN_BUFFER) {
            *last = PUT(t_symbuf);
            (*last)->bufsize = SYMBOLS_IN_BUFFER;
            (*last)->buf = PUT_ARRAY(char *, SYMBOLS_IN_BUFFER);
            used = 0;
        }
        symbol_text(i, text, sizeof text);
        slot[i] = &(*last)->buf[used++];
        *slot[i] = put_text(text);
        if (used == SYMBOLS_IN_BUFFER)
            last = &(*last)->next;
    }
    for (i = 0; i < ATOMS; i++) {
        int name = (int)random_below(&the.random, SYMBOLS);
        top->atomname[i] = slot[name];
        top->mass[i] = name;
        symbol_text(name, text, sizeof text);
        see_text(seen, text);
    }
    return top;
}

/* Sulphur gets another letter, once for all atoms. */
static void topology_walk(void *argument)
{
    visit *v = argument;
    t_topology *top = v->root;
    int i;
    for (i = 0; i < top->natoms; i++)
        see_text(&v->seen, *top->atomname[i]);
    for (i = 0; i < top->natoms; i++)
        if (**top->atomname[i] == 'S')
            **top->atomname[i] = 's';
        else if (**top->atomname[i] == 's')
            top->mass[i] = -1;
}

TEST(structures_gromacs, names_that_are_slots_of_a_symbol_table_stay_shared)
{
    static const haul_count one = HAUL_ONE;
    const haul_field atomname = HAUL_ADDRESS(t_topology, atomname, .target = &atomname_type,
                                             .count = HAUL_COUNT(t_topology, natoms));
    journey j = { .walk = topology_walk };
    site_start(181);
    CHECK_STATUS(
        haul_type_pointer(type_context(), "atomname", &symbol_type, 0, one, &atomname_type),
        HAUL_OK);
    topology_open(&atomname);
    j.root = topology_make(&j.seen);
    j.type = topology_type;
    travel(&j);
    topology_close();
    site_end();
}

TEST(structures_gromacs,
     names_that_are_described_as_strings_are_refused_where_their_slots_are_pointers)
{
    haul_field atomname = HAUL_STRINGS(t_topology, atomname, HAUL_COUNT(t_topology, natoms));
    /* a narrow address has no byte 0 that could end a string */
    const int is_wide = sizeof(void *) == 8;
    uint64_t seen = 0;
    site_start(181);
    atomname.element_bytes = sizeof(char);
    topology_open(&atomname);
    refuse_graph(topology_make(&seen), topology_type, HAUL_ERROR_GRAPH,
                 is_wide ? "root.symbuf.buf" : "root.atomname[0]", NULL,
                 is_wide ? "a word is a pointer for one description and data for another"
                         : "the range it leads to is not readable");
    topology_close();
    site_end();
}
