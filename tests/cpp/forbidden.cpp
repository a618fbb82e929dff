/* What haul/describe.hpp must not let through: one case for each value of CASE, and no program for
 * any but 0.
 *
 * Compiled by tests/consumers/check.sh, which looks for the sentence behind each case.
 */
#include <haul.hpp>

struct virtuals {
    virtual ~virtuals()
    {
    }
};
struct unlisted {
    unlisted()
    {
    }
    unlisted(const unlisted &)
    {
    }
    int *p;
};

int main()
{
#if CASE == 0
    return haul::describe<std::vector<int>>().status;
#elif CASE == 1 /* its vtable's address means nothing on a device */
    haul::describe<virtuals>();
#elif CASE == 2 /* list the members of this type */
    haul::describe<std::vector<unlisted>>();
#elif CASE == 3 /* none of bools */
    haul::describe<std::vector<bool>>();
#elif CASE == 4 /* what does this pointer lead to */
    haul::describe<std::vector<void *>>();
#elif CASE == 5 /* haul::text or haul::array */
    haul::describe<std::vector<const char *>>();
#elif CASE == 6 /* say how many: haul::array */
    haul::describe<std::unique_ptr<int[]>>();
#endif
}
