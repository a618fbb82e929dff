/* CXSparse's structs: as in tests/acceptance, and as haul-describe makes them. */
#include "csparse_haul.h"
#include "same.h"
#define solver_type written_solver_type /* static there */
#include "csparse_types.h"
#undef solver_type

int main(void)
{
    haul_context *context = NULL;
    made(context, haul_context_create(NULL, &context));
    made(context, HAUL_DESCRIBE(context, structs));
    made(context, solver_describe(context));
    same("CXSparse", written_solver_type, solver_type);
    solver_forget();
    HAUL_FORGET(structs);
    haul_context_free(&context);
    return done();
}
