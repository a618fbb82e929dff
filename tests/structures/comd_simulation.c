/* A simulation of CoMD (CNT EXPR FAR PARA PARR SHARE BIAS POLY COND FUNC): atoms in boxes,
 * potentials that are told apart by their functions, tables that begin one place in front of their
 * pointer, and exchanges of halos.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { MAXATOMS = 8, LOCAL_BOXES = 64, HALO_BOXES = 24, FACES = 6, TABLE = 30 };

typedef struct SimFlat SimFlat;
typedef double real3[3];

typedef struct Domain {
    int procGrid[3], procCoord[3];
    real3 globalMin, globalMax;
} Domain;

typedef struct LinkCell {
    int gridSize[3], nLocalBoxes, nHaloBoxes, nTotalBoxes;
    int *nAtoms;
} LinkCell;

typedef struct Atoms {
    int nLocal, nGlobal;
    int *gid, *iSpecies; /* of these and what follows, MAXATOMS for each box */
    real3 *r, *f;
    double *U;
} Atoms;

typedef struct SpeciesData {
    char name[3];
    int atomicNo;
    double mass;
} SpeciesData;

typedef struct HaloExchange {
    int nbrRank[FACES], bufCapacity;
    int (*loadBuffer)(void *parms, SimFlat *s, int face);
    void *parms; /* of the kind that loadBuffer is of */
} HaloExchange;

typedef struct AtomExchangeParms {
    int nCells[FACES], *cellList[FACES];
    double *pbcFactor[FACES];
} AtomExchangeParms;

typedef struct ForceExchangeParms {
    int nCells[FACES], *sendCells[FACES], *recvCells[FACES];
} ForceExchangeParms;

typedef struct ForceExchangeData {
    double *dfEmbed;
    LinkCell *boxes;
} ForceExchangeData;

typedef struct InterpolationObject {
    int n;
    double x0, invDx;
    double *values; /* values[-1] to values[n + 1] */
} InterpolationObject;

#define POTENTIAL                                                                                  \
    double cutoff, mass, lat;                                                                      \
    char latticeType[8], name[3];                                                                  \
    int atomicNo;                                                                                  \
    int (*force)(SimFlat * s)

typedef struct BasePotential {
    POTENTIAL;
} BasePotential;

typedef struct LjPotential {
    POTENTIAL;
    double sigma, epsilon;
} LjPotential;

typedef struct EamPotential {
    POTENTIAL;
    InterpolationObject *phi, *rho, *f;
    double *rhobar, *dfEmbed; /* NULL before forces were first computed */
    HaloExchange *forceExchange;
    ForceExchangeData *forceExchangeData;
} EamPotential;

struct SimFlat {
    int nSteps, printRate;
    double dt;
    Domain *domain;
    LinkCell *boxes;
    Atoms *atoms;
    SpeciesData *species;
    double ePotential, eKinetic;
    BasePotential *pot;
    HaloExchange *atomExchange;
};

/* ---- What the pointers to functions lead to. */

static double both_sides(const InterpolationObject *table, int k)
{
    return table->values[k - 1] + table->values[k + 1];
}

static int eam_force(SimFlat *s)
{
    EamPotential *pot = (EamPotential *)s->pot;
    int box, i;
    for (box = 0; box < s->boxes->nLocalBoxes; box++)
        for (i = box * MAXATOMS; i < box * MAXATOMS + s->boxes->nAtoms[box]; i++) {
            int k = s->atoms->gid[i] % (pot->phi->n + 1);
            s->atoms->U[i] = both_sides(pot->phi, k) + pot->rho->values[k];
            s->ePotential += s->atoms->U[i];
            if (pot->rhobar)
                pot->rhobar[i] = both_sides(pot->f, k);
        }
    return 0;
}

