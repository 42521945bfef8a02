#include "rollout/stop_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "core/random.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "text/character_tokenizer.h"

namespace hone {
namespace {

// Tokens of one to four characters, of half a character, and a special one.
Tokenizer tokenizer_of_pieces() {
  std::string folder = (std::filesystem::temp_directory_path() / "hone_stop_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
  write_character_tokenizer(folder, "abc", {"<|end|>"}, "<|end|>");
  std::string text = io::read_file(folder + "/tokenizer.json");
  const std::string first = "\"a\": 0";
  // U+00E9 is c3 a9, which the byte alphabet spells U+00C3 and U+00A9.
  text.replace(text.find(first), first.size(),
               first + ", \"ab\": 4, \"bca\": 5, \"aabb\": 6, \"\u00C3\": 7, \"\u00A9\": 8");
  io::write_file(folder + "/tokenizer.json", text);
  Tokenizer tokenizer = Tokenizer::load(folder);
  std::filesystem::remove_all(folder);
  return tokenizer;
}

// The text before the stop text that ends first, by looking at everything.
std::optional<std::string> text_before(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::optional<size_t> begin;
    for (const std::string& stop : stops) {
      if (stop.size() > end || text.compare(end - stop.size(), stop.size(), stop) != 0) continue;
      begin = std::min(begin.value_or(end), end - stop.size());
    }
    if (begin) return text.substr(0, *begin);
  }
  return std::nullopt;
}

TEST(StopText, FindsWhatLookingAtTheWholeTextFinds) {
  const Tokenizer tokenizer = tokenizer_of_pieces();
  const std::vector<std::vector<std::string>> all = {
      {"b"}, {"ab", "abc"}, {"abcabc", "bb"}, {"aaab", "ba", "cc"}, {"\u00E9"}, {"b\u00E9a", "\uFFFD"}, {}};
  int num_found = 0, num_not = 0;
  for (uint32_t k = 0; k < 2000; ++k) {
    const std::vector<std::string>& stops = all[k % all.size()];
    std::vector<int32_t> ids;
    StopText search(tokenizer, stops);
    std::string text;
    bool found = false;
    for (uint32_t i = 0; i < 12 && !found; ++i) {
      ids.push_back(static_cast<int32_t>(random_below({1, Stream::test}, k, 0, i, 9)));
      // What is given out is never taken back: it is part of the text before a stop text.
      found = search.push(ids.back(), &text);
      const std::string whole = tokenizer.decode(ids, true);
      ASSERT_EQ(whole.compare(0, text.size(), text), 0) << whole << " has no " << text;
    }
    if (!found) found = search.finish(&text);
    const std::string whole = tokenizer.decode(ids, true);
    const std::optional<std::string> expected = text_before(whole, stops);
    ASSERT_EQ(found, expected.has_value()) << whole;
    ASSERT_EQ(text, expected.value_or(whole));
    (found ? num_found : num_not) += 1;
    if (!found) continue;
    ids.pop_back();  // it is found with the very token that completes it
    const std::string shorter = tokenizer.decode_bytes(ids, true);
    EXPECT_FALSE(text_before(shorter, stops)) << shorter;
  }
  EXPECT_GT(num_found, 500);
  EXPECT_GT(num_not, 200);
}

TEST(StopText, BeforeItsMinimumAStopTextIsText) {
  const Tokenizer tokenizer = tokenizer_of_pieces();
  StopText search(tokenizer, {"ab", "ca"}, 3);
  std::string text;
  for (int32_t id : {4, 2, 2}) EXPECT_FALSE(search.push(id, &text));  // ab c c
  EXPECT_EQ(text, "abc");
  EXPECT_TRUE(search.push(0, &text));
  EXPECT_EQ(text, "abc");
}

}  // namespace
}  // namespace hone
