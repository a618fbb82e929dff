/* Containers of nodes and of choices, described by haul/describe.hpp, on the host device: walked
 * and searched there by the same C++ types, changed there, brought back. Launches are strict: a
 * pointer that still leads to the host ends them.
 *
 * Built by tests/consumers/check.sh against an installed Haul, for libstdc++ and libc++. Ends with
 * "N passed, N failed".
 */
#include <cstdio>
#include <cstdlib>

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

/* ---- What a kernel sees of a value: a sum, in the order in which containers give it. */

struct sum {
    unsigned long long of;

    void add(unsigned long long number)
    {
        of = of * 31 + number;
    }
    void see(int number)
    {
        add(static_cast<unsigned>(number));
    }
    void see(char one)
    {
        add(static_cast<unsigned char>(one));
    }
    void see(const std::string &text)
    {
        for (char c : text)
            see(c);
        add(text.size());
    }
    template <class A, class B> void see(const std::pair<A, B> &both)
    {
        see(both.first);
        see(both.second);
    }
    template <class T> void see(const std::shared_ptr<T> &to)
    {
        add(static_cast<bool>(to));
        if (to)
            see(*to);
    }
    template <class C> void see(const C &all)
    {
        for (const auto &each : all)
            see(each);
    }
};

/* ---- Types. */

struct wide {
    double values[40];
    std::string name;
};

struct by_text { /* compares what keys lead to */
    bool operator()(const std::string *a, const std::string *b) const
    {
        return *a < *b;
    }
};

struct everything {
    std::list<std::list<std::string>> lists;
    std::list<char> letters;
    std::list<int> no_list;
    std::forward_list<std::vector<int>> chain, no_chain;
    std::map<std::string, std::vector<int>> words;
    std::multimap<int, std::map<int, std::string>> nested;
    std::set<char> marks;
    std::set<int> no_set;
    std::multiset<int> twice;
    std::set<const std::string *, by_text> by_content;
    std::unordered_map<std::string, std::vector<int>> table;
    std::unordered_map<int, std::unordered_map<int, int>> tables;
    std::unordered_set<int> numbers;
    std::unordered_set<char> one_bucket;
    std::unordered_multiset<int> pairs_of;
    std::unordered_multimap<char, std::string> many;
    std::deque<int> both_ends, no_deque, emptied;
    std::deque<std::string> texts;
    std::deque<wide> large;
    std::shared_ptr<std::string> shared[3];
    int count;
    std::pair<std::string, int> pair;
    std::tuple<int, std::string, char, std::vector<int>> tuple;
    const std::string *keys[2];
#if __cplusplus >= 201703L
    std::optional<std::string> some, none;
    std::optional<int> number;
    std::variant<int, std::string, std::vector<int>, double> choices[4];
#endif
};

template <> struct haul::members_of<wide> {
    static auto list()
    {
        return haul::members("wide", haul::field("name", &wide::name));
    }
};
template <> struct haul::members_of<everything> {
    typedef everything e;
    static auto list()
    {
        return haul::members(
            "everything", haul::field("lists", &e::lists), haul::field("letters", &e::letters),
            haul::field("no_list", &e::no_list), haul::field("chain", &e::chain),
            haul::field("no_chain", &e::no_chain), haul::field("words", &e::words),
            haul::field("nested", &e::nested), haul::field("marks", &e::marks),
            haul::field("no_set", &e::no_set), haul::field("twice", &e::twice),
            haul::field("by_content", &e::by_content), haul::field("table", &e::table),
            haul::field("tables", &e::tables), haul::field("numbers", &e::numbers),
            haul::field("one_bucket", &e::one_bucket), haul::field("pairs_of", &e::pairs_of),
            haul::field("many", &e::many), haul::field("both_ends", &e::both_ends),
            haul::field("no_deque", &e::no_deque), haul::field("emptied", &e::emptied),
            haul::field("texts", &e::texts), haul::field("large", &e::large),
            haul::field("shared", &e::shared), haul::field("pair", &e::pair),
            haul::field("tuple", &e::tuple), haul::field("keys", &e::keys)
#if __cplusplus >= 201703L
                                                 ,
            haul::field("some", &e::some), haul::field("none", &e::none),
            haul::field("number", &e::number), haul::field("choices", &e::choices)
#endif
        );
    }
};

static const std::string key_texts[2] = { "zebra", "a key, of more than the inline length" };

