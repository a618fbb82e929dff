/* The library takes what haul-describe makes of forms.h. */
#include "forms_haul.h"
#include "same.h"

int main(void)
{
    haul_context *context = NULL;
    made(context, haul_context_create(NULL, &context));
    made(context, forms_describe(context));
    same("forms", forms_type, forms_type);
    forms_forget();
    haul_context_free(&context);
    return done();
}
