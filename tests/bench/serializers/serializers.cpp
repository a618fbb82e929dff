/* haul_bench_serializers: the workload "images" of haul_bench, and in the same run save and load by
 * cereal and Boost.Serialization, beside Haul's.
 *
 * Each library has the graph in the form that it can take. Boost has Haul's own nodes behind raw
 * pointers. cereal takes no raw pointers, so its nodes hang on shared_ptr. Tables are vectors for
 * both. All write to and read from the same memory, which was touched before, by their binary
 * archives. A load includes the free of what it made.
 *
 * Both recurse over pointers: a tree of a million nodes is 20 deep, but a list of a million, and a
 * random graph, overflow the stack. So lists have 10,000 nodes here.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <istream>
#include <list>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/array_wrapper.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cereal/archives/binary.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <haul.h>

extern "C" {
#include "../bench.h"
}

namespace
{

const std::size_t node_bytes = 64;

/* ---- Memory as a stream. */

class memory_stream : public std::streambuf
{
  public:
    explicit memory_stream(std::size_t room)
        : begin_(static_cast<char *>(bench_map(room))), room_(room)
    {
    }
    ~memory_stream() override
    {
        bench_unmap(begin_, room_);
    }
    memory_stream(const memory_stream &) = delete;
    memory_stream &operator=(const memory_stream &) = delete;
    void rewrite()
    {
        setp(begin_, begin_ + room_);
    }
    void reread()
    {
        setg(begin_, begin_, begin_ + bytes());
    }
    char *memory()
    {
        return begin_;
    }
    std::size_t room() const
    {
        return room_;
    }
    std::size_t bytes() const
    {
        return static_cast<std::size_t>(pptr() - begin_);
    }
    const char *data() const
    {
        return begin_;
    }

  private:
    char *begin_;
    std::size_t room_;
};

/* ---- Nodes with N pointers: Haul's, as Boost sees them, and those of cereal. */

template <unsigned N> struct raw_node {
    raw_node *to[N];
    char data[node_bytes - N * sizeof(void *)];
    template <class Archive> void serialize(Archive &archive, unsigned)
    {
        for (auto &next : to)
            archive &next;
        archive &boost::serialization::make_array(data, sizeof data);
    }
};

template <unsigned N> struct shared_node {
    std::shared_ptr<shared_node> to[N];
    char data[node_bytes - N * sizeof(void *)];
    template <class Archive> void serialize(Archive &archive)
    {
        for (auto &next : to)
            archive(next);
        archive(cereal::binary_data(data, sizeof data));
    }
    /* a list is freed without recursion */
    ~shared_node()
    {
        while (N == 1 && to[0] && to[0].use_count() == 1) {
            auto next = std::move(to[0]->to[0]);
            to[0] = std::move(next);
        }
    }
};

template <unsigned N> std::shared_ptr<shared_node<N>> copy_of(const raw_node<N> *first)
{
    auto copy = std::make_shared<shared_node<N>>();
    std::vector<std::pair<const raw_node<N> *, shared_node<N> *>> waiting{ { first, copy.get() } };
    while (!waiting.empty()) {
        const auto pair = waiting.back();
        waiting.pop_back();
        std::memcpy(pair.second->data, pair.first->data, sizeof pair.first->data);
        for (unsigned i = 0; i < N; i++)
            if (pair.first->to[i]) {
                pair.second->to[i] = std::make_shared<shared_node<N>>();
                waiting.emplace_back(pair.first->to[i], pair.second->to[i].get());
            }
    }
    return copy;
}

template <unsigned N> void free_all(raw_node<N> *first)
{
    std::vector<raw_node<N> *> waiting{ first };
    while (!waiting.empty()) {
        raw_node<N> *node = waiting.back();
        waiting.pop_back();
        for (auto *next : node->to)
            if (next)
                waiting.push_back(next);
        delete node;
    }
}

/* ---- A library: saves a graph, and loads and frees it. */

struct serializer {
    virtual ~serializer() = default;
    virtual void save(std::ostream &to) = 0;
    virtual void load(std::istream &from) = 0;
};

template <unsigned N> struct boost_nodes : serializer {
    explicit boost_nodes(const workload &it) : root(static_cast<raw_node<N> *>(it.root))
    {
    }
    void save(std::ostream &to) override
    {
        boost::archive::binary_oarchive archive(to);
        archive << root;
    }
    void load(std::istream &from) override
    {
        boost::archive::binary_iarchive archive(from);
        raw_node<N> *loaded = nullptr;
        archive >> loaded;
        free_all(loaded);
    }
    raw_node<N> *root;
};

template <unsigned N> struct cereal_nodes : serializer {
    explicit cereal_nodes(const workload &it) : root(copy_of(static_cast<raw_node<N> *>(it.root)))
    {
    }
    void save(std::ostream &to) override
    {
        cereal::BinaryOutputArchive archive(to);
        archive(root);
    }
    void load(std::istream &from) override
    {
        cereal::BinaryInputArchive archive(from);
        std::shared_ptr<shared_node<N>> loaded;
        archive(loaded);
    }
    std::shared_ptr<shared_node<N>> root;
};

/* Items of one size, or strings. */
template <class Item> std::vector<Item> items_of(const workload &it)
{
    const auto *t = static_cast<const table *>(it.root);
    std::vector<Item> items;
    for (std::size_t i = 0; i < t->count; i++) {
        const char *item = t->item[i];
        items.emplace_back(item, item + (it.node_bytes ? it.node_bytes : std::strlen(item)));
    }
    return items;
}

