/* Standard containers, described by haul/describe.hpp, on the host device: walked there by the same
 * C++ types, changed there, brought back. Nothing on the device may lead out of it; nothing on the
 * host may move.
 *
 * Built by tests/consumers/check.sh against an installed Haul. Ends with "N passed, N failed".
 */
#include <cstdio>
#include <thread>

#include <haul.hpp>

static int passed, failed;

static void check(bool holds, const char *sentence)
{
    (holds ? passed : failed)++;
    if (!holds)
        std::printf("FAILED  %s\n", sentence);
}

static void check_status(haul_status status, const haul_error *error, const char *sentence)
{
    if (status != HAUL_OK)
        std::printf("    %s: %s: %s\n", haul_status_name(status), error->path, error->text);
    check(status == HAUL_OK, sentence);
}

/* ---- Types. */

struct node {
    node *parent;
    int id;
    std::string tag;
    std::vector<std::unique_ptr<node>> children;
};

struct point {
    float x, y;
};

#ifdef __cpp_aligned_new
struct alignas(64) lane {
#else
struct lane { /* before C++17 no allocator would keep an alignment */
#endif
    double values[8];
};

struct named {
    std::string name;
    short rank;
    /* zeros, where padding would hold what the heap has left: an address, perhaps, to an audit */
    short none[3];
};

struct town : named {
    std::vector<named> streets;
};

class locked
{
  public:
    explicit locked(std::vector<int> key) : key_(std::move(key))
    {
    }
    const std::vector<int> &key() const
    {
        return key_;
    }

