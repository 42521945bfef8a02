// Conversations through the commands: training, evaluation, generation and rendering feed the same ids.
#include <gtest/gtest.h>

#include "io/jsonl.h"
#include "support/tiny_run.h"
#include "text/character_tokenizer.h"

namespace hone::test {
namespace {

constexpr const char* kHi = R"([{"role": "user", "content": "1+1="}])";
constexpr const char* kRendered = "<|im_start|>user\n1+1=<|im_end|>\n<|im_start|>assistant\n";

class Chat : public ::testing::Test {
 protected:
  Chat() {
    write_tiny_inputs(inputs_.path());
    write_chat_model(inputs_ / "model");
    std::string rows;
    for (int a = 0; a < 8; ++a) {
      rows += R"({"data_source": "hone/arithmetic", "prompt": [{"role": "user", "content": ")" + std::to_string(a) +
              R"(+1="}], "reward_model": {"ground_truth": "02"}})" + "\n";
    }
    io::write_file(inputs_ / "chat.jsonl", rows);
  }
  Result hone(const Arguments& arguments) const { return run_hone(inputs_.path(), arguments); }
  Result train(const Arguments& more) const {
    return hone(tiny_train(inputs_.path(), inputs_ / "run") +
                Arguments{"data.train_files=" + inputs_.path() + "/chat.jsonl", "data.max_prompt_length=36",
                          "data.max_response_length=3", "trainer.total_training_steps=1",
                          "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=64"} +
                more);
  }
  std::string model() const { return inputs_ / "model"; }
  TemporaryFolder inputs_{"chat"};
};

TEST_F(Chat, ABaseModelSaysWhatToDo) {
  const Result result = train({});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("chat.jsonl:1: prompt is a list of chat messages (8 rows), and the model has no chat "
                            "template; name one in custom_chat_template"),
            std::string::npos)
      << result.err;
  EXPECT_NE(hone({"render", "--model", model(), "--user", "a"}).err.find("--chat-template chatml"), std::string::npos);
}

