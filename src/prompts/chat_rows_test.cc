// Conversations as rows: prompts of RL and examples of SFT, with lengths measured on the ids that are fed (case P1).
#include "prompts/chat_rows.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "io/atomic_file.h"
#include "prompts/data_row_test_cases.h"
#include "prompts/prompt_set.h"
#include "prompts/row_fields.h"
#include "prompts/sft_set.h"
#include "text/character_tokenizer.h"

namespace hone {
namespace {

// A model folder with a tokenizer of characters, in which a turn of ChatML has 13 ids of scaffold for "user": start,
// role, line end, end, line end; and the opening of an answer 11.
class ChatRows : public ::testing::Test {
 protected:
  ChatRows() {
    std::string name = (std::filesystem::temp_directory_path() / "hone_chat_rows_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write_character_tokenizer(folder_, "abcdefghijklmnopqrstuvwxyz0123456789 \n<|>_/", {"<|im_start|>", "<|im_end|>"},
                              "<|im_end|>");
    tokenizer_.emplace(Tokenizer::load(folder_));
    chat_ = std::make_unique<ChatTemplate>(folder_, "chatml", *tokenizer_);
  }
  ~ChatRows() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& text) {
    io::write_file(folder_ + "/rows.jsonl", text);
    return folder_ + "/rows.jsonl";
  }
  static std::string prompt_row(const std::string& content) { return data_row(user_says(content)); }
  PromptSetOptions prompts(const std::string& text) {
    PromptSetOptions options;
    options.files = {write(text)};
    options.chat.chat = chat_.get();
    return options;
  }
  std::vector<SftExample> examples(const std::string& text, SftSetOptions options, std::vector<std::string>& found) {
    options.files = {write(text)};
    options.chat.chat = chat_.get();
    io::Faults faults;
    auto result = load_sft_set(options, *tokenizer_, tokenizer_->find("<|im_end|>").value(), faults).examples;
    found = faults.list();
    return result;
  }
  std::string shown(const std::vector<int32_t>& ids) { return tokenizer_->decode(ids, false); }
  std::string learnt(const SftExample& example) {
    std::string text;
    for (size_t i = 0; i < example.response_ids.size(); ++i) {
      const bool with_loss = example.loss_mask.empty() || example.loss_mask[i] != 0;
      text += with_loss ? shown({example.response_ids[i]}) : "";
    }
    return text;
  }

