// TrainingRollout: the answers that a step trains on.
//
// A phase has data.train_batch_size * (1 + over_sample_rate) groups in flight: those carried over from the step before,
// then newly drawn ones. It ends when train_batch_size of them are complete; the others are taken back with what they
// have and go on in the next phase, with the weights of then. Which groups a step trains on is decided by the engine
// step in which they are complete, and by draw where that is equal: a function of the run, not of threads or clocks.
//
// It also learns how long answers are, which orders later epochs and caps answers (prompts/prompt_source.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/task_queue.h"
#include "loop/grpo_inputs.h"
#include "loop/metrics.h"
#include "prompts/prompt_source.h"
#include "rollout/engine.h"

namespace hone {

PromptSourceOptions prompt_source_options(const Recipe& recipe);

class TrainingRollout {
 public:
  // All outlive it. Raises Error when the prompts do not fill one batch.
  TrainingRollout(const Recipe& recipe, const GrpoInputs& inputs, Engine& engine, bool quiet);

  // The groups of a step by draw, with their scores. `version`: of the policy that draws now.
  std::vector<Group> roll_out(int32_t version, Metrics& metrics);
  // The step that trained on these groups is whole: what is saved from now on is the state after it.
  void end_step(std::span<const Group> groups);

  int64_t epoch() const { return source_.position().epoch; }

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
  // Expected of an answer, mean over carried and drawn groups.
  double expected_length(std::span<const DrawnPrompt> drawn) const;
  SamplingParams sampling(std::span<const DrawnPrompt> drawn) const;
  // Ends with the first groups that are complete, which `scoring` is given as they come; the others are carried_
  // afterwards.
  void run_phase(std::span<const DrawnPrompt> drawn, const SamplingParams& sampling, std::vector<Group>& groups,
                 TaskQueue& scoring);
  void report_lengths(std::span<const Group> groups, Metrics& metrics) const;
  void report_early_stop(std::span<const Group> groups, int64_t cap, Metrics& metrics) const;
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
