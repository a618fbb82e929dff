/* Launches on the host device while another thread calls on it: neither disturbs the other.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "haul.h"
#include "support/check.h"
#include "support/open.h"
#include "support/types.h"

enum { LAUNCHES = 2000, LARGE = 300000, KEPT = 24 };

typedef struct pair {
    haul_device *device;
    haul_type *type;
    unsigned char *bytes;
    haul_shipment *seen;
    int is_over; /* atomic */
    int is_inside, may_go;
} pair;

static void pair_open(pair *p)
{
    test_device options;
    memset(p, 0, sizeof *p);
    memset(&options, 0, sizeof options);
    options.settings = &ordinary_launches; /* the kernels wait for each other */
    CHECK_STATUS(test_open(haul_host_device(), &options, &p->device), HAUL_OK);
    CHECK_STATUS(haul_type_bytes(type_context(), "byte", 1, &p->type), HAUL_OK);
    CHECK_STATUS(haul_type_commit(p->type), HAUL_OK);
    CHECK((p->bytes = calloc(1, LARGE)) != NULL);
    CHECK_STATUS(haul_ship(p->device, p->bytes, p->type, LARGE, NULL, &p->seen), HAUL_OK);
}

static void pair_close(pair *p)
{
    haul_shipment_free(&p->seen);
    haul_device_close(&p->device);
    haul_type_free(&p->type);
    free(p->bytes);
}

/* Maps and slots come and go: the device's table of them grows and shrinks. */
static void *ship_and_free(void *user)
{
    pair *p = user;
    haul_shipment *kept[KEPT];
    size_t i;
    while (!__atomic_load_n(&p->is_over, __ATOMIC_ACQUIRE)) {
        for (i = 0; i < KEPT; i++)
            CHECK_STATUS(haul_ship(p->device, p->bytes, p->type, i % 2 ? LARGE : 100 * (i + 1),
                                   NULL, &kept[i]),
                         HAUL_OK);
        for (i = 0; i < KEPT; i++)
            haul_shipment_free(&kept[i]);
    }
    return NULL;
}

static void count_up(void *argument)
{
    unsigned char *bytes = argument;
    bytes[0]++;
    bytes[LARGE - 1]++;
}

TEST(launches, work_while_another_thread_ships_and_frees)
{
    pair p;
    pthread_t thread;
    void *there;
    int i;
    pair_open(&p);
    there = haul_device_pointer(p.seen, p.bytes);
    CHECK_EQ(pthread_create(&thread, NULL, ship_and_free, &p), 0);
    for (i = 0; i < LAUNCHES; i++)
        CHECK_STATUS(haul_host_launch(p.device, count_up, there), HAUL_OK);
    __atomic_store_n(&p.is_over, 1, __ATOMIC_RELEASE);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_STATUS(haul_unmarshal(p.seen), HAUL_OK);
    CHECK_EQ(p.bytes[0], LAUNCHES % 256);
    CHECK_EQ(p.bytes[LARGE - 1], LAUNCHES % 256);
    pair_close(&p);
}

static void stay(void *argument)
{
    pair *p = argument;
    __atomic_store_n(&p->is_inside, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&p->may_go, __ATOMIC_ACQUIRE))
        ;
}

static void *launch_long(void *user)
{
    pair *p = user;
    CHECK_STATUS(haul_host_launch(p->device, stay, p), HAUL_OK);
    return NULL;
}

static void nothing(void *argument)
{
    (void)argument;
}

TEST(launches, a_second_launch_is_busy_and_all_other_calls_go_on)
{
    pair p;
    pthread_t thread;
    haul_shipment *more;
    pair_open(&p);
    CHECK_EQ(pthread_create(&thread, NULL, launch_long, &p), 0);
    while (!__atomic_load_n(&p.is_inside, __ATOMIC_ACQUIRE))
        ;
    CHECK_STATUS(haul_host_launch(p.device, nothing, NULL), HAUL_ERROR_BUSY);
    CHECK_STATUS(haul_ship(p.device, p.bytes, p.type, LARGE, NULL, &more), HAUL_OK);
    p.bytes[5] = 9;
    CHECK_STATUS(haul_update_device(more, NULL, NULL), HAUL_OK);
    p.bytes[5] = 0;
    CHECK_STATUS(haul_unmarshal(more), HAUL_OK);
    CHECK_EQ(p.bytes[5], 9);
    haul_shipment_free(&more);
    __atomic_store_n(&p.may_go, 1, __ATOMIC_RELEASE);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_STATUS(haul_host_launch(p.device, nothing, NULL), HAUL_OK);
    pair_close(&p);
}
