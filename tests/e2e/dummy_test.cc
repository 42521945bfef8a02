// load_format=dummy: a run from random weights for a config.json and a tokenizer alone.
#include <gtest/gtest.h>

#include "support/tiny_run.h"

namespace hone {
namespace {

using test::operator+;

// FOLDER as write_tiny_inputs makes it, and FOLDER/bare: the model without its weights.
void write_inputs(const test::TemporaryFolder& folder) {
  test::write_tiny_inputs(folder.path());
  std::filesystem::copy(folder / "model", folder / "bare");
  std::filesystem::remove(folder / "bare" + "/model.safetensors");
}

TEST(Dummy, TheRecipeRunsOnItsOwnModelAndData) {
  const test::TemporaryFolder folder("dummy-recipe");
  const std::string recipes = std::string(HONE_TEST_DATA) + "/../../recipes/dummy";
  auto made = test::run_hone(folder.path(), {"data", "make", "arithmetic", "--out", folder / "data", "--train", "20",
                                             "--held-out", "4", "--sft", "4", "--digits", "1"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto run =
      test::run_hone(folder.path(), {"train", recipes + "/grpo.yaml", "data.train_files=" + folder / "data/train.jsonl",
                                     "actor_rollout_ref.model.path=" + recipes + "/model",
                                     "trainer.default_local_dir=" + folder / "run"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(test::metric(folder / "run", "training/global_step").size(), 3u);
}

TEST(Dummy, WeightsAreAFunctionOfTheSeedAndGoOnFromCheckpoints) {
  const test::TemporaryFolder folder("dummy-seed");
  write_inputs(folder);
  const auto train = [&](const std::string& name, const test::Arguments& more) {
    test::Arguments all = test::tiny_train(folder.path(), folder / name);
    for (std::string& argument : all) {
      if (argument.starts_with("actor_rollout_ref.model.path="))
        argument = "actor_rollout_ref.model.path=" + folder / "bare";
    }
    return test::run_hone(folder.path(), all + test::Arguments{"actor_rollout_ref.model.load_format=dummy"} + more);
  };
  ASSERT_EQ(train("a", {"trainer.total_training_steps=2"}).code, 0);
  ASSERT_EQ(train("threads", {"trainer.total_training_steps=2", "trainer.num_threads=3"}).code, 0);
  EXPECT_EQ(test::difference(test::bits_of(folder / "a"), test::bits_of(folder / "threads")), "");
  ASSERT_EQ(train("other", {"trainer.total_training_steps=2", "trainer.seed=2"}).code, 0);
  EXPECT_NE(test::difference(test::bits_of(folder / "a"), test::bits_of(folder / "other")), "");
  ASSERT_EQ(train("resumed", {"trainer.total_training_steps=1"}).code, 0);
  const auto resumed = train("resumed", {"trainer.total_training_steps=2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(test::difference(test::bits_of(folder / "a"), test::bits_of(folder / "resumed")), "");
}

TEST(Dummy, SftStartsFromTheSameRandomWeightsUnderBothKeys) {
  const test::TemporaryFolder folder("dummy-sft");
  write_inputs(folder);
  const auto sft = [&](const std::string& name, const test::Arguments& model) {
    test::Arguments all;
    for (const std::string& argument : test::tiny_sft(folder.path(), folder / name)) {
      if (!argument.starts_with("model.partial_pretrain=")) all.push_back(argument);
    }
    return test::run_hone(folder.path(), all + model + test::Arguments{"trainer.total_training_steps=1"});
  };
  ASSERT_EQ(sft("new", {"model.partial_pretrain=" + folder / "bare", "model.load_format=dummy"}).code, 0);
  ASSERT_EQ(sft("old", {"model.init_config=" + folder / "bare"}).code, 0);
  EXPECT_EQ(test::difference(test::bits_of(folder / "new"), test::bits_of(folder / "old")), "");
}

TEST(Dummy, WithoutItAFolderWithoutWeightsIsRefusedByNameInCheckAndRun) {
  const test::TemporaryFolder folder("dummy-bare");
  write_inputs(folder);
  test::Arguments all = test::tiny_train(folder.path(), folder / "run");
  all.push_back("actor_rollout_ref.model.path=" + folder / "bare");
  for (const test::Arguments& more : {test::Arguments{"--check"}, test::Arguments{}}) {
    const auto result = test::run_hone(folder.path(), all + more);
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("expected model.safetensors or model.safetensors.index.json, found neither"),
              std::string::npos)
        << result.err;
  }
  io::write_file(folder / "bare" + "/model.safetensors", "broken");
  const auto checked = test::run_hone(folder.path(), all + test::Arguments{"--check"});
  EXPECT_EQ(checked.code, 2);
  EXPECT_NE(checked.err.find("model.safetensors: expected at least 8 bytes, found 6"), std::string::npos)
      << checked.err;
}

// Case P2.
TEST(Dummy, APromptAndAnswerBeyondTheContextAreRefusedAtTheStart) {
  const test::TemporaryFolder folder("dummy-context");
  write_inputs(folder);
  const test::Arguments model{"actor_rollout_ref.model.load_format=dummy", "data.max_prompt_length=100"};
  for (const auto& [answer, code] : {std::pair{"28", 0}, {"29", 2}}) {  // the context is 128
    const auto result =
        test::run_hone(folder.path(), test::tiny_train(folder.path(), folder / "run") + model +
                                          test::Arguments{"--check", "data.max_response_length=" + std::string(answer),
                                                          "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=200",
                                                          "actor_rollout_ref.rollout.max_num_batched_tokens=200"});
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.err.find("129, the model's context is 128") != std::string::npos, code != 0) << result.err;
  }
}

}  // namespace
}  // namespace hone
