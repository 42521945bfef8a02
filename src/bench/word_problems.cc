#include "bench/word_problems.h"

#include <fmt/core.h>

#include <array>
#include <map>
#include <set>

#include "core/random.h"
#include "text/byte_alphabet.h"
#include "text/pre_pattern.h"
#include "text/qwen_components.h"

namespace hone::bench {

using io::Json;

namespace {

constexpr std::array kNames = {"Natalia", "James", "Weng",   "Betty", "Julie", "Mark",  "Albert",  "Ken",
                               "Alexis",  "Tina",  "Jasper", "Toula", "Carla", "Randy", "Darrell", "Allyson"};
constexpr std::array kThings = {"clips",   "pages",   "pencils",  "flowers", "cupcakes", "marbles",
                                "tickets", "apples",  "stickers", "letters", "shirts",   "bottles",
                                "cookies", "baskets", "puppies",  "dollars"};
constexpr std::array kVerbs = {"sold", "bought", "collected", "planted", "gave away", "received", "packed", "counted"};
constexpr std::array kTimes = {"in the morning",   "on Monday", "last week", "during the afternoon",
                               "over the weekend", "each day",  "in April",  "every two hours"};
constexpr std::array kEnds = {"How many does she have altogether?", "How much money is left?",
                              "What is the total number for the year?", "How many more are needed to fill the box?"};

class Writer {
 public:
  explicit Writer(uint64_t problem) : problem_(problem) {}

  std::string write() {
    const uint32_t a = number(), b = number(), c = a + b;
    const std::string name = pick(kNames), things = pick(kThings);
    std::string text = fmt::format("{} {} {} {} {}, and then {} {} {} more {}.", name, pick(kVerbs), a, things,
                                   pick(kTimes), pick(kVerbs), b, things, pick(kTimes));
    text += fmt::format(" {}'s friend {} doesn't need {} of them. {}\n", name, pick(kNames), number(), pick(kEnds));
    text += fmt::format("{} {} {}+{} = <<{}+{}={}>>{} {} {}.\n", name, pick(kVerbs), a, b, a, b, c, c, things,
                        pick(kTimes));
    text += fmt::format("So the answer is ${}.00 / 2 = {}.\n#### {}", 2 * c, c, c);
    return text;
  }

 private:
  uint32_t draw(uint32_t bound) { return random_below({11, Stream::init}, problem_, 0, position_++, bound); }
  uint32_t number() { return draw(4) == 0 ? draw(5000) : draw(100); }
  template <size_t N>
  std::string pick(const std::array<const char*, N>& words) {
    return words[draw(N)];
  }
  uint64_t problem_;
  uint32_t position_ = 0;
};

using Pair = std::pair<std::string, std::string>;

// A word as the symbols it has been merged into, and how often it stands in the text.
struct Word {
  std::vector<std::string> symbols;
  int64_t count = 0;
};

std::vector<Word> count_words() {
  std::map<std::string, int64_t> counts;
  for (const std::string& text : make_word_problems(100'000)) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text::match_end({}, text, begin);
      ++counts[text.substr(begin, end - begin)];
      begin = end;
    }
  }
  std::vector<Word> words;
  for (const auto& [text, count] : counts) {
    Word word{{}, count};
    for (const char byte : text) word.symbols.push_back(text::byte_character(static_cast<unsigned char>(byte)));
    words.push_back(std::move(word));
  }
  return words;
}

void merge(Word& word, const Pair& pair) {
  for (size_t i = 0; i + 1 < word.symbols.size(); ++i) {
    if (word.symbols[i] != pair.first || word.symbols[i + 1] != pair.second) continue;
    word.symbols[i] += pair.second;
    word.symbols.erase(word.symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// The most frequent pair, the first of equals; empty when nothing is left to merge.
Pair find_most_frequent(const std::vector<Word>& words) {
  std::map<Pair, int64_t> counts;
  for (const Word& word : words) {
    for (size_t i = 0; i + 1 < word.symbols.size(); ++i) {
      counts[{word.symbols[i], word.symbols[i + 1]}] += word.count;
    }
  }
  Pair best;
  int64_t best_count = 0;
  for (const auto& [pair, count] : counts) {
    if (count > best_count) best = pair, best_count = count;
  }
  return best;
}

}  // namespace

std::vector<std::string> make_word_problems(int64_t size_bytes) {
  std::vector<std::string> texts;
  for (int64_t size = 0; size < size_bytes; size += static_cast<int64_t>(texts.back().size())) {
    texts.push_back(Writer(texts.size()).write());
  }
  return texts;
}

Json train_word_problem_tokenizer() {
  constexpr int kMerges = 400;
  Json::Object vocab;
  std::set<std::string> known;
  const auto add = [&](const std::string& token) {
    if (known.insert(token).second) vocab.push_back({token, Json(static_cast<int64_t>(vocab.size()))});
  };
  for (int byte = 0; byte < 256; ++byte) add(text::byte_character(static_cast<unsigned char>(byte)));
  Json merges = Json::array();
  std::vector<Word> words = count_words();
  for (int m = 0; m < kMerges; ++m) {
    const Pair pair = find_most_frequent(words);
    if (pair.first.empty()) break;
    for (Word& word : words) merge(word, pair);
    add(pair.first + pair.second);
    merges.push_back(Json::array({pair.first, pair.second}));
  }
  return Json::object(
      {{"normalizer", Json::object({{"type", "NFC"}})},
       {"pre_tokenizer", text::qwen_pre_tokenizer()},
       {"decoder", text::byte_level_component()},
       {"model", Json::object({{"type", "BPE"}, {"vocab", Json(std::move(vocab))}, {"merges", std::move(merges)}})}});
}

}  // namespace hone::bench
