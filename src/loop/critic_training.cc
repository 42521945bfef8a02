#include "loop/critic_training.h"

#include <cmath>

#include "core/error.h"
#include "io/file.h"
#include "loop/checkpoint.h"
#include "loop/group_sequences.h"
#include "loop/mini_batches.h"
#include "loop/progress.h"
#include "loop/run_settings.h"
#include "loop/step_metrics.h"
#include "weights/hf_folder.h"

namespace hone {

namespace {

std::unique_ptr<Decoder> starting_critic(kernels::Context& ctx, const Recipe& recipe, const Run& run, DType dtype) {
  const Doing doing("loading the critic");
  if (run.checkpoint()) {
    return weights::load_value_decoder(ctx, critic_folder(state_folder(*run.checkpoint())), dtype);
  }
  const std::string& folder = recipe.critic_folder();
  if (recipe.model.load_format != "dummy") return weights::load_value_decoder(ctx, folder, dtype);
  return weights::random_value_decoder(ctx, folder, dtype, static_cast<uint64_t>(recipe.trainer.seed));
}

// 1 - var(returns - values) / var(returns): how much of the returns the critic knew.
class ExplainedVariance {
 public:
  void add(double value, double target) {
    errors_.add(target - value);
    targets_.add(target);
  }
  double share() const { return 1.0 - errors_.variance() / (targets_.variance() + 1e-5); }

 private:
  struct Moments {
    double count = 0, sum = 0, squares = 0;
    void add(double x) {
      count += 1;
      sum += x;
      squares += x * x;
    }
    double variance() const {
      if (count < 2) return 0;
      return std::max(0.0, (squares - sum * sum / count) / (count - 1));
    }
  };
  Moments errors_, targets_;
};

}  // namespace

CriticTraining::CriticTraining(const Recipe& recipe, const GrpoInputs& inputs, kernels::Context& ctx, const Run& run,
                               DType dtype)
    : recipe_(recipe),
      run_(run),
      decoder_(starting_critic(ctx, recipe, run, dtype)),
      trainer_(ctx, *decoder_, critic_trainer_options(recipe, inputs.trainer)) {
  objective_.cliprange_value = recipe.critic.cliprange_value;
  objective_.aggregation =
      *algorithms::loss_aggregation(recipe.critic.loss_agg_mode.value_or(recipe.actor.loss_agg_mode));
  objective_.loss_scale_factor =
      recipe.actor.loss_scale_factor.value_or(static_cast<double>(recipe.data.max_response_length));
  if (!run.checkpoint()) return;
  if (!run.state().critic_steps) {
    throw Error(fmt::format("{}: its state has no critic_steps: it was written by an older version", *run.checkpoint()),
                "begin again in a run folder of its own, or with trainer.resume_mode=disable");
  }
  load_moments(critic_folder(state_folder(*run.checkpoint())), *decoder_, trainer_.optimizer());
  trainer_.optimizer().set_num_steps(*run.state().critic_steps);
}

void CriticTraining::set_values(std::span<Group> groups) {
  const std::vector<Trajectory*> answers = trained_answers(groups);
  std::vector<std::vector<float>> values = trainer_.score(sequences_of(answers));
  for (size_t i = 0; i < answers.size(); ++i) answers[i]->values = std::move(values[i]);
}

void CriticTraining::update(std::span<const Group> groups, int64_t global_step, Metrics& metrics) {
  const CriticRecipe& critic = recipe_.critic;
  const double lr = learning_rate(lr_schedule(critic.optim, run_.total_steps()), global_step - 1);
  MiniBatchPlan plan;
  plan.groups = static_cast<int64_t>(groups.size());
  plan.size = recipe_.critic_mini_batch_size();
  plan.epochs = critic.ppo_epochs.value_or(recipe_.actor.ppo_epochs);
  plan.shuffle = critic.shuffle;
  plan.seed = static_cast<uint64_t>(recipe_.trainer.seed) + 2;
  const auto updates = mini_batches(plan, global_step);
  Progress progress("critic", static_cast<int64_t>(updates.size()), run_.quiet());
  Spread loss, clipped, value, norm;
  int64_t applied = 0, not_finite = 0, done = 0;
  for (const auto& update : updates) {
    std::vector<TrainSequence> sequences;
    for (const uint32_t g : update) append_sequences(groups[g], sequences);
    const TrainStep step = trainer_.step(sequences, objective_, lr);
    loss.add(step.loss);
    norm.add(step.optimizer.grad_norm);
    clipped.add(step.clip_fraction, step.num_tokens);
    value.add(step.value, step.num_tokens);
    applied += step.optimizer.outcome == StepOutcome::applied;
    not_finite += step.optimizer.outcome == StepOutcome::not_finite;
    progress.update(++done);
  }
  Spread values;
  ExplainedVariance explained;
  for (const Group& group : groups) {
    for (const Trajectory& t : group.trajectories) {
      for (size_t i = 0; i < t.values.size(); ++i) {
        if (!t.has_loss(i)) continue;
        values.add(double{t.values[i]});
        if (!t.returns.empty()) explained.add(double{t.values[i]}, double{t.returns[i]});
      }
    }
  }
  values.report(metrics, "critic/values");
  metrics.set("critic/vf_explained_var", explained.share());
  metrics.set("critic/vf_loss", loss.mean());
  metrics.set("critic/vf_clipfrac", clipped.mean());
  metrics.set("critic/vpred_mean", value.mean());
  metrics.set("critic/grad_norm", norm.mean());
  metrics.set("critic/lr", lr);
  metrics.set("critic/num_updates", static_cast<double>(applied));
  metrics.set("critic/num_updates_not_finite", static_cast<double>(not_finite));
}

void CriticTraining::save(const std::string& folder) const {
  io::make_folders(folder);
  save_beside(folder, *decoder_, trainer_.optimizer());
}

}  // namespace hone