// One fault with what to do, not the same one for every row.
TEST_F(Chat, AWorkerThatCannotRunEndsTheReadingOfRows) {
  const Arguments arguments =
      tiny_train(inputs_.path(), inputs_ / "run") +
      Arguments{"data.train_files=" + inputs_.path() + "/chat.jsonl",
                "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=64", "data.max_prompt_length=36",
                "actor_rollout_ref.model.custom_chat_template='{{ messages[0].content }}'"};
  const Result result = run_hone(inputs_.path(), arguments, {{"HONE_PYTHON", "/nonexistent"}});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("1 fault\n"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("chat.jsonl:1: prompt: the Python worker"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("install Python 3"), std::string::npos) << result.err;
}

TEST_F(Chat, WhatAnotherArgumentMakesVoidIsRefused) {
  const Arguments render{"render", "--model", model(), "--chat-template", "chatml"};
  const Arguments generate{"generate", "--model", model(), "1+1=", "--max-new-tokens", "1"};
  for (const Arguments& refused :
       {render + Arguments{inputs_ / "chat.jsonl", "--user", "1"},
        render + Arguments{inputs_ / "chat.jsonl", "--system", "1"},
        render + Arguments{"--generation-prompt", "--no-generation-prompt", "--user", "1"},
        generate + Arguments{"--system", "1"}, generate + Arguments{"--arg", "a=1"},
        generate + Arguments{"--chat-template", "chatml"}, generate + Arguments{"--threads", "-1"}}) {
    const Result result = hone(refused);
    EXPECT_EQ(result.code, 2) << refused.back();
    EXPECT_NE(result.err, "") << refused.back();
  }
  EXPECT_EQ(hone(render + Arguments{inputs_ / "chat.jsonl"}).code, 0);
  EXPECT_EQ(hone(generate).code, 0);
}

TEST_F(Chat, TrainingFeedsWhatRenderShows) {
  const Result shown = hone({"render", "--model", model(), "--chat-template", "chatml", "--user", "1+1=", "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const io::Json line = io::parse_json(shown.out, "render");
  EXPECT_EQ(line.at("text").as_string(), kRendered);
  const Result result = train({"actor_rollout_ref.model.custom_chat_template=chatml",
                               "+data.apply_chat_template_kwargs.enable_thinking=False"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string dump = io::read_file(inputs_ / "run/rollouts/1.jsonl");
  EXPECT_NE(dump.find("<|im_start|>user\\n"), std::string::npos) << dump.substr(0, 500);
  EXPECT_NE(io::read_file(inputs_ / "run/config.yaml").find("enable_thinking: false"), std::string::npos);
  // the limit is measured on these ids: 30 of them
  const auto length = static_cast<int64_t>(line.at("ids").as_array().size());
  const Arguments shorter{"actor_rollout_ref.model.custom_chat_template=chatml",
                          "data.max_prompt_length=" + std::to_string(length - 1)};
  EXPECT_NE(train(shorter).err.find("chat.jsonl:1: prompt has " + std::to_string(length) + " ids"), std::string::npos);
}

TEST_F(Chat, AnArgumentOfTheTemplateIsJsonOrOneOfPythonsConstants) {
  const Arguments render{"render", "--model", model(), "--chat-template", "qwen3", "--user", "1", "--text"};
  const auto with = [&](const std::string& value) {
    const Result result = hone(render + Arguments{"--arg", "enable_thinking=" + value});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(with("False"), with("false"));
  EXPECT_EQ(with("True"), with("true"));
  EXPECT_EQ(with("None"), with("null"));
  EXPECT_NE(with("False"), with("True"));
  const Result refused = hone(render + Arguments{"--arg", "enable_thinking"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--arg: expected NAME=VALUE, found 'enable_thinking'"), std::string::npos) << refused.err;
}

// A row's own switch goes before --arg.
TEST_F(Chat, RenderShowsOfRowsWhatEvalFeeds) {
  std::string rows;
  for (const char* thinking : {"", R"(, "enable_thinking": false)", R"(, "enable_thinking": true)"}) {
    rows += R"({"data_source": "hone/arithmetic", "prompt": )" + std::string(kHi) +
            R"(, "reward_model": {"ground_truth": "02"})" + thinking + "}\n";
  }
  io::write_file(inputs_ / "rows.jsonl", rows);
  const Arguments same{"--model", model(), "--chat-template", "qwen3", "--arg", "enable_thinking=false"};
  const Result shown = hone(Arguments{"render", inputs_ / "rows.jsonl", "--json"} + same);
  ASSERT_EQ(shown.code, 0) << shown.err;
  const Result eval = hone(Arguments{"eval", "--data", inputs_ / "rows.jsonl", "--max-new-tokens", "1", "--dtype",
                                     "float32", "--threads", "1", "--dump", inputs_ / "dump.jsonl"} +
                           same);
  ASSERT_EQ(eval.code, 0) << eval.err;
  io::Faults faults;
  const auto lines = io::parse_jsonl(shown.out, "render", faults);
  const auto fed = io::read_jsonl(inputs_ / "dump.jsonl", faults);
  ASSERT_EQ(lines.size(), 3u);
  ASSERT_EQ(fed.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(lines[i].value.at("ids"), fed[i].value.at("prompt_ids")) << i;
  EXPECT_EQ(lines[0].value.at("ids"), lines[1].value.at("ids"));
  EXPECT_NE(lines[1].value.at("ids"), lines[2].value.at("ids"));
}

TEST_F(Chat, RenderTakesToolsOfTheCommandLineForRowsWithoutAny) {
  std::string printable = "\n";
  for (char c = ' '; c <= '~'; ++c) printable += c;
  write_character_tokenizer(inputs_ / "printable", printable, {"<|im_start|>", "<|im_end|>"}, "<|im_end|>");
  const auto tool = [](const std::string& name) {
    return R"([{"type": "function", "function": {"name": ")" + name + R"("}}])";
  };
  const std::string row = R"({"prompt": )" + std::string(kHi);
  io::write_file(inputs_ / "rows.jsonl", row + "}\n" + row + R"(, "tools": )" + tool("own") + "}\n" + row +
                                             R"(, "tools": )" + io::Json(tool("own")).dump() + "}\n{}\n");
  io::write_file(inputs_ / "tools.json", tool("given"));
  const Arguments render{"render", "--model", inputs_ / "printable",  "--chat-template",
                         "qwen3",  "--tools", inputs_ / "tools.json", inputs_ / "rows.jsonl",
                         "--json"};
  const Result fault = hone(render);
  EXPECT_EQ(fault.code, 2);
  EXPECT_NE(fault.err.find("rows.jsonl:4: neither messages nor prompt is there"), std::string::npos) << fault.err;
  std::string rows = io::read_file(inputs_ / "rows.jsonl");
  io::write_file(inputs_ / "rows.jsonl", rows.substr(0, rows.size() - 3));
  const Result shown = hone(render);
  ASSERT_EQ(shown.code, 0) << shown.err;
  io::Faults faults;
  const auto lines = io::parse_jsonl(shown.out, "render", faults);
  ASSERT_EQ(lines.size(), 3u);
  const std::vector<std::string> names{"given", "own", "own"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string& text = lines[i].value.at("text").as_string();
    EXPECT_EQ(text.find("\"given\"") != std::string::npos, names[i] == "given") << text;
    EXPECT_EQ(text.find("\"own\"") != std::string::npos, names[i] == "own") << text;
  }
}

TEST_F(Chat, SftOfABaseModelSaysOnceWhatToDo) {
  std::string rows;
  for (int i = 0; i < 4; ++i) rows += R"({"messages": )" + std::string(kHi) + "}\n";
  io::write_file(inputs_ / "turns.jsonl", rows);
  const Result result = hone(tiny_sft(inputs_.path(), inputs_ / "run") +
                             Arguments{"data.train_files=" + inputs_.path() + "/turns.jsonl"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("1 fault\n"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("turns.jsonl:1: messages is a list of chat messages (4 rows)"), std::string::npos)
      << result.err;
}

TEST_F(Chat, AMisspeltArgumentOfTheTemplateIsNamed) {
  const Result result =
      hone(Arguments{"train"} +
           [&] {
             Arguments all = tiny_train(inputs_.path(), inputs_ / "run");
             return Arguments(all.begin() + 2, all.end());
           }() +
           Arguments{"--check", "data.train_files=" + inputs_.path() + "/chat.jsonl", "data.max_prompt_length=36",
                     "data.max_response_length=3", "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=64",
                     "actor_rollout_ref.model.custom_chat_template=qwen3",
                     "data.apply_chat_template_kwargs.enable_thinkng=false"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("enable_thinkng: the chat template does not look at it (it looks at enable_thinking)"),
            std::string::npos)
      << result.out;
}

TEST_F(Chat, SftLearnsFromConversations) {
  std::string rows;
  for (int i = 0; i < 4; ++i) {
    rows += R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "one"},
      {"role": "user", "content": "b"}, {"role": "assistant", "content": "two"}]})";
    std::erase(rows, '\n');
    rows += "\x01";
  }
  for (char& c : rows) c = c == '\x01' ? '\n' : c;
  io::write_file(inputs_ / "turns.jsonl", rows);
  const auto loss = [&](const Arguments& more, const std::string& run) {
    const Result result = hone(tiny_sft(inputs_.path(), inputs_ / run) +
                               Arguments{"data.train_files=" + inputs_.path() + "/turns.jsonl",
                                         "data.val_files=" + inputs_.path() + "/turns.jsonl", "data.max_length=90",
                                         "data.max_token_len_per_gpu=100", "model.custom_chat_template=chatml",
                                         "trainer.total_training_steps=1", "trainer.test_freq=1"} +
                               more);
    EXPECT_EQ(result.code, 0) << result.err;
    return std::pair(metric(inputs_ / run, "train/loss").front(), metric(inputs_ / run, "val/loss").front());
  };
  const auto all = loss({}, "all"), last = loss({"data.mask_history=true"}, "last");
  EXPECT_GT(all.first, 0);
  EXPECT_NE(all.first, last.first);
  EXPECT_LT(all.second, all.first) << "one step learns something";
}

TEST_F(Chat, EvalAndGenerateTakeConversations) {
  const Result eval =
      hone({"eval", "--model", model(), "--data", inputs_ / "chat.jsonl", "--max-new-tokens", "2", "--chat-template",
            "chatml", "--dtype", "float32", "--threads", "1", "--dump", inputs_ / "dump.jsonl"});
  EXPECT_EQ(eval.code, 0) << eval.err;
  EXPECT_NE(io::read_file(inputs_ / "dump.jsonl").find("assistant\\n"), std::string::npos);
  for (const std::string& prompt :
       {std::string("1+1="), std::string(kHi), R"({"messages": )" + std::string(kHi) + "}"}) {
    const Result said = hone({"generate", "--model", model(), "--chat", "--chat-template", "chatml", "--max-new-tokens",
                              "2", "--threads", "1", "--json", prompt});
    ASSERT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(io::parse_json(said.out, "generate").at("prompt").as_string(), kRendered);
  }
}

}  // namespace
}  // namespace hone::test
