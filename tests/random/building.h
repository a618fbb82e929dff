/* A graph on its way into an arena: each piece lands somewhere else, and what the reference calls a
 * pointer or a distance is moved with it.
 *
 * Pieces of an untyped arena are the blocks of the graph, bytes of nobody included: headers in
 * front of addresses, arms of unions that do not hold, and whatever else a rule may read comes
 * along. Pieces of a typed one are the graph's largest objects and arrays.
 *
 * Where a function answers an int, 1 is that all is as it must be; else the building's message says
 * what is not.
 */
#ifndef RANDOM_BUILDING_H
#define RANDOM_BUILDING_H

#include "trial.h"

/* Of the graph, and where it has been moved to. */
typedef struct piece {
    uintptr_t first, end, moved;
    size_t count; /* of elements */
    int type;     /* of the model, or one of: */
} piece;

enum {
    PLAIN = -1,
    POINTERS = -2,
    JOINED = -3 /* objects that overlap, of no type: by their size */
};

typedef struct building {
    /* the graph in the arena: first, so that its callbacks come back with its address */
    graph view;
    const graph *g;
    const reference *host;
    trial_world *w;
    choices *c;
    haul_device *device;
    haul_arena *arena;
    haul_shipment *shipment;
    reference there; /* with the device's copy */
    unsigned char *base, *image, *expected;
    size_t used;
    int is_discovered, has_loose_bytes;
    int lets_change; /* of a discovered one: what the description reads may come back changed */
    /* pieces lie apart; those that tagged pointers lead to keep their addresses' low bits */
    int is_careful;
    /* in order, none over another, once they are sorted and all have gone in */
    piece *pieces;
    size_t piece_count, piece_capacity;
    void *root; /* that leads to all of the graph's, with its type */
    haul_type *root_type, *pointer_type;
    /* beside the graph: a pointer that leads out of the arena; NULL: there is none */
    void **stray;
    char *message;
    size_t message_bytes;
} building;

/* Writes the message, with the library's words, unless there is one; answers 0. */
int building_fail(building *b, const char *format, ...);
int building_arena(building *b);
/* Callbacks see the arena's graph from here on. */
void building_show(building *b);

/* ---- Pieces and contents (pieces.c). */

void building_add(building *b, const void *address, size_t bytes, size_t count, int type);
/* By place; what holds others comes before them. */
void building_sort(building *b);
/* The piece that the address lies in. NULL: none. */
piece *building_piece(const building *b, uintptr_t address);
/* Where an address in a piece is now, or the end of one; 0: neither. */
uintptr_t building_moved(const building *b, const void *address);
int building_is_static(const building *b, uintptr_t address);
/* What a word of the graph is in the arena. Where nothing stands behind it, it becomes null. */
uintptr_t building_word(const building *b, const reference_slot *s);
void building_move_words(const building *b);
void building_copy_data(const building *b);
/* Is the arena what it was built to be? */
int building_holds_the_graph(building *b);
/* The graph in the arena, for whoever walks it, callbacks included. */
void building_view(building *b);
/* Is it the same graph there? */
int building_look(building *b);

/* ---- Ways to build (untyped.c, typed.c): with shipping and the journey. */

int building_untyped(building *b);
/* A graph without static objects is left alone. */
int building_around_statics(building *b);
int building_typed(building *b);

/* A piece that is allocated by its size keeps its addresses modulo so much. */
int building_move(building *b, piece *p, size_t alignment);
/* The largest that any type asks for. */
size_t building_alignment(const model *m);
/* One struct that leads to all roots. */
int building_root(building *b);
haul_status building_discover(building *b);
int building_ship_discovered(building *b);

/* ---- The journey of what has been shipped (journey.c). */

int building_travels(building *b);

#endif
