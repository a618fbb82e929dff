/* libyaml's document: as in tests/acceptance, and as haul-describe makes it. */
#include "same.h"
#include "yaml_document.h"
#include "yaml_haul.h"

int main(void)
{
    haul_context *context = NULL;
    made(context, haul_context_create(NULL, &context));
    made(context, yaml_describe(context, yaml_fields, DOCUMENT_ROWS, yaml_node_fields));
    made(context, yaml_document_describe(context));
    same("libyaml", yaml_type, yaml_document_type);
    yaml_document_forget();
    yaml_forget();
    haul_context_free(&context);
    return done();
}
