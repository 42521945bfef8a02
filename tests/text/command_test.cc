// hone tokenize as a user types it: both ways, special tokens on and off, lines and JSONL.
#include "support/command.h"

#include <gtest/gtest.h>

#include "io/atomic_file.h"
#include "support/tiny_model.h"

namespace hone::test {
namespace {

struct Row {
  std::vector<std::string> arguments;
  std::string input;
  int code;
  std::string printed;  // all of standard output, or part of the error
};

const Row kRows[] = {
    {{"This is 🦙.cpp"}, "", 0, "1986 374 11162 99 247 13 10821\n"},
    {{"a", "b"}, "", 0, "64\n65\n"},
    {{}, "a\n", 0, "64 198\n"},
    {{"<|im_end|>"}, "", 0, "151645\n"},
    {{"--no-special", "<|im_end|>"}, "", 0, "27 91 318 6213 91 29\n"},
    {{"--decode", "1986", "374", "11162", "99", "247"}, "", 0, "This is 🦙\n"},
    {{"--decode", "[1986, 374]"}, "", 0, "This is\n"},
    {{"--decode"}, "1986 374\n", 0, "This is\n"},
    {{"--decode", "11162", "99"}, "", 0, " \uFFFD\n"},
    {{"--decode", "64", "151645"}, "", 0, "a<|im_end|>\n"},
    {{"--decode", "--no-special", "64", "151645"}, "", 0, "a\n"},
    {{"--jsonl"}, "{\"text\": \"a\"}\n\n{\"text\": \"\"}\n", 0, "{\"ids\": [64]}\n{\"ids\": []}\n"},
    {{"--jsonl", "--decode"}, "{\"ids\": [64, 151645]}\n", 0, "{\"text\": \"a<|im_end|>\"}\n"},
    {{"--jsonl", "--decode", "--no-special"}, "{\"ids\": [64, 151645]}\n", 0, "{\"text\": \"a\"}\n"},
    {{"--decode", "12x"}, "", 2, "argument: expected an id, found '12x'"},
    {{"--decode", "-5"}, "", 2, ""},
    {{"--decode", "999999"}, "", 2, "id 999999 is outside the tokenizer's ids"},
    {{"--jsonl", "--decode"}, "{\"ids\": [1]}\n{\"ids\": [1, 999999]}\n", 2, "standard input:2: ids[1]: id 999999"},
    {{"--jsonl", "--decode"}, "{\"text\": \"a\"}\n", 2, "expected a key ids"},
    {{"--jsonl", "a"}, "", 2, "--jsonl reads lines of standard input"},
    {{}, "\xFF", 2, "not valid UTF-8 at byte 0"},
};

TEST(TokenizeCommand, DoesWhatIsTyped) {
  const TemporaryFolder folder("tokenize");
  for (const Row& row : kRows) {
    std::vector<std::string> arguments{"tokenize", "--tokenizer", HONE_TEST_DATA "/qwen3"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    io::write_file(folder / "input", row.input);
    const Result result = run_hone(folder.path(), arguments, {}, folder / "input");
    SCOPED_TRACE(fmt::format("{} < {}", row.arguments.empty() ? "" : row.arguments.back(), row.input));
    EXPECT_EQ(result.code, row.code) << result.err;
    if (row.code == 0) {
      EXPECT_EQ(result.out, row.printed);
    } else {
      EXPECT_NE(result.err.find(row.printed), std::string::npos) << result.err;
    }
  }
}

}  // namespace
}  // namespace hone::test
