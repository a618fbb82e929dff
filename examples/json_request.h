/* The request for a survey (json_survey.h) of a whole document. */
#ifndef EXAMPLES_JSON_REQUEST_H
#define EXAMPLES_JSON_REQUEST_H

#include <haul.h>

#include "json_survey.h"

/* One finding for each array and object below the root and for the root; `add` to every number. Its
 * memory is cJSON's: it lies in an arena if cJSON allocates there. NULL: no memory. */
survey *json_request(cJSON *root, double add);
/* The same for the documents that the arguments name; documents and request lie in the arena. NULL:
 * the arena's record says why, or the document was named. */
survey *json_request_in(haul_arena *arena, int argument_count, char **arguments);
void json_request_free(survey *all);

#endif
