// Speculator: proposes ids that a step may compute beside those it has to, so that a sequence gets several in one step.
// There is no draft model: what followed the same ids before is proposed again, from the request's own text and, as
// switched, from the answers of its group while they grow and from those to the same prompt in earlier epochs. How many
// is decided over all sequences of the step (draft_budget.h) by how often proposals came true (acceptance.h) and by
// what rows cost. The drawn id is the model's own draw; a draft is kept when it equals it, so proposals change no
// answer and no bit of a log-prob, only the number of steps. Holds no tensors; the same calls propose the same (law 2).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "rollout/acceptance.h"
#include "rollout/answer_history.h"
#include "rollout/draft_budget.h"
#include "rollout/scheduler.h"

namespace hone {

struct SpeculationOptions {
  int64_t num_speculative_tokens = 8;  // most drafts of a sequence in a step
  int64_t disable_by_batch_size = 0;   // steps with more sequences have no drafts; 0: the cost of rows alone decides
  bool from_group = true;              // the answers of the group
  bool from_history = true;            // the latest answers to the same prompt
  int64_t max_history_ids = 1 << 20;   // ids kept for that, prompts included
  std::vector<CostPoint> cost;         // of a step by its rows; empty: measured before the first step
};

// verl's numbers of a run so far.
struct SpeculationStats {
  int64_t predict_times = 0;       // times that a sequence had drafts in a step
  int64_t effective_times = 0;     // of these, with at least one that was right
  int64_t total_right_length = 0;  // drafts that were right
  int64_t num_drafts = 0;          // drafts computed
  int64_t num_sequence_steps = 0;  // times that a sequence drew, with drafts or without
};

// What later decisions depend on when nothing is in flight: stored with a run, so that it goes on deciding alike.
struct SpeculationState {
  std::vector<CostPoint> cost;
  std::array<Acceptance::Count, Acceptance::kClasses> acceptance;
  std::vector<AnswerHistory::Entry> answers;  // given longest ago first
  bool operator==(const SpeculationState&) const = default;
};

class Speculator {
 public:
  explicit Speculator(const SpeculationOptions& options);

  bool has_cost() const { return cost_.has_value(); }
  void set_cost(std::vector<CostPoint> points) { cost_.emplace(std::move(points)); }
  SpeculationState state() const;
  void restore(const SpeculationState& state);

  // Sets the drafts of every sequence of the schedule; the step has room for `most_rows` more rows. Needs the cost.
  void propose(const Schedule& schedule, int64_t most_rows);
  // A draw counted that came after the first `index` drafts of the sequence's; `right`: it is the next one.
  void count(const Sequence& sequence, int64_t index, bool right);
  // Every sample of the group has ended.
  void remember(const SequenceGroup& group);
  const SpeculationStats& stats() const { return stats_; }

 private:
  struct Offer {
    Sequence* sequence;
    size_t begin;  // of its ids in drafts_
  };
  void read(Sequence& sequence);
  void offer(Sequence& sequence);
  void start(const SequenceGroup& group, GroupDrafts& drafts, size_t sample);

  SpeculationOptions options_;
  std::optional<CostCurve> cost_;
  Acceptance acceptance_;
  AnswerHistory history_;
  SpeculationStats stats_;

  DraftBudget budget_;  // these keep their memory from step to step
  std::vector<Offer> offers_;
  std::vector<int32_t> drafts_;
  std::vector<double> probabilities_;
};

}  // namespace hone
