/* What json_on_device says about its journey. */
#ifndef EXAMPLES_JSON_REPORT_H
#define EXAMPLES_JSON_REPORT_H

#include "json_survey.h"

/* What the device has found, in all. */
void json_report_findings(const survey *all);

/* What was shipped, and how long each part took. */
void json_report_journey(const haul_shipment *shipment, double function_ms);

#endif
