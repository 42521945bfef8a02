#include "io/json.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/random.h"
#include "io/jsonl.h"

namespace hone::io {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "f.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Json, RefusesWhatIsNotStrictJsonWithFileLineAndColumn) {
  struct Case {
    const char* text;
    const char* place;
    const char* what;
  };
  const std::string huge = "[1" + std::string(320, '0') + "]";
  const Case cases[] = {
      {"{\"a\": 1,\n \"a\": 2}", "f.json:2:4: ", "key \"a\" comes twice"},
      {"{\"a\": {\"b\": 1, \"b\": 2}}", "f.json:1:18: ", "key \"b\" comes twice"},
      {"[NaN]", "f.json:1:2: ", "invalid literal"},
      {"[1,\n\n Infinity]", "f.json:3:2: ", "invalid literal"},
      {"[-Infinity]", "f.json:1:3: ", "invalid number"},
      {"[1e999]", "f.json:1:6: ", "number overflow"},
      {huge.c_str(), "f.json:1:", "number overflow"},
      {"{\"a\": 1} x", "f.json:1:10: ", "expected end of input"},
      {"{\"a\": 1}{", "f.json:1:9: ", "expected end of input"},
      {"", "f.json:1:1: ", "unexpected end of input"},
      {"{\"a\":", "f.json:1:6: ", "unexpected end of input"},
      {"[1,]", "f.json:1:4: ", "unexpected ']'"},
      {"{'a': 1}", "f.json:1:2: ", "invalid literal"},
      {"// c\n1", "f.json:1:1: ", "invalid literal"},
      {"[01]", "f.json:1:3: ", "unexpected number"},
      {"[\"a\n\"]", "f.json:1:4: ", "control character"},
      {"[\"\xff\"]", "f.json:1:3: ", "not UTF-8"},
      {"[\"\xc0\x80\"]", "f.json:1:3: ", "not UTF-8"},
      {"[\"\xed\xa0\x80\"]", "f.json:1:3: ", "not UTF-8"},
      {"[\"\\ud800\"]", "f.json:1:", "surrogate"},
  };
  for (const Case& c : cases) {
    const std::string error = error_of(c.text);
    EXPECT_EQ(error.find(c.place), 0u) << c.text << "\n" << error;
    EXPECT_NE(error.find(c.what), std::string::npos) << c.text << "\n" << error;
  }
}

TEST(Json, NestsAHundredLevelsAndNoDeeper) {
  EXPECT_EQ(error_of(std::string(100, '[') + std::string(100, ']')), "no error");
  EXPECT_EQ(error_of(std::string(101, '[') + std::string(101, ']')), "f.json:1:101: nested deeper than 100 levels");
  EXPECT_NE(error_of(std::string(1000000, '[')), "no error");
}

TEST(Json, FindsDuplicatesInLargeObjects) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += fmt::format("\"k{}\": {},", i, i);
  EXPECT_EQ(error_of(text + "\"last\": 0}"), "no error");
  for (int i : {0, 15, 16, 17, 4999}) {
    EXPECT_NE(error_of(text + fmt::format("\"k{}\": 0}}", i)).find("comes twice"), std::string::npos) << i;
  }
}

TEST(Json, KeepsTheKindsOfNumbers) {
  const Json json = parse_json(
      R"([1, 1.0, -9223372036854775808, 9223372036854775807, 9223372036854775808, 1000000000000000019884624838656])",
      "f");
  const Json::Array& items = json.as_array();
  EXPECT_EQ(items[0].kind(), Json::Kind::integer);
  EXPECT_EQ(items[1].kind(), Json::Kind::number);
  EXPECT_EQ(items[2].as_int(), INT64_MIN);
  EXPECT_EQ(items[3].as_int(), INT64_MAX);
  EXPECT_EQ(items[4].as_uint(), uint64_t{1} << 63);
  EXPECT_THROW(items[4].as_int(), Error);
  EXPECT_EQ(items[5].as_double(), 1e30);
  EXPECT_THROW(items[1].as_int(), Error);
  EXPECT_EQ(json.dump(),
            "[1, 1.0, -9223372036854775808, 9223372036854775807, 9223372036854775808, "
            "1000000000000000019884624838656]");
}

