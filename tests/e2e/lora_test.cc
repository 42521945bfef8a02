// Runs that train adapters: the recipe, resuming to the same bits, and what a checkpoint is good for.
#include <gtest/gtest.h>

#include "support/tiny_run.h"

namespace hone {
namespace {

using test::operator+;

TEST(LoraRun, TheRecipeRunsOnADummyModel) {
  const test::TemporaryFolder folder("lora-recipe");
  const std::string recipes = std::string(HONE_TEST_DATA) + "/../../recipes/";
  const auto made = test::run_hone(folder.path(), {"data", "make", "arithmetic", "--out", folder / "data", "--train",
                                                   "20", "--held-out", "4", "--sft", "4", "--digits", "1"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto run = test::run_hone(
      folder.path(),
      {"train", recipes + "quickstart/grpo_lora.yaml", "data.train_files=" + folder / "data/train.jsonl",
       "data.val_files=" + folder / "data/val.jsonl", "data.train_batch_size=4", "trainer.total_training_steps=2",
       "trainer.test_freq=-1", "trainer.val_before_train=false", "actor_rollout_ref.actor.ppo_mini_batch_size=2",
       "actor_rollout_ref.rollout.n=3", "actor_rollout_ref.model.load_format=dummy",
       "actor_rollout_ref.model.path=" + recipes + "dummy/model", "trainer.default_local_dir=" + folder / "run"});
  ASSERT_EQ(run.code, 0) << run.err;
  // rank 16 on q, k, v, o, gate, up and down of each layer: rank (inputs + outputs) parameters
  EXPECT_NE(run.out.find("; 35840 of 87360 parameters, "), std::string::npos) << run.out;
  EXPECT_EQ(test::metric(folder / "run", "training/global_step").size(), 2u);
}

TEST(LoraRun, GoesOnToTheSameBitsAndIsAModelToSampleFrom) {
  const test::TemporaryFolder folder("lora-run");
  test::write_tiny_inputs(folder.path());
  const test::Arguments lora{"actor_rollout_ref.model.lora_rank=3",
                             "actor_rollout_ref.model.lora_alpha=6",
                             "actor_rollout_ref.model.exclude_modules=[k_proj]",
                             "actor_rollout_ref.model.lora_save_merged=true",
                             "actor_rollout_ref.actor.optim.moments=8bit",
                             "actor_rollout_ref.model.recompute=selective",
                             "trainer.save_freq=1"};
  const auto train = [&](const std::string& name, const test::Arguments& more) {
    return test::run_hone(folder.path(), test::tiny_train(folder.path(), folder / name) + lora + more);
  };
  const auto whole = train("whole", {"trainer.total_training_steps=3"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  ASSERT_EQ(train("parts", {"trainer.total_training_steps=1"}).code, 0);
  const auto resumed = train("parts", {"trainer.total_training_steps=3", "trainer.num_threads=2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(test::difference(test::bits_of(folder / "whole"), test::bits_of(folder / "parts")), "");
  for (const double difference : test::metric(folder / "whole", "training/rollout_probs_diff_max")) {
    EXPECT_EQ(difference, 0.0) << "sampling and training are one policy";
  }

  // another form cannot go on from it
  for (const char* other : {"actor_rollout_ref.model.lora_rank=0", "actor_rollout_ref.model.lora_rank=4",
                            "actor_rollout_ref.actor.optim.moments=float32"}) {
    const auto refused = train("parts", {"trainer.total_training_steps=4", other});
    EXPECT_EQ(refused.code, 2) << other;
    EXPECT_NE(refused.err.find("training state is of adapters of rank 3"), std::string::npos) << refused.err;
  }
  // nor is it trained on over another model, or its own with other weights, without a word
  test::write_tiny_model(folder / "model", 6);
  const auto moved = train("parts", {"trainer.total_training_steps=4"});
  EXPECT_EQ(moved.code, 2);
  EXPECT_NE(moved.err.find("adapters were trained on other weights"), std::string::npos) << moved.err;
  EXPECT_EQ(train("parts", {"trainer.total_training_steps=4", "trainer.resume_allow_changes=true"}).code, 0);
  test::write_tiny_model(folder / "model", 5);

  // but a new run can train on with the adapter
  const std::string checkpoint = test::last_checkpoint(folder / "whole");
  const auto further = train("further", {"trainer.total_training_steps=1", "actor_rollout_ref.model.lora_rank=0",
                                         "actor_rollout_ref.model.lora_adapter_path=" + checkpoint});
  EXPECT_EQ(further.code, 0) << further.err;

  const auto answer = [&](const std::string& model) {
    return test::run_hone(folder.path(), {"generate", "--model", model, "--threads", "1", "--dtype", "float32",
                                          "--max-new-tokens", "8", "1+2="});
  };
  const auto adapted = answer(checkpoint), merged = answer(checkpoint + "/merged");
  ASSERT_EQ(adapted.code, 0) << adapted.err;
  EXPECT_EQ(adapted.out, merged.out);
}

TEST(LoraRun, SftTrainsAdaptersToo) {
  const test::TemporaryFolder folder("lora-sft");
  test::write_tiny_inputs(folder.path());
  const auto run =
      test::run_hone(folder.path(), test::tiny_sft(folder.path(), folder / "run") +
                                        test::Arguments{"model.lora_rank=2", "trainer.total_training_steps=2"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(io::exists(test::last_checkpoint(folder / "run") + "/adapter_model.safetensors"));
}

}  // namespace
}  // namespace hone
