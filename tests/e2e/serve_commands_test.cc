// generate with rows, chat and serve as a user runs them.
#include <gtest/gtest.h>

#include <filesystem>

#include "io/jsonl.h"
#include "support/tiny_run.h"
#include "text/character_tokenizer.h"

namespace hone::test {
namespace {

class ServingCommands : public ::testing::Test {
 protected:
  ServingCommands() {
    write_chat_model(inputs_ / "model", 512);
    std::string rows;
    for (int k = 0; k < 60; ++k) {
      const std::string id = std::to_string(k);
      rows += k % 3 == 0 ? R"({"messages": [{"role": "user", "content": ")" + id + R"("}], "n": 2, "top_k": 5})"
              : k % 3 == 1
                  ? R"({"prompt": ")" + id + R"(+1=", "id": "row )" + id + R"(", "seed": 7, "stop": ["ab", "b"]})"
                  : R"({"prompt": ")" + id + R"(", "temperature": 0, "frequency_penalty": 0.5, "max_tokens": 90})";
      rows += "\n";
    }
    io::write_file(inputs_ / "rows.jsonl", rows);
  }
  Arguments generate(const std::string& output) const {
    return {"generate",
            "--model",
            inputs_ / "model",
            "--jsonl",
            inputs_ / "rows.jsonl",
            "--output",
            inputs_ / output,
            "--chat-template",
            "chatml",
            "--dtype",
            "float32",
            "--threads",
            "1",
            "--max-new-tokens",
            "60"};
  }
  TemporaryFolder inputs_{"serve-commands"};
};

TEST_F(ServingCommands, RowsThatWereKilledGoOnToTheSameBytes) {
  const Result whole = run_hone(inputs_.path(), generate("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::string expected = io::read_file(inputs_ / "whole");
  io::Faults faults;
  const std::vector<io::JsonRow> rows = io::read_jsonl(inputs_ / "whole", faults);
  ASSERT_EQ(rows.size(), 60u);
  EXPECT_EQ(rows[0].value.at("answers").as_array().size(), 2u);
  EXPECT_EQ(rows[1].value.at("id").as_string(), "row 1");
  for (const io::JsonRow& row : rows) {
    for (const io::Json& answer : row.value.at("answers").as_array()) {
      EXPECT_EQ(answer.at("ids").as_array().size(), answer.at("logprobs").as_array().size());
      if (answer.at("finish_reason").as_string() != "stop") continue;
      EXPECT_EQ(answer.at("text").as_string().find('b'), std::string::npos);
    }
  }
  {
    Command killed(inputs_.path(), generate("killed"));
    killed.wait_until([&] { return io::exists(inputs_ / "killed") && io::read_file(inputs_ / "killed").size() > 500; });
    killed.send(SIGKILL);
    killed.wait();
  }
  const std::string left = io::read_file(inputs_ / "killed");
  EXPECT_EQ(expected.compare(0, left.size(), left), 0);
  io::write_file(inputs_ / "killed", expected.substr(0, expected.size() / 2));  // a torn line
  const Result resumed = run_hone(inputs_.path(), generate("killed"));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("of 60 rows are in"), std::string::npos);
  EXPECT_EQ(io::read_file(inputs_ / "killed"), expected);
  // Other options are other answers.
  const Result other = run_hone(inputs_.path(), generate("killed") + Arguments{"--top-p", "0.5"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("is no answer to row 0"), std::string::npos) << other.err;
  EXPECT_EQ(io::read_file(inputs_ / "killed"), expected);
  Arguments other_model = generate("killed");
  std::filesystem::copy(inputs_ / "model", inputs_ / "model2");
  other_model[2] = inputs_ / "model2";
  EXPECT_EQ(run_hone(inputs_.path(), other_model).code, 2);
  // The weights were written anew: whoever goes on would mix two models.
  const std::string weights = inputs_ / "model/model.safetensors";
  const auto written = std::filesystem::last_write_time(weights);
  std::filesystem::last_write_time(weights, written + std::chrono::seconds(1));
  const Result rewritten = run_hone(inputs_.path(), generate("killed"));
  EXPECT_EQ(rewritten.code, 2);
  EXPECT_NE(rewritten.err.find("is no answer to row 0"), std::string::npos) << rewritten.err;
  std::filesystem::last_write_time(weights, written);
  EXPECT_EQ(run_hone(inputs_.path(), generate("killed")).code, 0);
  const Result speculated = run_hone(inputs_.path(), generate("speculated") + Arguments{"--speculative-tokens", "4"});
  EXPECT_EQ(speculated.code, 0) << speculated.err;
  EXPECT_EQ(io::read_file(inputs_ / "speculated"), expected);
  EXPECT_EQ(run_hone(inputs_.path(), generate("refused") + Arguments{"--speculative-tokens", "-1"}).code, 2);
  io::write_file(inputs_ / "rows.jsonl", "{\"prompt\": \"1\", \"top_q\": 1}\n{\"promt\": \"1\"}\n");
  const Result faulty = run_hone(inputs_.path(), generate("faulty"));
  EXPECT_EQ(faulty.code, 2);
  EXPECT_NE(faulty.err.find("rows.jsonl:1: top_q"), std::string::npos) << faulty.err;
}

TEST_F(ServingCommands, AChatNeedsNoTerminal) {
  const auto chat = [&](const std::string& said) {
    io::write_file(inputs_ / "said", said);
    const Result result = run_hone(inputs_.path(),
                                   {"chat", inputs_ / "model", "--chat-template", "chatml", "--max-new-tokens", "8",
                                    "--temperature", "0", "--dtype", "float32", "--threads", "1"},
                                   {}, inputs_ / "said");
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  };
  const std::string first = chat("1+1=\n").out;
  EXPECT_GT(first.size(), 1u);
  const Result all = chat("1+1=\n/system be kind\n/nonsense\nagain\n/clear\nagain\n/quit\nnever\n");
  EXPECT_NE(all.err.find("/clear begins a new conversation"), std::string::npos);
  ASSERT_EQ(all.out.substr(0, first.size()), first);
  const std::string rest = all.out.substr(first.size());  // twice the answer to the same conversation
  EXPECT_GT(rest.size(), 2u);
  EXPECT_EQ(rest.substr(0, rest.size() / 2), rest.substr(rest.size() / 2));
}

TEST_F(ServingCommands, AServerThatIsToldToStopEndsWithZero) {
  Command server(inputs_.path(),
                 {"serve", inputs_ / "model", "--port", "0", "--threads", "1", "--kv-cache-gib", "0.01"});
  ASSERT_TRUE(server.wait_until([&] {
    return io::exists(inputs_ / "stdout") && server.out().find("http://127.0.0.1:") != std::string::npos;
  })) << server.err();
  server.send(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
  EXPECT_NE(server.err().find("stopping"), std::string::npos);
}

}  // namespace
}  // namespace hone::test
