/* The world of a sequence: host objects, what each of them must contain, and everything that lives
 * beside them.
 *
 * The host's side is one table of objects. Whatever writes to an object, the test or the library,
 * `expected` says what it must hold from then on, byte for byte. All objects are items, or what
 * items lead to; which of an item's fields are pointers is drawn for each sequence, and so is an
 * item's size. Objects come from malloc, one by one, and go in any order: the worlds of
 * support/world.h only grow.
 */
#ifndef ATTACK_WORLD_H
#define ATTACK_WORLD_H

#include "haul.h"
#include "support/doors.h"
#include "support/random.h"
#include "haul/experimental.h"

enum {
    OBJECTS_MAX = 80,
    CARGOES_MAX = 6,
    PLANS_MAX = 3,
    ARENAS_MAX = 2,
    DEVICES = 2,
    ROOTS_MAX = 3,
    NURSERIES_MAX = 2, /* of an arena */
    MADE_MAX = 8       /* objects in a nursery on a device that are not here yet */
};

typedef struct item {
    struct item *next, *other;
    double *numbers;    /* count of them */
    int16_t *input;     /* count, HAUL_COPYIN */
    float *output;      /* count, HAUL_COPYOUT */
    struct item **many; /* many_count */
    char *name;
    void *mine; /* HAUL_SKIP */
    int32_t count, many_count;
    /* more bytes, up to the item's drawn size */
} item;

/* The rows that an item's type has; without its row a field is plain bytes. `next` always has one.
 */
enum {
    ROW_OTHER = 1,
    ROW_NUMBERS = 2,
    ROW_INPUT = 4,
    ROW_OUTPUT = 8,
    ROW_MANY = 16,
    ROW_NAME = 32,
    ROW_MINE = 64,
    ROWS_COUNTED = ROW_NUMBERS | ROW_INPUT | ROW_OUTPUT
};

typedef struct item_type {
    haul_type *type;
    unsigned rows;
    size_t bytes;
} item_type;

/* NURSERY: a nursery's struct and bits; ROOM: what is left of its memory. */
typedef enum object_kind { ITEM, ARRAY, MANY, NAME, NURSERY, ROOM } object_kind;

typedef struct object {
    unsigned char *memory; /* NULL: nothing is here */
    unsigned char *expected;
    size_t bytes;
    object_kind kind;
    int arena;        /* -1: malloc's */
    unsigned held;    /* by plans and shipments */
    int is_block;     /* of the arena's drop-in forms */
    size_t alignment; /* that was asked for; 0: none */
    int is_made;      /* by a kernel: fields of HAUL_SKIP are data in a typed arena */
} object;

/* Of each byte of an object: what a graph's description says of it. 0: nothing. */
enum {
    IS_DATA = 1,
    IS_POINTER = 2,
    IS_SKIPPED = 4,
    IS_COUNT = 8, /* as well as data */
    IS_END = 16,  /* of a string; as well as data */
    NOT_SENT = 32,
    NOT_RETURNED = 64,
    STAYS = 128 /* goes with all of an arena; no update takes it, and it does not come back */
};

/* One object as a graph shows it. */
typedef struct view {
    size_t bytes;         /* of each of these; more than the object's, if that has become smaller */
    unsigned char *marks; /* NULL: it is not in the graph */
    unsigned char *first; /* what the host held when the graph was discovered */
    unsigned char *image; /* what the device holds, with the host's addresses for pointers */
} view;

/* Another arena's shipment, into which pointers lead. */
typedef struct neighbour {
    const unsigned char *base;
    size_t bytes;
    haul_address there;
    int cargo;
} neighbour;

typedef struct picture {
    view of[OBJECTS_MAX];
    neighbour near[ARENAS_MAX];
    int near_count;
    int keeps_outside; /* pointers to nothing of the graph went as they are, not as null */
} picture;

/* Bytes that are to be written to objects. */
typedef struct patch {
    int object;
    size_t at, bytes;
    unsigned char *data;
    const picture *graph; /* of a pointer: of this graph; else NULL */
} patch;

typedef struct results {
    patch *at;
    size_t count, capacity;
} results;

