/* An environment, and its groups: what one enter sent.
 */
#ifndef HAUL_ENVIRONMENT_ROOM_H
#define HAUL_ENVIRONMENT_ROOM_H

#include "base/list.h"
#include "base/written.h"
#include "environment/counted.h"
#include "environment/holds.h"
#include "environment/present.h"
#include "haul/environment.h"
#include "map/elsewhere.h"
#include "ship/shipment.h"

/* A pointer of a present object that was made to lead into this group. */
typedef struct haul__attached {
    uintptr_t host, device; /* where it stands here, and there */
    uintptr_t value;        /* the address of its target there */
    uint32_t stands_in;     /* the group */
    uint32_t is_end;        /* one past its target: it is the end of an array */
} haul__attached;

/* `count` objects of a type, found by a pointer, as a root, or in an array. Not those that lie
 * within objects of another type. */
typedef struct haul__typed {
    uintptr_t begin; /* the address of the first one */
    size_t count;
    const haul_type *type;
} haul__typed;

/* Objects whose memory reaches out of their range: what they begin or end with does not travel. */
typedef struct haul__roomy {
    uintptr_t begin, end; /* of their memory */
    uintptr_t first;      /* byte that travels */
    /* 1 + the place of the last ones before these that end behind `begin`; 0: there are none */
    size_t before;
} haul__roomy;
typedef struct haul__roomy_list {
    haul__roomy *at;
    size_t count, capacity;
} haul__roomy_list;

/* Strips of a member of all objects of a type (strips.h). */
typedef struct haul__member haul__member;

/* The digests of all data of a group (sync.c). */
typedef struct haul__digests haul__digests;

/* A batch on its way to the host (outstanding.h). */
typedef struct haul__result haul__result;

/* What the rest of a group keeps, from which a part is cut (cut.h). */
typedef struct haul__rest haul__rest;

/* A group leads into the groups that hold what its walk stopped at, and holds these. It leaves with
 * its last hold: a root, or a group that leads into it. Once the root that it was found from has
 * left, it leaves in parts (cut.h). */
typedef struct haul__sent_group {
    haul_shipment *shipment;              /* that all groups of a ring have */
    struct haul__sent_group *next_sharer; /* the ring; itself: it is alone */
    uintptr_t maker;             /* the root that it was found from, while that is held; else 0 */
    uint64_t made;               /* groups that were made before */
    HAUL__LIST(uintptr_t) stops; /* where its walk stopped in the groups that it leads into */
    haul__rest *cut;             /* of a part that leaves; else NULL */
    const haul__rest *rest;      /* during an exit: what stays of it; NULL: all does */
    int was_cut;                 /* parts of it have left */
    size_t *held;                /* for each range (held.h); NULL: nobody has counted */
    size_t held_room;
    HAUL__LIST(haul__covered) ranges;    /* by address */
    HAUL__LIST(haul__typed) objects;     /* by address */
    haul__roomy_list roomy;              /* of these; by address */
    haul__member *members;               /* NULL: none */
    haul__digests *digests;              /* NULL: no sync has asked for them */
    HAUL__LIST(uint32_t) leads_into;     /* numbers of groups, each once */
    HAUL__LIST(haul__attached) attached; /* each has a hold, which has its place here */
    /* the host addresses of pointers that stand in it, and that calls have attached; their holds in
     * by_calls have their places here */
    HAUL__LIST(uintptr_t) attached_in;
    size_t roots, led_from; /* its holds */
    size_t words;           /* pointers in `attached` of the environment that stand in it */
    int is_leaving, is_listed, is_affected;
    uint32_t next_leaving, next_affected; /* 1 + its number; 0: the end */
    struct haul__sent_group *next_left;   /* leaving.h */
} haul__sent_group;

struct haul_environment {
    uint32_t magic;
    haul__stripes *asked; /* how often; on lines of its own */
    uintptr_t lock;       /* the thread of the call that changes it; 0: none */
    haul_device *device;
    haul_context *context;
    haul__freed freed;
    haul__present host, there; /* by the host's addresses, and by the device's */
    haul__holds holds;
    /* pointers that lead into a younger group, or were attached by a call */
    haul__holds attached;
    haul__holds by_calls;   /* of these, the latter, by their addresses on the host */
    haul_detached detached; /* what they become */
    /* pointers that were poisoned: their numbers (`group`), and by their numbers */
    haul__holds poisons;
    HAUL__LIST(uintptr_t) poisoned;
    HAUL__LIST(haul__sent_group *) groups; /* NULL: the number is free */
    HAUL__LIST(uint32_t) spare;            /* free numbers; it has room for all */
    uint64_t made;                         /* groups, those of enters that failed among them */
    haul__elsewhere elsewhere;             /* for walks and plans; its user is the environment */
    /* pages that the walk has asked for, if they are rows; each from a haul__page_entry */
    haul__surroundings around[HAUL__SURROUNDINGS];
    haul__stop_list stops; /* of the walk under way; forgotten when a group leaves */
    uintptr_t reached_out; /* what a range began in and reached out of; 0: nothing */
    struct {
        haul_range_visitor *comes, *goes; /* NULL: it is not told */
        void *user;
    } watcher;
    struct {
        haul_copy_finder *find; /* NULL: nobody is asked */
        void *user;
    } others;
    haul_environment_info info;
    uint64_t allocations;   /* of the device, when the call under way began */
    haul__memory staged;    /* staging memory of a large update, for the next one */
    haul__result *results;  /* in the order of the calls */
    haul__sent_group *left; /* leaving.h */
    haul__written written;  /* open, if syncs ask it */
    size_t tracked_ranges;  /* that are watched */
    uint64_t holders_seen;  /* looked at to count who holds a range (held.h) */
};

/* Does it have its shipment alone? */
HAUL__INLINE int haul__is_last_sharer(const haul__sent_group *group)
{
    return group->next_sharer == group;
}

#define HAUL__ENVIRONMENT_MAGIC 0x48456e76u

HAUL__INLINE int haul__environment_is_valid(const haul_environment *environment)
{
    return environment && environment->magic == HAUL__ENVIRONMENT_MAGIC;
}

/* environment.c: begins a call that changes the environment; one thread at a time, the others wait.
 * HAUL_OK is paired with an unlock. HAUL_ERROR_BUSY: it is called inside such a call. */
haul_status haul__environment_lock(haul_environment *environment);
void haul__environment_unlock(haul_environment *environment);
/* The info, for a call that has the lock. */
void haul__environment_sums(const haul_environment *environment, haul_environment_info *sums);

#endif