TEST(Json, NumbersComeBackToTheBit) {
  const RandomKey key{1, Stream::test};
  for (uint32_t i = 0; i < 20000; ++i) {
    const uint64_t bits = random_bits(key, i, 0, 0);
    const auto f = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const auto d = std::bit_cast<double>(bits);
    if (std::isfinite(f)) {
      EXPECT_EQ(std::bit_cast<uint32_t>(parse_json(Json(f).dump(), "f").as_float()), static_cast<uint32_t>(bits));
    }
    if (std::isfinite(d)) {
      EXPECT_EQ(std::bit_cast<uint64_t>(parse_json(Json(d).dump(), "d").as_double()), bits);
    }
  }
  EXPECT_EQ(Json(0.1f).dump(), "0.1");
  EXPECT_EQ(Json(1e-6).dump(), "1e-06");
  EXPECT_EQ(Json(-0.0).dump(), "-0.0");
  EXPECT_THROW(Json(std::nan("")).dump(), Bug);
  EXPECT_TRUE(Json::number_or_null(INFINITY).is_null());
}

TEST(Json, WritesFloatsAsPythonsRepr) {
  for (const auto& [value, expected] :
       std::vector<std::pair<double, std::string>>{{0.0, "0.0"},
                                                   {-0.0, "-0.0"},
                                                   {1.0, "1.0"},
                                                   {100.0, "100.0"},
                                                   {0.1, "0.1"},
                                                   {-1.5, "-1.5"},
                                                   {1e15, "1000000000000000.0"},
                                                   {1e16, "1e+16"},
                                                   {123456789.125, "123456789.125"},
                                                   {0.0001, "0.0001"},
                                                   {0.00012, "0.00012"},
                                                   {0.00001, "1e-05"},
                                                   {1.25e-7, "1.25e-07"},
                                                   {5e-324, "5e-324"},
                                                   {1.7976931348623157e308, "1.7976931348623157e+308"}}) {
    EXPECT_EQ(python_float(value), expected);
  }
}

TEST(Json, WritesWhatPythonsJsonDumpsWrites) {
  const Json value =
      parse_json(R"({"a": [1, 2.0, null, true, [], {}], "é\u0000\"\\\n\t\b\f/": 12345678901234567890123})", "test");
  EXPECT_EQ(value.python_dump(),
            "{\"a\": [1, 2.0, null, true, [], {}], \"é\\u0000\\\"\\\\\\n\\t\\b\\f/\": 12345678901234567890123}");
  EXPECT_EQ(parse_json(R"({"a": [1, {"b": 2}], "c": {}})", "test").python_dump(4),
            "{\n    \"a\": [\n        1,\n        {\n            \"b\": 2\n        }\n    ],\n    \"c\": {}\n}");
}

TEST(Json, WritesWhatItReads) {
  const std::string text = R"({"z": [], "a": {"k": [1, true, null, "é😊\n\t\"\\\u0001"]}, "e": {}})";
  const Json json = parse_json(text, "f");
  EXPECT_EQ(json.dump(), text);
  EXPECT_EQ(parse_json(json.dump(2), "f"), json);
  EXPECT_EQ(Json("a\xff"
                 "b")
                .dump(),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(parse_json("\xef\xbb\xbf 1", "f").as_int(), 1);
}

TEST(Json, BuildsInOrder) {
  Json json;
  json.set("b", 1);
  json.set("a", Json::array({1, "two"}));
  json.set("b", 0.5f);
  EXPECT_EQ(json.dump(), R"({"b": 0.5, "a": [1, "two"]})");
}

TEST(Json, DescribesLongValuesInShort) {
  EXPECT_EQ(Json::big_integer("-12345678901234567890").describe(), "number -12345678901234567890");
  EXPECT_EQ(Json::big_integer(std::string(1000, '7')).describe(),
            "number " + std::string(60, '7') + "... of 1000 characters");
  EXPECT_EQ(Json(std::string(100, 'x')).describe(), "text \"" + std::string(60, 'x') + "...\"");
}

TEST(JsonAt, NamesFilePlaceExpectedAndFound) {
  const Json json = parse_json(R"({"model": {"layers": [{"type": 3}], "none": null}})", "f");
  const JsonAt at(json, "config.json");
  const auto message = [&](auto use) -> std::string {
    try {
      use();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { at["model"]["layers"].items()[0]["type"].as_string(); }),
            "config.json: model.layers[0].type: expected text, found number 3");
  EXPECT_EQ(message([&] { at["modle"]; }), "config.json: expected a key modle, found none");
  EXPECT_FALSE(at["model"].find("none").has_value());
  EXPECT_FALSE(at["model"].find("absent").has_value());
}

