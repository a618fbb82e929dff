/* A GROMACS topology. An atom's name is a pointer to a pointer in the symbol table, the
 * same for all atoms of that name; names are compared by these addresses.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { ATOMS = 3000, SYMBOLS = 57, BUFFER = 20 };

typedef struct t_symbuf {
    int32_t bufsize;
    char **buf;
    struct t_symbuf *next;
} t_symbuf;

typedef struct t_symtab {
    int32_t nr;
    t_symbuf *symbuf;
} t_symtab;

typedef struct t_resinfo {
    char **name;
    int32_t nr;
} t_resinfo;

typedef struct t_atoms {
    int32_t nr, nres;
    float *m;
    char ***atomname, ***atomtype;
    t_resinfo *resinfo;
} t_atoms;

typedef struct t_topology {
    char **name;
    t_atoms atoms;
    t_symtab symtab;
} t_topology;

static haul_type *symbuf_type, *symtab_type, *resinfo_type, *atoms_type;

/* A char **: one pointer, to a string. */
#define SYMBOL(S, m) HAUL_STRINGS(S, m, HAUL_ONE)
#define SYMBOL_OF_EACH(S, m, n)                                                                    \
    HAUL_ADDRESS(S, m, .levels = 3, .element_bytes = sizeof(***((S *)0)->m),                       \
                 .count = HAUL_COUNT(S, n), .count2 = HAUL_ONE, .count3 = HAUL_TERMINATED)

static haul_type *topology_open(const haul_field *types)
{
    static const haul_field symbuf_fields[] = { HAUL_STRINGS(t_symbuf, buf,
                                                             HAUL_COUNT(t_symbuf, bufsize)),
                                                HAUL_OBJECT(t_symbuf, next, &symbuf_type) };
    static const haul_field symtab_fields[] = { HAUL_OBJECT(t_symtab, symbuf, &symbuf_type) };
    static const haul_field resinfo_fields[] = { SYMBOL(t_resinfo, name) };
    static const haul_field atoms_fields[] = {
        HAUL_ARRAY(t_atoms, m, HAUL_COUNT(t_atoms, nr)),
        SYMBOL_OF_EACH(t_atoms, atomname, nr),
        HAUL_OBJECTS(t_atoms, resinfo, &resinfo_type, HAUL_COUNT(t_atoms, nres)),
    };
    static const haul_field fields[] = {
        SYMBOL(t_topology, name),
        HAUL_EMBED(t_topology, atoms, &atoms_type),
        HAUL_EMBED(t_topology, symtab, &symtab_type),
    };
    haul_type *type = OPEN(t_topology, fields);
    symbuf_type = OPEN(t_symbuf, symbuf_fields);
    symtab_type = OPEN(t_symtab, symtab_fields);
    resinfo_type = OPEN(t_resinfo, resinfo_fields);
    atoms_type = OPEN(t_atoms, atoms_fields);
    CHECK_STATUS(haul_type_add(atoms_type, types, 1), HAUL_OK);
    type_close(type);
    return type;
}

static void topology_close(haul_type **type)
{
    haul_type_free(type);
    haul_type_free(&symbuf_type);
    haul_type_free(&symtab_type);
    haul_type_free(&resinfo_type);
    haul_type_free(&atoms_type);
    site_end();
}

static t_symbuf *symbuf_make(char ***symbols)
{
    t_symbuf *first = NULL, *b;
    char text[32];
    int i;
    for (i = 0; i < SYMBOLS; i++) {
        if (i % BUFFER == 0) {
            b = put_elements(1, sizeof *b);
            b->bufsize = BUFFER;
            b->buf = put_elements(BUFFER, sizeof *b->buf);
            b->next = first;
            first = b;
        }
        snprintf(text, sizeof text, "symbol-%d", i);
        first->buf[i % BUFFER] = put_text(text);
        symbols[i] = &first->buf[i % BUFFER];
    }
    return first;
}

static t_topology *topology_make(void)
{
    t_topology *t = put_elements(1, sizeof *t);
    t_atoms *a = &t->atoms;
    char **symbols[SYMBOLS];
    int i;
    t->symtab.nr = SYMBOLS;
    t->symtab.symbuf = symbuf_make(symbols);
    t->name = symbols[0];
    a->nr = ATOMS;
    a->nres = ATOMS / 10;
    a->m = put_elements(ATOMS, sizeof *a->m);
    a->atomname = put_elements(ATOMS, sizeof *a->atomname);
    a->atomtype = put_elements(ATOMS, sizeof *a->atomtype);
    a->resinfo = put_elements(ATOMS / 10, sizeof *a->resinfo);
    for (i = 0; i < ATOMS; i++) {
        int name = chance(1, SYMBOLS - 1);
        a->atomname[i] = symbols[name];
        a->atomtype[i] = symbols[chance(1, SYMBOLS - 1)];
        the.told += name;
    }
    for (i = 0; i < ATOMS / 10; i++)
        a->resinfo[i].name = a->atomname[10 * i];
    return t;
}

/* Renames one atom, and with it all of its name. */
static int64_t topology_walk(void *root, size_t count)
{
    t_topology *t = root;
    t_atoms *a = &t->atoms;
    int64_t sum = 0, renamed = 0, same = 0;
    int i;
    (void)count;
    if (strcmp(*t->name, "symbol-0") != 0)
        return -1;
    for (i = 0; i < a->nr; i++)
        sum += atoi(*a->atomname[i] + 7);
    (*a->atomname[0])[0] = 'S';
    for (i = 0; i < a->nr; i++) {
        same += a->atomname[i] == a->atomname[0];
        renamed += (*a->atomname[i])[0] == 'S';
        a->m[i] = (*a->atomtype[i])[0] == 'S' ? 2 : 1;
    }
    for (i = 0; i < a->nres; i++)
        sum += a->resinfo[i].name == a->atomname[10 * i] ? 0 : -1;
    return same == renamed && same > 1 ? sum : -1;
}

TEST(structures_gromacs, names_that_thousands_of_atoms_share_through_one_symbol_table)
{
    static const haul_field types[] = { SYMBOL_OF_EACH(t_atoms, atomtype, nr) };
    haul_type *type;
    site_start(43);
    type = topology_open(types);
    travel_and_sum(topology_make(), type, 1, topology_walk);
    topology_close(&type);
}

TEST(structures_gromacs, a_pointer_to_a_symbol_described_as_the_symbol_is_refused_with_both_paths)
{
    static const haul_field types[] = { HAUL_STRINGS(t_atoms, atomtype, HAUL_COUNT(t_atoms, nr)) };
    haul_type *type;
    site_start(44);
    type = topology_open(types);
    refuse_ship(topology_make(), type, 1, HAUL_ERROR_GRAPH, "root.atoms.atomtype[0]",
                "a word is a pointer for one description and data for another");
    CHECK_HAS(the.refused.other_path, "root.");
    topology_close(&type);
}

TEST(structures_gromacs, a_symbol_that_a_device_could_not_compare_is_told)
{
    static const haul_field types[] = { HAUL_ARRAY(t_atoms, atomtype, HAUL_COUNT(t_atoms, nr)) };
    haul_type *type;
    site_start(45);
    type = topology_open(types);
    audit_tells(topology_make(), type, 1, HAUL_AUDIT_HIDDEN_POINTER, "root.atoms.atomtype[0]",
                "no field describes this pointer (plain data, 3000 times)");
    topology_close(&type);
}
