/* What the json examples do on the device: one call for each array or object of the tree looks at
 * its children. */
#ifndef EXAMPLES_JSON_SURVEY_H
#define EXAMPLES_JSON_SURVEY_H

#include <limits.h>

#include <cjson/cJSON.h>

#include "device.h"

/* Kinds are the bits of cJSON's `type`, in their order. */
enum { FALSES, TRUES, NULLS, NUMBERS, STRINGS, ARRAYS, OBJECTS, RAWS, KINDS };

/* What one call has found among the children of one container. */
typedef struct finding {
    int kind[KINDS], names, text_bytes;
    double sum; /* of the numbers as they arrived */
} finding;

typedef struct survey {
    cJSON **containers; /* every array and object of the tree */
    finding *findings;  /* one for each of them */
    long count;
    double add; /* to every number */
} survey;

ON_DEVICE int text_length(const char *text)
{
    int length = 0;
    while (text[length])
        length++;
    return length;
}

/* What cJSON_SetNumberValue does. */
ON_DEVICE void set_number(cJSON *number, double value)
{
    number->valuedouble = value;
    number->valueint = value >= INT_MAX ? INT_MAX : value <= INT_MIN ? INT_MIN : (int)value;
}

ON_DEVICE void visit(finding *found, cJSON *node, double add)
{
    for (int kind = 0; kind < KINDS; kind++)
        found->kind[kind] += node->type >> kind & 1;
    if (node->string)
        found->names++;
    if (node->valuestring)
        found->text_bytes += text_length(node->valuestring);
    if (node->type & cJSON_Number) {
        found->sum += node->valuedouble;
        set_number(node, node->valuedouble + add);
    }
}

/* The work of one thread: the children of the container `index`. */
ON_DEVICE void survey_container(void *data, long index)
{
    survey *all = (survey *)data;
    for (cJSON *node = all->containers[index]->child; node; node = node->next)
        visit(&all->findings[index], node, all->add);
}

#endif
