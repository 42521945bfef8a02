// TrainingRollout: the answers that a step trains on.
//
// A phase has data.train_batch_size * (1 + over_sample_rate) groups in flight: those carried over from the step before,
// then newly drawn ones. It ends when train_batch_size of them are complete; the others are taken back with what they
// have and go on in the next phase, with the weights of then. Which groups a step trains on is decided by the engine
// step in which they are complete, and by draw where that is equal: a function of the run, not of threads or clocks.
//
// With dynamic sampling (dynamic_sampling.h) a step has as many such phases, generation batches of data.gen_batch_size
// groups, as it needs for train_batch_size groups to train on; groups beyond are thrown away, or carried over complete.
//
// It also learns how long answers are, which orders later epochs and caps answers (prompts/prompt_source.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/task_queue.h"
#include "loop/dynamic_sampling.h"
#include "loop/grpo_inputs.h"
#include "loop/length_report.h"
#include "loop/metrics.h"
#include "prompts/prompt_source.h"
#include "rollout/engine.h"

namespace hone {

PromptSourceOptions prompt_source_options(const Recipe& recipe);

class TrainingRollout {
 public:
  // All outlive it. Raises Error when the prompts do not fill one batch.
  TrainingRollout(const Recipe& recipe, const GrpoInputs& inputs, Engine& engine, bool quiet);

  // The groups of a step by draw, with their scores and rewards. `version`: of the policy that draws now. Raises
  // StoppedByGuard when dynamic sampling finds too few groups.
  std::vector<Group> roll_out(int32_t version, Metrics& metrics);
  // The step is whole: what is saved from now on is the state after it.
  void end_step() { saved_ = {source_, carried_}; }

  int64_t epoch() const { return source_.position().epoch; }
  // How many steps an epoch has is known beforehand but with dynamic sampling, whose runs end with the step that uses
  // up the last epoch.
  bool has_used_all_epochs() const;

  // The state after the last whole step. Where there is more than the position it goes to files of that folder.
  DataPosition position() const { return saved_.source.position(); }
  void save(const std::string& folder) const;
  // Of other data (trainer.resume_allow_changes) the position alone holds, and a note says what is left out. Raises
  // Error on files that do not fit the data.
  void restore(const DataPosition& position, const std::string& folder, bool same_data);

 private:
  struct State {
    PromptSource source;
    std::vector<UnfinishedGroup> carried;  // by draw
  };
  struct Phase {
    std::vector<Group> groups;  // by draw, scored
    int64_t cap = 0;            // most ids of an answer
  };
  // Expected of an answer, mean over carried and drawn groups.
  double expected_length(std::span<const DrawnPrompt> drawn) const;
  SamplingParams sampling(std::span<const DrawnPrompt> drawn) const;
  Phase run_phase(Metrics& metrics);
  int num_scoring_threads() const;  // beside the rollout
  // Ends with the first groups that are complete, which `scoring` is given as they come; the others are carried_
  // afterwards.
  std::vector<Group> generate(std::span<const DrawnPrompt> drawn, const SamplingParams& sampling, TaskQueue& scoring);
  std::vector<Group> sample_dynamically(LengthReport& lengths, Metrics& metrics);
  // Learns from what a phase gave, before anything of it is left out.
  void observe(const Phase& phase, LengthReport& lengths);
  void carry(Group&& group);
  // The greedy answer to each prompt, and its reward (ReMax).
  void set_baselines(std::span<Group> groups, Metrics& metrics);
  void report_ages(std::span<const Group> groups, int32_t version, Metrics& metrics) const;

  const Recipe& recipe_;
  const GrpoInputs& inputs_;
  Engine& engine_;
  bool quiet_;
  PromptSource source_;
  std::vector<UnfinishedGroup> carried_;
  State saved_;
};

}  // namespace hone