static int lj_force(SimFlat *s)
{
    LjPotential *pot = (LjPotential *)s->pot;
    int box, i;
    for (box = 0; box < s->boxes->nLocalBoxes; box++)
        for (i = box * MAXATOMS; i < box * MAXATOMS + s->boxes->nAtoms[box]; i++) {
            s->atoms->U[i] = pot->epsilon * s->atoms->gid[i] + pot->sigma;
            s->ePotential += s->atoms->U[i];
        }
    return 0;
}

static int atoms_in(const int *cells, int count, const SimFlat *s)
{
    int i, atoms = 0;
    for (i = 0; i < count; i++)
        atoms += s->boxes->nAtoms[cells[i]];
    return atoms;
}

static int load_atoms(void *parms, SimFlat *s, int face)
{
    AtomExchangeParms *p = parms;
    p->pbcFactor[face][0] *= 2;
    return atoms_in(p->cellList[face], p->nCells[face], s);
}

static int load_force(void *parms, SimFlat *s, int face)
{
    ForceExchangeParms *p = parms;
    return atoms_in(p->sendCells[face], p->nCells[face], s) -
           atoms_in(p->recvCells[face], p->nCells[face], s);
}

/* ---- Types. */

static haul_type *Domain_type, *LinkCell_type, *Atoms_type, *SpeciesData_type, *HaloExchange_type;
static haul_type *AtomExchangeParms_type, *ForceExchangeParms_type, *ForceExchangeData_type;
static haul_type *InterpolationObject_type, *LjPotential_type, *EamPotential_type, *SimFlat_type;

static int64_t atom_room(const haul_here *here)
{
    return (int64_t)MAXATOMS * ((const SimFlat *)here->root)->boxes->nTotalBoxes;
}

HAUL_FUNCTION(cells_of_face, AtomExchangeParms, self->nCells[here->index])
HAUL_FUNCTION(force_cells_of_face, ForceExchangeParms, self->nCells[here->index])
HAUL_FUNCTION(table_places, InterpolationObject, self->n + 3)
HAUL_FUNCTION(kind_of_potential, SimFlat,
              self->pot->force == lj_force    ? 0
              : self->pot->force == eam_force ? 1
                                              : 2)
HAUL_FUNCTION(kind_of_exchange, HaloExchange, self->loadBuffer == load_atoms ? 0 : 1)

static void exchanges_open(void)
{
    static const haul_case parms[] = { { 0, &AtomExchangeParms_type, 0 },
                                       { 1, &ForceExchangeParms_type, 0 } };
    static const haul_field exchange_fields[] = {
        HAUL_ADDRESS(HaloExchange, loadBuffer, .ownership = HAUL_EXTERNAL),
        HAUL_ADDRESS(HaloExchange, parms, .type_switch = HAUL_SWITCH_FN(kind_of_exchange, parms))
    };
    static const haul_field atom_fields[] = {
        HAUL_EACH(AtomExchangeParms, cellList, .count = HAUL_COUNT_FN(cells_of_face)),
        HAUL_EACH(AtomExchangeParms, pbcFactor, .count = HAUL_FIXED(3)),
    };
    static const haul_field force_fields[] = {
        HAUL_EACH(ForceExchangeParms, sendCells, .count = HAUL_COUNT_FN(force_cells_of_face)),
        HAUL_EACH(ForceExchangeParms, recvCells, .count = HAUL_COUNT_FN(force_cells_of_face)),
    };
    HaloExchange_type = OPEN(HaloExchange, exchange_fields);
    AtomExchangeParms_type = OPEN(AtomExchangeParms, atom_fields);
    ForceExchangeParms_type = OPEN(ForceExchangeParms, force_fields);
}