static void fill(everything &e)
{
    e.lists = { { "a", "text that is too long to stand in place", "c" }, {}, { "d" } };
    e.letters = { 'x', 'y' };
    e.chain = { { 1, 2 }, {}, { 3 } };
    e.words = { { "one", { 1 } }, { "a word that is too long to stand in place", { 2, 3 } } };
    e.nested = { { 3, { { 1, "three" } } }, { 3, {} }, { 1, { { 2, "x" }, { 1, "y" } } } };
    e.marks = { '?', '!' };
    for (int i = 0; i < 300; i++) {
        e.numbers.insert(i * 17);
        e.twice.insert(i / 2);
        e.both_ends.push_back(i);
        e.both_ends.push_front(-i);
        e.emptied.push_back(i);
    }
    e.emptied.clear();
    e.by_content = { &key_texts[0], &key_texts[1] };
    e.table = { { "short", { 4 } }, { "a key that is too long to stand in place", {} } };
    e.tables[7][8] = 9;
    e.one_bucket = { 'u' };
    e.pairs_of = { 4, 4, 5 };
    e.many.emplace('q', "first");
    e.many.emplace('q', "second, and too long to stand in place");
    for (int i = 0; i < 60; i++) {
        e.texts.push_back("text " + std::to_string(i) +
                          (i % 2 ? ", which is quite a long one" : ""));
        e.large.emplace_front();
        e.large.front().name = "wide " + std::to_string(i);
    }
    e.texts.pop_front();
    e.shared[0] = e.shared[2] = std::make_shared<std::string>("held twice, and long enough");
    e.count = 3;
    e.pair = { "one of two, which is quite long", 5 };
    e.tuple =
        std::make_tuple(1, std::string("in a tuple, out of place"), 'c', std::vector<int>{ 6, 7 });
    e.keys[0] = &key_texts[0];
    e.keys[1] = &key_texts[1];
#if __cplusplus >= 201703L
    e.some = "an optional text that is quite long";
    e.number = 4;
    e.choices[1] = "a chosen text that is quite long";
    e.choices[2] = std::vector<int>{ 8, 9 };
    e.choices[3] = 2.5;
#endif
}

static unsigned long long sum_of(const everything &e)
{
    sum s = { 7 };
    s.see(e.lists);
    for (auto one = e.lists.rbegin(); one != e.lists.rend(); ++one)
        s.add(one->size());
    s.see(e.letters);
    s.see(e.no_list);
    s.see(e.chain);
    s.see(e.no_chain);
    s.see(e.words);
    for (auto one = e.words.rbegin(); one != e.words.rend(); ++one)
        s.see(one->second);
    s.see(e.nested);
    s.add(e.nested.count(3));
    s.see(e.marks);
    s.see(e.no_set);
    s.see(e.twice);
    s.add(e.twice.count(70));
    for (const std::string *key : e.by_content)
        s.see(*key);
    for (const std::string *key : e.keys)
        s.add(e.by_content.count(key));
    s.see(e.table);
    s.add(e.table.count("short"));
    s.see(e.tables);
    s.see(e.numbers);
    for (int i = 0; i < 40; i++)
        s.add(e.numbers.count(i));
    s.see(e.one_bucket);
    s.add(e.one_bucket.count('u'));
    s.see(e.pairs_of);
    s.see(e.many);
    s.see(e.both_ends);
    s.see(e.both_ends[400]);
    s.see(e.no_deque);
    s.see(e.emptied);
    s.add(e.emptied.size() + e.no_deque.size());
    s.see(e.texts);
    for (auto one = e.texts.rbegin(); one != e.texts.rend(); ++one)
        s.see(*one);
    for (const wide &w : e.large)
        s.see(w.name);
    s.see(e.shared);
    s.add(e.shared[0] == e.shared[2]);
    s.see(e.pair);
    s.see(std::get<1>(e.tuple));
    s.see(std::get<3>(e.tuple));
#if __cplusplus >= 201703L
    s.see(*e.some);
    s.add(e.none.has_value());
    s.see(*e.number);
    s.see(std::get<0>(e.choices[0]));
    s.see(std::get<1>(e.choices[1]));
    s.see(std::get<2>(e.choices[2]));
    s.add(std::get<3>(e.choices[3]) > 2);
#endif
    return s.of;
}

struct visit {
    everything *at;
    unsigned long long seen;
};

/* What a strict launch writes outside of the device is lost, so sums are compared there. */
static void look_and_change(void *argument)
{
    const visit &v = *static_cast<visit *>(argument);
    v.at->count = sum_of(*v.at) == v.seen ? 1 : 2;
    v.at->lists.front().front()[0] = 'Z';
    v.at->words.begin()->second[1] = 33;
    v.at->both_ends[450] = 44;
    v.at->table.find("short")->second[0] = 55;
    (*v.at->shared[2])[0] = 'H';
#if __cplusplus >= 201703L
    std::get<1>(v.at->choices[1])[0] = 'A';
#endif
}

