// Small models that have learnt sums of one digit: one to middling, and how much RL under some options adds to its
// score; one that solves some of the prompts that it is trained on, for runs of a few steps.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/tiny_run.h"

namespace hone::test {

inline double mean(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum / static_cast<double>(end - begin);
}

// SFT to middling, once for all that learn from it.
class Learning : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder("learning");
    write_tiny_inputs(folder_->path(), 20, 1, 24, 3);
    write_tiny_model(*folder_ / "model", 3, learning_config());
    const Result result =
        run_hone(folder_->path(),
                 tiny_sft(folder_->path(), *folder_ / "sft") +
                     Arguments{"trainer.total_training_steps=60", "data.train_batch_size=8",
                               "data.max_token_len_per_gpu=1000", "optim.lr=5e-3", "optim.lr_scheduler=constant"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  // The score of every step.
  static std::vector<double> scores(const std::string& name, int64_t steps, const Arguments& more) {
    const Result result = run_hone(
        folder_->path(),
        tiny_train(folder_->path(), *folder_ / name) +
            Arguments{"actor_rollout_ref.model.path=" + last_checkpoint(*folder_ / "sft"), "data.train_batch_size=16",
                      "actor_rollout_ref.rollout.n=8", "actor_rollout_ref.actor.ppo_mini_batch_size=8",
                      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=1000",
                      "actor_rollout_ref.actor.entropy_coeff=0",
                      "actor_rollout_ref.rollout.max_num_batched_tokens=2048", "actor_rollout_ref.actor.optim.lr=1e-3",
                      "trainer.total_training_steps=" + std::to_string(steps)} +
            more);
    EXPECT_EQ(result.code, 0) << result.err;
    return metric(*folder_ / name, "critic/score/mean");
  }
  // Mean of the last ten steps over that of the first ten.
  static double gain(const std::string& name, int64_t steps, const Arguments& more) {
    const std::vector<double> of_steps = scores(name, steps, more);
    if (of_steps.size() != static_cast<size_t>(steps)) return -1;
    return mean(of_steps, of_steps.size() - 10, of_steps.size()) - mean(of_steps, 0, 10);
  }

  static inline TemporaryFolder* folder_ = nullptr;
};

// What it is taught are answers to its own prompts.
class Taught : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    inputs_ = new TemporaryFolder("taught");
    write_tiny_inputs(inputs_->path(), 20, 1, 24, 3);
    write_tiny_model(*inputs_ / "model", 3, learning_config());
    write_answers(*inputs_ / "train.jsonl", *inputs_ / "answers.jsonl");
    const Result result =
        run_hone(inputs_->path(),
                 tiny_sft(inputs_->path(), *inputs_ / "sft") +
                     Arguments{"data.train_files=" + *inputs_ / "answers.jsonl", "trainer.total_training_steps=20",
                               "data.train_batch_size=8", "data.max_token_len_per_gpu=1000", "optim.lr=1e-2",
                               "optim.lr_scheduler=constant"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  static void TearDownTestSuite() {
    delete inputs_;
    inputs_ = nullptr;
  }
  static std::string folder(const std::string& name) { return *inputs_ / name; }

  static inline TemporaryFolder* inputs_ = nullptr;
};

inline const std::string kLossMode = "actor_rollout_ref.actor.policy_loss.loss_mode=",
                         kEstimator = "algorithm.adv_estimator=";

}  // namespace hone::test