static void potentials_open(int64_t table_base)
{
    const haul_field table_fields[] = { HAUL_ARRAY(
        InterpolationObject, values, HAUL_COUNT_FN(table_places), .base = table_base) };
    static const haul_field data_fields[] = {
        HAUL_ARRAY(ForceExchangeData, dfEmbed, HAUL_COUNT_FN(atom_room)),
        HAUL_OBJECT(ForceExchangeData, boxes, &LinkCell_type)
    };
    static const haul_field lj_fields[] = { HAUL_ADDRESS(LjPotential, force,
                                                         .ownership = HAUL_EXTERNAL) };
    static const haul_field eam_fields[] = {
        HAUL_ADDRESS(EamPotential, force, .ownership = HAUL_EXTERNAL),
        HAUL_OBJECT(EamPotential, phi, &InterpolationObject_type),
        HAUL_OBJECT(EamPotential, rho, &InterpolationObject_type),
        HAUL_OBJECT(EamPotential, f, &InterpolationObject_type),
        HAUL_ARRAY(EamPotential, rhobar, HAUL_COUNT_FN(atom_room)),
        HAUL_ARRAY(EamPotential, dfEmbed, HAUL_COUNT_FN(atom_room)),
        HAUL_OBJECT(EamPotential, forceExchange, &HaloExchange_type),
        HAUL_OBJECT(EamPotential, forceExchangeData, &ForceExchangeData_type),
    };
    InterpolationObject_type = OPEN(InterpolationObject, table_fields);
    ForceExchangeData_type = OPEN(ForceExchangeData, data_fields);
    LjPotential_type = OPEN(LjPotential, lj_fields);
    EamPotential_type = OPEN(EamPotential, eam_fields);
}

static void comd_open(int64_t table_base)
{
    static const haul_case potentials[] = { { 0, &LjPotential_type, 0 },
                                            { 1, &EamPotential_type, 0 } };
    static const haul_field box_fields[] = { HAUL_ARRAY(LinkCell, nAtoms,
                                                        HAUL_COUNT(LinkCell, nTotalBoxes)) };
    static const haul_field atom_fields[] = {
        HAUL_ARRAY(Atoms, gid, HAUL_COUNT_FN(atom_room)),
        HAUL_ARRAY(Atoms, iSpecies, HAUL_COUNT_FN(atom_room)),
        HAUL_ARRAY(Atoms, r, HAUL_COUNT_FN(atom_room)),
        HAUL_ARRAY(Atoms, f, HAUL_COUNT_FN(atom_room)),
        HAUL_ARRAY(Atoms, U, HAUL_COUNT_FN(atom_room)),
    };
    static const haul_field sim_fields[] = {
        HAUL_OBJECT(SimFlat, domain, &Domain_type),
        HAUL_OBJECT(SimFlat, boxes, &LinkCell_type),
        HAUL_OBJECT(SimFlat, atoms, &Atoms_type),
        HAUL_OBJECT(SimFlat, species, &SpeciesData_type),
        HAUL_ADDRESS(SimFlat, pot, .type_switch = HAUL_SWITCH_FN(kind_of_potential, potentials)),
        HAUL_OBJECT(SimFlat, atomExchange, &HaloExchange_type),
    };
    Domain_type = type_open("Domain", sizeof(Domain), NULL, 0);
    SpeciesData_type = type_open("SpeciesData", sizeof(SpeciesData), NULL, 0);
    LinkCell_type = OPEN(LinkCell, box_fields);
    Atoms_type = OPEN(Atoms, atom_fields);
    exchanges_open();
    potentials_open(table_base);
    SimFlat_type = OPEN(SimFlat, sim_fields);
    type_close(SimFlat_type);
}

