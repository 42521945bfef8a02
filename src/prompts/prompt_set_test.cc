#include "prompts/prompt_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "prompts/data_row_test_cases.h"
#include "prompts/sft_set.h"
#include "text/character_tokenizer.h"

namespace hone {
namespace {

// A folder with a tokenizer of the characters a-z, digits and blank, end id 37, and files of the test's own.
class PromptFiles : public ::testing::Test {
 protected:
  PromptFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "hone_prompts_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write_character_tokenizer(folder_, "abcdefghijklmnopqrstuvwxyz0123456789 ", {"<|end|>"}, "<|end|>");
    tokenizer_.emplace(Tokenizer::load(folder_));
  }
  ~PromptFiles() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    io::write_file(folder_ + "/" + name, text);
    return folder_ + "/" + name;
  }
  PromptSet load(PromptSetOptions options, std::vector<std::string>* found = nullptr) {
    io::Faults faults;
    PromptSet set = load_prompts(options, *tokenizer_, faults);
    if (found != nullptr) {
      *found = faults.list();
    } else {
      faults.raise_if_any("data");
    }
    return set;
  }
  static std::string row(const std::string& prompt, const std::string& truth = "1") {
    return data_row("\"" + prompt + "\"", "\"" + truth + "\"");
  }

  std::string folder_;
  std::optional<Tokenizer> tokenizer_;
};

