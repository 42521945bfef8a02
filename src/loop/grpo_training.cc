#include "loop/grpo_training.h"

#include <algorithm>

#include "io/file.h"
#include "loop/advantages.h"
#include "loop/base_hash.h"
#include "loop/group_metrics.h"
#include "loop/group_sequences.h"
#include "loop/mini_batches.h"
#include "loop/old_logprobs.h"
#include "loop/policy_objective.h"
#include "loop/progress.h"
#include "loop/rewards.h"
#include "loop/rollout_dump.h"
#include "loop/run_settings.h"
#include "loop/starting_weights.h"
#include "loop/step_metrics.h"
#include "rollout/speculation_file.h"

namespace hone {

namespace {

// One dense line a step.
std::string step_line(const Metrics& m, int64_t total_steps) {
  std::string line =
      fmt::format("step {:>4}/{}  score {:.3f}  len {:.1f}", m.get("training/global_step"), total_steps,
                  m.has("critic/score/mean") ? m.get("critic/score/mean") : 0.0, m.get("response_length/mean"));
  if (m.has("critic/vf_loss")) line += fmt::format("  value loss {:.4f}", m.get("critic/vf_loss"));
  if (m.has("actor/pg_loss")) {  // not while a critic warms up
    line += fmt::format("  loss {:+.4f}  entropy {:.3f}  clip {:.2f}%  grad {:.3f}  flat {:.0f}%",
                        m.get("actor/pg_loss"), m.get("actor/entropy"), 100 * m.get("actor/pg_clipfrac"),
                        m.get("actor/grad_norm"), 100 * m.get("training/flat_group_ratio"));
  }
  for (const auto& [name, value] : m.values()) {
    if (name.starts_with("val-core/") && name.find("/mean@") != std::string::npos) {
      line += fmt::format("  val {:.3f}", value);
    }
  }
  for (const auto& [name, text] : {std::pair{"training/num_absent_scores", "absent"},
                                   {"training/num_steps_not_finite", "updates not finite"},
                                   {"critic/num_updates_not_finite", "updates of the critic not finite"}}) {
    if (m.has(name) && m.get(name) > 0) line += fmt::format("  {} {}", m.get(name), text);
  }
  return line + fmt::format("  {:.0f} tok/s  {:.2f} s", m.get("perf/throughput"), m.get("timing_s/step"));
}

// A step of the critic's warm-up leaves the policy as it is.
void skip_update(Metrics& metrics) {
  metrics.set("timing_s/update_actor", 0);
  for (const char* name : {"num_updates", "num_steps_zero_gradient", "num_steps_not_finite"}) {
    metrics.set(std::string("training/") + name, 0);
  }
}

void report_probs_difference(const TrainStep& step, Metrics& metrics) {
  const std::string name = "training/rollout_probs_diff_";
  metrics.set(name + "valid", step.num_tokens > 0);
  metrics.set(name + "max", step.probs_difference_max);
  metrics.set(name + "mean", step.probs_difference_mean);
  metrics.set(name + "std", step.probs_difference_std);
}

// What speculation did between two readings.
void report_speculation(const SpeculationStats& before, const SpeculationStats& after, Metrics& metrics) {
  const std::string name = "speculative_decoding/";
  const auto of = [&](int64_t SpeculationStats::*number) {
    return static_cast<double>(after.*number - before.*number);
  };
  const auto share = [](double part, double whole) { return whole == 0 ? 0.0 : part / whole; };
  const double predicted = of(&SpeculationStats::predict_times), effective = of(&SpeculationStats::effective_times);
  const double right = of(&SpeculationStats::total_right_length);
  metrics.set(name + "predict_times", predicted);
  metrics.set(name + "effective_times", effective);
  metrics.set(name + "effective_percent", 100 * share(effective, predicted));
  metrics.set(name + "total_right_length", right);
  metrics.set(name + "effective_length", share(right, effective));
}

}  // namespace

GrpoTraining::GrpoTraining(const Recipe& recipe, const GrpoInputs& inputs, kernels::Context& ctx, Run& run, DType dtype)
    : recipe_(recipe),
      inputs_(inputs),
      run_(run),
      decoder_(starting_decoder(ctx, run.checkpoint(), recipe.model.path, recipe.model.load_format,
                                static_cast<uint64_t>(recipe.trainer.seed), dtype, inputs.lora,
                                recipe.model.lora.lora_adapter_path)),
      trainer_(ctx, *decoder_, inputs.trainer),
      engine_(ctx, *decoder_, *inputs.engine),
      rollout_(recipe, inputs, engine_, run.quiet()) {
  if (inputs.lora.rank > 0) run.set_base(base_hash(ctx, *decoder_));
  if (run.checkpoint()) {
    const bool same_data = read_training_state(*run.checkpoint()).data_hash == run.state().data_hash;
    rollout_.restore(run.state().position, state_folder(*run.checkpoint()), same_data);
    load_optimizer(*run.checkpoint(), *decoder_, run.state(), trainer_.optimizer());
    decoder_->publish(ctx, run.state().version);
    if (const std::string& text = run.state().speculation; !text.empty()) {
      engine_.restore_speculation(
          parse_speculation(text, io::join_path(*run.checkpoint(), "training_state/speculation.json")));
    }
  }
  objective_ = policy_objective(recipe);
  if (recipe.has_reference()) reference_.emplace(ctx, recipe.model, seed(), dtype);
  if (recipe.algorithm.use_kl_in_reward) kl_reward_.emplace(recipe.algorithm);
  if (kl_reward_ && run.checkpoint()) kl_reward_->restore(state_folder(*run.checkpoint()));
  if (recipe.has_critic()) critic_.emplace(recipe, inputs, ctx, run, dtype);
}

Metrics GrpoTraining::step(int64_t global_step) {
  Metrics metrics;
  metrics.set("training/global_step", static_cast<double>(global_step));
  metrics.set("training/epoch", static_cast<double>(rollout_.epoch()));
  const SpeculationStats spoken = engine_.speculation_stats();
  std::vector<Group> groups = rollout_.roll_out(decoder_->version(), metrics);
  report_speculation(spoken, engine_.speculation_stats(), metrics);
  if (rollout_.has_used_all_epochs()) run_.end_with(global_step);
  if (recipe_.reward.shuffle) shuffle_scores(groups, global_step);
  const bool warms_up = critic_ && global_step < recipe_.trainer.critic_warmup;
  prepare(groups, warms_up, metrics);
  report_groups(groups, recipe_.data.max_prompt_length, metrics);
  if (const auto overlong = overlong_buffer(recipe_)) report_overlong(groups, *overlong, metrics);
  {
    Timed timed(metrics, "dump_rollout_generations");
    dump(groups, global_step, "rollouts", recipe_.trainer.rollout_data_dir);
  }
  if (const std::string absence = find_absence(groups, recipe_.reward.max_absent_ratio); !absence.empty()) {
    throw StoppedByGuard(absence, "mend the scorer; the run then goes on");
  }
  if (critic_) {
    Timed timed(metrics, "update_critic");
    critic_->update(groups, global_step, metrics);
  }
  if (warms_up) {
    skip_update(metrics);
  } else {
    update(groups, global_step, metrics);
  }
  for (const char* phase : {"adv", "update_actor", "values", "update_critic"}) {
    const std::string seconds = std::string("timing_s/") + phase;
    if (!metrics.has(seconds)) continue;
    metrics.set(std::string("timing_per_token_ms/") + phase,
                1000 * metrics.get(seconds) / metrics.get("perf/total_num_tokens"));
  }
  const int64_t test_freq = recipe_.trainer.test_freq;
  if (test_freq > 0 && (global_step % test_freq == 0 || run_.is_last(global_step))) validate(global_step, metrics);
  speculation_ = engine_.speculation_state();
  rollout_.end_step();
  if (kl_reward_) kl_reward_->end_step();
  return metrics;
}

// The control run: the same rewards, dealt out at random over all answers of the step.
void GrpoTraining::shuffle_scores(std::vector<Group>& groups, int64_t global_step) const {
  std::vector<Trajectory*> answers;
  for (Group& group : groups) {
    for (Trajectory& t : group.trajectories) answers.push_back(&t);
  }
  const RandomKey key{seed(), Stream::shuffle};
  for (size_t i = answers.size(); i > 1; --i) {
    const uint32_t j =
        random_below(key, static_cast<uint64_t>(global_step), 1, static_cast<uint32_t>(i), static_cast<uint32_t>(i));
    std::swap(answers[i - 1]->score, answers[j]->score);
    std::swap(answers[i - 1]->reward, answers[j]->reward);
  }
}

void GrpoTraining::prepare(std::vector<Group>& groups, bool warms_up, Metrics& metrics) {
  const bool scores_old = scores_old_logprobs(recipe_);
  if (recipe_.rollout.free_cache_engine && (reference_ || critic_ || scores_old)) engine_.free_cache();
  if (scores_old) {
    Timed timed(metrics, "old_log_prob");
    set_old_logprobs(trainer_, recipe_, decoder_->version(), groups, metrics);
  }
  if (reference_ && (kl_reward_ || !warms_up)) {  // a KL loss is not looked at while the critic alone learns
    Timed timed(metrics, "ref");
    reference_->score(trainer_, groups);
  }
  if (critic_) {
    Timed timed(metrics, "values");
    critic_->set_values(groups);
  }
  Timed timed(metrics, "adv");
  if (kl_reward_) kl_reward_->apply(groups, metrics);
  set_advantages(groups, *algorithms::find_advantage_estimator(recipe_.algorithm.adv_estimator),
                 advantage_options(recipe_.algorithm), metrics);
}

void GrpoTraining::update(const std::vector<Group>& groups, int64_t global_step, Metrics& metrics) {
  Timed timed(metrics, "update_actor");
  if (recipe_.rollout.free_cache_engine) engine_.free_cache();
  const double lr = learning_rate(lr_schedule(recipe_.actor.optim, run_.total_steps()), global_step - 1);
  metrics.set("actor/lr", lr);
  MiniBatchPlan plan;
  plan.groups = std::ssize(groups);
  plan.size = recipe_.actor.ppo_mini_batch_size;
  plan.epochs = recipe_.actor.ppo_epochs;
  plan.shuffle = recipe_.actor.shuffle;
  plan.seed = seed() + 1;
  const auto updates = mini_batches(plan, global_step);
  Progress progress("update", std::ssize(updates), run_.quiet());
  Spread loss, entropy, clipped, clipped_lower, kl, kl_loss, norm;
  double publish_seconds = 0;
  int64_t applied = 0, zero = 0, not_finite = 0, done = 0;
  for (const auto& update : updates) {
    std::vector<TrainSequence> sequences;
    for (const uint32_t g : update) append_sequences(groups[g], sequences);
    const TrainStep step = trainer_.step(sequences, objective_, lr);
    if (done == 0) report_probs_difference(step, metrics);
    if (objective_.correction) report_correction(step.correction, metrics);  // the last update's
    loss.add(step.loss);
    norm.add(step.optimizer.grad_norm);
    entropy.add(step.entropy, step.num_tokens);
    clipped.add(step.clip_fraction, step.num_tokens);
    clipped_lower.add(step.clip_fraction_lower, step.num_tokens);
    kl.add(step.ppo_kl, step.num_tokens);
    kl_loss.add(step.kl_loss);
    publish_seconds += step.publish_seconds;
    applied += step.optimizer.outcome == StepOutcome::applied;
    zero += step.optimizer.outcome == StepOutcome::zero_gradient;
    not_finite += step.optimizer.outcome == StepOutcome::not_finite;
    progress.update(++done);
  }
  metrics.set("timing_s/update_weights", publish_seconds);
  metrics.set("actor/pg_loss", loss.mean());
  metrics.set("actor/grad_norm", norm.mean());
  metrics.set("actor/entropy", entropy.mean());
  metrics.set("actor/pg_clipfrac", clipped.mean());
  metrics.set("actor/pg_clipfrac_lower", clipped_lower.mean());
  metrics.set("actor/ppo_kl", kl.mean());
  if (objective_.kl) {
    metrics.set("actor/kl_loss", kl_loss.mean());
    metrics.set("actor/kl_coef", objective_.kl_coef);
  }
  metrics.set("training/num_updates", static_cast<double>(applied));
  metrics.set("training/num_steps_zero_gradient", static_cast<double>(zero));
  metrics.set("training/num_steps_not_finite", static_cast<double>(not_finite));
}

void GrpoTraining::dump(const std::vector<Group>& groups, int64_t global_step, const char* folder,
                        const std::optional<std::string>& other_folder) const {
  const std::string name = fmt::format("{}.jsonl", global_step);
  std::vector<std::string> paths{io::join_path(run_.folder(folder), name)};
  if (other_folder) paths.push_back(io::join_path(*other_folder, name));
  write_rollouts(paths, global_step, groups);
}

void GrpoTraining::validate(int64_t global_step, Metrics& metrics) {
  if (inputs_.validation.empty()) return;
  Timed timed(metrics, "testing");
  const ValidationSampling& sampling = recipe_.rollout.val_kwargs;
  EvaluationOptions options;
  options.n = sampling.n;
  options.temperature = sampling.do_sample ? sampling.temperature : 0.0;
  if (sampling.do_sample) {
    options.filter.top_k = sampling.top_k;
    options.filter.top_p = static_cast<float>(sampling.top_p);
  }
  options.max_new_tokens = recipe_.data.max_response_length;
  options.end_ids = inputs_.end_ids.ids;
  options.scoring = inputs_.scoring;
  options.score_beside = recipe_.rollout.task_queue > 0;
  options.seed = seed();
  Progress progress("validation", static_cast<int64_t>(inputs_.validation.size()), run_.quiet());
  const Evaluation evaluation =
      evaluate(engine_, inputs_.tokenizer, inputs_.validation, options, [&](int64_t done) { progress.update(done); });
  evaluation.report(metrics, sampling.n);
  dump(evaluation.groups, global_step, "validation", recipe_.trainer.validation_data_dir);
  if (!run_.quiet())
    fmt::print("{}", show_samples(recipe_.trainer.log_val_generations, global_step, evaluation.groups));
}

int GrpoTraining::loop() {
  const bool first = !run_.checkpoint();
  if ((first && recipe_.trainer.val_before_train) || recipe_.trainer.val_only) {
    Metrics metrics;
    validate(run_.state().global_step, metrics);
    if (!metrics.values().empty()) {
      if (!run_.quiet()) {
        for (const auto& [name, value] : metrics.values()) {
          if (name.starts_with("val-core/") && !name.ends_with("/std"))
            fmt::print("{}: {} {:.4f}\n", first ? "before training" : "validation", name, value);
        }
      }
      run_.record(std::move(metrics), run_.state().global_step);
    }
    if (recipe_.trainer.val_only) return 0;
  }
  if (rollout_.has_used_all_epochs()) {
    throw Error(fmt::format("nothing left to do: the epochs of the run ended with step {}", run_.state().global_step),
                "raise trainer.total_epochs to go on, or set trainer.total_training_steps", 3);
  }
  return run_.loop([&](int64_t global_step) { return step(global_step); },
                   [&](TrainingState& state, const std::string& folder) {
                     state.position = rollout_.position();
                     state.version = decoder_->version();
                     state.optimizer_steps = trainer_.optimizer().num_steps();
                     if (critic_) state.critic_steps = critic_->num_steps();
                     state.speculation = speculation_ ? speculation_text(*speculation_) : "";
                     save_checkpoint(folder, state, *decoder_, trainer_.optimizer(),
                                     {recipe_.model.path, recipe_.model.lora.lora_save_merged},
                                     [&](const std::string& more) {
                                       rollout_.save(more);
                                       if (kl_reward_) kl_reward_->save(more);
                                       if (critic_) critic_->save(critic_folder(more));
                                     });
                   },
                   [&](const Metrics& metrics) { return step_line(metrics, run_.total_steps()); });
}

}  // namespace hone
