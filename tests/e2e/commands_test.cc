// The commands as a user meets them: what is refused, with what words and which exit code, and what comes out.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

#include "support/tiny_run.h"

namespace hone::test {
namespace {

// Files of this process and of those it starts grow to so many bytes and no further.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size_bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{size_bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &old_); }

 private:
  rlimit old_ = {};
};

class Commands : public ::testing::Test {
 protected:
  Commands() { write_tiny_inputs(inputs_.path()); }
  Result hone(const Arguments& arguments, const std::string& input = "") const {
    if (input.empty()) return run_hone(inputs_.path(), arguments);
    io::write_file(inputs_ / "input", input);
    return run_hone(inputs_.path(), arguments, {}, inputs_ / "input");
  }
  Result train(const Arguments& more) const { return hone(tiny_train(inputs_.path(), inputs_ / "run") + more); }
  Result sft(const Arguments& more) const { return hone(tiny_sft(inputs_.path(), inputs_ / "run") + more); }
  static void expect_refused(const Result& result, const std::vector<std::string>& parts) {
    EXPECT_EQ(result.code, 2) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  }
  TemporaryFolder inputs_{"commands"};
};

TEST_F(Commands, AnUnknownKeyNamesTheNearestOne) {
  expect_refused(train({"learnign_rate=3e-4"}), {"learnign_rate", "actor_rollout_ref.actor.optim.lr"});
  expect_refused(sft({"optim.lrr=3e-4"}), {"optim.lrr", "optim.lr"});
  expect_refused(train({"actor_rollout_ref.actor.optim.lr=fast"}),
                 {"actor_rollout_ref.actor.optim.lr: expected number, found text \"fast\""});
  expect_refused(train({"actor_rollout_ref.rollout.n=1"}),
                 {"expected at least 2, because algorithm.adv_estimator = grpo compares"});
  expect_refused(hone({"trian"}), {"trian"});
  EXPECT_FALSE(io::exists(inputs_ / "run")) << "what is refused leaves nothing behind";
}

TEST_F(Commands, EveryFaultOfTheDataIsListedBeforeTheModelIsLoaded) {
  io::write_file(inputs_ / "model/model.safetensors", "broken");  // one fault among the others
  const std::string good = R"({"data_source":"hone/arithmetic","prompt":"1+1=","reward_model":{"ground_truth":"02"}})";
  io::write_file(inputs_ / "bad.jsonl",
                 good + "\n" + R"({"data_source":"hone/arithmetic","prompt":"1+2=","reward_model":{}})" + "\n" +
                     R"({"data_source":"hone/arithmetic","prompt":"1+3=","reward_model":{"ground_truth":null}})" +
                     "\n" + R"({"data_source":"hone/arithmetic","prompt":5,"reward_model":{"ground_truth":"05"}})" +
                     "\n" + R"({"data_source":"no/such","prompt":"1+4=","reward_model":{"ground_truth":"05"}})" + "\n" +
                     good.substr(0, 40) + "\n" +
                     R"({"data_source":"hone/arithmetic","prompt":"111111+11=","reward_model":{"ground_truth":"05"}})" +
                     "\n\n");
  const Result result = train({"data.train_files=" + inputs_.path() + "/bad.jsonl"});
  expect_refused(result, {"bad.jsonl:2", "bad.jsonl:3", "bad.jsonl:4", "no/such", "bad.jsonl:6", "bad.jsonl:7"});
  EXPECT_EQ(result.err.find("bad.jsonl:1:"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("model.safetensors: expected at least 8 bytes, found 6"), std::string::npos) << result.err;
  io::write_file(inputs_ / "empty.jsonl", "");
  expect_refused(train({"data.train_files=" + inputs_.path() + "/empty.jsonl"}), {"empty.jsonl"});
  expect_refused(train({"data.train_files=" + inputs_.path() + "/none.jsonl"}), {"none.jsonl"});
  io::write_file(inputs_ / "bad_sft.jsonl", "{\"prompt\":\"1+1=\"}\n{\"prompt\":\"1+1=\",\"response\":7}\n");
  expect_refused(sft({"data.train_files=" + inputs_.path() + "/bad_sft.jsonl"}),
                 {"bad_sft.jsonl:1", "bad_sft.jsonl:2"});
  // with good data the model is the next fault
  expect_refused(train({}), {"model.safetensors"});
}

TEST_F(Commands, AByteOrderMarkAndABlankLastLineAreAccepted) {
  const std::string data = io::read_file(inputs_ / "train.jsonl");
  io::write_file(inputs_ / "marked.jsonl", "\xef\xbb\xbf" + data + "\n\n");
  const Result result = train({"data.train_files=" + inputs_.path() + "/marked.jsonl", "--check"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("checked: "), std::string::npos) << result.out;
}

TEST_F(Commands, SizesThatDoNotDivideRunAndArePrintedInOneSentence) {
  Arguments arguments = tiny_train(inputs_.path(), inputs_ / "run");
  std::erase(arguments, "--quiet");
  const Result result =
      hone(arguments + Arguments{"data.train_batch_size=7", "actor_rollout_ref.rollout.n=3",
                                 "actor_rollout_ref.actor.ppo_mini_batch_size=4", "trainer.total_training_steps=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("2 steps of 7 prompts x 3 answers, updates of 4 prompts"), std::string::npos) << result.out;
  EXPECT_EQ(metric(inputs_ / "run", "training/num_updates"), (std::vector<double>{2, 2}));
  const std::string samples = io::read_file(inputs_ / "run/rollouts/2.jsonl");
  EXPECT_EQ(std::count(samples.begin(), samples.end(), '\n'), 21);
}

TEST_F(Commands, ARunThatCannotFitIsRefusedWithTheNumbers) {
  const std::vector<std::string> parts{"this run does not fit: it needs", "GiB are available", "KV cache"};
  // a budget is no need: a micro-batch is never more than an optimizer batch, nor the cache more than the answers
  const std::string budget = "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=2147483647";
  EXPECT_EQ(train({budget, "--check"}).code, 0);
  expect_refused(train({budget, "data.train_batch_size=10", "actor_rollout_ref.actor.ppo_mini_batch_size=10",
                        "actor_rollout_ref.rollout.n=1000000"}),
                 parts);
  expect_refused(train({"actor_rollout_ref.actor.ppo_max_token_len_per_gpu=1000000000000000000"}),
                 {"expected at most 2147483647"});
  EXPECT_EQ(sft({"data.max_token_len_per_gpu=2147483647", "--check"}).code, 0);
  for (const std::string& more :
       Arguments{"data.train_batch_size=1000000000", "data.val_files=" + inputs_.path() + "/sft.jsonl"}) {
    expect_refused(sft({"data.max_token_len_per_gpu=2147483647", more}), {"this run does not fit: it needs"});
  }
  expect_refused(train({"actor_rollout_ref.rollout.n=1000000", "data.train_batch_size=10",
                        "actor_rollout_ref.rollout.max_num_seqs=2147483647",
                        "actor_rollout_ref.rollout.gpu_memory_utilization=1"}),
                 parts);
  expect_refused(train({"actor_rollout_ref.rollout.n=1000000000000000000"}),
                 {"rollout.n: expected at least 1, at most 1000000"});
  const io::Json config = io::read_json(inputs_ / "model/config.json");
  io::Json huge = config;
  for (const char* key : {"vocab_size", "hidden_size", "intermediate_size"}) huge.set(key, 100000);
  io::write_json(inputs_ / "model/config.json", huge);
  expect_refused(train({}), parts);
  expect_refused(hone({"generate", "--model", inputs_ / "model", "--max-new-tokens", "8", "1+1="}),
                 {"this run does not fit: it needs"});
  for (const char* key : {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"}) {
    huge.set(key, int64_t{1} << 31);
  }
  io::write_json(inputs_ / "model/config.json", huge);
  expect_refused(train({}), {"config.json: sizes: a model of", "parameters"});
}

TEST_F(Commands, OfFlatGroupsAloneNothingIsLearntAndTheRunSaysSo) {
  // no answer of these characters holds "#### NUMBER", so every score is 0
  std::string data;
  for (const char* prompt : {"1+1=", "2+2=", "3+3=", "4+4=", "5+5="}) {
    data +=
        fmt::format(R"({{"data_source":"openai/gsm8k","prompt":"{}","reward_model":{{"ground_truth":"4"}}}})", prompt);
    data += "\n";
  }
  io::write_file(inputs_ / "flat.jsonl", data);
  const Result result = train({"data.train_files=" + inputs_.path() + "/flat.jsonl", "trainer.total_training_steps=2",
                               "actor_rollout_ref.actor.entropy_coeff=0"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string run = inputs_ / "run";
  EXPECT_EQ(metric(run, "training/flat_group_ratio"), (std::vector<double>{1, 1}));
  EXPECT_EQ(metric(run, "critic/score/mean"), (std::vector<double>{0, 0}));
  EXPECT_EQ(metric(run, "critic/advantages/max"), (std::vector<double>{0, 0}));
  EXPECT_EQ(metric(run, "actor/grad_norm"), (std::vector<double>{0, 0}));
  EXPECT_EQ(metric(run, "training/num_steps_zero_gradient"), (std::vector<double>{2, 2}));
  EXPECT_EQ(metric(run, "training/num_updates"), (std::vector<double>{0, 0}));
  EXPECT_TRUE(io::read_file(last_checkpoint(run) + "/model.safetensors") ==
              io::read_file(inputs_ / "model/model.safetensors"));
}

TEST_F(Commands, AtLearningRateZeroEveryRatioIsOneAndTheWeightsStay) {
  const Result result = train({"trainer.total_training_steps=50", "actor_rollout_ref.actor.optim.lr=0",
                               "actor_rollout_ref.rollout.temperature=0.6", "actor_rollout_ref.actor.ppo_epochs=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string run = inputs_ / "run";
  const std::vector<double> zeros(50, 0.0);
  EXPECT_EQ(metric(run, "training/rollout_probs_diff_max"), zeros);
  EXPECT_EQ(metric(run, "actor/pg_clipfrac"), zeros);
  EXPECT_EQ(metric(run, "actor/ppo_kl"), zeros);
  for (const double updates : metric(run, "training/num_updates")) EXPECT_GT(updates, 0);
  EXPECT_TRUE(io::read_file(last_checkpoint(run) + "/model.safetensors") ==
              io::read_file(inputs_ / "model/model.safetensors"));
}

TEST_F(Commands, WeightsThatAreNotFiniteStopARolloutAndAreCountedBySft) {
  const auto decoder = weights::load_decoder(inputs_ / "model", DType::f32);
  decoder->parameters().back().set(0, std::nanf(""));
  weights::save_model(*decoder, inputs_ / "model", inputs_ / "model");
  Result result = train({"trainer.total_training_steps=2"});
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("logits are not finite"), std::string::npos) << result.err;
  const std::string run = inputs_ / "not_finite";
  result = hone(tiny_sft(inputs_.path(), run) + Arguments{"trainer.total_training_steps=2"});
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_NE(result.err.find("weights are not finite, so nothing is saved"), std::string::npos) << result.err;
  EXPECT_EQ(metric(run, "training/num_steps_not_finite"), (std::vector<double>{1, 1}));
  EXPECT_TRUE(list_checkpoints(run + "/checkpoints").empty());
}

TEST_F(Commands, TokenizeReadsAndWritesJsonLines) {
  const Arguments tokenize{"tokenize", "--tokenizer", inputs_ / "model", "--jsonl"};
  Result result = hone(tokenize, "{\"text\": \"12+3=\"}\n\n{\"text\": \"\"}\n{\"text\": \"7<|end|>\"}\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "{\"ids\": [1, 2, 10, 3, 12]}\n{\"ids\": []}\n{\"ids\": [7, 13]}\n");
  result = hone(tokenize, "{\"text\": \"1\"}\n{\"txt\": \"1\"}\n");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("standard input:2"), std::string::npos) << result.err;
}

TEST_F(Commands, ExplainKnowsEveryMetricOfARun) {
  ASSERT_EQ(train({"trainer.total_training_steps=1", "data.val_files=" + inputs_.path() + "/val.jsonl",
                   "trainer.test_freq=1"})
                .code,
            0);
  const std::string text = io::read_file(inputs_ / "run/metrics.jsonl");
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  const io::Json line = io::parse_json(last, "metrics.jsonl");
  for (const auto& [name, value] : line.as_object()) {
    const Result result = hone({"explain", name});
    EXPECT_EQ(result.code, 0) << name;
    EXPECT_FALSE(result.out.empty()) << name;
  }
  EXPECT_GT(line.as_object().size(), 20u);
  expect_refused(hone({"explain", "actor/entropyy"}), {"actor/entropyy"});
}

TEST_F(Commands, GenerateIsAFunctionOfTheSeed) {
  const auto answers = [&](const char* seed, const char* threads) {
    const Result result = hone({"generate", "--model", inputs_ / "model", "1+2=", "3-1=", "--n", "3", "--seed", seed,
                                "--threads", threads, "--max-new-tokens", "20", "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 6);
    return result.out;
  };
  const std::string first = answers("1", "1");
  EXPECT_EQ(first, answers("1", "2"));
  EXPECT_NE(first, answers("2", "1"));
  const Arguments eval{"eval", "--model", inputs_ / "model", "--data", inputs_ / "val.jsonl", "--max-new-tokens", "9"};
  EXPECT_EQ(hone(eval).code, 0);
  expect_refused(hone(eval + Arguments{"--dump", "/dev/full"}), {"--dump: /dev/full is not a regular file"});
  expect_refused(hone(eval + Arguments{"--dump", "/proc/x.jsonl"}), {"/proc"});
  expect_refused(hone(eval + Arguments{"--dump", inputs_ / "val.jsonl/x.jsonl"}), {"val.jsonl"});
  expect_refused(hone(eval + Arguments{"--max-samples", "0"}), {"--max-samples: expected at least 1, or -1 for all"});
  expect_refused(hone(eval + Arguments{"--n", "3000000000"}), {"--n: expected at least 1, at most 1000000"});
}

TEST_F(Commands, EvalReservesACacheForTheAnswersThatThereAre) {
  const Arguments eval{"eval", "--model", inputs_ / "model", "--data", inputs_ / "val.jsonl", "--max-new-tokens", "9"};
  const Result small = hone(eval), large = hone(eval + Arguments{"--max-num-seqs", "1000000000000"});
  EXPECT_EQ(large.code, 0) << large.err;
  EXPECT_EQ(large.out, small.out);
  expect_refused(hone(eval + Arguments{"--max-num-seqs", "0"}), {"max_num_seqs is 0", "at least 1"});
}

TEST_F(Commands, EvalNamesItsOwnOptionsForRowsThatItCannotScore) {
  io::write_file(inputs_ / "rows.jsonl",
                 R"({"data_source":"mine","prompt":"1+1=","reward_model":{"ground_truth":"02"}})"
                 "\n"
                 R"({"data_source":"apps","prompt":"1+1=","reward_model":{"ground_truth":"02"}})"
                 "\n");
  const Result result = hone({"eval", "--model", inputs_ / "model", "--data", inputs_ / "rows.jsonl"});
  expect_refused(result, {"rows.jsonl:1: no scorer for data source \"mine\" (1 rows); name one with --custom-reward",
                          "allow it with --run-code, or name another scorer with --custom-reward"});
  EXPECT_EQ(result.err.find("reward."), std::string::npos) << "a key of recipes: " << result.err;
}

// The disk is full, or the process is killed, in the middle of a line: the same command goes on from there, to the same
// answers.
TEST_F(Commands, EvalGoesOnWhereItWasStopped) {
  const std::string whole = inputs_ / "whole.jsonl", dump = inputs_ / "dump.jsonl", part = dump + ".part";
  const auto eval = [&](const std::string& file, const char* seed) {
    return hone({"eval", "--model", inputs_ / "model", "--data", inputs_ / "train.jsonl", "--max-new-tokens", "9",
                 "--n", "4", "--max-num-seqs", "4", "--seed", seed, "--dump", file});
  };
  const Result undisturbed = eval(whole, "1");
  ASSERT_EQ(undisturbed.code, 0) << undisturbed.err;
  EXPECT_FALSE(io::exists(whole + ".part"));
  {
    const FileSizeLimit limit(3000);
    expect_refused(eval(dump, "1"), {"dump.jsonl.part"});
  }
  EXPECT_FALSE(io::exists(dump));
  expect_refused(eval(dump, "2"), {"dump.jsonl.part holds answers of another evaluation"});
  const Result resumed = eval(dump, "1");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("of 10 prompts are in " + part + " already"), std::string::npos) << resumed.err;
  EXPECT_EQ(resumed.out, undisturbed.out);
  EXPECT_TRUE(io::read_file(dump) == io::read_file(whole));
  EXPECT_FALSE(io::exists(part));
}

TEST_F(Commands, CompareTellsWhichSamplesOfTwoDumpsDiffer) {
  const auto dump = [&](const char* seed) {
    const std::string file = inputs_ / (std::string("dump_") + seed + ".jsonl");
    const Result result = hone({"eval", "--model", inputs_ / "model", "--data", inputs_ / "val.jsonl",
                                "--max-new-tokens", "9", "--n", "4", "--seed", seed, "--dump", file});
    EXPECT_EQ(result.code, 0) << result.err;
    return file;
  };
  const std::string first = dump("1"), second = dump("2");
  const Result same = hone({"compare", first, first, "--json"});
  ASSERT_EQ(same.code, 0) << same.err;
  const io::Json line = io::parse_json(same.out, "out");
  EXPECT_EQ(line.at("num_prompts").as_int(), 4);
  EXPECT_EQ(line.at("difference").as_double(), 0.0);
  EXPECT_EQ(line.at("samples_better").as_int() + line.at("samples_worse").as_int(), 0);
  EXPECT_EQ(hone({"compare", first, second, "--show", "3"}).code, 0);
  io::write_file(inputs_ / "short.jsonl", io::read_file(first).substr(0, io::read_file(first).find('\n') + 1));
  expect_refused(hone({"compare", first, inputs_ / "short.jsonl"}), {"has 16 samples", "has 1"});
  expect_refused(hone({"compare", first, inputs_ / "none.jsonl"}), {"none.jsonl"});
}

// Option parsers like to take "[a,b]" for a list.
TEST_F(Commands, ATextInBracketsIsOneText) {
  const auto lines = [&](const Arguments& arguments) {
    const Result result = hone(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return std::count(result.out.begin(), result.out.end(), '\n');
  };
  EXPECT_EQ(lines({"tokenize", "--tokenizer", inputs_ / "model", "1+2=", "3-1="}), 2);
  const Arguments generate{"generate", "--model", inputs_ / "model", "--max-new-tokens", "2", "--json"};
  EXPECT_EQ(lines(generate + Arguments{"1+2=", "3-1="}), 2);
  for (const std::string text : {"[1,2]", "[1]", "[]", "["}) {
    const Result result = hone(generate + Arguments{text});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("'['"), std::string::npos) << text << ": " << result.err;
  }
}

}  // namespace
}  // namespace hone::test