template <class Item> struct boost_table : serializer {
    explicit boost_table(const workload &it) : items(items_of<Item>(it))
    {
    }
    void save(std::ostream &to) override
    {
        boost::archive::binary_oarchive archive(to);
        archive << items;
    }
    void load(std::istream &from) override
    {
        boost::archive::binary_iarchive archive(from);
        std::vector<Item> loaded;
        archive >> loaded;
    }
    const std::vector<Item> items;
};

template <class Item> struct cereal_table : serializer {
    explicit cereal_table(const workload &it) : items(items_of<Item>(it))
    {
    }
    void save(std::ostream &to) override
    {
        cereal::BinaryOutputArchive archive(to);
        archive(items);
    }
    void load(std::istream &from) override
    {
        cereal::BinaryInputArchive archive(from);
        std::vector<Item> loaded;
        archive(loaded);
    }
    const std::vector<Item> items;
};

struct haul_images : serializer {
    haul_images(const workload &it, memory_stream &on, bool is_trusted) : stream(on), type(it.type)
    {
        root.address = it.root;
        root.type = it.type;
        root.count = it.root_count;
        options.is_trusted = is_trusted;
        must(haul_context_create(nullptr, &context));
    }
    ~haul_images() override
    {
        haul_context_free(&context);
    }
    void must(haul_status status)
    {
        if (status != HAUL_OK)
            bench_die("images", context ? haul_context_error(context) : nullptr);
    }
    void save(std::ostream &) override
    {
        must(haul_image_to_bytes(context, haul_from_roots(&root, 1), nullptr, stream.memory(),
                                 stream.room(), &bytes));
    }
    void load(std::istream &) override
    {
        haul_image *image = nullptr;
        must(haul_image_from_bytes(context, stream.data(), bytes, &type, 1, &options, &image));
        haul_image_free(&image);
    }
    memory_stream &stream;
    haul_type *type;
    haul_root root{};
    haul_image_options options{};
    haul_context *context = nullptr;
    std::size_t bytes = 0;
};

/* ---- Measuring. */

struct times {
    double save, load;
};

double median(std::vector<double> samples)
{
    std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 2),
                     samples.end());
    return samples[samples.size() / 2];
}

times measure(serializer &by, memory_stream &stream, int runs)
{
    std::vector<double> saves, loads;
    for (int run = 0; run < runs; run++) {
        double begin = bench_processor_milliseconds(), between;
        stream.rewrite();
        {
            std::ostream to(&stream);
            by.save(to);
        }
        between = bench_processor_milliseconds();
        saves.push_back(between - begin);
        begin = bench_processor_milliseconds();
        stream.reread();
        {
            std::istream from(&stream);
            by.load(from);
        }
        loads.push_back(bench_processor_milliseconds() - begin);
    }
    return { median(saves), median(loads) };
}

/* The report keeps the address of a name. */
const char *kept(const std::string &name)
{
    static std::list<std::string> names;
    return names.insert(names.end(), name)->c_str();
}

void print(const char *graph, const char *library, const times &t, const times &checked)
{
    const char *name = kept(std::string(graph) + "_" + library);
    report_value(name, "save", t.save);
    report_value(name, "load", t.load);
    report_value(name, "save_times_haul", t.save / checked.save);
    report_value(name, "load_times_haul", t.load / checked.load);
}

template <class Boost, class Cereal> void compare(const char *graph, const workload &it, int runs)
{
    memory_stream stream(3 * it.described_bytes + 64 * it.objects + (1u << 20));
    haul_images stranger(it, stream, false), trusted(it, stream, true);
    const times checked = measure(stranger, stream, runs);
    print(graph, "haul_checked", checked, checked);
    print(graph, "haul_trusted", measure(trusted, stream, runs), checked);
    {
        Boost boost(it);
        print(graph, "boost", measure(boost, stream, runs), checked);
    }
    Cereal cereal(it);
    print(graph, "cereal", measure(cereal, stream, runs), checked);
}

template <unsigned N>
void compare_nodes(const char *graph, std::size_t count, bool is_shuffled, int runs)
{
    workload it;
    workload_make_sized(&it, count, node_bytes, N, is_shuffled);
    compare<boost_nodes<N>, cereal_nodes<N>>(graph, it, runs);
    workload_free(&it);
    bench_forget_blocks();
}

template <class Item> void compare_table(const char *name, double scale, int runs)
{
    for (std::size_t i = 0; i < workload_maker_count; i++)
        if (std::strcmp(workload_makers[i].name, name) == 0) {
            workload it;
            workload_make(&it, &workload_makers[i], scale);
            compare<boost_table<Item>, cereal_table<Item>>(name, it, runs);
            workload_free(&it);
            bench_forget_blocks();
        }
}

} // namespace

int main(int count, char **arguments)
{
    const int runs = count > 1 ? std::atoi(arguments[1]) : 5;
    const double scale = count > 2 ? std::atof(arguments[2]) / 100 : 1;
    if (runs < 1 || !(scale > 0 && scale <= 10)) {
        std::fprintf(stderr, "usage: haul_bench_serializers [ROUNDS [SCALE-IN-PERCENT]]\n"
                             "CSV on standard output, tables on standard error\n");
        return 2;
    }
    std::printf("# haul_bench_serializers: medians of %d rounds, scale %g %%\n", runs, 100 * scale);
    report_open(stdout, stderr, "memcpy", table_print);
    measure_images(runs, scale);
    report_begin("serializers");
    compare_nodes<2>("tree_heap", static_cast<std::size_t>(1000000 * scale) + 4, false, runs);
    compare_nodes<2>("tree_shuffled", static_cast<std::size_t>(1000000 * scale) + 4, true, runs);
    compare_nodes<1>("list_10000", 10000, false, runs);
    compare_table<std::vector<char>>("blocks", scale / 4, runs);
    compare_table<std::string>("strings", scale, runs);
    workload_free_types();
    report_end();
    return 0;
}
