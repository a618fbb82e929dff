/* The tests of check.h under Criterion: a process for each, so that one that crashes or hangs takes
 * no other along. Takes Criterion's arguments.
 *
 * A test's process does not come through main: there the test is found by its name, in the list
 * that the constructors have made.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#define TIMEOUT_SECONDS 600.0

static const check_test *current(void)
{
    const check_test *test = check_tests;
    while (strcmp(test->name, criterion_current_test->name) != 0 ||
           strcmp(test->suite, criterion_current_test->category) != 0)
        test = test->next;
    return test;
}

static void run_current(void)
{
    if (check_run(current()->run))
        cr_assert_fail("as said above");
}

/* What Criterion's own macro makes for each test. */
static void enter(void)
{
    criterion_internal_test_setup();
    criterion_internal_test_main(run_current);
    criterion_internal_test_teardown();
}

static struct criterion_test *make(const check_test *test)
{
    struct criterion_test *made = calloc(1, sizeof *made);
    struct criterion_test_extra_data *data = calloc(1, sizeof *data);
    if (!made || !data)
        abort();
    data->lang_ = CR_LANG_C;
    data->kind_ = CR_TEST_NORMAL;
    data->identifier_ = test->name;
    data->file_ = test->suite;
    data->timeout = TIMEOUT_SECONDS;
    made->name = test->name;
    made->category = test->suite;
    made->test = enter;
    made->data = data;
    return made;
}

int main(int count, char **arguments)
{
    struct criterion_test_set *set = criterion_initialize();
    const check_test *test;
    int passed = 1;
    for (test = check_tests; test; test = test->next)
        criterion_register_test(set, make(test));
    if (criterion_handle_args(count, arguments, true))
        passed = criterion_run_all_tests(set);
    criterion_finalize(set);
    return !passed;
}
