/* cJSON's node: as in tests/acceptance, and as haul-describe makes it. */
#include "cjson_haul.h"
#include "cjson_node.h"
#include "same.h"

int main(void)
{
    const haul_struct structs[] = { HAUL_STRUCT(cJSON, &node_type, node_fields) };
    haul_context *context = NULL;
    made(context, haul_context_create(NULL, &context));
    made(context, HAUL_DESCRIBE(context, structs));
    made(context, cJSON_describe(context));
    same("cJSON", node_type, cJSON_type);
    cJSON_forget();
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return done();
}
