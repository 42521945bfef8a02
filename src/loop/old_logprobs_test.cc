#include "loop/old_logprobs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "models/tiny_config.h"

namespace hone {
namespace {

// A trained decoder and one group of two answers to [1, 2], of which the second was begun by older weights.
class OldLogprobs : public ::testing::Test {
 protected:
  OldLogprobs() : decoder_(tiny_model_config(16, 8), DType::f32) {
    decoder_.initialize(3);
    TrainerOptions options;
    options.valid_vocab = 14;
    trainer_ = std::make_unique<Trainer>(ctx_, decoder_, options);
    Group& group = groups_.emplace_back();
    for (const std::vector<int32_t>& ids : {std::vector<int32_t>{3, 4, 5}, {6, 7}}) {
      Trajectory& t = group.trajectories.emplace_back();
      t.prompt_ids = {1, 2};
      t.response_ids = ids;
      t.versions.assign(ids.size(), 4);
      t.score.value = 1.0f;
      t.finish = FinishReason::end;
      TrainSequence s;
      s.ids = {1, 2};
      s.ids.insert(s.ids.end(), ids.begin(), ids.end());
      s.num_prompt = 2;
      t.logprobs = trainer_->score(std::span(&s, 1)).front();
    }
    stale().versions[0] = 3;
    stale().logprobs[0] -= 1.0f;
  }
  Trajectory& fresh() { return groups_[0].trajectories[0]; }
  Trajectory& stale() { return groups_[0].trajectories[1]; }
  void set() { set_old_logprobs(*trainer_, recipe_, 4, groups_, metrics_); }

  kernels::Context ctx_{1};
  Decoder decoder_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<Group> groups_;
  Recipe recipe_;
  Metrics metrics_;
};

TEST_F(OldLogprobs, AreTheSampledOnesWhereNothingAsksForMore) {
  set();
  EXPECT_TRUE(metrics_.values().empty());
  EXPECT_TRUE(stale().old_logprobs.empty());
}

TEST_F(OldLogprobs, OfStaleAnswersAreThoseOfTheWeightsNowAndCorrected) {
  recipe_.algorithm.rollout_correction.rollout_is = "token";
  recipe_.algorithm.rollout_correction.rollout_rs = "token_k2";
  recipe_.algorithm.rollout_correction.rollout_rs_threshold = "0.4";
  set();
  EXPECT_TRUE(fresh().old_logprobs.empty()) << "not scored";
  EXPECT_EQ(fresh().weights, (std::vector<float>{1, 1, 1}));
  EXPECT_TRUE(fresh().loss_mask.empty());
  ASSERT_EQ(stale().old_logprobs.size(), 2u);
  EXPECT_FLOAT_EQ(stale().old_logprobs[0], stale().logprobs[0] + 1.0f);
  EXPECT_EQ(stale().weights, (std::vector<float>{2, 1})) << "e, cut at 2";
  EXPECT_EQ(stale().loss_mask, (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(metrics_.get("training/num_rescored_answers"), 1);
  EXPECT_EQ(metrics_.get("training/old_log_prob_diff_max"), 0);
  EXPECT_NEAR(metrics_.get("rollout_corr/kl"), -1.0 / 5, 1e-6);
  EXPECT_EQ(metrics_.get("rollout_corr/rollout_rs_masked_fraction"), 0.2);
  EXPECT_EQ(metrics_.get("rollout_corr/rollout_is_max"), 2);
}

// Over-weighted by far, it would move the mean that weights are divided by.
TEST_F(OldLogprobs, OfAnswersWithoutAScoreAreNotComputedAndChangeNoWeight) {
  recipe_.algorithm.rollout_correction.rollout_is = "token";
  recipe_.algorithm.rollout_correction.rollout_is_batch_normalize = true;
  std::vector<Group> without = groups_;
  set_old_logprobs(*trainer_, recipe_, 4, without, metrics_);
  Trajectory absent = stale();
  absent.score = {std::nullopt, "the scorer died"};
  for (float& logprob : absent.logprobs) logprob -= 2.0f;
  groups_[0].trajectories.push_back(absent);
  Metrics metrics;
  set_old_logprobs(*trainer_, recipe_, 4, groups_, metrics);
  EXPECT_EQ(fresh().weights, without[0].trajectories[0].weights);
  EXPECT_EQ(stale().weights, without[0].trajectories[1].weights);
  EXPECT_TRUE(groups_[0].trajectories[2].old_logprobs.empty());
  EXPECT_EQ(metrics.values(), metrics_.values());
}

TEST_F(OldLogprobs, WithOtherBitsInTrainingThanInSamplingEndTheRunAndNameTheToken) {
  recipe_.actor.recompute_old_log_prob = true;
  set();
  EXPECT_EQ(metrics_.get("training/num_rescored_answers"), 2);
  fresh().logprobs[1] = std::nextafter(fresh().logprobs[1], 0.0f);
  try {
    set();
    FAIL();
  } catch (const Bug& bug) {
    EXPECT_NE(std::string(bug.what()).find("draw 0, sample 0, id 1 of 3"), std::string::npos) << bug.what();
  }
  EXPECT_GT(metrics_.get("training/old_log_prob_diff_max"), 0);
}

TEST_F(OldLogprobs, AreNeverComputedInBypassMode) {
  recipe_.algorithm.rollout_correction.bypass_mode = true;
  recipe_.algorithm.rollout_correction.rollout_is = "token";
  recipe_.actor.recompute_old_log_prob = true;
  set();
  EXPECT_TRUE(metrics_.values().empty());
}

}  // namespace
}  // namespace hone
