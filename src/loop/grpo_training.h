// GrpoTraining: the steps of a GRPO run. One step: draw prompts, roll out, score, advantage, train, publish.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "loop/critic_training.h"
#include "loop/evaluate.h"
#include "loop/grpo_inputs.h"
#include "loop/kl_reward.h"
#include "loop/reference.h"
#include "loop/run.h"
#include "loop/training_rollout.h"

namespace hone {

class GrpoTraining {
 public:
  GrpoTraining(const Recipe& recipe, const GrpoInputs& inputs, kernels::Context& ctx, Run& run, DType dtype);

  // To the end of the run, or an interruption. Returns the exit code.
  int loop();

 private:
  Metrics step(int64_t global_step);
  void shuffle_scores(std::vector<Group>& groups, int64_t global_step) const;
  // What training needs to know of the answers beside their scores: log-probs, advantages.
  void prepare(std::vector<Group>& groups, bool warms_up, Metrics& metrics);
  void update(const std::vector<Group>& groups, int64_t global_step, Metrics& metrics);
  // To a folder of the run and, if named, to another one.
  void dump(const std::vector<Group>& groups, int64_t global_step, const char* folder,
            const std::optional<std::string>& other_folder) const;
  void validate(int64_t global_step, Metrics& metrics);
  uint64_t seed() const { return static_cast<uint64_t>(recipe_.trainer.seed); }

  const Recipe& recipe_;
  const GrpoInputs& inputs_;
  Run& run_;
  std::optional<SpeculationState> speculation_;  // after the last whole step: what is saved
  std::unique_ptr<Decoder> decoder_;
  Trainer trainer_;
  Engine engine_;
  std::optional<Reference> reference_;  // with a KL loss or KL in the reward
  std::optional<KlReward> kl_reward_;
  std::optional<CriticTraining> critic_;
  TrainingRollout rollout_;
  Objective objective_;
};

}  // namespace hone
