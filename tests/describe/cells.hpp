/* What C++ adds for haul-describe. */
#ifndef HAUL_TESTS_CELLS_HPP
#define HAUL_TESTS_CELLS_HPP

#include <cstdint>

namespace sim
{
struct vec {
    double x, y, z;
    double norm() const
    {
        return x * x + y * y + z * z;
    }
};

struct cell {
    std::int32_t n;
    vec *points;
    double *mass;
    cell *child[8];
    const char *name;
    bool is_leaf() const
    {
        return !child[0];
    }
    static int count;
};

template <class T, int Size> struct box {
    T *data;
    int n;
};

struct field {
    enum class kind : char { GRID, NUMBER };
    box<double, 3> grid;
    box<cell, 2> cells;
    kind what;
    union {
        double *values;
        long number;
    };
};

struct polar : vec {
    double *angle;
};
struct virtuals {
    virtual ~virtuals();
    double *p;
};
struct reference {
    cell &to;
};
} // namespace sim

#endif
