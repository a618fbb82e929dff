/* Quicksilver. One vector for everything; beyond its size it holds what its constructor made.
 * Storage in bulk is given out in pieces: the faces and points of each cell, and its cross
 * sections, of which there are as many as the nuclear data has groups.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { GROUPS = 12, DOMAINS = 3, CELLS = 40, FACETS = 6, POINTS = 8, ISOTOPES = 4, REACTIONS = 3 };

typedef struct qs_vector {
    void *_data;
    int _capacity, _size;
    unsigned char _isOpen;
} qs_vector;

typedef struct BulkStorage {
    void *_bulkStorage;
    int *_refCount;
    int _size, _capacity;
} BulkStorage;

typedef struct NuclearDataReaction {
    qs_vector _crossSection; /* of double */
    int _reactionType;
    double _nuBar;
} NuclearDataReaction;

typedef struct NuclearDataSpecies {
    qs_vector _reactions;
} NuclearDataSpecies;

typedef struct NuclearDataIsotope {
    qs_vector _species;
} NuclearDataIsotope;

typedef struct NuclearData {
    int _numEnergyGroups;
    qs_vector _isotopes, _energies;
} NuclearData;

typedef struct MC_Facet_Adjacency {
    int event, current_cell, adjacent_cell;
} MC_Facet_Adjacency;

typedef struct MC_Facet_Adjacency_Cell {
    int num_points, num_facets;
    MC_Facet_Adjacency *_facet;
    int *_point;
} MC_Facet_Adjacency_Cell;

typedef struct MC_Cell_State {
    int _material;
    double *_total;
    double _volume, _cellNumberDensity;
} MC_Cell_State;

typedef struct MC_Domain {
    int domainIndex, global_domain;
    qs_vector cell_state;
    BulkStorage _cachedCrossSectionStorage; /* of double */
    struct {
        qs_vector _nbrRank, _cellConnectivity;
        BulkStorage _facetStorage, _pointStorage;
    } mesh;
} MC_Domain;

typedef struct MC_Processor_Info {
    int rank, num_processors;
    void *comm_mc_world;
} MC_Processor_Info;

typedef struct MonteCarlo {
    qs_vector domain;
    NuclearData *_nuclearData;
    MC_Processor_Info *processor_info;
} MonteCarlo;

static haul_type *element, *qs_vector_type, *BulkStorage_type, *double_type, *int_type, *facet_type;
static haul_type *NuclearDataReaction_type, *NuclearDataSpecies_type, *NuclearDataIsotope_type,
    *NuclearData_type;
static haul_type *MC_Facet_Adjacency_Cell_type, *MC_Cell_State_type, *MC_Domain_type,
    *MC_Processor_Info_type;
static haul_type *MonteCarlo_type;
static haul_type *doubles, *ints, *reactions, *species, *isotopes, *cell_states, *connectivities,
    *domains;
static haul_type *bulk_doubles, *bulk_facets, *bulk_ints;

HAUL_FUNCTION(groups, MC_Cell_State,
              ((const MonteCarlo *)here->root)->_nuclearData->_numEnergyGroups)

static haul_type *of(haul_type *container, haul_type *what)
{
    haul_type *instance;
    CHECK_STATUS(haul_type_instance(container, 1, &element, &what, &instance), HAUL_OK);
    return instance;
}

static void containers_open(void)
{
    static const haul_field vector_fields[] = { HAUL_ADDRESS(
        qs_vector, _data, .target = &element, .count = HAUL_COUNT(qs_vector, _capacity)) };
    static const haul_field bulk_fields[] = {
        HAUL_ADDRESS(BulkStorage, _bulkStorage, .target = &element,
                     .count = HAUL_COUNT(BulkStorage, _capacity)),
        HAUL_ARRAY(BulkStorage, _refCount, HAUL_FIXED(1)),
    };
    CHECK_STATUS(haul_type_parameter(type_context(), "element", &element), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "double", sizeof(double), &double_type), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "int", sizeof(int), &int_type), HAUL_OK);
    facet_type = type_open("MC_Facet_Adjacency", sizeof(MC_Facet_Adjacency), NULL, 0);
    qs_vector_type = OPEN(qs_vector, vector_fields);
    BulkStorage_type = OPEN(BulkStorage, bulk_fields);
}

static void nuclear_open(void)
{
    static const haul_field reaction_fields[] = { HAUL_EMBED(NuclearDataReaction, _crossSection,
                                                             &doubles) };
    static const haul_field species_fields[] = { HAUL_EMBED(NuclearDataSpecies, _reactions,
                                                            &reactions) };
    static const haul_field isotope_fields[] = { HAUL_EMBED(NuclearDataIsotope, _species,
                                                            &species) };
    static const haul_field data_fields[] = { HAUL_EMBED(NuclearData, _isotopes, &isotopes),
                                              HAUL_EMBED(NuclearData, _energies, &doubles) };
    NuclearDataReaction_type = OPEN(NuclearDataReaction, reaction_fields);
    NuclearDataSpecies_type = OPEN(NuclearDataSpecies, species_fields);
    NuclearDataIsotope_type = OPEN(NuclearDataIsotope, isotope_fields);
    NuclearData_type = OPEN(NuclearData, data_fields);
    doubles = of(qs_vector_type, double_type);
    reactions = of(qs_vector_type, NuclearDataReaction_type);
    species = of(qs_vector_type, NuclearDataSpecies_type);
    isotopes = of(qs_vector_type, NuclearDataIsotope_type);
}

