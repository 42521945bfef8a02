#include "io/yaml.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"

namespace hone::io {
namespace {

std::string yaml_error(const std::string& text) {
  try {
    parse_yaml(text, "f.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Yaml, ScalarsFollowTheCoreSchemaAndAmbiguousOnesStayText) {
  struct Case {
    const char* text;
    const char* json;
  };
  const Case cases[] = {{"null", "null"},
                        {"~", "null"},
                        {"", "null"},
                        {"true", "true"},
                        {"False", "false"},
                        {"yes", "\"yes\""},
                        {"on", "\"on\""},
                        {"tRuE", "\"tRuE\""},
                        {"12", "12"},
                        {"-0", "0"},
                        {"+7", "7"},
                        {"0", "0"},
                        {"010", "\"010\""},
                        {"0o17", "\"0o17\""},
                        {"0x1f", "\"0x1f\""},
                        {"1_000", "\"1_000\""},
                        {"12:30", "\"12:30\""},
                        {"1e-4", "1e-04"},
                        {"3e-5", "3e-05"},
                        {"1E+3", "1000.0"},
                        {"1.", "1.0"},
                        {".5", "0.5"},
                        {"-2.50", "-2.5"},
                        {"1.5e", "\"1.5e\""},
                        {".", "\".\""},
                        {"e5", "\"e5\""},
                        {".nan", "\".nan\""},
                        {".inf", "\".inf\""},
                        {"1e999", "\"1e999\""},
                        {"1.2.3", "\"1.2.3\""},
                        {"'12'", "\"12\""},
                        {"\"true\"", "\"true\""},
                        {"9223372036854775808", "9223372036854775808"},
                        {"00.5", "\"00.5\""},
                        {"a b", "\"a b\""}};
  for (const Case& c : cases) {
    EXPECT_EQ(parse_yaml("k: " + std::string(c.text), "f").tree.at("k").dump(), c.json) << c.text;
  }
}

TEST(Yaml, ReadsTreesAnchorsAndLines) {
  const Yaml yaml = parse_yaml(
      "# a recipe\n"
      "data:\n"
      "  files: &f [a.jsonl, 'b c.jsonl']\n"
      "  again: *f\n"
      "optim: {lr: 1e-6, betas: [0.9, 0.999]}\n"
      "text: |\n"
      "  two\n"
      "  lines\n"
      "none:\n",
      "f");
  EXPECT_EQ(yaml.tree.dump(),
            R"({"data": {"files": ["a.jsonl", "b c.jsonl"], "again": ["a.jsonl", "b c.jsonl"]}, )"
            R"("optim": {"lr": 1e-06, "betas": [0.9, 0.999]}, "text": "two\nlines\n", "none": null})");
  EXPECT_EQ(yaml.lines.at("data.again"), 4);
  EXPECT_EQ(yaml.lines.at("optim.betas"), 5);
  EXPECT_TRUE(parse_yaml("", "f").tree.is_null());
  EXPECT_TRUE(parse_yaml("# only a comment\n", "f").tree.is_null());
}

TEST(Yaml, RefusesWithFileLineAndColumn) {
  std::string deep, bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 0; i < 200; ++i) deep += "[";
  deep += std::string(200, ']');
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format("a{}: &a{} [*a{}, *a{}, *a{}, *a{}, *a{}, *a{}, *a{}, *a{}, *a{}, *a{}]\n", i, i, i - 1, i - 1,
                        i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
  }
  std::string texts = "a: &a \"" + std::string(1'000'000, 'x') + "\"\nb: [*a";
  for (int i = 0; i < 100; ++i) texts += ", *a";
  std::string anchors;  // each keeps a copy of what is within it
  for (int i = 0; i < 70; ++i) anchors += fmt::format("&a{} [", i);
  anchors += std::string(1'000'000, 'x') + std::string(70, ']');
  std::string paths = "? " + std::string(1'000'000, 'k') + "\n: {k0";
  for (int i = 1; i < 100; ++i) paths += fmt::format(", k{}", i);
  struct Case {
    std::string text;
    const char* place;
    const char* what;
  };
  const Case cases[] = {
      {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: ", "key a comes twice"},
      {"a: {b: 1, b: 2}\n", "f.yaml:1:11: ", "key b comes twice"},
      {"a: [1\n", "f.yaml:", ""},
      {"a: 1\n\tb: 2\n", "f.yaml:", ""},
      {"a: \xff\n", "f.yaml:1:4: ", "not UTF-8"},
      {std::string("\0a\0:\0 \0b", 8), "f.yaml:1:1: ", "a control character \\x00"},
      {"a: b\nc: \x1b[2J\n", "f.yaml:2:4: ", "a control character \\x1b"},
      {"a: 1\n---\nb: 2\n", "f.yaml:2:1: ", "a second document"},
      {"a: !!python/object x\n", "f.yaml:1:", "tag "},
      {"a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3:3: ", "a merge key"},
      {"? [a]\n: 1\n", "f.yaml:1:", "a key that is not a scalar"},
      {"a: &x [*x]\n", "f.yaml:1:", ""},
      {"a: *none\n", "f.yaml:1:", ""},
      {deep, "f.yaml:1:", "nested deeper than 100 levels"},
      {bomb, "f.yaml:", "more than 1000000 values"},
      {texts + "]\n", "f.yaml:2:", "more than 67108864 bytes of text"},
      {anchors, "f.yaml:1:", "more than 67108864 bytes of text"},
      {paths + "}\n", "f.yaml:2:", "more than 67108864 bytes of text"},
  };
  for (const Case& c : cases) {
    const std::string error = yaml_error(c.text);
    EXPECT_EQ(error.find(c.place), 0u) << c.text.substr(0, 2000) << "\n" << error;
    EXPECT_NE(error.find(c.what), std::string::npos) << c.text.substr(0, 2000) << "\n" << error;
  }
}

TEST(Yaml, FlowTextReadsBack) {
  for (const char* text :
       {"abc", "a/b-c.jsonl", "true", "null", "12", "1e-4", "",   " x", "a: b", "${x}", "- a", "#", "é\n", "yes",
        "010", "it's",        "a,b",  "[x]",  "*a", "&a",   "!t", "%",  "@",    "`",    "~",   "-", "."}) {
    const Json value = Json::object({{"k", Json::array({text, 1, 2.5, true, nullptr})}});
    EXPECT_EQ(parse_yaml("v: " + flow_yaml(value), "f").tree.at("v"), value) << text;
  }
}

TEST(Yaml, MutatedTextNeverCrashes) {
  const std::string seed_text =
      "a: &x {b: [1, 2e-3, 'q'], c: \"d\\n\"}\nlist:\n  - *x\n  - |\n    block\n  - ? k\n    : v\n# end\nz: >-\n  "
      "folded\n";
  const RandomKey key{9, Stream::test};
  int values = 0;
  for (uint32_t round = 0; round < 6000; ++round) {
    std::string text = seed_text;
    const uint32_t changes = 1 + random_below(key, round, 0, 0, 4);
    for (uint32_t i = 0; i < changes; ++i) {
      const size_t at = random_below(key, round, 1, i, static_cast<uint32_t>(text.size()));
      const char known[] = "-?:,[]{}#&*!|>'\"%@` \n\t~<=.0aé";
      switch (random_below(key, round, 2, i, 4)) {
        case 0:
          text[at] = static_cast<char>(random_below(key, round, 3, i, 256));
          break;
        case 1:
          text.erase(at, 1 + random_below(key, round, 4, i, 6));
          break;
        case 2:
          text.insert(at, 1, known[random_below(key, round, 5, i, sizeof known - 1)]);
          break;
        default:
          text.resize(std::max<size_t>(at, 1));
      }
      if (text.empty()) text = " ";
    }
    try {
      const Json tree = parse_yaml(text, "f").tree;
      EXPECT_EQ(parse_yaml("v: " + flow_yaml(tree), "g").tree.at("v"), tree) << text;
      ++values;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("f:"), 0u) << error.what() << "\n" << text;
    }
  }
  EXPECT_GT(values, 100);
}

}  // namespace
}  // namespace hone::io
