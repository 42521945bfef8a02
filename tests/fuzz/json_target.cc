// JSON: what is accepted is written and read again to an equal tree, in one line and indented; what is refused says
// where.
#include "core/error.h"
#include "fuzz/target.h"
#include "io/json.h"

namespace hone::fuzz {
namespace {

size_t depth_of(const io::Json& value) {
  size_t deepest = 0;
  if (value.is_array()) {
    for (const io::Json& item : value.as_array()) deepest = std::max(deepest, depth_of(item));
  } else if (value.is_object()) {
    for (const io::Json::Member& member : value.as_object()) deepest = std::max(deepest, depth_of(member.value));
  } else {
    return 0;
  }
  return deepest + 1;
}

void check_distinct_keys(const io::Json& value) {
  if (value.is_array()) {
    for (const io::Json& item : value.as_array()) check_distinct_keys(item);
  }
  if (!value.is_object()) return;
  const io::Json::Object& members = value.as_object();
  for (size_t i = 0; i < members.size() && i < 20; ++i) {
    FUZZ_CHECK(value.find(members[i].key) == &members[i].value, "an earlier key " + members[i].key);
  }
  for (const io::Json::Member& member : members) check_distinct_keys(member.value);
}

void run(std::string_view text) {
  io::Json value;
  try {
    value = io::parse_json(text, "x.json");
  } catch (const Error& error) {
    behaviour(error.what());
    FUZZ_CHECK(std::string_view(error.what()).starts_with("x.json:"), error.what());
    FUZZ_CHECK(std::string_view(error.what()).size() < 600, "a message that quotes too much");
    return;
  }
  behaviour(std::string("accepted") + static_cast<char>('a' + static_cast<int>(value.kind())));
  FUZZ_CHECK(io::find_broken_utf8(text) == std::string_view::npos, "broken UTF-8 was accepted");
  FUZZ_CHECK(depth_of(value) <= 100, "too deep");
  check_distinct_keys(value);
  const std::string line = value.dump();
  FUZZ_CHECK(line.find('\n') == std::string::npos, "a line end in one line");
  FUZZ_CHECK(io::parse_json(line, "line") == value, line);
  FUZZ_CHECK(io::parse_json(value.dump(2), "indented") == value, line);
  FUZZ_CHECK(io::parse_json(line, "line").dump() == line, line);
  FUZZ_CHECK(value.describe().size() < 1000, "a description that quotes too much");
}

Material material() {
  return {
      {R"({"a": 1, "b": [true, false, null], "c": {"d": "x\n\u0041\ud83d\ude00", "e": -1.5e-3}})",
       R"([0, -0, 0.0, -0.0, 1e308, 123456789012345678901234567890, 9223372036854775807, -9223372036854775808])",
       "\xef\xbb\xbf{\"mark\": \"emoji \xf0\x9f\x98\x80 and \xc3\xa9\"}", R"({"a": {"a": {"a": [[[[{"b": []}]]]]}}})",
       R"("text alone")", "17", "null", R"({"a": 1, "a": 2})", R"([NaN, Infinity])", R"({"k": "\u0000\u001f\u007f"})",
       R"({"weight_map": {"x": "model-00001-of-00002.safetensors"}, "metadata": {"total_size": 1e10}})",
       std::string(99, '[') + std::string(99, ']'), std::string(101, '[') + std::string(101, ']')},
      {"{",    "}",    "[",  "]", ",", ":",        "\"\"",           "\"a\":", "null", "true", "false", "\\u",
       "\\\"", "\\\\", "1e", "-", ".", "[[[[[[[[", "{\"a\":{\"a\":", "//",     "/*",   "NaN",  "'"},
      {}};
}

}  // namespace

FUZZ_TARGET(run, material)

}  // namespace hone::fuzz
