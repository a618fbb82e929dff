/* C++ containers in an arena, read on the device by a function that knows no C++.
 *
 *     c++ -std=c++17 words_in_arena.cpp $(pkg-config --cflags --libs haul)
 *
 * A std::pmr vector of strings and a list of them take their memory from an arena. A struct in the
 * same arena has plain pointers to the characters of each string. (A short string holds its
 * characters itself, and lies in the arena too.) The arena's bytes are sent as they lie. The device
 * turns letters into capitals, and haul_unmarshal brings them back into the strings.
 *
 * Prints the numbers of words and letters, and three of the words.
 */
#include <cstdio>
#include <list>
#include <string>
#include <vector>

#include <haul.hpp>

struct word {
    char *text;
    std::size_t bytes;
};

struct words {
    word *all;
    std::size_t count;
    long letters;
};

/* Runs on the device. */
static void capitals(void *argument)
{
    words *w = static_cast<words *>(argument);
    for (std::size_t i = 0; i < w->count; i++)
        for (std::size_t j = 0; j < w->all[i].bytes; j++) {
            char &c = w->all[i].text[j];
            if (c >= 'a' && c <= 'z')
                c = static_cast<char>(c - 'a' + 'A');
            w->letters++;
        }
}

using strings = std::pmr::vector<std::pmr::string>;
using string_list = std::pmr::list<std::pmr::string>;

static word *view(word *at, std::pmr::string &text)
{
    at->text = text.data();
    at->bytes = text.size();
    return at + 1;
}

static words *make_views(const haul::arena &arena, const haul::type &words_type,
                         const haul::type &word_type, strings &some, string_list &others)
{
    words *w = haul::make<words>(arena, words_type);
    if (!w)
        return nullptr;
    w->count = some.size() + others.size();
    w->all = haul::make_array<word>(arena, word_type, w->count);
    if (!w->all)
        return nullptr;
    word *at = w->all;
    for (auto &text : some)
        at = view(at, text);
    for (auto &text : others)
        at = view(at, text);
    return w;
}

static bool travel(const haul::device &device, const haul::arena &arena, words *w)
{
    haul::shipment shipment;
    haul_shipment_info statistics;
    haul::check(arena.ship(device, shipment), device.error());
    haul::check(haul_host_launch(device.get(), capitals, shipment.device_pointer(w)));
    haul::check(shipment.unmarshal(), device.error());
    haul_shipment_get_info(shipment.get(), &statistics);
    std::printf("%lu words, %ld letters, in one transfer of %lu bytes\n",
                static_cast<unsigned long>(w->count), w->letters,
                static_cast<unsigned long>(statistics.bytes_to));
    return statistics.transfers_to == 1 && statistics.transfers_from == 1;
}

static bool run()
{
    haul::context context;
    haul::device device;
    haul::arena arena;
    static haul::type word_type, words_type;
    static const haul_field word_fields[] = { HAUL_ARRAY(word, text, HAUL_COUNT(word, bytes)) };
    static const haul_field words_fields[] = { HAUL_OBJECTS(words, all, word_type.address(),
                                                            HAUL_COUNT(words, count)) };
    haul::check(context.create());
    haul::check(word_type.create<word>(context.get(), "word", word_fields));
    haul::check(words_type.create<words>(context.get(), "words", words_fields));
    haul::check(words_type.commit(), context.error());
    haul::check(device.open_host(context), context.error());
    haul::check(arena.create(device), device.error());

    haul::arena_resource memory(arena);
    strings some(&memory);
    string_list others(&memory);
    for (const char *text :
         { "short", "a string that is too long to be kept within itself", "arena" })
        some.emplace_back(text);
    for (int i = 0; i < 1000; i++)
        others.emplace_back(std::to_string(i) + " of a thousand strings in a list");

    words *w = make_views(arena, words_type, word_type, some, others);
    if (!w || !travel(device, arena, w))
        return false;
    std::printf("%s; %s; %s\n", some[0].c_str(), some[1].c_str(), others.back().c_str());
    return some[0] == "SHORT" && some[1] == "A STRING THAT IS TOO LONG TO BE KEPT WITHIN ITSELF" &&
           others.back() == "999 OF A THOUSAND STRINGS IN A LIST";
}

int main()
{
    try {
        return run() ? 0 : 1;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