/* A live plan. */
typedef struct draft {
    haul_plan *plan;
    picture picture;
    int root[ROOTS_MAX], root_count;
    int ordered, packed;
} draft;

/* An object that a kernel has made: bytes of the nursery's memory. */
typedef struct made {
    object_kind kind;
    size_t at, bytes;
} made;

/* A nursery as a typed shipment has it. */
typedef struct nest {
    int is_there;
    size_t host_used;    /* what the host's nursery held when the shipment was sent */
    size_t used;         /* what the device's says */
    size_t coming;       /* of that, what a wait will bring; 0: nothing */
    made made[MADE_MAX]; /* that are not here yet */
    int count;
} nest;

/* A live shipment. */
typedef struct cargo {
    haul_shipment *shipment;
    picture picture;
    int root[ROOTS_MAX], root_count; /* of a graph */
    int device, arena;               /* arena -1: a graph */
    int discovered;                  /* of an arena: from a root */
    int known;                       /* the device holds what the picture says */
    haul_outside outside;            /* of an arena that was not discovered */
    size_t used;                     /* bytes of the arena that it carries */
    int stale;                       /* something of the arena has been given back */
    const unsigned char *base;       /* of the arena, here */
    neighbour near[ARENAS_MAX];
    int near_count;
    int leads_astray; /* a neighbour has been planned again, and lies elsewhere */
    int direct;       /* haul_return_directly */
    int edited;       /* pointers that lead out went as null */
    int lets_counts_change;
    int locked;     /* lock_source */
    int on_the_way; /* asynchronous calls have not been waited for */
    int doubtful; /* a device has failed since they were ordered: they may be called failed, too */
    int is_told;  /* a poll has told that what is on the way has failed: so will a wait */
    nest nests[NURSERIES_MAX];
    results coming; /* that a wait will write */
    int event, wants_event;
} cargo;

typedef struct nursery_of_world {
    haul_nursery *here; /* NULL: none */
    unsigned char *memory;
    int head, room; /* objects; room -1: all is used */
    size_t bytes;   /* that were asked for */
    size_t capacity, used;
} nursery_of_world;

typedef struct arena_of_world {
    haul_arena *arena;
    int device;
    haul_arena_info first; /* when it was made: where it lies */
    haul_arena_mark mark;
    int has_mark;
    nursery_of_world nurseries[NURSERIES_MAX];
    int is_frozen; /* a first ship has answered HAUL_ERROR_PENDING: nothing may come or go */
} arena_of_world;

/* What the progress callback does when it is next called. */
typedef enum listener_act { LISTENS, CALLS_BACK, FREES, FREES_OWN, CANCELS } listener_act;

typedef struct world {
    random_source random; /* of the step that is running */
    fault_plan plan;
    haul_device *device[DEVICES];
    int async_works; /* the devices are late, and have streams */
    int faults;      /* calls may be failed */
    int lost;
    int was_late;       /* a call has answered HAUL_ERROR_PENDING */
    int left_late;      /* the last call has failed, and the device may go on with it */
    int forgives;       /* the next call may succeed though some event of it has failed */
    unsigned call;      /* the call, as call_begin was told */
    int has_reported;   /* a device has failed in the last call */
    int lets_arenas_go; /* an arena has been freed */
    int in_arenas;      /* that is where most happens */
    int crosses;        /* arenas point into one another */
    listener_act act;
    int is_cancelled;     /* the callback has cancelled the call */
    int has_freed;        /* the callback has freed another shipment */
    const cargo *current; /* what the call is on */
    cargo *own;           /* the same, where the callback may free it */
    int is_gone;          /* it has */
    haul_status also;     /* one more answer that the next call may give; HAUL_OK: none */
    const item_type *items;
    object objects[OBJECTS_MAX];
    cargo cargoes[CARGOES_MAX];
    draft drafts[PLANS_MAX];
    arena_of_world arenas[ARENAS_MAX];
} world;

/* ---- Its beginning and end (world.c). */

/* Two devices that share a context, behind the doors of tests/support, and some objects. */
void world_open(world *w, const item_type *items, random_source *random);
/* Looks at everything once more, frees it, and checks that nothing is left. */
void world_close(world *w);

