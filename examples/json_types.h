/* The description of a document: what a cJSON node points to, and what the request for a survey
 * does. Types, lengths, values and counts are bytes and travel by themselves.
 */
#ifndef EXAMPLES_JSON_TYPES_H
#define EXAMPLES_JSON_TYPES_H

#include "json_survey.h"

static haul_type *node_type, *survey_type;
static const haul_field node_fields[] = {
    HAUL_OBJECT(cJSON, next, &node_type),
    HAUL_OBJECT(cJSON, prev, &node_type),
    HAUL_OBJECT(cJSON, child, &node_type),
    HAUL_STRING(cJSON, valuestring),
    HAUL_STRING(cJSON, string),
};
static const haul_field survey_fields[] = {
    HAUL_POINTERS(survey, containers, &node_type, HAUL_COUNT(survey, count)),
    HAUL_ARRAY(survey, findings, HAUL_COUNT(survey, count)),
};
static const haul_struct json_types[] = {
    HAUL_STRUCT(cJSON, &node_type, node_fields),
    HAUL_STRUCT(survey, &survey_type, survey_fields),
};

#endif