static void containers_travel(haul::device &device)
{
    static everything e;
    haul::shipment shipment;
    const haul::described &d = haul::describe<everything>();
    fill(e);
    check_status(d.status, &d.error, "a struct of all of them describes itself");
    check_status(shipment.ship(device, &e), device.error(), "it ships");
    if (!shipment)
        return;
    visit v = { shipment.device_pointer(&e), sum_of(e) };
    check_status(haul_host_launch(device.get(), look_and_change, &v), device.error(),
                 "a kernel walks them without leaving the device");
    check_status(shipment.unmarshal(), device.error(), "they come back");
    check(e.count == 1, "the device sees what the host sees");
    check(e.lists.front().front()[0] == 'Z' && e.words.begin()->second[1] == 33 &&
              e.both_ends[450] == 44 && e.table["short"][0] == 55 && (*e.shared[0])[0] == 'H',
          "the host has what the device wrote");
#if __cplusplus >= 201703L
    check(std::get<1>(e.choices[1])[0] == 'A', "in what was chosen, too");
#endif
    check(e.shared[0].use_count() == 2, "counts of owners stay as they are");
    e.lists.front().push_back("and they are alive");
    e.words["new"] = { 1 };
    e.numbers.insert(5000);
    e.both_ends.push_front(9);
    e.count = 0;
    check_status(shipment.ship(device, &e), device.error(), "what has grown ships again");
    v = { shipment.device_pointer(&e), sum_of(e) };
    check_status(haul_host_launch(device.get(), look_and_change, &v), device.error(),
                 "a kernel walks it");
    check(shipment.unmarshal() == HAUL_OK && e.count == 1, "and sees what has grown");
}

/* A deque of each length and each place of its ends in its blocks. */
static void deques_of_all_lengths(haul::device &device)
{
    std::deque<wide> d;
    std::deque<short> s;
    haul::shipment shipment;
    int bad = 0;
    for (int i = 0; i < 40; i++) {
        d.emplace_back();
        if (i % 3)
            d.pop_front();
        bad += shipment.ship(device, &d) != HAUL_OK;
    }
    for (int i = 0; i < 700; i += 7) {
        s.resize(static_cast<std::size_t>(i));
        bad += shipment.ship(device, &s) != HAUL_OK;
        s.push_front(1);
    }
    while (!s.empty()) {
        s.pop_front();
        if (s.size() % 16 == 0)
            bad += shipment.ship(device, &s) != HAUL_OK;
    }
    check(bad == 0, "a deque ships with any ends");
}

/* ---- A struct whose containers hold structs of its own kind. */

struct branch {
    int id;
    std::vector<branch> row;
    std::list<branch> list;
    std::map<int, branch> map;
    std::shared_ptr<branch> origin;
};
template <> struct haul::members_of<branch> {
    static auto list()
    {
        return haul::members("branch", haul::field("row", &branch::row),
                             haul::field("list", &branch::list), haul::field("map", &branch::map),
                             haul::field("origin", &branch::origin));
    }
};

static int sum_of(const branch &b)
{
    int sum = b.id;
    for (const branch &inner : b.row)
        sum += sum_of(inner);
    for (const branch &inner : b.list)
        sum += 2 * sum_of(inner);
    for (const std::pair<const int, branch> &inner : b.map)
        sum += inner.first * sum_of(inner.second);
    return sum + (b.origin ? b.origin->id : 0);
}

static void take_sum(void *argument)
{
    branch *b = *static_cast<branch **>(argument);
    b->id = sum_of(*b);
}

static void containers_hold_their_struct(haul::device &device)
{
    branch b = { 1, {}, {}, {}, {} }, other = { 2, {}, {}, {}, {} };
    haul::shipment shipment;
    b.row.push_back(other);
    other.list.push_back(b);
    b.map[3] = other;
    b.origin = std::make_shared<branch>(other);
    b.list.push_back(other);
    const int sum = sum_of(b);
    check_status(shipment.ship(device, &b), device.error(), "a struct that holds its kind ships");
    branch *at = shipment.device_pointer(&b);
    check_status(haul_host_launch(device.get(), take_sum, &at), device.error(),
                 "a kernel goes through its levels");
    check(shipment.unmarshal() == HAUL_OK && b.id == sum, "and finds all of them");
}

int main()
{
    haul::context context;
    haul::device device;
    setenv("HAUL_HOST_STRICT", "1", 1);
    check(context.create() == HAUL_OK && device.open_host(context) == HAUL_OK,
          "the host device opens");
    containers_hold_their_struct(device);
    containers_travel(device);
    deques_of_all_lengths(device);
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