/* ---- The type (items.c). */

void item_type_make(random_source *random, item_type *t);
/* Bit w: word w of an item is a pointer. */
uint64_t item_pointers(const item_type *t);

/* ---- The host's side (objects.c). */

/* A new object of malloc's, with contents; -1: the table is full. */
int object_new(world *w, object_kind kind, size_t bytes);
/* Places that are free, and that nothing on its way from a nursery needs. */
int objects_free(const world *w);
/* `memory` becomes an object; -1: the table is full. */
int object_add(world *w, object_kind kind, unsigned char *memory, size_t bytes, int arena);
void object_drop(world *w, int i);
/* In its place. */
void object_resize(world *w, int i, size_t bytes);
/* No pointer leads to it any more. */
void object_unlink(world *w, int i);
/* Some object of the kind, in the arena (-1: malloc's); -1: there is none. */
int object_some(world *w, object_kind kind, int arena);
/* The object in whose memory the address lies; -1: none. */
int object_at(const world *w, const void *address);
/* The host writes: memory and what is expected of it. */
void object_write(world *w, int i, size_t at, const void *bytes, size_t count);
void *object_pointer(const world *w, int i, size_t at);
/* Draws new links and contents of an item, or new contents of anything else. */
void object_redraw(world *w, int i);
/* Makes what lies in the arena (-1: elsewhere) a graph that can be discovered, whatever has come
 * back: counts fit, texts end. */
void objects_mend(world *w, int arena);
/* No item's pointer leads out of the arena any more, or to what is no item. */
void objects_cut(world *w, int arena);
/* Every object holds what it must. */
void objects_check(const world *w, const char *after);

/* ---- Graphs (picture.c). */

/* What the items lead to, as their type says. */
void picture_draw(world *w, picture *p, const int *root, int root_count);
/* All objects of an arena; with roots: discovered from there, else typed. */
void picture_draw_arena(world *w, picture *p, int arena, const int *root, int root_count);
/* Of a typed arena, up to `end`: its objects are pictured as what they are now. */
void picture_draw_arena_again(world *w, picture *p, const unsigned char *end);
/* Object i is to be of another size; of a shipment that carries `carried` bytes from where it
 * begins. 1: it carries bytes that have been nobody's until now. */
int picture_resize(const world *w, picture *p, int i, size_t bytes, size_t carried);
/* Object i begins `skipped` bytes later than it did, and `piece`, if not -1, is what it began with.
 * Called before object i changes. */
void picture_cut(world *w, picture *p, int i, int piece, size_t skipped);
void picture_free(world *w, picture *p);
/* The neighbour in whose bytes the address lies, or just behind; NULL: none. */
const neighbour *picture_neighbour(const picture *p, const void *address);
void picture_copy(world *w, picture *to, const picture *from);
/* The device holds what the host does, of all objects or of a part of one. */
void picture_send(const world *w, picture *p);
int picture_send_part(const world *w, picture *p, int i, size_t at, size_t bytes);
/* Is the graph still the one that was drawn? */
int picture_fits(const world *w, const picture *p);
/* Are the device's counts and terminators those of the plan, in all objects or (i >= 0) in one? */
int picture_counts_fit(const world *w, const picture *p, int i);

/* ---- What comes back (results.c). */

void results_add(const world *w, results *r, const picture *p, int with_pointers);
/* All bytes, pointers too, as they lie there. */
void results_add_raw(const world *w, results *r, const picture *p);
void results_add_part(results *r, const picture *p, int i, size_t at, size_t bytes);
/* They have been written. */
void results_apply(world *w, const results *r);
/* Some of them may have been written, each byte or not. */
void results_apply_found(world *w, const results *r);
void results_clear(results *r);

/* ---- On the device (kernels.c). */

/* The device holds what the picture says. */
void cargo_check(world *w, cargo *c, const char *after);
/* A kernel changes some count or terminator. 0: there is none. */
int cargo_change_count(world *w, cargo *c);
/* A kernel changes contents and pointers there. */
void cargo_change(world *w, cargo *c);
/* A kernel makes objects in nursery number n there. */
void cargo_make(world *w, cargo *c, int n);

#endif
