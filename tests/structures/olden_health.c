/* Olden's health. A village holds the heads of its lists; the first patient of a list leads back to
 * the head, in the middle of the village, and each patient to the village he lives in. Patients go
 * from list to list.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { VILLAGES = 85, PATIENTS = 900 };

typedef struct Village Village;

typedef struct Patient {
    int hosps_visited, time, time_left;
    Village *home_village;
} Patient;

typedef struct List {
    struct List *forward, *back;
    Patient *patient;
} List;

typedef struct Hosp {
    int personnel, free_personnel, num_waiting_patients;
    List waiting, assess, inside, up;
} Hosp;

struct Village {
    Village *forward[4], *back;
    List returned;
    Hosp hosp;
    int label;
    long seed;
};

static haul_type *Patient_type, *List_type, *Hosp_type, *Village_type;

static void health_open(void)
{
    static const haul_field patient_fields[] = { HAUL_OBJECT(Patient, home_village,
                                                             &Village_type) };
    static const haul_field list_fields[] = { HAUL_OBJECT(List, forward, &List_type),
                                              HAUL_OBJECT(List, back, &List_type),
                                              HAUL_OBJECT(List, patient, &Patient_type) };
    static const haul_field hosp_fields[] = { HAUL_EMBED(Hosp, waiting, &List_type),
                                              HAUL_EMBED(Hosp, assess, &List_type),
                                              HAUL_EMBED(Hosp, inside, &List_type),
                                              HAUL_EMBED(Hosp, up, &List_type) };
    static const haul_field village_fields[] = {
        HAUL_EACH(Village, forward, .target = &Village_type),
        HAUL_OBJECT(Village, back, &Village_type),
        HAUL_EMBED(Village, returned, &List_type),
        HAUL_EMBED(Village, hosp, &Hosp_type),
    };
    Patient_type = OPEN(Patient, patient_fields);
    List_type = OPEN(List, list_fields);
    Hosp_type = OPEN(Hosp, hosp_fields);
    Village_type = OPEN(Village, village_fields);
    type_close(Village_type);
}

static void health_close(void)
{
    haul_type_free(&Village_type);
    haul_type_free(&Hosp_type);
    haul_type_free(&List_type);
    haul_type_free(&Patient_type);
}

static void list_append(List *at, List *link)
{
    while (at->forward)
        at = at->forward;
    at->forward = link;
    link->back = at;
    link->forward = NULL;
}

static void list_leave(List *link)
{
    link->back->forward = link->forward;
    if (link->forward)
        link->forward->back = link->back;
}

static Village *health_make(uint64_t *seen)
{
    static Village *all[VILLAGES];
    static int first[VILLAGES];
    int i, at;
    for (i = 0; i < VILLAGES; i++) {
        all[i] = PUT(Village);
        all[i]->label = i;
        first[i] = 0;
        if (i > 0) {
            all[i]->back = all[(i - 1) / 4];
            all[(i - 1) / 4]->forward[(i - 1) % 4] = all[i];
        }
    }
    for (i = 0; i < PATIENTS; i++) {
        List *link = PUT(List);
        link->patient = PUT(Patient);
        at = i % VILLAGES;
        link->patient->home_village = all[i * 31 % VILLAGES];
        link->patient->time = i + 1;
        first[at] = first[at] ? first[at] : i + 1;
        list_append(&all[at]->hosp.waiting, link);
    }
    for (i = 0; i < VILLAGES; i++) {
        see(seen, (uint64_t)i);
        see(seen, (uint64_t)first[i]);
        see(seen, (uint64_t)((first[i] - 1) * 31 % VILLAGES));
    }
    return all[0];
}

/* In order of depth, as a queue: the children of village i are 4 i + 1 to 4 i + 4. The first to
 * wait is assessed. */
static void health_walk(void *argument)
{
    visit *v = argument;
    Village *all[VILLAGES];
    int i, k, count = 1;
    all[0] = v->root;
    for (i = 0; i < count; i++) {
        List *link = all[i]->hosp.waiting.forward;
        see(&v->seen, (uint64_t)all[i]->label);
        see(&v->seen, link->back == &all[i]->hosp.waiting ? (uint64_t)link->patient->time : 0);
        see(&v->seen, (uint64_t)link->patient->home_village->label);
        link->patient->home_village->seed++;
        link->patient->hosps_visited++;
        list_leave(link);
        list_append(&all[i]->hosp.assess, link);
        for (k = 0; k < 4; k++)
            if (all[i]->forward[k])
                all[count++] = all[i]->forward[k];
    }
}

TEST(structures_olden,
     health_patients_leave_a_list_whose_head_lies_in_a_village_and_join_another_one)
{
    journey j = { .walk = health_walk, .with_pointers = 1 };
    site_start(61);
    health_open();
    j.root = health_make(&j.seen);
    j.type = Village_type;
    travel(&j);
    health_close();
    site_end();
}