  private:
    std::vector<int> key_;
    template <class T> friend struct haul::members_of;
};

struct everything {
    std::vector<std::vector<std::string>> cells;
    std::array<std::vector<double>, 2> columns;
    std::array<double, 3> origin;
    std::unique_ptr<node> tree;
    std::string title, empty;
    std::vector<int> nothing, reserved;
    std::vector<point> points;
    std::vector<std::array<std::string, 2>> pairs;
    std::string in_place[2];
    std::u16string wide;
    std::vector<lane> lanes;
    std::vector<node *> order;
    std::unique_ptr<lane> lone;
    unsigned weight_count;
    std::unique_ptr<float[]> weights;
    std::size_t raw_count;
    const double *raw;
    const char *note;
    town home;
    locked door;
    everything *self;
};

template <> struct haul::members_of<node> {
    static auto list()
    {
        return haul::members("node", haul::field("parent", &node::parent),
                             haul::field("tag", &node::tag),
                             haul::field("children", &node::children));
    }
};
template <> struct haul::members_of<named> {
    static auto list()
    {
        return haul::members("named", haul::field("name", &named::name));
    }
};
template <> struct haul::members_of<town> {
    static auto list()
    {
        return haul::members("town", haul::field("name", &town::name),
                             haul::field("streets", &town::streets));
    }
};
template <> struct haul::members_of<locked> {
    static auto list()
    {
        return haul::members("locked", haul::field("key", &locked::key_));
    }
};
template <> struct haul::members_of<everything> {
    typedef everything e;
    static auto list()
    {
        return haul::members(
            "everything", haul::field("cells", &e::cells), haul::field("columns", &e::columns),
            haul::field("origin", &e::origin), haul::field("tree", &e::tree),
            haul::field("title", &e::title), haul::field("empty", &e::empty),
            haul::field("nothing", &e::nothing), haul::field("reserved", &e::reserved),
            haul::field("points", &e::points), haul::field("pairs", &e::pairs),
            haul::field("in_place", &e::in_place), haul::field("wide", &e::wide),
            haul::field("lanes", &e::lanes), haul::field("order", &e::order),
            haul::field("lone", &e::lone), haul::array("weights", &e::weights, &e::weight_count),
            haul::array("raw", &e::raw, &e::raw_count), haul::text("note", &e::note),
            haul::field("home", &e::home), haul::field("door", &e::door),
            haul::field("self", &e::self));
    }
};

/* ---- One graph of them. */

static std::unique_ptr<node> make_tree(node *parent, int depth, int &next,
                                       std::vector<node *> &order)
{
    std::unique_ptr<node> n(new node());
    n->parent = parent;
    n->id = next++;
    n->tag =
        n->id % 3 ? "leaf " + std::to_string(n->id) : "a tag that is too long to stand in place";
    order.push_back(n.get());
    for (int i = 0; depth > 0 && i < 3; i++)
        n->children.push_back(make_tree(n.get(), depth - 1, next, order));
    return n;
}

static const double raw_values[] = { 0.5, 1.5, 2.5 };

static std::unique_ptr<everything> make_everything()
{
    std::unique_ptr<everything> e(
        new everything{ {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                        {}, {}, {}, {}, 0,  {}, 0,  {}, {}, {}, locked({ 4, 7, 1, 1 }),
                        {} });
    int next = 0;
    e->cells = { { "a", "of more than fifteen characters" },
                 {},
                 { "", "exactly fifteen", "exactly sixteen." } };
    e->columns[0] = { 1, 2, 3 };
    e->columns[1] = { 4.5 };
    e->origin = { { -1, 0, 1 } };
    e->tree = make_tree(nullptr, 3, next, e->order);
    e->title = "title";
    e->reserved.reserve(100);
    e->points = { { 1, 2 }, { 3, 4 } };
    e->pairs = { { { "left", "right, and a good deal farther" } }, { { "", "b" } } };
    e->in_place[0] = "first";
    e->in_place[1] = "second, at some length, elsewhere";
    e->wide = u"wide characters, more than eight";
    e->lanes.resize(3);
    for (std::size_t i = 0; i < e->lanes.size(); i++)
        for (double &value : e->lanes[i].values)
            value = static_cast<double>(i);
    e->lone.reset(new lane(e->lanes[2]));
    e->weight_count = 5;
    e->weights.reset(new float[5]{ 1, 2, 3, 4, 5 });
    e->raw_count = 3;
    e->raw = raw_values;
    e->note = "a constant";
    e->home.name = "home";
    e->home.rank = 3;
    e->home.streets = { { "High Street, which has quite a long name", 1, {} }, { "Lane", 2, {} } };
    e->self = e.get();
    return e;
}

/* ---- What is seen of it: by the containers' own functions alone, on the host and on the
 * device. */

struct visit {
    everything *at;
    std::uintptr_t first, last; /* addresses that it may see; 0: any */
    std::size_t strangers, strings, words, room;
    double sum;

    void see(const void *address)
    {
        const std::uintptr_t a = reinterpret_cast<std::uintptr_t>(address);
        strangers += last != 0 && (a < first || a > last);
    }
    template <class C> void see(const std::basic_string<C> &s)
    {
        see(s.c_str());
        strings++;
        for (std::size_t i = 0; i < s.size(); i++)
            sum += static_cast<double>(s[i]) * static_cast<double>(i + 1);
        words += s.c_str()[s.size()] == C() ? 1 : 1000;
    }
    template <class E> void see_all(const std::vector<E> &v)
    {
        words += v.size();
        room += v.capacity() - v.size();
        if (!v.empty())
            see(v.data());
    }
    void see(const node &n)
    {
        see(static_cast<const void *>(&n));
        see(n.tag);
        sum += n.id + (n.parent ? n.parent->id : 0);
        see_all(n.children);
    }
    void see(const lane &l)
    {
        words += reinterpret_cast<std::uintptr_t>(&l) % alignof(lane);
        for (double value : l.values)
            sum += value;
    }
};

static void look(void *argument)
{
    visit &v = *static_cast<visit *>(argument);
    const everything &e = *v.at;
    v.see(e.self);
    v.see_all(e.cells);
    for (const std::vector<std::string> &row : e.cells) {
        v.see_all(row);
        for (const std::string &cell : row)
            v.see(cell);
    }
    for (const std::vector<double> &column : e.columns) {
        v.see_all(column);
        for (std::size_t i = 0; i < column.size(); i++)
            v.sum += column[i];
    }
    for (double x : e.origin)
        v.sum += x;
    v.see_all(e.order);
    for (const node *n : e.order)
        v.see(*n);
    for (const std::unique_ptr<node> &child : e.tree->children)
        v.sum += child->parent == e.tree.get() ? 1 : 1e9;
    for (const std::string *s :
         { &e.title, &e.empty, &e.in_place[0], &e.in_place[1], &e.home.name })
        v.see(*s);
    v.see(e.wide);
    v.see_all(e.nothing);
    v.see_all(e.reserved);
    v.see_all(e.points);
    for (const point &p : e.points)
        v.sum += p.x * 10 + p.y;
    for (const std::array<std::string, 2> &pair : e.pairs)
        for (const std::string &s : pair)
            v.see(s);
    v.see_all(e.lanes);
    for (const lane &l : e.lanes)
        v.see(l);
    v.see(*e.lone);
    for (unsigned i = 0; i < e.weight_count; i++)
        v.sum += e.weights[i];
    for (std::size_t i = 0; i < e.raw_count; i++)
        v.sum += e.raw[i];
    v.see(e.note);
    v.words += std::strlen(e.note);
    for (const named &street : e.home.streets) {
        v.see(street.name);
        v.sum += street.rank;
    }
    for (int k : e.door.key())
        v.sum = v.sum * 2 + k;
}

/* Changes elements in place, of each container. */
static void change(void *argument)
{
    everything &e = **static_cast<everything **>(argument);
    for (std::vector<std::string> &row : e.cells)
        for (std::string &cell : row)
            if (!cell.empty())
                cell[0] = 'Z';
    for (double &x : e.columns[0])
        x *= 2;
    e.origin[1] = 17;
    for (node *n : e.order)
        n->id += 1000;
    e.tree->children[1]->tag[2] = 'q';
    e.points[1].y = 99;
    e.lanes[1].values[3] = 5;
    e.lone->values[0] = 6;
    e.weights[4] = 50;
    e.home.streets[0].rank = 9;
    e.title.back() = '!';
}

static visit see(everything *at, haul::device *device, const haul::shipment *shipment)
{
    visit v = visit();
    v.at = at;
    if (device) {
        haul_shipment_info statistics;
        haul_shipment_get_info(shipment->get(), &statistics);
        v.at = shipment->device_pointer(at);
        v.first = static_cast<std::uintptr_t>(statistics.base);
        v.last = v.first + statistics.arena_bytes;
        check(haul_host_launch(device->get(), look, &v) == HAUL_OK, "the device can be walked");
    } else {
        look(&v);
    }
    return v;
}

static bool agree(const visit &a, const visit &b)
{
    return a.strings == b.strings && a.words == b.words && !(a.sum < b.sum) && !(b.sum < a.sum);
}

static void containers_travel(haul::device &device)
{
    std::unique_ptr<everything> e = make_everything();
    const std::vector<std::string> *row = e->cells.data();
    const char *text = e->cells[0][1].c_str();
    const visit before = see(e.get(), nullptr, nullptr);
    haul::shipment shipment;
    const haul::described &d = haul::describe<everything>();
    check_status(d.status, &d.error, "a struct of all containers describes itself");
    check_status(shipment.ship(device, e.get()), device.error(), "it ships");
    if (!shipment)
        return;
    const visit there = see(e.get(), &device, &shipment);
    check(before.room > 90 && there.room == 0, "there no vector has room for more");
    check(there.strings > 50 && there.strangers == 0,
          "on the device everything leads to the device");
    check(agree(before, there), "the device sees what the host sees");
    everything *at = shipment.device_pointer(e.get());
    check(haul_host_launch(device.get(), change, &at) == HAUL_OK, "the device changes it");
    const visit changed = see(e.get(), &device, &shipment);
    check(!agree(before, changed), "the change is seen there");
    check(agree(before, see(e.get(), nullptr, nullptr)), "and not yet here");
    check_status(shipment.unmarshal(), device.error(), "it comes back");
    check(agree(changed, see(e.get(), nullptr, nullptr)), "the host has what the device had");
    check(e->cells.data() == row && e->cells[0][1].c_str() == text && e->reserved.capacity() == 100,
          "nothing has moved on the host");
    e->cells[2].push_back("and its containers are alive");
    e->reserved.resize(100);
    e->title += " grows";
    check(shipment.update_device() == HAUL_ERROR_STALE, "growing one is noticed by refresh");
    check_status(shipment.reship(), device.error(), "and taken in by reship");
    check(agree(see(e.get(), nullptr, nullptr), see(e.get(), &device, &shipment)),
          "then both agree again");
}

static void a_container_can_be_the_root(haul::device &device)
{
    std::vector<std::string> words = { "one", "two, longer than can stand in place", "three" };
    haul::shipment shipment;
    check_status(shipment.ship(device, &words), device.error(),
                 "a vector of strings ships by itself");
    std::vector<int> numbers[2] = { { 1, 2 }, { 3 } };
    check_status(shipment.ship(device, numbers, 2), device.error(),
                 "and so do two vectors in a row");
}

/* The same words as of any other path. */
static void errors_have_paths(haul::device &device)
{
    std::unique_ptr<everything> e = make_everything();
    haul::shipment shipment;
    e->weights.reset();
    check(shipment.ship(device, e.get()) == HAUL_ERROR_GRAPH,
          "a null array with a count is refused");
    check(std::strcmp(device.error()->path, "root.weights") == 0, "by its member's name");
    e = make_everything();
    e->order[7]->parent = reinterpret_cast<node *>(std::uintptr_t(8));
    check(shipment.ship(device, e.get()) == HAUL_ERROR_GRAPH, "an address of nobody's is refused");
    check(std::strstr(device.error()->path, ".parent") != nullptr, "with the path to it");
}

static void tell(void *user, const haul_audit_finding *finding)
{
    if (!finding->is_hint)
        std::printf("    %s -> %s: %s\n", finding->path, finding->other_path, finding->text);
    *static_cast<bool *>(user) &= finding->is_hint != 0;
}

static void the_audit_agrees(haul::device &device)
{
    std::unique_ptr<everything> e = make_everything();
    haul_audit_options options = haul_audit_options();
    haul_audit_info summary;
    haul_root root = { e.get(), haul::describe<everything>().type, 1 };
    bool clean = true;
    options.finding = tell;
    options.user = &clean;
    const haul_status status = haul_audit(haul_device_context(device.get()),
                                          haul_from_roots(&root, 1), &options, &summary);
    check_status(status, device.error(), "an audit can be made");
    check(clean && summary.hidden_pointers == 0, "and finds no pointer that is not described");
}

struct shared_part {
    std::vector<std::vector<std::vector<short>>> a;
};
struct first_of_two {
    shared_part part;
    std::string s;
};
struct second_of_two {
    std::unique_ptr<shared_part> part;
};
template <> struct haul::members_of<shared_part> {
    static auto list()
    {
        return haul::members("shared_part", haul::field("a", &shared_part::a));
    }
};
template <> struct haul::members_of<first_of_two> {
    static auto list()
    {
        return haul::members("first", haul::field("part", &first_of_two::part),
                             haul::field("s", &first_of_two::s));
    }
};
template <> struct haul::members_of<second_of_two> {
    static auto list()
    {
        return haul::members("second", haul::field("part", &second_of_two::part));
    }
};

static void types_are_made_once()
{
    const haul_type *seen[8];
    std::vector<std::thread> threads;
    bool same = true;
    for (std::size_t i = 0; i < 8; i++)
        threads.emplace_back([&seen, i] {
            if (i % 4 == 3)
                seen[i] = haul::describe<shared_part>().type;
            else
                seen[i] = i % 2 ? haul::describe<first_of_two>().type
                                : haul::describe<second_of_two>().type;
        });
    for (std::thread &thread : threads)
        thread.join();
    for (std::size_t i = 0; i < 4; i++)
        same &= seen[i] != nullptr && seen[i] == seen[i + 4] && haul_type_committed(seen[i]);
    check(same, "threads that describe at the same time get the same types");
    check(haul::describe<const shared_part>().type == seen[3], "const changes nothing");
}

int main()
{
    haul::context context;
    haul::device device;
    check(context.create() == HAUL_OK && device.open_host(context) == HAUL_OK,
          "the host device opens");
    containers_travel(device);
    a_container_can_be_the_root(device);
    errors_have_paths(device);
    the_audit_agrees(device);
    types_are_made_once();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
