/* Pages that can be mapped twice. */
#ifndef HAUL_HOST_PAGES_H
#define HAUL_HOST_PAGES_H

#include "host.h"

/* Does mremap map pages again? Where it does not, a device's are a file's. */
int haul__host_can_remap(size_t page);
void haul__host_close_file(haul__host *host);
/* Makes pages of zeros that can be mapped twice; NULL: the system has none. Shows some of them at
 * `at` too, over the mapping there; 0: the system refuses. Gives them back. */
unsigned char *haul__host_pages(haul__host *host, size_t bytes);
int haul__host_show(const haul__host *host, unsigned char *pages, size_t bytes, unsigned char *at);
void haul__host_forget(const haul__host *host, unsigned char *pages, size_t bytes);
/* Addresses for them, between two guards; NULL: the system has none. */
unsigned char *haul__host_reserve(const haul__host *host, size_t bytes);

#endif
