/* GROMACS. functype[i] says which arm of iparams[i] there is; an arm has no pointers, so that
 * the union is bytes. A correction map has as many values as its holder's spacing says. Groups are
 * ranges in one array.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum {
    F_BONDS,
    F_ANGLES,
    F_LJ,
    F_NRE,
    TYPES = 30,
    ATOMS = 400,
    SPACING = 6,
    MAPS = 3,
    SYMBOLS = 5
};

typedef union t_iparams {
    struct {
        float rA, krA, rB, krB;
    } harmonic;
    struct {
        float c6, c12;
    } lj;
} t_iparams;

typedef struct t_ilist {
    int nr, nr_nonperturbed, *iatoms, nalloc;
} t_ilist;

typedef struct gmx_cmapdata_t {
    float *cmap;
} gmx_cmapdata_t;

typedef struct gmx_cmap_t {
    int ngrid, grid_spacing;
    gmx_cmapdata_t *cmapdata;
} gmx_cmap_t;

typedef struct t_idef {
    int ntypes, atnr, *functype;
    t_iparams *iparams;
    float fudgeQQ;
    gmx_cmap_t *cmap_grid;
    t_iparams *iparams_posres;
    t_ilist il[F_NRE];
} t_idef;

typedef struct t_block {
    int nr, *index, nalloc_index;
} t_block;

typedef struct t_blocka {
    int nr, *index, nra, *a, nalloc_index, nalloc_a;
} t_blocka;

typedef struct t_topology {
    char **name;
    t_idef idef;
    int natoms;
    char ***atomname;
    t_block mols;
    t_blocka excls;
    char **symbols;
} t_topology;

static haul_type *cmap_type, *cmapdata_type, *ilist_type, *idef_type, *topology_type;

HAUL_FUNCTION(map_values, gmx_cmapdata_t,
              here->ancestor ? 4 * ((const gmx_cmap_t *)here->ancestor)
                                       ->grid_spacing *((const gmx_cmap_t *)here->ancestor)
                                       ->grid_spacing
                             : -1)

static void topology_open(void)
{
    static const haul_field cmapdata_fields[] = { HAUL_ARRAY(
        gmx_cmapdata_t, cmap, HAUL_COUNT_FN(map_values), .ancestor = HAUL_PARENT) };
    static const haul_field cmap_fields[] = { HAUL_OBJECTS(gmx_cmap_t, cmapdata, &cmapdata_type,
                                                           HAUL_COUNT(gmx_cmap_t, ngrid)) };
    static const haul_field ilist_fields[] = { HAUL_ARRAY(t_ilist, iatoms,
                                                          HAUL_COUNT(t_ilist, nalloc)) };
    static const haul_field idef_fields[] = {
        HAUL_ARRAY(t_idef, functype, HAUL_COUNT(t_idef, ntypes)),
        HAUL_ARRAY(t_idef, iparams, HAUL_COUNT(t_idef, ntypes)),
        HAUL_OBJECT(t_idef, cmap_grid, &cmap_type), HAUL_EMBED(t_idef, il, &ilist_type)
    };
    static const haul_field fields[] = {
        HAUL_STRINGS(t_topology, name, HAUL_ONE),
        HAUL_EMBED(t_topology, idef, &idef_type),
        HAUL_ADDRESS(t_topology, atomname, .levels = 3,
                     .element_bytes = sizeof(***((t_topology *)0)->atomname),
                     .count = HAUL_COUNT(t_topology, natoms), .count2 = HAUL_ONE,
                     .count3 = HAUL_TERMINATED),
        HAUL_ARRAY(t_topology, mols.index, HAUL_COUNT_PLUS(t_topology, mols.nr, 1)),
        HAUL_ARRAY(t_topology, excls.index, HAUL_COUNT_PLUS(t_topology, excls.nr, 1)),
        HAUL_ARRAY(t_topology, excls.a, HAUL_COUNT(t_topology, excls.nra)),
        HAUL_STRINGS(t_topology, symbols, HAUL_FIXED(SYMBOLS)),
    };
    cmapdata_type = OPEN(gmx_cmapdata_t, cmapdata_fields);
    cmap_type = OPEN(gmx_cmap_t, cmap_fields);
    ilist_type = OPEN(t_ilist, ilist_fields);
    idef_type = OPEN(t_idef, idef_fields);
    topology_type = OPEN(t_topology, fields);
    type_close(topology_type);
}

static int arity(int f)
{
    return f == F_BONDS ? 2 : f == F_ANGLES ? 3 : 2;
}

static double parameter_of(const t_idef *d, int type)
{
    return d->functype[type] == F_LJ ? d->iparams[type].lj.c12 : d->iparams[type].harmonic.krA;
}

static void idef_make(t_idef *d)
{
    int i, k, f;
    d->ntypes = TYPES;
    d->functype = put_elements(TYPES, sizeof *d->functype);
    d->iparams = put_elements(TYPES, sizeof *d->iparams);
    for (i = 0; i < TYPES; i++) {
        d->functype[i] = i % F_NRE;
        if (i % F_NRE == F_LJ)
            d->iparams[i].lj.c12 = (float)i;
        else
            d->iparams[i].harmonic.krA = (float)(2 * i);
    }
    for (f = 0; f < F_NRE; f++) {
        t_ilist *l = &d->il[f];
        l->nr = 50 * (arity(f) + 1);
        l->nalloc = l->nr + 20;
        l->iatoms = put_elements((size_t)l->nalloc, sizeof *l->iatoms);
        for (i = 0; i < l->nr; i += arity(f) + 1) {
            l->iatoms[i] = f + F_NRE * chance(0, TYPES / F_NRE - 1);
            the.told += (int64_t)parameter_of(d, l->iatoms[i]);
            for (k = 1; k <= arity(f); k++) {
                l->iatoms[i + k] = chance(0, ATOMS - 1);
                the.told += l->iatoms[i + k];
            }
        }
    }
    d->cmap_grid = put_elements(1, sizeof *d->cmap_grid);
    d->cmap_grid->ngrid = MAPS;
    d->cmap_grid->grid_spacing = SPACING;
    d->cmap_grid->cmapdata = put_elements(MAPS, sizeof *d->cmap_grid->cmapdata);
    for (i = 0; i < MAPS; i++)
        d->cmap_grid->cmapdata[i].cmap = put_elements(4 * SPACING * SPACING, sizeof(float));
}

static t_topology *topology_make(void)
{
    static const char *const names[SYMBOLS] = { "water", "OW", "HW1", "HW2", "NA" };
    t_topology *t = put_elements(1, sizeof *t);
    int i;
    idef_make(&t->idef);
    t->symbols = put_elements(SYMBOLS, sizeof *t->symbols);
    for (i = 0; i < SYMBOLS; i++)
        t->symbols[i] = put_text(names[i]);
    t->name = &t->symbols[0];
    t->natoms = ATOMS;
    t->atomname = put_elements(ATOMS, sizeof *t->atomname);
    t->mols.nr = ATOMS / 4;
    t->mols.index = put_elements(ATOMS / 4 + 1, sizeof(int));
    t->excls.nr = ATOMS;
    t->excls.nra = 2 * ATOMS;
    t->excls.index = put_elements(ATOMS + 1, sizeof(int));
    t->excls.a = put_elements(2 * ATOMS, sizeof(int));
    for (i = 0; i < ATOMS; i++) {
        t->atomname[i] = &t->symbols[1 + i % 4];
        t->excls.index[i + 1] = 2 * (i + 1);
        t->excls.a[2 * i] = i;
        t->excls.a[2 * i + 1] = (i + 1) % ATOMS;
        t->mols.index[i / 4 + 1] = (i / 4 + 1) * 4;
        the.told += (int64_t)strlen(*t->atomname[i]) + (i + 1) % ATOMS;
    }
    return t;
}

static int64_t topology_walk(void *root, size_t count)
{
    t_topology *t = root;
    int64_t sum = 0;
    int f, i, k;
    (void)count;
    for (f = 0; f < F_NRE; f++)
        for (i = 0; i < t->idef.il[f].nr; i += arity(f) + 1)
            for (k = 0; k <= arity(f); k++) {
                const int number = t->idef.il[f].iatoms[i + k];
                sum += k == 0 ? (int64_t)parameter_of(&t->idef, number) : number;
            }
    for (i = 0; i < t->natoms; i++) {
        sum += (int64_t)strlen(*t->atomname[i]) + t->excls.a[t->excls.index[i + 1] - 1];
        if (t->atomname[i] != &t->symbols[1 + i % 4])
            return -1;
    }
    for (i = 0; i < t->idef.cmap_grid->ngrid; i++)
        t->idef.cmap_grid->cmapdata[i].cmap[4 * SPACING * SPACING - 1] = (float)i + 1;
    t->idef.il[F_BONDS].iatoms[t->idef.il[F_BONDS].nr++] = 1;
    return sum;
}

TEST(structures_gromacs,
     GROMACS_forces_whose_kinds_stand_in_a_parallel_array_and_maps_that_their_holder_measures)
{
    site_start(163);
    topology_open();
    travel_and_sum(topology_make(), topology_type, 1, topology_walk);
    SITE_END(&topology_type, &idef_type, &ilist_type, &cmap_type, &cmapdata_type);
}