static void quicksilver_open(void)
{
    static const haul_field cell_fields[] = {
        HAUL_ARRAY(MC_Facet_Adjacency_Cell, _facet,
                   HAUL_COUNT(MC_Facet_Adjacency_Cell, num_facets)),
        HAUL_ARRAY(MC_Facet_Adjacency_Cell, _point,
                   HAUL_COUNT(MC_Facet_Adjacency_Cell, num_points)),
    };
    static const haul_field state_fields[] = { HAUL_ARRAY(MC_Cell_State, _total,
                                                          HAUL_COUNT_FN(groups)) };
    static const haul_field domain_fields[] = {
        HAUL_EMBED(MC_Domain, cell_state, &cell_states),
        HAUL_EMBED(MC_Domain, _cachedCrossSectionStorage, &bulk_doubles),
        HAUL_EMBED(MC_Domain, mesh._nbrRank, &ints),
        HAUL_EMBED(MC_Domain, mesh._cellConnectivity, &connectivities),
        HAUL_EMBED(MC_Domain, mesh._facetStorage, &bulk_facets),
        HAUL_EMBED(MC_Domain, mesh._pointStorage, &bulk_ints),
    };
    static const haul_field processor_fields[] = { HAUL_ADDRESS(MC_Processor_Info, comm_mc_world,
                                                                .ownership = HAUL_EXTERNAL) };
    static const haul_field fields[] = { HAUL_EMBED(MonteCarlo, domain, &domains),
                                         HAUL_OBJECT(MonteCarlo, _nuclearData, &NuclearData_type),
                                         HAUL_OBJECT(MonteCarlo, processor_info,
                                                     &MC_Processor_Info_type) };
    containers_open();
    nuclear_open();
    MC_Facet_Adjacency_Cell_type = OPEN(MC_Facet_Adjacency_Cell, cell_fields);
    MC_Cell_State_type = OPEN(MC_Cell_State, state_fields);
    MC_Domain_type = OPEN(MC_Domain, domain_fields);
    MC_Processor_Info_type = OPEN(MC_Processor_Info, processor_fields);
    MonteCarlo_type = OPEN(MonteCarlo, fields);
    ints = of(qs_vector_type, int_type);
    cell_states = of(qs_vector_type, MC_Cell_State_type);
    connectivities = of(qs_vector_type, MC_Facet_Adjacency_Cell_type);
    domains = of(qs_vector_type, MC_Domain_type);
    bulk_doubles = of(BulkStorage_type, double_type);
    bulk_facets = of(BulkStorage_type, facet_type);
    bulk_ints = of(BulkStorage_type, int_type);
    type_close(MonteCarlo_type);
}

