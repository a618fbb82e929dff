/* The device contract: what every back end's table must do, as cases that run on any of them.
 *
 * Written without a test framework, so that it needs nothing on a bare machine but the library and
 * the device.
 */
#ifndef HAUL_TESTS_CONTRACT_H
#define HAUL_TESTS_CONTRACT_H

#include "haul/device.h"

/* Runs all cases on the device that `table` and `settings` (table->settings_bytes bytes) name,
 * except those of verbs that it lacks. Prints a line for each and, last, "N passed, N failed".
 * Answers the number that failed. */
unsigned contract_run(const haul_device_table *table, const void *settings);

/* How to make streams and events of the back end's kind: the case that needs them runs only with
 * this. */
typedef struct contract_streams {
    void *(*make_stream)(void); /* NULL, both: the device has no stream but its own */
    void (*drop_stream)(void *stream);
    void *(*make_event)(void);
    int (*is_told)(void *event); /* not 0: the device has signalled it */
    void (*drop_event)(void *event);
} contract_streams;
unsigned contract_run_with(const haul_device_table *table, const void *settings,
                           const contract_streams *streams);

#endif
