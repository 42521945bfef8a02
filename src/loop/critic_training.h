// CriticTraining: the critic of a PPO run: a copy of the model with a head of one value, with an optimizer of its own.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "loop/grpo_inputs.h"
#include "loop/metrics.h"
#include "loop/run.h"
#include "records/trajectory.h"
#include "train/trainer.h"

namespace hone {

class CriticTraining {
 public:
  // Goes on from the run's checkpoint, or begins with the weights of critic.model.path. All outlive it.
  CriticTraining(const Recipe& recipe, const GrpoInputs& inputs, kernels::Context& ctx, const Run& run, DType dtype);

  // Trajectory::values of every answer that is trained on.
  void set_values(std::span<Group> groups);
  // The updates of a step, from the answers' values and returns.
  void update(std::span<const Group> groups, int64_t global_step, Metrics& metrics);

  int64_t num_steps() const { return trainer_.optimizer().num_steps(); }  // updates applied
  // Weights and moments, in a folder that is made.
  void save(const std::string& folder) const;

 private:
  const Recipe& recipe_;
  const Run& run_;
  std::unique_ptr<Decoder> decoder_;
  Trainer trainer_;
  Objective objective_;
};

}  // namespace hone