static void comd_close(void)
{
    haul_type **all[] = { &SimFlat_type,
                          &EamPotential_type,
                          &LjPotential_type,
                          &ForceExchangeData_type,
                          &HaloExchange_type,
                          &AtomExchangeParms_type,
                          &Atoms_type,
                          &ForceExchangeParms_type,
                          &InterpolationObject_type,
                          &LinkCell_type,
                          &SpeciesData_type,
                          &Domain_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

/* ---- A simulation. */

static int cells_on(int face)
{
    return face + 2;
}

static int cell_on(int face, int i)
{
    return (face * 11 + i * 5) % LOCAL_BOXES;
}

static int *cells_make(int face, int shift)
{
    int *cells = PUT_ARRAY(int, cells_on(face)), i;
    for (i = 0; i < cells_on(face); i++)
        cells[i] = cell_on(face, i) + shift;
    return cells;
}

static HaloExchange *exchange_make(int is_of_atoms)
{
    HaloExchange *h = PUT(HaloExchange);
    AtomExchangeParms *a = is_of_atoms ? PUT(AtomExchangeParms) : NULL;
    ForceExchangeParms *f = is_of_atoms ? NULL : PUT(ForceExchangeParms);
    int face;
    h->loadBuffer = is_of_atoms ? load_atoms : load_force;
    h->parms = is_of_atoms ? (void *)a : (void *)f;
    for (face = 0; face < FACES; face++)
        if (is_of_atoms) {
            a->nCells[face] = cells_on(face);
            a->cellList[face] = cells_make(face, 0);
            a->pbcFactor[face] = PUT_ARRAY(double, 3);
            a->pbcFactor[face][0] = 1;
        } else {
            f->nCells[face] = cells_on(face);
            f->sendCells[face] = cells_make(face, 0);
            f->recvCells[face] = cells_make(face, 1);
        }
    return h;
}

/* Place k of a table holds factor * (k + 2). */
static InterpolationObject *table_make(int factor)
{
    InterpolationObject *table = PUT(InterpolationObject);
    int k;
    table->n = TABLE;
    table->values = PUT_ARRAY(double, TABLE + 3) + 1;
    for (k = -1; k <= TABLE + 1; k++)
        table->values[k] = factor * (k + 2);
    return table;
}

static BasePotential *eam_make(SimFlat *s, int has_run)
{
    EamPotential *pot = PUT(EamPotential);
    pot->force = eam_force;
    pot->phi = table_make(1);
    pot->rho = table_make(2);
    pot->f = table_make(3);
    if (has_run) {
        pot->rhobar = PUT_ARRAY(double, MAXATOMS * s->boxes->nTotalBoxes);
        pot->dfEmbed = PUT_ARRAY(double, MAXATOMS * s->boxes->nTotalBoxes);
        pot->forceExchange = exchange_make(0);
        pot->forceExchangeData = PUT(ForceExchangeData);
        pot->forceExchangeData->dfEmbed = pot->dfEmbed;
        pot->forceExchangeData->boxes = s->boxes;
    }
    return (BasePotential *)pot;
}

static BasePotential *lj_make(void)
{
    LjPotential *pot = PUT(LjPotential);
    pot->force = lj_force;
    pot->sigma = 2;
    pot->epsilon = 3;
    return (BasePotential *)pot;
}

static int atoms_of(int box)
{
    return box % MAXATOMS;
}

static SimFlat *comd_make(int is_eam, int has_run)
{
    SimFlat *s = PUT(SimFlat);
    int box, i;
    s->domain = PUT(Domain);
    s->species = PUT(SpeciesData);
    s->boxes = PUT(LinkCell);
    s->boxes->nLocalBoxes = LOCAL_BOXES;
    s->boxes->nHaloBoxes = HALO_BOXES;
    s->boxes->nTotalBoxes = LOCAL_BOXES + HALO_BOXES;
    s->boxes->nAtoms = PUT_ARRAY(int, LOCAL_BOXES + HALO_BOXES);
    s->atoms = PUT(Atoms);
    s->atoms->gid = PUT_ARRAY(int, MAXATOMS *(LOCAL_BOXES + HALO_BOXES));
    s->atoms->iSpecies = PUT_ARRAY(int, MAXATOMS *(LOCAL_BOXES + HALO_BOXES));
    s->atoms->r = PUT_ARRAY(real3, MAXATOMS * (LOCAL_BOXES + HALO_BOXES));
    s->atoms->f = PUT_ARRAY(real3, MAXATOMS * (LOCAL_BOXES + HALO_BOXES));
    s->atoms->U = PUT_ARRAY(double, MAXATOMS *(LOCAL_BOXES + HALO_BOXES));
    for (box = 0; box < LOCAL_BOXES; box++)
        for (s->boxes->nAtoms[box] = atoms_of(box), i = 0; i < atoms_of(box); i++)
            s->atoms->gid[box * MAXATOMS + i] = s->atoms->nLocal++;
    s->pot = is_eam ? eam_make(s, has_run) : lj_make();
    s->atomExchange = exchange_make(1);
    return s;
}

/* The energy, then the atoms that go over each face. */
static uint64_t comd_foresee(int is_eam, int has_run)
{
    int64_t energy = 0;
    uint64_t seen = 0;
    int box, i, gid = 0, face, atoms, forces;
    for (box = 0; box < LOCAL_BOXES; box++)
        for (i = 0; i < atoms_of(box); i++, gid++)
            energy += is_eam ? 4 * (gid % (TABLE + 1) + 2) : 3 * gid + 2;
    see(&seen, (uint64_t)energy);
    for (face = 0; face < FACES; face++) {
        for (atoms = forces = i = 0; i < cells_on(face); i++) {
            int cell = cell_on(face, i);
            atoms += atoms_of(cell);
            forces += atoms_of(cell) - (cell + 1 < LOCAL_BOXES ? atoms_of(cell + 1) : 0);
        }
        see(&seen, (uint64_t)atoms);
        if (is_eam && has_run)
            see(&seen, (uint64_t)forces);
    }
    return seen;
}

static void comd_walk(void *argument)
{
    visit *v = argument;
    SimFlat *s = v->root;
    HaloExchange *a = s->atomExchange, *f = NULL;
    int face;
    s->pot->force(s);
    if (s->pot->force == eam_force)
        f = ((EamPotential *)s->pot)->forceExchange;
    see(&v->seen, (uint64_t)s->ePotential);
    for (face = 0; face < FACES; face++) {
        see(&v->seen, (uint64_t)a->loadBuffer(a->parms, s, face));
        if (f)
            see(&v->seen, (uint64_t)f->loadBuffer(f->parms, s, face));
    }
    if (f && ((EamPotential *)s->pot)->forceExchangeData->boxes != s->boxes)
        see(&v->seen, 0);
    s->atoms->r[1][2] = s->atoms->f[3][0] = s->domain->globalMax[1] = s->species->mass = 6;
    s->atoms->iSpecies[2] = ++s->nSteps;
}

static void comd_travel(int is_eam, int has_run)
{
    journey j = { .walk = comd_walk };
    j.root = comd_make(is_eam, has_run);
    j.type = SimFlat_type;
    j.seen = comd_foresee(is_eam, has_run);
    travel(&j);
}

TEST(structures_comd,
     CoMD_a_potential_of_tables_is_used_there_by_its_function_and_halos_by_their_lists)
{
    site_start(70);
    comd_open(-(int64_t)sizeof(double));
    comd_travel(1, 1);
    comd_close();
    site_end();
}

/* What is not there is a finding of the audit's (rows that lead to nothing): these two are shipped
 * without it. */
TEST(structures_comd, CoMD_a_potential_of_another_kind_or_one_that_has_not_run_has_nothing_of_that)
{
    journey j = { .walk = comd_walk, .without_audit = 1 };
    int is_eam;
    for (is_eam = 0; is_eam < 2; is_eam++) {
        site_start(71);
        comd_open(-(int64_t)sizeof(double));
        j.root = comd_make(is_eam, 0);
        j.type = SimFlat_type;
        j.seen = comd_foresee(is_eam, 0);
        travel(&j);
        comd_close();
        site_end();
    }
}

TEST(structures_comd, CoMD_a_table_that_is_read_from_its_pointer_on_reaches_over_its_block)
{
    site_start(70);
    comd_open(0);
    refuse_graph(comd_make(1, 1), SimFlat_type, HAUL_ERROR_GRAPH, "root.pot.phi.values", NULL,
                 "the range it leads to is not readable");
    comd_close();
    site_end();
}