TEST_F(PromptFiles, RowsBecomePrompts) {
  const std::string a = write("a.jsonl", "\xEF\xBB\xBF" + row("abc", "x\xF0\x9F\xA6\x99") + "\n" + row("z 9") + "\n\n");
  const std::string b = write("b.jsonl", R"({"src": "t", "q": "b", "reward_model": {"ground_truth": {"target": 3}}})");
  const PromptSet set = load({.files = {a}});
  ASSERT_EQ(set.prompts.size(), 2u);
  EXPECT_EQ(set.prompts[0].ids, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(set.prompts[0].text, "abc");
  EXPECT_EQ(set.prompts[0].data_source, "s");
  EXPECT_EQ(set.prompts[0].ground_truth, "x\xF0\x9F\xA6\x99") << "kept byte for byte";
  EXPECT_EQ(set.prompts[1].file, a);
  EXPECT_EQ(set.prompts[1].line, 3);
  const PromptSet other = load({.files = {b}, .prompt_key = "q", .reward_fn_key = "src"});
  EXPECT_EQ(other.prompts[0].ground_truth, "{\"target\": 3}");
  EXPECT_EQ(other.prompts[0].data_source, "t");
}

// TRL's rows and questions with answers: no data source, no reward_model.
TEST_F(PromptFiles, OtherFormsOfRowsNameTheirGroundTruth) {
  const std::string trl =
      write("trl.jsonl", R"({"prompt": "a", "solution": "x", "level": 3})"
                         "\n"
                         R"({"prompt": "b", "answer": 7, "ground_truth": null, "data_source": null})"
                         "\n"
                         R"({"prompt": "c", "ground_truth": "g", "answer": "h", "data_source": "own"})"
                         "\n"
                         R"({"prompt": "d", "ground_truth": {"target": 1}})"
                         "\n");
  PromptSetOptions options{.files = {trl}};
  options.default_data_source = "usual";
  const PromptSet set = load(options);
  ASSERT_EQ(set.prompts.size(), 4u);
  const char* truths[] = {"x", "7", "g", "{\"target\": 1}"};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(set.prompts[i].ground_truth, truths[i]);
  EXPECT_EQ(set.prompts[1].data_source, "usual");
  EXPECT_EQ(set.prompts[2].data_source, "own");

  options.files = {write("plain.jsonl", R"({"question": "a", "prompt": 1, "meta": {"gold": "m"}, "key.dot": "k",
    "completion": [{"role": "user", "content": "no"}, {"role": "assistant", "content": "said"}]})")};
  std::string text = io::read_file(options.files[0]);
  std::erase(text, '\n');
  write("plain.jsonl", text);
  options.prompt_key = "question";
  const auto truth = [&](const char* key) {
    options.answer_key = key;
    return load(options).prompts[0].ground_truth;
  };
  EXPECT_EQ(truth("meta.gold"), "m");
  EXPECT_EQ(truth("key.dot"), "k") << "a field of that very name";
  EXPECT_EQ(truth("completion"), "said");
}

TEST_F(PromptFiles, AnswersOfOtherFormsAreCheckedAsStrictly) {
  const std::string file = write("p.jsonl", R"({"prompt": "a", "answer": null})"
                                            "\n"
                                            R"({"prompt": "a", "answer": 1.5})"
                                            "\n"
                                            R"({"prompt": "a", "answer": true})"
                                            "\n"
                                            R"({"prompt": "a", "reward_model": {}, "answer": "1"})"
                                            "\n"
                                            R"({"prompt": "a", "reward_model": {"ground_truth": 5}})"
                                            "\n");
  PromptSetOptions options{.files = {file}};
  options.default_data_source = "s";
  std::vector<std::string> found;
  load(options, &found);
  ASSERT_EQ(found.size(), 5u);
  const char* expected[] = {":1: reward_model.ground_truth is missing",
                            ":2: answer: expected text, a whole number or an object, found number 1.5",
                            ":3: answer: expected text, a whole number or an object, found",
                            ":4: reward_model.ground_truth is missing",
                            ":5: reward_model.ground_truth: expected text or an object, found number 5"};
  for (size_t i = 0; i < 5; ++i) EXPECT_NE(found[i].find(expected[i]), std::string::npos) << found[i];
  options.answer_key = "gold.value";
  load(options, &found);
  EXPECT_NE(found[0].find(":1: gold.value is missing"), std::string::npos) << found[0];
  options.default_data_source = "";
  load(options, &found);
  EXPECT_EQ(found.size(), 10u) << "no data source either";
}

TEST_F(PromptFiles, ASuffixIsPutBehindTextsAndCountsForTheirLength) {
  const std::string file = write("p.jsonl", row("abc"));
  PromptSetOptions options{.files = {file}};
  options.prompt_suffix = "zz";
  options.max_prompt_length = 6;
  EXPECT_EQ(load(options).prompts[0].text, "abc zz");
  EXPECT_EQ(load(options).prompts[0].ids.size(), 6u);
  options.max_prompt_length = 5;
  std::vector<std::string> found;
  load(options, &found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("p.jsonl:1: prompt has 6 ids"), std::string::npos) << found[0];
}

TEST_F(PromptFiles, FilesOfSeveralFormsAreOneSet) {
  const std::string one = row("b"), two = row("c");
  const std::string list = write("list.json", "\xEF\xBB\xBF\n [" + one + "," + two + "]\n");
  const std::string lines = write("lines.json", row("d") + "\n" + row("e"));
  PromptSetOptions options{.files = {write("a.jsonl", row("a")), list, lines}};
  PromptSet set = load(options);
  ASSERT_EQ(set.prompts.size(), 5u);
  EXPECT_EQ(set.prompts[2].text, "c");
  EXPECT_EQ(set.prompts[2].file, list);
  EXPECT_EQ(set.prompts[2].line, 2) << "its number in the list";
  EXPECT_EQ(set.prompts[4].line, 3);
  options.max_samples = 3;
  set = load(options);
  ASSERT_EQ(set.prompts.size(), 3u) << "of all files";
  EXPECT_EQ(set.prompts[2].text, "c");
  std::vector<std::string> found;
  load({.files = {write("bad.json", "[" + one + ", 7, {}]"), write("cut.json", "[" + one), write("none.json", "[]")}},
       &found);
  ASSERT_EQ(found.size(), 6u);
  EXPECT_NE(found[0].find("bad.json:2: expected an object, found number 7"), std::string::npos) << found[0];
  EXPECT_NE(found[1].find("bad.json:3: data_source is missing"), std::string::npos) << found[1];
  EXPECT_NE(found[4].find("cut.json:2"), std::string::npos) << found[4];
  EXPECT_NE(found[5].find("none.json: expected at least one row, found none"), std::string::npos) << found[5];
}

TEST_F(PromptFiles, AllFaultsAreListedInOneGo) {
  const std::string bad = write("bad.jsonl",
                                row("abc") +  // 1
                                    R"({"data_source": "s", "prompt": "a"})"
                                    "\n" +  // 2
                                    data_row(R"("a")", "null") +
                                    data_row("7") + data_row(R"("a")", "7") +  // 5
                                    R"({"prompt": "a", "reward_model": {"ground_truth": "1"}})"
                                    "\n" +                      // 6
                                    row("Not these letters") +  // 7
                                    row("") +                   // 8
                                    data_row(user_says("a")) +  // 9
                                    R"({"data_source": "s", "prom)"
                                    "\n" +                       // 10
                                    row(std::string(20, 'a')));  // 11
  const std::string empty = write("empty.jsonl", "");
  std::vector<std::string> found;
  const PromptSet set = load({.files = {bad, empty}, .max_prompt_length = 19}, &found);
  std::string all;
  for (const std::string& fault : found) all += fault + "\n";
  EXPECT_EQ(found.size(), 11u) << all;
  for (const char* part :
       {"bad.jsonl:2: reward_model.ground_truth is missing", "bad.jsonl:3: reward_model.ground_truth: expected",
        "bad.jsonl:4: prompt: expected text, found", "bad.jsonl:5: reward_model.ground_truth: expected",
        "bad.jsonl:6: data_source is missing", "bad.jsonl:7: prompt: the tokenizer has no token for 'N'",
        "bad.jsonl:8: prompt is empty", "bad.jsonl:9: prompt is a list of chat messages (1 rows)", "bad.jsonl:10",
        "bad.jsonl:11: prompt has 20 ids, data.max_prompt_length is 19", "empty.jsonl"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " in\n" << all;
  }
  bool line_4_is_kept = false;
  for (const Prompt& prompt : set.prompts) line_4_is_kept |= prompt.line == 4;
  EXPECT_TRUE(line_4_is_kept) << "so that its data source is checked in the same go";
}

TEST_F(PromptFiles, OverlongPromptsAreMeasuredOnTheirIds) {
  const std::string file = write("p.jsonl", row("abcd") + row("abcde") + row("abcdef") + row(std::string(50, 'z')));
  std::vector<std::string> found;
  load({.files = {file}, .max_prompt_length = 5}, &found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("p.jsonl:3: prompt has 6 ids"), std::string::npos);

  const PromptSet filtered = load({.files = {file}, .max_prompt_length = 5, .filter_overlong_prompts = true});
  EXPECT_EQ(filtered.prompts.size(), 2u);
  EXPECT_EQ(filtered.num_filtered, 2);

  const auto third = [&](Truncation how) {
    const PromptSet cut = load({.files = {file}, .max_prompt_length = 5, .truncation = how});
    EXPECT_EQ(cut.num_truncated, 2);
    EXPECT_EQ(cut.prompts[3].ids.size(), 5u);
    return tokenizer_->decode(cut.prompts[2].ids, false);
  };
  EXPECT_EQ(third(Truncation::left), "bcdef");
  EXPECT_EQ(third(Truncation::right), "abcde");
  EXPECT_EQ(third(Truncation::middle), "abdef");

  load({.files = {file}, .max_prompt_length = 3, .filter_overlong_prompts = true}, &found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("no prompt is left"), std::string::npos);
}

TEST_F(PromptFiles, ASubsetIsTheFirstRowsOrDrawnBySeed) {
  std::string text;
  for (char c = 'a'; c <= 'z'; ++c) text += row(std::string(1, c));
  const std::string file = write("p.jsonl", text);
  const auto letters = [&](bool shuffle, uint64_t seed) {
    std::string drawn;
    for (const Prompt& prompt : load({.files = {file}, .max_samples = 6, .shuffle = shuffle, .seed = seed}).prompts) {
      drawn += prompt.text;
    }
    return drawn;
  };
  EXPECT_EQ(letters(false, 1), "abcdef");
  EXPECT_EQ(letters(true, 1), letters(true, 1));
  EXPECT_NE(letters(true, 1), letters(true, 2));
  EXPECT_EQ(letters(true, 1).size(), 6u);
}

// As in verl: two rows are chosen, of which the filter leaves one, and the third never comes in for it.
TEST_F(PromptFiles, ASubsetIsChosenBeforeRowsAreLookedAt) {
  const std::string a = write("a.jsonl", row("a") + "\n" + row("bbbb"));
  const std::string b = write("b.jsonl", row("c") + row("dddd") + R"({"prompt": "no source"})" + "\n");
  PromptSetOptions options{.files = {a, b}, .max_prompt_length = 2, .filter_overlong_prompts = true};
  options.max_samples = 2;
  PromptSet set = load(options);
  ASSERT_EQ(set.prompts.size(), 1u);
  EXPECT_EQ(set.prompts[0].text, "a");
  EXPECT_EQ(set.num_filtered, 1) << "rows that are not used are not counted";
  options.max_samples = 3;
  options.filter_overlong_prompts = false;
  options.truncation = Truncation::right;
  set = load(options);
  ASSERT_EQ(set.prompts.size(), 3u) << "rows of all files";
  EXPECT_EQ(set.prompts[2].file, b);
  EXPECT_EQ(set.num_truncated, 1);
  options.max_samples = 5;
  std::vector<std::string> found;
  load(options, &found);
  EXPECT_EQ(found.size(), 2u) << "faults of a chosen row";
}

TEST_F(PromptFiles, ARowThatCannotBeReadIsAFaultChosenOrNot) {
  std::vector<std::string> found;
  load({.files = {write("a.jsonl", row("a") + "{\n"), folder_ + "/none.jsonl"}, .max_samples = 1}, &found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("a.jsonl:2:"), std::string::npos) << found[0];
  EXPECT_NE(found[1].find("none.jsonl"), std::string::npos) << found[1];
}

TEST_F(PromptFiles, ASubsetOfSftRowsIsChosenAlike) {
  std::string text;
  for (char c = 'a'; c <= 'z'; ++c) text += std::string(R"({"prompt": ")") + c + R"(", "response": "bcd"})" + "\n";
  const std::string file = write("s.jsonl", text);
  const auto letters = [&](bool shuffle, uint64_t seed) {
    SftSetOptions options;
    options.files = {file};
    options.max_length = 4;
    options.truncation = Truncation::right;
    options.max_samples = 6;
    options.shuffle = shuffle;
    options.seed = seed;
    io::Faults faults;
    const SftSet set = load_sft_set(options, *tokenizer_, 37, faults);
    faults.raise_if_any("data");
    EXPECT_EQ(set.num_truncated, 6) << "of the rows that are used";
    std::string drawn;
    for (const SftExample& example : set.examples) drawn += tokenizer_->decode(example.prompt_ids, false);
    return drawn;
  };
  EXPECT_EQ(letters(false, 1), "abcdef");
  EXPECT_EQ(letters(true, 1), letters(true, 1));
  EXPECT_NE(letters(true, 1), letters(true, 2));
}

TEST_F(PromptFiles, TheHashTellsDataApart) {
  const auto hash = [&](const std::string& text) {
    return data_hash(load({.files = {write("p.jsonl", text)}}).prompts, {1});
  };
  const uint64_t base = hash(row("a") + row("b"));
  EXPECT_EQ(base, hash(row("a") + "\n" + row("b")));
  EXPECT_NE(base, hash(row("b") + row("a")));
  EXPECT_NE(base, hash(row("a") + row("b", "2")));
  EXPECT_NE(base, hash(row("a")));
}

TEST_F(PromptFiles, SftRowsEndOnTheEndId) {
  const std::string file = write("s.jsonl",
                                 "{\"prompt\": \"ab\", \"response\": \"<|end|>\"}\n"
                                 "{\"prompt\": \"ab\", \"response\": \"cde\"}\n"
                                 "{\"prompt\": \"ab\"}\n{\"prompt\": \"\", \"response\": \"c\"}\n");
  io::Faults faults;
  const auto examples = load_sft_set({.files = {file}}, *tokenizer_, 37, faults).examples;
  ASSERT_EQ(faults.list().size(), 3u);
  EXPECT_NE(faults.list()[0].find("s.jsonl:1: response"), std::string::npos) << "a special token is text, not an id";
  EXPECT_NE(faults.list()[1].find("s.jsonl:3: response is missing"), std::string::npos);
  EXPECT_NE(faults.list()[2].find("s.jsonl:4: prompt is empty"), std::string::npos);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].prompt_ids, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(examples[0].response_ids, (std::vector<int32_t>{2, 3, 4, 37}));
}

TEST_F(PromptFiles, OverlongSftRowsAreCutOrNamed) {
  const std::string file = write("s.jsonl", "{\"prompt\": \"abc\", \"response\": \"def\"}\n");  // 7 ids with the end
  const auto load_cut = [&](int64_t max_length, Truncation how, size_t num_faults) {
    io::Faults faults;
    const SftSet set =
        load_sft_set({.files = {file}, .max_length = max_length, .truncation = how}, *tokenizer_, 37, faults);
    const std::vector<SftExample>& examples = set.examples;
    EXPECT_EQ(faults.list().size(), num_faults);
    EXPECT_EQ(set.num_truncated, max_length < 7);
    return tokenizer_->decode(examples[0].prompt_ids, false) + "|" +
           tokenizer_->decode(examples[0].response_ids, false);
  };
  EXPECT_EQ(load_cut(7, Truncation::error, 0), "abc|def<|end|>");
  load_cut(6, Truncation::error, 1);
  EXPECT_EQ(load_cut(5, Truncation::left, 0), "c|def<|end|>");
  load_cut(4, Truncation::left, 1);
  EXPECT_EQ(load_cut(4, Truncation::right, 0), "abc|d");
  load_cut(3, Truncation::right, 1);
}

}  // namespace
}  // namespace hone
