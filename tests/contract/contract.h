/* The device contract: what every back end's table must do, as cases that run on any of them.
 *
 * Written without a test framework, so that it needs nothing on a bare machine but the library and the device.
 */
#ifndef HAUL_TESTS_CONTRACT_H
#define HAUL_TESTS_CONTRACT_H

#include "haul/device.h"

/* Runs all cases on the device that `table` and `settings` name. Prints a line for each and, last, "N passed, N
 * failed". Answers the number that failed. */
unsigned contract_run(const haul_device_table *table, const void *settings);

#endif