  std::string folder_;
  std::optional<Tokenizer> tokenizer_;
  std::unique_ptr<ChatTemplate> chat_;
};

constexpr int64_t kScaffold =
    1 + 4 + 1 + 1 + 1 + 1 + 9 + 1;  // <|im_start|>user\n ... <|im_end|>\n<|im_start|>assistant\n

TEST_F(ChatRows, LengthsAreMeasuredOnTheRenderedIds) {
  constexpr int64_t limit = 40;
  struct Case {
    int64_t num_ids;
    const char* mode;  // error, filter, or a truncation
    const char* kept;  // "all", "cut", "none", or "fault"
  };
  const std::vector<Case> cases{
      {limit - 1, "error", "all"},    {limit, "error", "all"},        {limit + 1, "error", "fault"},
      {10 * limit, "error", "fault"}, {limit - 1, "filter", "all"},   {limit, "filter", "all"},
      {limit + 1, "filter", "none"},  {10 * limit, "filter", "none"}, {limit - 1, "left", "all"},
      {limit, "left", "all"},         {limit + 1, "left", "cut"},     {10 * limit, "left", "cut"},
      {limit - 1, "right", "all"},    {limit, "right", "all"},        {limit + 1, "right", "cut"},
      {10 * limit, "right", "cut"},   {limit - 1, "middle", "all"},   {limit, "middle", "all"},
      {limit + 1, "middle", "cut"},   {10 * limit, "middle", "cut"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{} ids, {}", c.num_ids, c.mode));
    // one row that always fits, so that the set is never empty
    const std::string long_one = prompt_row(std::string(static_cast<size_t>(c.num_ids - kScaffold), 'x'));
    PromptSetOptions options = prompts(prompt_row("a") + long_one);
    options.max_prompt_length = limit;
    const std::string mode = c.mode, kept = c.kept;
    options.filter_overlong_prompts = mode == "filter";
    if (const auto how = truncation(mode)) options.truncation = *how;
    io::Faults faults;
    const PromptSet set = load_prompts(options, *tokenizer_, faults);
    ASSERT_EQ(faults.list().size(), kept == "fault" ? 1u : 0u);
    if (kept == "fault") {
      EXPECT_NE(faults.list()[0].find(
                    fmt::format("rows.jsonl:2: prompt has {} ids, data.max_prompt_length is 40", c.num_ids)),
                std::string::npos)
          << faults.list()[0];
      continue;
    }
    ASSERT_EQ(set.prompts.size(), kept == "none" ? 1u : 2u);
    EXPECT_EQ(set.num_filtered, kept == "none");
    EXPECT_EQ(set.num_truncated, kept == "cut");
    if (kept == "none") continue;
    EXPECT_EQ(static_cast<int64_t>(set.prompts[1].ids.size()), std::min(c.num_ids, limit));
    if (kept == "all") {
      EXPECT_EQ(shown(set.prompts[1].ids), set.prompts[1].text);
    }
    if (mode == "left") {
      EXPECT_TRUE(shown(set.prompts[1].ids).ends_with("<|im_start|>assistant\n"));
    }
  }
}

TEST_F(ChatRows, PromptsOpenATurnAndHoldNoControlIdOfTheUser) {
  io::Faults faults;
  const PromptSet set = load_prompts(prompts(prompt_row("hi<|im_end|>")), *tokenizer_, faults);
  faults.raise_if_any("rows");
  ASSERT_EQ(set.prompts.size(), 1u);
  EXPECT_EQ(set.prompts[0].text, "<|im_start|>user\nhi<|im_end|><|im_end|>\n<|im_start|>assistant\n");
  int64_t ends = 0;
  for (const int32_t id : set.prompts[0].ids) ends += id == tokenizer_->find("<|im_end|>").value();
  EXPECT_EQ(ends, 1);
}

TEST_F(ChatRows, FaultsOfConversationsAreListedWithTheirRows) {
  io::Faults faults;
  load_prompts(prompts(prompt_row("ok") + data_row("[]") + data_row(R"([{"role": "user"}])") + prompt_row("Ä")),
               *tokenizer_, faults);
  ASSERT_EQ(faults.list().size(), 3u);
  EXPECT_NE(faults.list()[0].find("rows.jsonl:2: prompt: messages: expected at least one"), std::string::npos);
  EXPECT_NE(faults.list()[1].find("rows.jsonl:3: prompt: messages[0].content is missing"), std::string::npos);
  EXPECT_NE(faults.list()[2].find("rows.jsonl:4: prompt: the tokenizer has no token for"), std::string::npos);
}

TEST_F(ChatRows, AModelWithoutATemplateSaysSoOnce) {
  const ChatTemplate none(folder_, "", *tokenizer_);
  PromptSetOptions options = prompts(prompt_row("a") + prompt_row("b"));
  options.chat.chat = &none;
  io::Faults faults;
  load_prompts(options, *tokenizer_, faults);
  ASSERT_EQ(faults.list().size(), 1u);
  EXPECT_NE(faults.list()[0].find("(2 rows), and the model has no chat template; name one in custom_chat_template"),
            std::string::npos)
      << faults.list()[0];
}

TEST_F(ChatRows, SftWithoutATemplateSaysSoOnceAFile) {
  const ChatTemplate none(folder_, "", *tokenizer_);
  const std::string messages = R"([{"role": "user", "content": "a"}])";
  const std::string turns = R"({"messages": )" + messages + "}\n";
  const std::string file = write(R"({"prompt": "a", "response": "b"})"
                                 "\n" +
                                 turns + turns + R"({"prompt": )" + messages + R"(, "response": "b"})" + "\n");
  SftSetOptions options;
  options.files = {file, file};
  options.chat.chat = &none;
  io::Faults faults;
  load_sft_set(options, *tokenizer_, 0, faults);
  ASSERT_EQ(faults.list().size(), 2u);
  for (const std::string& fault : faults.list()) {
    EXPECT_NE(fault.find("rows.jsonl:2: messages is a list of chat messages (3 rows), and the model has no chat "
                         "template; name one in custom_chat_template"),
              std::string::npos)
        << fault;
    EXPECT_NE(fault.find("chatml"), std::string::npos) << fault;
  }
}

TEST_F(ChatRows, AFaultKeepsItsHint) {
  io::Faults faults;
  add_field_fault(Error("what", "do this"), "key", "f:1", faults);
  add_field_fault(Error("what"), "key", "f:2", faults);
  EXPECT_EQ(faults.list(), (std::vector<std::string>{"f:1: key: what (do this)", "f:2: key: what"}));
}

TEST_F(ChatRows, ARowsOwnToolsAndThinkingAreOptions) {
  ChatRendering rendering;
  rendering.arguments = io::parse_json(R"({"enable_thinking": true, "a": 1})", "arguments");
  rendering.tools_key = "functions";
  const auto options = [&](const char* row) { return chat_options(rendering, io::parse_json(row, "row")); };
  EXPECT_EQ(options("{}").arguments, rendering.arguments);
  EXPECT_TRUE(options(R"({"tools": [1]})").tools.is_null()) << "another field";
  EXPECT_EQ(options(R"({"functions": [1]})").tools, options(R"({"functions": "[1]"})").tools);
  EXPECT_EQ(options(R"({"functions": [1]})").tools.as_array().size(), 1u);
  EXPECT_EQ(options(R"({"enable_thinking": false})").arguments,
            io::parse_json(R"({"enable_thinking": false, "a": 1})", "arguments"));
  EXPECT_EQ(options(R"({"enable_thinking": null})").arguments, rendering.arguments);
  EXPECT_THROW(options(R"({"functions": "[1"})"), Error);
}

const char* kTurns = R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "one"},
 {"role": "user", "content": "b"}, {"role": "assistant", "content": "two"}]})";

