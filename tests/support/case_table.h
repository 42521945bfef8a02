// Behaviour tables: tests/cases/NAME.json is a list of cases, each an object with a name; what the other keys mean
// stands beside the test that reads it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/json.h"
#include "support/command.h"

namespace hone::test {

inline io::Json::Array load_cases(const std::string& name) {
  const io::Json table = io::read_json(std::string(HONE_TEST_DATA) + "/../cases/" + name + ".json");
  EXPECT_GE(table.as_array().size(), 10u) << name;
  return table.as_array();
}

// The texts under a key that may be absent.
inline std::vector<std::string> texts_of(const io::Json& row, const char* key) {
  std::vector<std::string> texts;
  if (const io::Json* list = row.find(key); list != nullptr) {
    for (const io::Json& text : list->as_array()) texts.push_back(text.as_string());
  }
  return texts;
}

// "code" is the exit code, "says" must stand in the output, "not" must not.
inline void expect_result(const io::Json& row, const Result& result) {
  const io::Json* code = row.find("code");
  EXPECT_EQ(result.code, code == nullptr ? 0 : code->as_int()) << result.err;
  const std::string all = result.out + result.err;
  for (const std::string& text : texts_of(row, "says"))
    EXPECT_NE(all.find(text), std::string::npos) << text << "\n" << all;
  for (const std::string& text : texts_of(row, "not"))
    EXPECT_EQ(all.find(text), std::string::npos) << text << "\n" << all;
}

inline std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace hone::test
