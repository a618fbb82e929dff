/* A graph that is no tree: it has cycles, shared nodes, and pointers into the middle of an array.
 *
 * Cities know their neighbours in both directions. Two of them share one weather station. Each has
 * a pointer to its entry in a table of temperatures, and a further root leads to the whole table.
 * One object on the host is one object on the device, so every pointer keeps its meaning. Prints
 * three claims with yes or NO.
 */
#include "common.h"

enum { CITIES = 4 };

typedef struct station {
    int visits;
} station;

typedef struct city {
    char *name;          /* must be writable: contents come back into it */
    double *temperature; /* one entry of the table: an interior pointer */
    station *weather;    /* shared */
    struct city **roads; /* as many as road_count: cycles */
    int road_count;
} city;

static haul_context *haul;
static haul_type *station_type, *city_type, *temperature_type;
static const haul_field city_fields[] = {
    HAUL_STRING(city, name),
    HAUL_ARRAY(city, temperature, HAUL_FIXED(1)),
    HAUL_OBJECT(city, weather, &station_type),
    HAUL_POINTERS(city, roads, &city_type, HAUL_COUNT(city, road_count)),
};
static const haul_struct structs[] = {
    HAUL_PLAIN(station, &station_type),
    HAUL_PLAIN(double, &temperature_type),
    HAUL_STRUCT(city, &city_type, city_fields),
};

/* What runs on the device: each city visits its station and warms its neighbours, through its
 * pointers only. */
static void one_day(void *cities)
{
    city *all = cities;
    for (int i = 0; i < CITIES; i++) {
        all[i].weather->visits++;
        for (int k = 0; k < all[i].road_count; k++)
            *all[i].roads[k]->temperature += 1;
    }
}

int main(void)
{
    double table[CITIES] = { 0, 100, 200, 300 };
    station shared = { 0 }, own = { 0 };
    char names[CITIES][8] = { "Hub", "North", "East", "South" };
    city c[CITIES];
    city *from_hub[] = { &c[1], &c[2], &c[3] }, *to_hub[] = { &c[0] };
    city hub = { names[0], &table[0], &shared, from_hub, 3 },
         north = { names[1], &table[1], &shared, to_hub, 1 },
         east = { names[2], &table[2], &own, to_hub, 1 },
         south = { names[3], &table[3], NULL, to_hub, 1 };
    haul_root roots[2] = { { c, NULL, CITIES }, { table, NULL, CITIES } };
    haul_device *device = NULL;
    haul_shipment *shipment = NULL;
    haul_status status = haul_context_create(NULL, &haul);
    int right = 1;
    south.weather = &own;
    c[0] = hub, c[1] = north, c[2] = east, c[3] = south;
    if (!status)
        status = HAUL_DESCRIBE(haul, structs);
    if (status)
        return failed("describing a city", status, haul_context_error(haul));
    roots[0].type = city_type, roots[1].type = temperature_type;
    status = haul_host_open(haul, NULL, &device);
    if (status)
        return failed("opening the device", status, haul_context_error(haul));
    status = haul_ship_from(device, haul_from_roots(roots, 2), NULL, NULL, &shipment);
    if (!status)
        status = haul_host_launch(device, one_day, haul_device_pointer(shipment, c));
    if (!status)
        status = haul_unmarshal(shipment);
    if (status)
        return failed("working on the device", status, haul_context_error(haul));
    printf("graph: %d cities, cyclic roads, two shared stations, pointers into one table\n",
           CITIES);
    right &= claim("both users of each station met the same object",
                   shared.visits == 2 && own.visits == 2);
    right &= claim("three roads lead to the hub, one to each other city",
                   (int)table[0] == 3 && (int)table[1] == 101 && (int)table[2] == 201 &&
                       (int)table[3] == 301);
    right &= claim("names and pointers are as they were", strcmp(c[3].name, "South") == 0 &&
                                                              c[0].roads == from_hub &&
                                                              c[1].temperature == &table[1]);
    haul_shipment_free(&shipment);
    haul_device_close(&device);
    HAUL_FORGET(structs);
    haul_context_free(&haul);
    return right ? 0 : 1;
}
