#include "text/tokenizer_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/random.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "text/character_tokenizer.h"
#include "text/end_ids.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

using io::Json;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hone_text_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string character_tokenizer_text() {
  const Folder folder;
  write_character_tokenizer(folder.path(), "0123456789+-=", {"<|end|>", "<|pad|>"}, "<|end|>");
  return io::read_file(io::join_path(folder.path(), "tokenizer.json"));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message_of(const std::string& text) {
  try {
    const Json json = io::parse_json(text, "t.json");
    text::parse_tokenizer(json, "t.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CharacterTokenizer, OneCharacterIsOneToken) {
  const Folder folder;
  write_character_tokenizer(folder.path(), "0123456789+-=", {"<|end|>", "<|pad|>"}, "<|end|>");
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.vocab_size(), 15);
  const std::vector<int32_t> ids = {1, 2, 3, 10, 9, 12, 13};
  EXPECT_EQ(tokenizer.encode("123+9=<|end|>", true), ids);
  EXPECT_EQ(tokenizer.decode(ids, true), "123+9=");
  EXPECT_EQ(tokenizer.find("<|end|>"), 13);
  EXPECT_THROW(tokenizer.encode("12 ", false), Error);
  EXPECT_THROW(tokenizer.encode("<|end|>", false), Error) << "without its token the text has characters of no token";
}

TEST(TokenizerFile, RefusesUnknownComponentsByName) {
  const std::string good = character_tokenizer_text();
  ASSERT_EQ(message_of(good), "");
  struct Row {
    const char *from, *to, *message;
  };
  const Row table[] = {
      {"\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}", "Lowercase"},
      {"\"Split\"", "\"Digits\"", "Digits"},
      {"\"Regex\": \"(?i:'s", "\"Regex\": \"(?i:'z", "pattern.Regex"},
      {"\"Isolated\"", "\"Removed\"", "behavior"},
      {"\"invert\": false", "\"invert\": true", "invert"},
      {"\"add_prefix_space\": false", "\"add_prefix_space\": true", "add_prefix_space"},
      {"\"use_regex\": false", "\"use_regex\": true", "use_regex"},
      {"\"lstrip\": false", "\"lstrip\": true", "added_tokens[0].lstrip"},
      {"\"single_word\": false", "\"single_word\": true", "single_word"},
      {"\"BPE\"", "\"Unigram\"", "Unigram"},
      {"\"dropout\": null", "\"dropout\": 0.1", "model.dropout"},
      {"\"unk_token\": null", "\"unk_token\": \"0\"", "model.unk_token"},
      {"\"byte_fallback\": false", "\"byte_fallback\": true", "byte_fallback"},
      {"\"end_of_word_suffix\": \"\"", "\"end_of_word_suffix\": \"_\"", "end_of_word_suffix"},
      {"\"padding\": null", "\"padding\": {}", "padding"},
      {"\"id\": 14", "\"id\": 13", "id 13 stands in the list twice"},
      {"\"id\": 14", "\"id\": 3", "id 3 belongs to"},
      {"\"id\": 14", "\"id\": 99999999999", "outside"},
      {"<|pad|>", "<|end|>", "stands in the list twice"},
      {"<|pad|>", "", "empty"},
      {"\"5\": 5", "\"5\": 4", "id 4 belongs to \"4\" too"},
      {"\"5\": 5", "\"5\": -1", "token \"5\": expected an id"},
      {"\"merges\": []", "\"merges\": [\"1 2\"]", "\"12\" is not in the vocabulary"},
      {"\"merges\": []", "\"merges\": [\"12\"]", "merge 0"},
      {"\"merges\": []", "\"merges\": [[\"1\", 2]]", "merge 0"},
      {"\"merges\": []", "\"merges\": {}", "merges"},
  };
  for (const Row& row : table) {
    const std::string message = message_of(replaced(good, row.from, row.to));
    EXPECT_NE(message.find("t.json"), std::string::npos) << row.to << ": " << message;
    EXPECT_NE(message.find(row.message), std::string::npos) << row.to << ": " << message;
  }
  const std::string decoder = good.substr(0, good.find("\"decoder\"")) +
                              replaced(good.substr(good.find("\"decoder\"")), "ByteLevel", "WordPiece");
  EXPECT_NE(message_of(decoder).find("decoder"), std::string::npos);
}

TEST(TokenizerFile, BothFormsOfMerges) {
  for (const char* merges : {"[\"#version: 0.2\", \"+ -\"]", "[[\"+\", \"-\"]]"}) {
    std::string text = replaced(character_tokenizer_text(), "\"merges\": []", "\"merges\": " + std::string(merges));
    text = replaced(text, "\"0\": 0", "\"0\": 0, \"+-\": 20");
    const io::Json json = io::parse_json(text, "t.json");
    EXPECT_EQ(Tokenizer(text::parse_tokenizer(json, "t.json")).encode("+-=", false), (std::vector<int32_t>{20, 12}));
  }
}

// A file broken anywhere is read or refused; it never ends the program.
TEST(TokenizerFile, BrokenFilesAreRefusedOrWork) {
  const std::string good = character_tokenizer_text();
  const char* const words[] = {"null", "{}", "[]", "-1", "1e9", "\"\"", "true", "\"type\"", ",", "}", "\xFF"};
  int num_read = 0;
  for (uint32_t trial = 0; trial < 3000; ++trial) {
    const auto pick = [&](uint32_t what, size_t bound) {
      return random_below({9, Stream::test}, trial, what, 0, static_cast<uint32_t>(bound));
    };
    std::string text = good;
    const size_t begin = pick(0, text.size());
    if (trial % 3 == 0) {
      text.resize(begin);
    } else if (trial % 3 == 1) {
      text[begin] = static_cast<char>(pick(1, 256));
    } else {
      const size_t value = text.find(": ", begin);
      if (value == std::string::npos) continue;
      text.replace(value + 2, text.find_first_of(",\n", value) - value - 2, words[pick(2, std::size(words))]);
    }
    try {
      const io::Json json = io::parse_json(text, "t.json");
      const Tokenizer tokenizer(text::parse_tokenizer(json, "t.json"));
      tokenizer.decode(tokenizer.encode("1+1", true), true);
      ++num_read;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(num_read, 100);
}

TEST(EndIds, AreTheUnionOfBothFiles) {
  const Folder folder;
  EXPECT_TRUE(read_end_ids(folder.path()).empty());
  io::write_file(folder.path() + "/config.json", "{\"eos_token_id\": 7}");
  EXPECT_EQ(read_end_ids(folder.path()), (std::vector<int32_t>{7}));
  io::write_file(folder.path() + "/generation_config.json", "{\"eos_token_id\": [9, 7]}");
  EXPECT_EQ(read_end_ids(folder.path()), (std::vector<int32_t>{9, 7}));
  io::write_file(folder.path() + "/config.json", "{\"eos_token_id\": null}");
  EXPECT_EQ(read_end_ids(folder.path()), (std::vector<int32_t>{9, 7}));
  io::write_file(folder.path() + "/config.json", "{\"eos_token_id\": \"x\"}");
  EXPECT_THROW(read_end_ids(folder.path()), Error);
}

}  // namespace
}  // namespace hone