static void quicksilver_close(void)
{
    haul_type **all[] = { &MonteCarlo_type,
                          &MC_Processor_Info_type,
                          &MC_Domain_type,
                          &MC_Cell_State_type,
                          &MC_Facet_Adjacency_Cell_type,
                          &NuclearData_type,
                          &NuclearDataIsotope_type,
                          &NuclearDataSpecies_type,
                          &NuclearDataReaction_type,
                          &doubles,
                          &ints,
                          &reactions,
                          &species,
                          &isotopes,
                          &cell_states,
                          &connectivities,
                          &domains,
                          &bulk_doubles,
                          &bulk_facets,
                          &bulk_ints,
                          &qs_vector_type,
                          &BulkStorage_type,
                          &facet_type,
                          &int_type,
                          &double_type,
                          &element };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static void *vector_make(qs_vector *v, size_t bytes, int size, int room)
{
    v->_size = size;
    v->_capacity = size + room;
    v->_isOpen = 1;
    return v->_data = put(bytes * (size_t)(size + room), sizeof(void *));
}

static void *bulk_make(BulkStorage *b, size_t bytes, int size)
{
    b->_size = b->_capacity = size;
    b->_refCount = PUT(int);
    *b->_refCount = 1;
    return b->_bulkStorage = put(bytes * (size_t)size, sizeof(void *));
}

static NuclearData *nuclear_make(void)
{
    NuclearData *data = PUT(NuclearData);
    NuclearDataIsotope *isotope = vector_make(&data->_isotopes, sizeof *isotope, ISOTOPES, 2);
    int i, r, g;
    data->_numEnergyGroups = GROUPS;
    vector_make(&data->_energies, sizeof(double), GROUPS + 1, 0);
    for (i = 0; i < ISOTOPES; i++) {
        NuclearDataSpecies *s = vector_make(&isotope[i]._species, sizeof *s, 1, 0);
        NuclearDataReaction *reaction = vector_make(&s->_reactions, sizeof *reaction, REACTIONS, 1);
        for (r = 0; r < REACTIONS; r++) {
            double *section = vector_make(&reaction[r]._crossSection, sizeof *section, GROUPS, 0);
            for (g = 0; g < GROUPS; g++)
                section[g] = i + r * g;
        }
    }
    return data;
}

/* The cells of a domain are a row: 0 and 1 of a cell's facets lead to the cells beside it. */
static void domain_make(MC_Domain *d, int number)
{
    MC_Cell_State *state = vector_make(&d->cell_state, sizeof *state, CELLS, 5);
    MC_Facet_Adjacency_Cell *cell = vector_make(&d->mesh._cellConnectivity, sizeof *cell, CELLS, 0);
    double *total = bulk_make(&d->_cachedCrossSectionStorage, sizeof *total, CELLS * GROUPS);
    MC_Facet_Adjacency *facet = bulk_make(&d->mesh._facetStorage, sizeof *facet, CELLS * FACETS);
    int *point = bulk_make(&d->mesh._pointStorage, sizeof *point, CELLS * POINTS), c;
    ((int *)vector_make(&d->mesh._nbrRank, sizeof(int), 2, 2))[1] = number + 1;
    d->domainIndex = number;
    for (c = 0; c < CELLS; c++) {
        state[c]._total = total + c * GROUPS;
        state[c]._material = (c + number) % ISOTOPES;
        cell[c].num_facets = FACETS;
        cell[c].num_points = POINTS;
        cell[c]._facet = facet + c * FACETS;
        cell[c]._point = point + c * POINTS;
        cell[c]._facet[0].adjacent_cell = c - 1;
        cell[c]._facet[1].adjacent_cell = c + 1 < CELLS ? c + 1 : -1;
        cell[c]._point[POINTS - 1] = 3 * c;
    }
}

static int communicator;

static MonteCarlo *quicksilver_make(uint64_t *seen)
{
    MonteCarlo *mc = PUT(MonteCarlo);
    MC_Domain *d = vector_make(&mc->domain, sizeof *d, DOMAINS, 0);
    int i, c, g, r;
    mc->_nuclearData = nuclear_make();
    mc->processor_info = PUT(MC_Processor_Info);
    mc->processor_info->num_processors = 7;
    mc->processor_info->comm_mc_world = &communicator;
    for (i = 0; i < DOMAINS; i++)
        domain_make(&d[i], i);
    for (i = 0; i < DOMAINS; i++)
        for (c = 0; c < CELLS; c++) {
            int64_t total = 0;
            for (g = 0; g < GROUPS; g++)
                for (r = 0; r < REACTIONS; r++)
                    total += (c + i) % ISOTOPES + r * g;
            see(seen, (uint64_t)total);
            see(seen, (uint64_t)(3 * c));
        }
    return mc;
}

/* From cell to cell; the cross sections of a cell's material are added up in its cache. */
static void quicksilver_walk(void *argument)
{
    visit *v = argument;
    MonteCarlo *mc = v->root;
    NuclearDataIsotope *isotope = mc->_nuclearData->_isotopes._data;
    int i, c, g, r;
    if (mc->processor_info->comm_mc_world != &communicator)
        see(&v->seen, 0);
    for (i = 0; i < mc->domain._size; i++) {
        MC_Domain *d = (MC_Domain *)mc->domain._data + i;
        MC_Facet_Adjacency_Cell *cell = d->mesh._cellConnectivity._data;
        for (c = 0; c >= 0; c = cell[c]._facet[1].adjacent_cell) {
            MC_Cell_State *state = (MC_Cell_State *)d->cell_state._data + c;
            NuclearDataSpecies *s = isotope[state->_material]._species._data;
            NuclearDataReaction *reaction = s->_reactions._data;
            int64_t total = 0;
            for (g = 0; g < mc->_nuclearData->_numEnergyGroups; g++) {
                for (r = 0; r < s->_reactions._size; r++)
                    state->_total[g] += ((double *)reaction[r]._crossSection._data)[g];
                total += (int64_t)state->_total[g];
            }
            see(&v->seen, (uint64_t)total);
            see(&v->seen, (uint64_t)cell[c]._point[cell[c].num_points - 1]);
            cell[c]._facet[5].event = c;
        }
    }
}

TEST(structures_quicksilver, Quicksilver_cells_find_their_sections_faces_and_points_in_bulk_storage)
{
    journey j = { .walk = quicksilver_walk };
    site_start(73);
    quicksilver_open();
    j.root = quicksilver_make(&j.seen);
    j.type = MonteCarlo_type;
    travel(&j);
    quicksilver_close();
    site_end();
}
