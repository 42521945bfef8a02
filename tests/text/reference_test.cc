// Ids and texts of the reference (Hugging Face tokenizers), case K1. Each folder holds a family's tokenizer.json, cut
// to the byte tokens and to what can occur inside the pieces of its lines; ids are unchanged. variants/ holds one such
// file and changes of it. tools/make_tokenizer_references.py makes them.
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/jsonl.h"
#include "text/text_stream.h"
#include "text/tokenizer.h"
#include "text/tokenizer_file.h"

namespace hone {
namespace {

using io::Json;

std::vector<io::JsonRow> read_rows(const std::string& path) {
  io::Faults faults;
  auto rows = io::read_jsonl(path, faults);
  faults.raise_if_any("reference");
  return rows;
}

std::string stream(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool skip_special) {
  TextStream text(tokenizer, skip_special);
  std::string shown;
  for (const int32_t id : ids) shown += text.push(id);
  return shown + text.finish();
}

void expect_reference(const Tokenizer& tokenizer, const Json& row) {
  const std::string& given = row.at("text").as_string();
  std::vector<int32_t> expected;
  for (const auto& id : row.at("ids").as_array()) expected.push_back(static_cast<int32_t>(id.as_int()));
  const auto ids = tokenizer.encode(given, row.at("special").as_bool());
  EXPECT_EQ(ids, expected) << given;
  EXPECT_EQ(tokenizer.decode(ids, false), row.at("decoded").as_string());
  EXPECT_EQ(tokenizer.decode(ids, true), row.at("shown").as_string());
  EXPECT_EQ(stream(tokenizer, ids, true), row.at("shown").as_string());
}

class Family : public ::testing::TestWithParam<const char*> {};

TEST_P(Family, GivesTheIdsAndTheTextOfTheReference) {
  const std::string folder = HONE_TEST_DATA "/" + std::string(GetParam());
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const auto rows = read_rows(folder + "/reference.jsonl");
  ASSERT_GE(rows.size(), 100u);
  for (const auto& [line, row] : rows) {
    SCOPED_TRACE(line);
    expect_reference(tokenizer, row);
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, Family, ::testing::Values("qwen3", "qwen2_5", "llama3", "smollm2"));

// The tokenizer.json with some of its values replaced; of the model each value by itself.
Json changed(Json json, const Json& changes) {
  for (const auto& [key, value] : changes.as_object()) {
    if (key != "model") {
      json.set(key, value);
      continue;
    }
    for (const auto& [part, part_value] : value.as_object()) json.find("model")->set(part, part_value);
  }
  return json;
}

TEST(Reference, EveryVariantOfTheFileGivesTheIdsAndTheTextOfTheReference) {
  const std::string folder = HONE_TEST_DATA "/variants";
  const Json base = io::read_json(folder + "/tokenizer.json");
  const auto variants = read_rows(folder + "/variants.jsonl");
  ASSERT_GE(variants.size(), 40u);
  for (const auto& [line, variant] : variants) {
    SCOPED_TRACE(variant.at("name").as_string());
    const Json json = changed(base, variant.at("changes"));
    const Tokenizer tokenizer(text::parse_tokenizer(json, "variant"));
    for (const Json& row : variant.at("lines").as_array()) expect_reference(tokenizer, row);
  }
}

// Not quadratic in the length of a piece, of a run of white space, of marks, of added tokens.
TEST_P(Family, TakesNoQuadraticTimeForLongRuns) {
  const Tokenizer tokenizer = Tokenizer::load(HONE_TEST_DATA "/" + std::string(GetParam()));
  for (const std::string unit : {"a", " ", "\n", "ab", "9", "!", " a", "\u00E9", "\u4E16", "\u0301\u0323", "<", "'s"}) {
    std::string text = "x";
    while (text.size() < 500'000) text += unit;
    EXPECT_FALSE(tokenizer.encode(text, true).empty());
  }
}

TEST(Reference, OneBeginOfTextBeforeLlama3) {
  const Tokenizer tokenizer = Tokenizer::load(HONE_TEST_DATA "/llama3");
  EXPECT_EQ(tokenizer.prefix_ids(), std::vector<int32_t>{128000});
  auto once = tokenizer.encode("hi", true), twice = tokenizer.encode("<|begin_of_text|>hi", true);
  tokenizer.add_prefix(once);
  tokenizer.add_prefix(twice);
  EXPECT_EQ(once, twice);
}

}  // namespace
}  // namespace hone
