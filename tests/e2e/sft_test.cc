// Supervised fine-tuning through the binary: early stopping, and the pipeline SFT, RL, SFT of recipes/pipeline.
#include <gtest/gtest.h>

#include <algorithm>

#include "loop/recipe.h"
#include "loop/sft_recipe.h"
#include "support/tiny_run.h"

namespace hone::test {
namespace {

class Sft : public ::testing::Test {
 protected:
  Sft() { write_tiny_inputs(inputs_.path(), 10, 4, 12); }

  std::string folder(const std::string& name) const { return inputs_ / name; }
  // Four rows are learnt by heart, at a rate at which others soon suffer.
  Arguments command(const std::string& name, const Arguments& more = {}) const {
    return tiny_sft(inputs_.path(), folder(name)) +
           Arguments{"data.train_max_samples=4",
                     "data.shuffle=false",
                     "data.val_files=" + inputs_ / "sft.jsonl",
                     "optim.lr=1e-2",
                     "optim.lr_scheduler=constant",
                     "optim.lr_warmup_steps=0",
                     "trainer.total_training_steps=200",
                     "trainer.test_freq=4",
                     "trainer.early_stopping.patience=2"} +
           more;
  }

  TemporaryFolder inputs_{"sft"};
};

TEST_F(Sft, EndsWhenTheValidationLossNoLongerFallsWithTheBestStepSaved) {
  const Result result = run_hone(inputs_.path(), command("run", {"trainer.max_ckpt_to_keep=2"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const auto losses = metric(folder("run"), "val/loss");
  ASSERT_GE(losses.size(), 3u);
  ASSERT_LT(losses.size(), 50u) << "not the whole run";
  const auto best = std::min_element(losses.begin(), losses.end());
  EXPECT_EQ(losses.end() - best, 3) << "two validations after the best one";
  const auto best_step = 4 * (best - losses.begin() + 1), last_step = static_cast<int64_t>(4 * losses.size());
  EXPECT_EQ(list_checkpoints(folder("run") + "/checkpoints"), (std::vector<int64_t>{best_step, last_step}));
  EXPECT_NE(result.out.find(fmt::format("val/loss has not fallen below {:.4f} of step {} for 2 validations; the "
                                        "checkpoint of that step is {}",
                                        *best, best_step, checkpoint_path(folder("run") + "/checkpoints", best_step))),
            std::string::npos)
      << result.out;
  const Result again = run_hone(inputs_.path(), command("run"));
  EXPECT_EQ(again.code, 3) << again.err;
  EXPECT_NE(again.err.find("nothing left to do: val/loss has not fallen"), std::string::npos) << again.err;
  // more patience goes on
  EXPECT_EQ(run_hone(inputs_.path(), command("run", {"trainer.early_stopping.patience=3"})).code, 0);
  EXPECT_EQ(metric(folder("run"), "val/loss").size(), losses.size() + 1);
}

TEST_F(Sft, KilledAndResumedItEndsWithTheSameStepAndBits) {
  ASSERT_EQ(run_hone(inputs_.path(), command("undisturbed", {"trainer.save_freq=3"})).code, 0);
  const auto expected = bits_of(folder("undisturbed"));
  EXPECT_TRUE(expected.contains("training_state/early_stopping.json"));
  for (const int64_t lines : {4, 9}) {
    Command killed(inputs_.path(), command("killed", {"trainer.save_freq=3"}));
    ASSERT_TRUE(killed.wait_until([&] { return num_lines(folder("killed") + "/metrics.jsonl") >= lines; }));
    killed.send(SIGKILL);
    ASSERT_EQ(killed.wait(), 1000 + SIGKILL);
  }
  ASSERT_EQ(run_hone(inputs_.path(), command("killed", {"trainer.save_freq=3", "trainer.num_threads=2"})).code, 0);
  EXPECT_EQ(difference(expected, bits_of(folder("killed"))), "");
}

TEST_F(Sft, EarlyStoppingNeedsValidations) {
  const Result result = run_hone(inputs_.path(), command("refused", {"trainer.test_freq=-1", "--check"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("trainer.early_stopping.patience = 2: expected trainer.test_freq above 0"),
            std::string::npos)
      << result.err;
}

std::string pipeline(const std::string& name) {
  return std::string(HONE_TEST_DATA) + "/../../recipes/pipeline/" + name + ".yaml";
}

std::string last_weights(const RunRecipe& run) {
  return fmt::format("{}/checkpoints/global_step_{}", run.default_local_dir, run.total_training_steps.value_or(-1));
}

TEST(Pipeline, EachRecipeBeginsWithTheWeightsOfTheOneBefore) {
  std::vector<std::string> notes;
  const SftRecipe first = load_sft_recipe(pipeline("1_sft"), {}, notes),
                  third = load_sft_recipe(pipeline("3_sft"), {}, notes);
  const Recipe second = load_recipe(pipeline("2_grpo"), {}, notes);
  EXPECT_TRUE(notes.empty()) << notes.front();
  EXPECT_EQ(second.model.path, last_weights(first.trainer));
  EXPECT_EQ(third.model.partial_pretrain, last_weights(second.trainer));
}

TEST(Pipeline, RunsAtToySize) {
  const TemporaryFolder folder("pipeline");
  write_tiny_inputs(folder.path(), 8, 4, 16);
  const Arguments sft_data{"data.train_files=" + folder / "sft.jsonl", "data.val_files=" + folder / "sft.jsonl",
                           "data.train_batch_size=4", "data.max_length=24", "trainer.num_threads=1"};
  const auto run = [&](const Arguments& arguments) {
    const Result result = run_hone(folder.path(), arguments);
    EXPECT_EQ(result.code, 0) << result.err;
  };
  run(Arguments{"sft", pipeline("1_sft")} + sft_data +
      Arguments{"model.init_config=" + folder / "model", "trainer.default_local_dir=" + folder / "1",
                "trainer.total_training_steps=20", "trainer.test_freq=10"});
  run({"train", pipeline("2_grpo"), "data.train_files=" + folder / "train.jsonl",
       "data.val_files=" + folder / "val.jsonl", "data.train_batch_size=8", "trainer.num_threads=1",
       "actor_rollout_ref.model.path=" + folder / "1/checkpoints/global_step_20",
       "trainer.default_local_dir=" + folder / "2", "trainer.total_training_steps=3", "trainer.test_freq=3"});
  run(Arguments{"sft", pipeline("3_sft")} + sft_data +
      Arguments{"model.partial_pretrain=" + folder / "2/checkpoints/global_step_3",
                "trainer.default_local_dir=" + folder / "3", "trainer.total_training_steps=20"});
  const auto first = metric(folder / "1", "val/loss"), last = metric(folder / "3", "val/loss");
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(metric(folder / "2", "val-core/hone/arithmetic/reward/mean@1").size(), 2u);
  EXPECT_LT(last.back(), first.front());
}

}  // namespace
}  // namespace hone::test