std::string on_one_line(std::string text) {
  std::erase(text, '\n');
  return text + "\n";
}

TEST_F(ChatRows, SftLearnsWhatTheAssistantSays) {
  std::vector<std::string> faults;
  const auto all = examples(on_one_line(kTurns), {}, faults);
  ASSERT_EQ(faults.size(), 0u) << faults[0];
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(shown(all[0].prompt_ids), "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(shown(all[0].response_ids),
            "one<|im_end|>\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\ntwo<|im_end|>");
  EXPECT_EQ(learnt(all[0]), "one<|im_end|>two<|im_end|>");
  SftSetOptions last;
  last.chat.mask_history = true;
  const auto one = examples(on_one_line(kTurns), last, faults);
  EXPECT_EQ(shown(one[0].response_ids), "two<|im_end|>");
  EXPECT_TRUE(one[0].loss_mask.empty());
  EXPECT_NE(data_hash(all), data_hash(one));
}

TEST_F(ChatRows, ATextBecomesAMessageWhereThatIsAskedFor) {
  PromptSetOptions options = prompts(R"({"data_source": "s", "prompt": "a b", "answer": "1"})"
                                     "\n" +
                                     prompt_row("c"));
  options.text_as_message = true;
  options.prompt_suffix = "think";
  io::Faults faults;
  const PromptSet set = load_prompts(options, *tokenizer_, faults);
  ASSERT_TRUE(faults.empty()) << faults.list()[0];
  EXPECT_EQ(shown(set.prompts[0].ids), "<|im_start|>user\na b think<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(set.prompts[0].text, shown(set.prompts[0].ids));
  EXPECT_EQ(shown(set.prompts[1].ids), "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n") << "as it stands";
}

TEST_F(ChatRows, SftTakesTrlsCompletions) {
  std::vector<std::string> faults;
  const auto rows = examples(
      R"({"prompt": "ab", "completion": "cd", "messages": null})"
      "\n"
      R"({"prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant", "content": "one"}]})"
      "\n"
      R"({"prompt": [{"role": "user", "content": "a"}], "completion": "two", "response": null})"
      "\n"
      R"({"prompt": "ab", "completion": "cd", "response": "ef"})"
      "\n"
      R"({"prompt": "ab"})"
      "\n"
      R"({"prompt": "ab", "completion": 5})"
      "\n",
      {}, faults);
  ASSERT_EQ(rows.size(), 4u);
  const char* answers[] = {"cd<|im_end|>", "one<|im_end|>", "two<|im_end|>", "ef<|im_end|>"};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(shown(rows[i].response_ids), answers[i]);
  EXPECT_EQ(shown(rows[0].prompt_ids), "ab");
  EXPECT_EQ(shown(rows[1].prompt_ids), "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_NE(faults[0].find("rows.jsonl:5: response is missing"), std::string::npos) << faults[0];
  EXPECT_NE(faults[1].find("rows.jsonl:6: completion: expected text"), std::string::npos) << faults[1];
}

TEST_F(ChatRows, SftTakesTheAnswerApartToo) {
  std::vector<std::string> faults;
  const auto apart = examples(R"({"prompt": [{"role": "user", "content": "a"}], "response": "one"})"
                              "\n",
                              {}, faults);
  ASSERT_EQ(faults.size(), 0u);
  EXPECT_EQ(shown(apart[0].prompt_ids), "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(shown(apart[0].response_ids), "one<|im_end|>");
  examples(R"({"messages": [{"role": "user", "content": "a"}]})"
           "\n"
           R"({"messages": "a"})"
           "\n",
           {}, faults);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_NE(faults[0].find("rows.jsonl:1: messages: no turn of the assistant"), std::string::npos) << faults[0];
  EXPECT_NE(faults[1].find("rows.jsonl:2: messages: messages: expected a list"), std::string::npos) << faults[1];
}

TEST_F(ChatRows, LongConversationsAreCutWithTheirMasks) {
  std::vector<std::string> faults;
  SftSetOptions options;
  options.max_length = 40;
  options.truncation = Truncation::right;
  const auto cut = examples(on_one_line(kTurns), options, faults);
  ASSERT_EQ(faults.size(), 0u);
  EXPECT_EQ(cut[0].prompt_ids.size() + cut[0].response_ids.size(), 40u);
  EXPECT_EQ(cut[0].loss_mask.size(), cut[0].response_ids.size());
  EXPECT_EQ(learnt(cut[0]), "one<|im_end|>");
}

}  // namespace
}  // namespace hone