TEST(Jsonl, CollectsEveryFaultWithItsLine) {
  Faults faults;
  const auto rows = parse_jsonl(
      "\xef\xbb\xbf{\"q\": \"\xf0\x9f\x98\x8a\"}\r\n"
      "\n"
      "{\"q\": \"cut in ha\n"
      "[1]\n"
      "   \r\n"
      "{\"q\": 1, \"q\": 2}\n"
      "{\"q\": \"last\"}",
      "d.jsonl", faults);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].line, 1);
  EXPECT_EQ(rows[0].value.at("q").as_string(), "\xf0\x9f\x98\x8a");
  EXPECT_EQ(rows[1].line, 7);
  ASSERT_EQ(faults.list().size(), 3u);
  EXPECT_EQ(faults.list()[0].find("d.jsonl:3:"), 0u);
  EXPECT_EQ(faults.list()[1], "d.jsonl:4: expected an object, found a list of 1");
  EXPECT_EQ(faults.list()[2].find("d.jsonl:6:"), 0u);
  EXPECT_THROW(faults.raise_if_any("the data"), Error);

  for (const char* empty : {"", "\n\n", "\xef\xbb\xbf"}) {
    Faults none;
    EXPECT_TRUE(parse_jsonl(empty, "d.jsonl", none).empty());
    EXPECT_EQ(none.list().size(), 1u);
  }
}

TEST(Jsonl, GivesRowAfterRowAndLetsThroughWhatTakingOneRaises) {
  const std::string text = "{\"q\": 1}\n\n[1]\n{\"q\": 2}\n";
  Faults faults;
  std::vector<int64_t> lines;
  parse_jsonl(text, "d.jsonl", faults, [&](JsonRow&& row) { lines.push_back(row.line); });
  EXPECT_EQ(lines, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(faults.size(), 1u);
  const auto stop = [](JsonRow&&) { throw Error("stop"); };
  EXPECT_THROW(parse_jsonl(text, "d.jsonl", faults, stop), Error) << "no fault of the row";
  EXPECT_EQ(faults.size(), 1u);
}

TEST(Jsonl, CountsTheLinesThatAreNotBlank) {
  std::string path = (std::filesystem::temp_directory_path() / "hone_jsonl_XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  const std::string text = "\xef\xbb\xbf{}\r\n \r\n\n{\n{}";
  ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(fd);
  EXPECT_EQ(count_jsonl_rows(path), 3) << "a row at fault is one too";
  std::filesystem::remove(path);
  EXPECT_THROW(count_jsonl_rows(path), Error);
}

// Whatever bytes come, the reader gives a value that it can write and read again, or an Error.
TEST(Json, MutatedTextNeverCrashes) {
  const std::string seed_text =
      R"({"a": [1, -2.5e3, "t\u00e9xt \ud83d\ude0a", true, null], "b": {"c": {"d": [[]]}}, "e": 12345678901234567890})";
  const RandomKey key{7, Stream::test};
  int values = 0;
  for (uint32_t round = 0; round < 20000; ++round) {
    std::string text = seed_text;
    const uint32_t changes = 1 + random_below(key, round, 0, 0, 4);
    for (uint32_t i = 0; i < changes; ++i) {
      const size_t at = random_below(key, round, 1, i, static_cast<uint32_t>(text.size()));
      const auto byte = static_cast<char>(random_below(key, round, 2, i, 256));
      switch (random_below(key, round, 3, i, 4)) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.erase(at, 1 + random_below(key, round, 4, i, 5));
          break;
        case 2:
          text.insert(at, 1, seed_text[random_below(key, round, 5, i, static_cast<uint32_t>(seed_text.size()))]);
          break;
        default:
          text.resize(std::max<size_t>(at, 1));
      }
      if (text.empty()) text = " ";
    }
    try {
      const Json json = parse_json(text, "f");
      EXPECT_EQ(parse_json(json.dump(), "g"), json) << text;
      ++values;
    } catch (const Error&) {
    }
    Faults faults;
    parse_jsonl(text, "f", faults);
  }
  EXPECT_GT(values, 100);
}

}  // namespace
}  // namespace hone::io
