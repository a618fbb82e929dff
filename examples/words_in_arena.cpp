/* C++ containers in an arena, read on the device by a function that knows no C++.
 *
 *     c++ -std=c++17 words_in_arena.cpp $(pkg-config --cflags --libs haul)
 *
 * A std::pmr::vector of strings takes its memory from an arena. A struct in the same arena has
 * plain pointers to the characters of each string. (A short string holds its characters itself, and
 * lies in the arena too.) The arena's bytes are sent as they lie. The device turns letters into
 * capitals, and haul_unmarshal brings them back into the strings.
 *
 * Prints the number of words, and three of them.
 */
#include <cstdio>
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
        }
}

using strings = std::pmr::vector<std::pmr::string>;

static words *make_views(const haul::arena &arena, const haul::type &words_type,
                         const haul::type &word_type, strings &texts)
{
    words *w = haul::make<words>(arena, words_type);
    if (!w)
        return nullptr;
    w->all = haul::make_array<word>(arena, word_type, texts.size());
    for (auto &text : texts)
        if (w->all)
            w->all[w->count++] = word{ text.data(), text.size() };
    return w->all ? w : nullptr;
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
    strings texts(&memory);
    texts.emplace_back("short");
    for (int i = 0; i < 1000; i++)
        texts.emplace_back(std::to_string(i) + ", which is too long for the string itself");

    haul::shipment shipment;
    words *w = make_views(arena, words_type, word_type, texts);
    if (!w)
        throw std::bad_alloc();
    haul::check(arena.ship(device, shipment), device.error());
    haul::check(haul_host_launch(device.get(), capitals, shipment.device_pointer(w)));
    haul::check(shipment.unmarshal(), device.error());
    std::printf("%lu words: %s; %s; ...; %s\n", static_cast<unsigned long>(w->count),
                texts[0].c_str(), texts[1].c_str(), texts.back().c_str());
    return texts[0] == "SHORT" && texts[1] == "0, WHICH IS TOO LONG FOR THE STRING ITSELF";
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
