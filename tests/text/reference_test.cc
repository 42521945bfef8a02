// Ids of the model's reference tokenizer (Hugging Face tokenizers 0.23), case K1. The tokenizer.json is Qwen3's, cut to
// the byte tokens and to what can occur inside the pieces of the texts; ids are unchanged.
#include <gtest/gtest.h>

#include "io/jsonl.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

TEST(Qwen3Tokenizer, GivesTheIdsAndTheTextOfTheReference) {
  const std::string folder = HONE_TEST_DATA "/qwen3_subset";
  const Tokenizer tokenizer = Tokenizer::load(folder);
  EXPECT_EQ(tokenizer.vocab_size(), 151669);
  io::Faults faults;
  const auto rows = io::read_jsonl(folder + "/reference.jsonl", faults);
  faults.raise_if_any("reference");
  ASSERT_GE(rows.size(), 18u);
  for (const auto& [line, row] : rows) {
    SCOPED_TRACE(line);
    const std::string& given = row.at("text").as_string();
    std::vector<int32_t> expected;
    for (const auto& id : row.at("ids").as_array()) expected.push_back(static_cast<int32_t>(id.as_int()));
    const auto ids = tokenizer.encode(given, row.at("special").as_bool());
    EXPECT_EQ(ids, expected) << given;
    EXPECT_EQ(tokenizer.decode(ids, false), row.at("decoded").as_string());
    EXPECT_EQ(tokenizer.decode(ids, true), row.at("shown").as_string());
  }
}

}  // namespace
}  // namespace hone
