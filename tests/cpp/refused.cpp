/* Containers that are not laid out as haul/describe.hpp knows them are refused, with a sentence and
 * without a crash.
 *
 * Built by tests/consumers/check.sh three times: as it is, with -D_GLIBCXX_DEBUG, and with
 * -D_GLIBCXX_USE_CXX11_ABI=0. Ends with "N passed, N failed".
 */
#include <cstdio>

#include <haul.hpp>

static int passed, failed;

static void check(bool holds, const char *sentence)
{
    (holds ? passed : failed)++;
    if (!holds)
        std::printf("FAILED  %s\n", sentence);
}

/* An allocator that takes room in its container. */
template <class T> struct stateful {
    typedef T value_type;
    int state;
    stateful() : state(0)
    {
    }
    template <class U> stateful(const stateful<U> &other) : state(other.state)
    {
    }
    T *allocate(std::size_t n)
    {
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T *p, std::size_t n)
    {
        std::allocator<T>().deallocate(p, n);
    }
    template <class U> bool operator==(const stateful<U> &) const
    {
        return true;
    }
    template <class U> bool operator!=(const stateful<U> &) const
    {
        return false;
    }
};

struct heavy_delete {
    long uses;
    void operator()(int *p) const
    {
        delete p;
    }
};

struct outer {
    std::vector<int> good;
    std::vector<std::vector<int, stateful<int>>> inner;
};
template <> struct haul::members_of<outer> {
    static auto list()
    {
        return haul::members("outer", haul::field("good", &outer::good),
                             haul::field("inner", &outer::inner));
    }
};

template <class T> static void is_refused(const char *part, const char *sentence)
{
    const haul::described &d = haul::describe<T>();
    check(d.status == HAUL_ERROR_UNSUPPORTED && d.type == nullptr &&
              std::strstr(d.error.text, part),
          sentence);
    check(&d == &haul::describe<T>(), "a refusal is kept");
}

template <class T> static void is_described(const char *sentence)
{
    const haul::described &d = haul::describe<T>();
    check(d.status == HAUL_OK && d.type && haul_type_committed(d.type), sentence);
}

int main()
{
    is_refused<std::vector<int, stateful<int>>>("three pointers",
                                                "a vector with room for an allocator");
    is_refused<std::basic_string<char, std::char_traits<char>, stateful<char>>>(
        "pointer, a length", "a string with such an allocator");
    is_refused<std::unique_ptr<int, heavy_delete>>("more than a pointer",
                                                   "a pointer with a deleter of some size");
    is_refused<outer>("three pointers", "a struct that leads to one of these");
    is_refused<std::list<int, stateful<int>>>("not laid out", "a list with such an allocator");
    is_refused<std::deque<int, stateful<int>>>("not laid out", "and a deque");
    is_refused<std::unordered_set<int, std::hash<int>, std::equal_to<int>, stateful<int>>>(
        "not laid out", "and a table");
#ifdef _GLIBCXX_DEBUG
    is_refused<std::vector<int>>("three pointers", "vectors for debugging");
    is_refused<std::list<int>>("not laid out", "lists for debugging");
    is_refused<std::forward_list<int>>("not laid out", "of one direction, too");
    is_refused<std::map<int, int>>("not laid out", "maps for debugging");
    is_refused<std::unordered_map<int, int>>("not laid out", "tables for debugging");
    is_refused<std::deque<int>>("not laid out", "deques for debugging");
#else
    is_described<std::vector<int>>("what is refused spoils nothing: vectors");
    is_described<std::vector<std::vector<double>>>("and vectors of them");
#endif
#if _GLIBCXX_USE_CXX11_ABI
    is_described<std::string>("strings");
#else
    is_refused<std::string>("pointer, a length", "strings that share their characters");
#endif
    haul::context context;
    haul::device device;
    haul::shipment shipment;
    outer o;
    check(context.create() == HAUL_OK && device.open_host(context) == HAUL_OK,
          "the host device opens");
    check(shipment.ship(device, &o) == HAUL_ERROR_UNSUPPORTED && !shipment,
          "shipping says the same");
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
