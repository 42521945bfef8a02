#include "text/python_text.h"

#include <gtest/gtest.h>

#include "io/json.h"

namespace hone::text {
namespace {

TEST(PythonText, StripsWhatPythonStrips) {
  EXPECT_EQ(python_strip(" \t\n\r\f\v a b \x1c\x1d\x1e\x1f"), "a b");
  EXPECT_EQ(python_strip("\u3000\u00a0\u2003\u2028x\u1680\u205f\u202f\u0085"), "x");
  EXPECT_EQ(python_strip("\ufeffx\u200b"), "\ufeffx\u200b") << "neither is white space to Python";
  EXPECT_EQ(python_strip(" \n "), "");
  EXPECT_EQ(python_strip(""), "");
  EXPECT_EQ(python_strip("\n\n a \n", "\n"), " a ");
  EXPECT_EQ(python_lstrip("\n\na\n", "\n"), "a\n");
  EXPECT_EQ(python_rstrip("\n\na\n\n", "\n"), "\n\na");
  EXPECT_EQ(python_rstrip("\n", "\n"), "");
}

TEST(PythonText, WritesFloatsAsRepr) {
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

TEST(PythonText, WritesJsonAsJsonDumps) {
  const io::Json value =
      io::parse_json(R"({"a": [1, 2.0, null, true, [], {}], "é\u0000\"\\\n\t\b\f/": 12345678901234567890123})", "test");
  EXPECT_EQ(python_json(value),
            "{\"a\": [1, 2.0, null, true, [], {}], \"é\\u0000\\\"\\\\\\n\\t\\b\\f/\": 12345678901234567890123}");
  EXPECT_EQ(python_json(io::parse_json(R"({"a": [1, {"b": 2}], "c": {}})", "test"), 4),
            "{\n    \"a\": [\n        1,\n        {\n            \"b\": 2\n        }\n    ],\n    \"c\": {}\n}");
}

}  // namespace
}  // namespace hone::text
