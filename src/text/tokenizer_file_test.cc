#include "text/tokenizer_file.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "text/character_tokenizer.h"
#include "text/folder_test_cases.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

using io::Json;

std::string character_tokenizer_text() {
  const text::TemporaryFolder folder;
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
  const text::TemporaryFolder folder;
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
      {"\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}", "normalizer Lowercase"},
      {"\"normalizer\": null", "\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFKC\"}]}",
       "normalizer.normalizers[0] NFKC"},
      {"\"normalizer\": null", "\"normalizer\": {}", "expected a key type"},
      {"\"Split\"", "\"Metaspace\"", "pre_tokenizer.pretokenizers[0] Metaspace"},
      {"\"Regex\": \"(?i:'s", "\"Regex\": \"(?i:'z", "pattern.Regex"},
      {"\"Regex\": \"(?i:'s", "\"Other\": \"(?i:'s", "Regex"},
      {"\"Isolated\"", "\"Sideways\"", "behavior Sideways"},
      {"\"add_prefix_space\": false", "\"add_prefix_spaces\": false", "add_prefix_space"},
      {"\"add_prefix_space\": false", "\"add_prefix_space\": 0", "add_prefix_space: expected true or false"},
      {"\"lstrip\": false", "\"lstrip\": \"no\"", "added_tokens[0].lstrip"},
      {"\"BPE\"", "\"Unigram\"", "model Unigram"},
      {"\"dropout\": null", "\"dropout\": 0.1", "model.dropout"},
      {"\"unk_token\": null", "\"unk_token\": 5", "model.unk_token"},
      {"\"byte_fallback\": false", "\"byte_fallback\": true", "model.byte_fallback"},
      {"\"end_of_word_suffix\": \"\"", "\"end_of_word_suffix\": \"_\"", "end_of_word_suffix"},
      {"\"continuing_subword_prefix\": \"\"", "\"continuing_subword_prefix\": \"##\"", "continuing_subword_prefix"},
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
  for (const char* component : {"pre_tokenizer", "post_processor", "decoder"}) {
    Json json = io::parse_json(good, "t.json");
    json.set(component, Json::object({{"type", "WordPiece"}}));
    EXPECT_NE(message_of(json.dump()).find(fmt::format("t.json: {} WordPiece", component)), std::string::npos);
  }
  for (const char* component : {"pre_tokenizer", "decoder", "model"}) {
    Json json = io::parse_json(good, "t.json");
    json.set(component, nullptr);
    EXPECT_NE(message_of(json.dump()).find(component), std::string::npos);
  }
  Json many = Json::array();
  for (int i = 0; i < 20; ++i) many.push_back(Json::object({{"type", "Digits"}, {"individual_digits", true}}));
  Json json = io::parse_json(good, "t.json");
  json.set("pre_tokenizer", Json::object({{"type", "Sequence"}, {"pretokenizers", many}}));
  EXPECT_NE(message_of(json.dump()).find("more than 16 steps"), std::string::npos);
}

TEST(TokenizerFile, AnIdPutBeforeTextMustBeAToken) {
  const std::string processor =
      "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"x\"}}, "
      "{\"Sequence\": {\"id\": \"A\"}}], \"special_tokens\": {\"x\": {\"ids\": [ID]}}, \"unused\"";
  const auto text = [&](const char* id) {
    return replaced(replaced(character_tokenizer_text(), "\"post_processor\"", replaced(processor, "ID", id)),
                    "\"trim_offsets\": false,\n    \"use_regex\": false\n  },\n  \"decoder\"",
                    "\"trim_offsets\": false}},\n  \"decoder\"");
  };
  EXPECT_EQ(message_of(text("13")), "");
  EXPECT_NE(message_of(text("77")).find("post_processor: id 77 is no token"), std::string::npos);
}

TEST(TokenizerFile, ATokenOutsideTheByteAlphabetIsDecodedOnly) {
  const std::string text = replaced(character_tokenizer_text(), "\"0\": 0", "\"0\": 0, \" \": 20, \"\u4F60\": 21");
  const io::Json json = io::parse_json(text, "t.json");
  const Tokenizer tokenizer(text::parse_tokenizer(json, "t.json"));
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{20, 21}, true), " \u4F60");
  EXPECT_THROW(tokenizer.encode(" ", true), Error);
}

TEST(TokenizerFile, VocabAndMergesFilesOfQwen2StandInForIt) {
  const text::TemporaryFolder folder;
  io::write_file(folder.path() + "/vocab.json", R"({"a":0,"b":1,"ab":2,"\u0120":3,"1":4})");
  io::write_file(folder.path() + "/merges.txt", "#version: 0.2\na b\n");
  const std::string config =
      R"({"tokenizer_class":"Qwen2Tokenizer","added_tokens_decoder":{"9":{"content":"<e>",)"
      R"("lstrip":false,"rstrip":false,"single_word":false,"normalized":false,"special":true}}})";
  io::write_file(folder.path() + "/tokenizer_config.json", config);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_EQ(tokenizer.encode("ab ab11<e>", true), (std::vector<int32_t>{2, 3, 2, 4, 4, 9}));
  io::write_file(folder.path() + "/tokenizer_config.json", replaced(config, "Qwen2Tokenizer", "GPT2Tokenizer"));
  EXPECT_THROW(Tokenizer::load(folder.path()), Error);
  io::write_file(folder.path() + "/tokenizer_config.json", replaced(config, "\"9\"", "\"nine\""));
  EXPECT_THROW(Tokenizer::load(folder.path()), Error);
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

}  // namespace
}  // namespace hone
