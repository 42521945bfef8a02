// Case K4, its part here: where end ids come from, and which are refused.
#include "text/end_ids.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "text/character_tokenizer.h"
#include "text/folder_test_cases.h"

namespace hone {
namespace {

struct Row {
  const char *generation, *config, *tokenizer;  // the files; nullptr: absent. tokenizer_config.json is always there
  std::vector<int32_t> ids;
  const char* note;   // part of it; nullptr: none
  const char* error;  // part of it; nullptr: none
};

// The tokenizer has ids 0 to 11: the digits, <|end|> and <|pad|>.
const Row kRows[] = {
    {R"({"eos_token_id": [7, 9]})", nullptr, "{}", {7, 9}, nullptr, nullptr},
    {R"({"eos_token_id": 7})", R"({"eos_token_id": 9})", "{}", {7, 9}, nullptr, nullptr},
    {R"({"eos_token_id": [9, 7]})", R"({"eos_token_id": 7})", "{}", {9, 7}, nullptr, nullptr},
    {nullptr, R"({"eos_token_id": [7, 7, 9]})", "{}", {7, 9}, nullptr, nullptr},
    {nullptr, R"({"eos_token_id": 7, "pad_token_id": 7})", "{}", {7}, nullptr, nullptr},
    {R"({"eos_token_id": null})", R"({"eos_token_id": 0})", "{}", {0}, nullptr, nullptr},
    {R"({"eos_token_id": []})", "{}", R"({"eos_token": "<|end|>"})", {10}, "'<|end|>' (10)", nullptr},
    {nullptr, nullptr, R"({"eos_token": {"content": "<|end|>"}})", {10}, "tokenizer_config.json", nullptr},
    {nullptr, "{}", R"({"eos_token": "5"})", {5}, "'5' (5)", nullptr},
    {R"({"eos_token_id": 7})", nullptr, R"({"eos_token": "<|end|>"})", {7}, nullptr, nullptr},
    {nullptr, nullptr, "{}", {}, "no file names an end id", nullptr},
    {"{}", "{}", R"({"eos_token": null})", {}, "answers end at their limit only", nullptr},
    {R"({"eos_token_id": 12})", nullptr, "{}", {}, nullptr, "generation_config.json: eos_token_id: end id 12"},
    {R"({"eos_token_id": [7, 50256]})", nullptr, "{}", {}, nullptr, "eos_token_id[1]: end id 50256 is outside"},
    {R"({"eos_token_id": 7})", R"({"eos_token_id": -1})", "{}", {}, nullptr, "/config.json: eos_token_id: end id -1"},
    {nullptr, R"({"eos_token_id": "7"})", "{}", {}, nullptr, "eos_token_id: expected an integer, found text"},
    {nullptr, R"({"eos_token_id": [7, 1.5]})", "{}", {}, nullptr, "eos_token_id[1]: expected an integer"},
    {nullptr, R"({"eos_token_id": {"id": 7}})", "{}", {}, nullptr, "eos_token_id: expected an integer"},
    {nullptr, nullptr, R"({"eos_token": "<|nothing|>"})", {}, nullptr, "'<|nothing|>' is no token"},
    {nullptr, nullptr, R"({"eos_token": 10})", {}, nullptr, "eos_token: expected text"},
    {"{", nullptr, "{}", {}, nullptr, "generation_config.json:1"},
};

TEST(EndIds, ComeFromTheModelsFilesThenFromTheTokenizers) {
  for (const Row& row : kRows) {
    const text::TemporaryFolder folder;
    write_character_tokenizer(folder.path(), "0123456789", {"<|end|>", "<|pad|>"}, "<|end|>");
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    const auto write = [&](const char* name, const char* text) {
      if (text != nullptr) io::write_file(io::join_path(folder.path(), name), text);
    };
    write("generation_config.json", row.generation);
    write("config.json", row.config);
    write("tokenizer_config.json", row.tokenizer);
    SCOPED_TRACE(std::string(row.generation ? row.generation : "-") + (row.config ? row.config : "-") + row.tokenizer);
    try {
      const EndIds found = find_end_ids(folder.path(), tokenizer);
      EXPECT_EQ(row.error, nullptr);
      EXPECT_EQ(found.ids, row.ids);
      EXPECT_EQ(found.note.empty(), row.note == nullptr) << found.note;
      if (row.note != nullptr) {
        EXPECT_NE(found.note.find(row.note), std::string::npos) << found.note;
      }
    } catch (const Error& error) {
      ASSERT_NE(row.error, nullptr) << error.what();
      EXPECT_NE(std::string(error.what()).find(row.error), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace hone
