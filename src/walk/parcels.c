/* Parcels that are full go on to the next thread (sharer.c says how threads use them).
 */
#include "walk/parcels.h"

static haul__parcel *parcel_of(const haul__outlet *outlet)
{
    return (haul__parcel *)(void *)((unsigned char *)(outlet->end - HAUL__PARCEL) -
                                    offsetof(haul__parcel, entry));
}

HAUL__NOINLINE void haul__renew_outlet(haul__share *share, haul__sharer *own, unsigned number)
{
    haul__outlet *outlet = &own->outlet[number];
    haul__parcel *parcel = parcel_of(outlet);
    parcel->count = (size_t)(outlet->at - parcel->entry);
    parcel->kind = number / HAUL__DISTRICTS;
    haul__send_parcel(&share->district[number % HAUL__DISTRICTS].parcels, parcel);
    haul__open_outlet(outlet, haul__take_spare(own));
}

void haul__open_visits(haul__sharer *own, haul__district *district, unsigned kind)
{
    haul__parcel *parcel = haul__take_spare(own);
    parcel->next = district->open[kind];
    parcel->count = 0;
    parcel->kind = kind;
    district->open[kind] = parcel;
}

void haul__put_aside(haul__sharer *own, uint64_t entry)
{
    if (own->aside->count == HAUL__PARCEL) {
        haul__parcel *parcel = haul__take_spare(own);
        parcel->next = own->aside;
        parcel->count = 0;
        own->aside = parcel;
    }
    own->aside->entry[own->aside->count++] = entry;
}
