/* What the headers of C++ must not let through: with -DFORBIDDEN, each line that ends with a
 * sentence does not compile, and the compiler says that sentence. Without it, all compiles.
 *
 * Compiled by tests/consumers/check.sh.
 */
#include <haul.hpp>

struct virtuals {
    virtual ~virtuals()
    {
    }
};

/* The compiler says a thing once for each type. */
struct more_virtuals : virtuals {
};
struct chained {
    chained *next;
};

#if __cplusplus >= 201402L

struct constructed {
    constructed()
    {
    }
    constructed(const constructed &)
    {
    }
    int *p;
};
struct raw {
    int kind;
    double values[20];
    const char *text;
};
struct inside {
    int count;
    struct {
        short kind;
        void *data;
    } parts[3];
};
struct with_union {
    int kind;
    union number {
        int *i;
        double d;
    } is;
};
struct by_value { /* compares with a state */
    int sign;
    bool operator()(int a, int b) const
    {
        return a * sign < b * sign;
    }
};

class said /* to be plain, by its empty list */
{
  public:
    said() : a_(1), b_(2)
    {
    }

  private:
    int a_, b_;
};
template <> struct haul::members_of<said> {
    static auto list()
    {
        return haul::members("said");
    }
};
/* All of this is plain. */
struct plain_struct {
    int kind;
    char name[300];
    struct {
        float x, y;
    } points[50];
    std::array<int, 3> sides;
    std::complex<double> z;
    std::chrono::nanoseconds time;
    unsigned low : 3, high : 5;
    double matrix[4][4];
    int raw::*member;
    said numbers;
};
class secret
{
  public:
    secret() : p_(nullptr)
    {
    }

  private:
    int *p_;
};
struct with_secret {
    int kind;
    secret hidden;
};

#endif

int main()
{
    haul::type type;
#if __cplusplus >= 201402L
    haul::describe<std::vector<plain_struct>>();
    type.create<plain_struct>(nullptr, "plain_struct");
#endif
#ifdef FORBIDDEN
    haul::device device;
    haul::shipment shipment;
    haul::arena arena;
    virtuals object;
    type.create<virtuals>(nullptr, "virtuals"); /* a class with virtual functions cannot travel */
    shipment.ship(device, &object, type);       /* a class with virtual functions cannot travel */
    haul::make<virtuals>(arena, type);          /* a class with virtual functions cannot travel */
#if __cplusplus >= 201402L
    haul::describe<std::list<more_virtuals>>(); /* a class with virtual functions cannot travel */
    haul::describe<std::vector<constructed>>(); /* list the members of this type */
    haul::describe<std::vector<bool>>();        /* none of bools */
    haul::describe<std::vector<void *>>();      /* what does this pointer lead to */
    haul::describe<std::map<int, const char *>>(); /* haul::text or haul::array */
    haul::describe<std::unique_ptr<int[]>>();      /* say how many: haul::array */
    haul::describe<std::shared_ptr<int[]>>();      /* say how many: haul::array */
    haul::describe<std::weak_ptr<int>>();          /* a std::weak_ptr counts */
    haul::describe<std::vector<raw>>();            /* this struct holds a pointer */
    haul::describe<std::vector<inside>>();         /* this struct holds a pointer */
    haul::describe<std::deque<with_secret>>();     /* this struct holds a pointer */
    haul::describe<with_union>();                  /* this struct holds a pointer */
    haul::describe<with_union::number>(); /* a class with constructors or private members */
    haul::describe<secret>();             /* a class with constructors or private members */
    haul::describe<std::tuple<int &>>();  /* a reference does not say how it is used */
    haul::describe<std::reference_wrapper<int>>(); /* keep a T * */
    haul::describe<std::set<int *>>(); /* the order of addresses is another on the device */
    haul::describe<std::unordered_set<int *>>(); /* the hash of an address is another */
    haul::describe<std::set<int, by_value>>();   /* a comparison with members cannot travel */
    type.create<chained>(nullptr, "chained");    /* this struct holds a pointer */
#endif
#if __cplusplus >= 201703L
    haul::describe<std::optional<std::string_view>>(); /* a std::string_view does not own */
#endif
#ifdef __cpp_lib_span
    haul::describe<std::vector<std::span<int>>>(); /* a std::span does not own its elements */
#endif
#endif
}
