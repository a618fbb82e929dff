/* Pages that can be mapped at several addresses. */
#ifndef HAUL_HOST_PAGES_H
#define HAUL_HOST_PAGES_H

#include "host.h"

/* Can mremap map shared pages once more? If not, the pages are those of a file. */
int haul__host_can_remap(size_t page);
void haul__host_close_file(haul__host *host);
/* The first makes pages of zeros; NULL: the system refuses. The second maps some of them at `at`,
 * too, over the mapping there; 0: the system refuses. The third gives them back. */
unsigned char *haul__host_pages(haul__host *host, size_t bytes);
int haul__host_show(const haul__host *host, unsigned char *pages, size_t bytes, unsigned char *at);
void haul__host_forget(const haul__host *host, unsigned char *pages, size_t bytes);
/* Reserves addresses for pages, with a guard page on each side; NULL: the system refuses. */
unsigned char *haul__host_reserve(const haul__host *host, size_t bytes);

#endif
