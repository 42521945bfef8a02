#include "rollout/speculator.h"

#include <algorithm>

#include "rollout/suffix_automaton.h"

namespace hone {

// The texts of a group: with from_group in one automaton, else each sample in its own.
struct GroupDrafts {
  struct Sample {
    int32_t text = -1;     // -1: not begun
    int64_t num_read = 0;  // ids of the sequence that the automaton has
    Acceptance recent{32};
  };
  std::vector<std::unique_ptr<SuffixAutomaton>> automata;
  std::vector<Sample> samples;

  SuffixAutomaton& automaton(size_t sample) { return *automata[automata.size() == 1 ? 0 : sample]; }
};

namespace {

constexpr double kRunMemory = 1000, kFirstGuess = 0.5, kGuessWeight = 8;
constexpr double kRunWeight = 4;                // of the run's share against a sequence's own ids
constexpr double kLeastProbability = 1.0 / 64;  // less likely rows do not pay on any machine

bool draws(const Schedule::Item& item) { return item.num_tokens == item.sequence->num_uncached(); }

void append_all(SuffixAutomaton& automaton, int32_t text, const std::vector<int32_t>& ids) {
  for (int32_t id : ids) automaton.append(text, id);
}

}  // namespace

Speculator::Speculator(const SpeculationOptions& options)
    : options_(options), acceptance_(kRunMemory), history_(options.from_history ? options.max_history_ids : 0) {
  if (!options.cost.empty()) set_cost(options.cost);
}

SpeculationState Speculator::state() const {
  SpeculationState state;
  if (cost_) state.cost = cost_->points();
  state.acceptance = acceptance_.counts();
  state.answers.assign(history_.entries().begin(), history_.entries().end());
  return state;
}

void Speculator::restore(const SpeculationState& state) {
  if (!state.cost.empty()) set_cost(state.cost);  // else what is known stays
  acceptance_.set_counts(state.acceptance);
  history_ = AnswerHistory(options_.from_history ? options_.max_history_ids : 0);
  for (const AnswerHistory::Entry& entry : state.answers) history_.remember(entry);
}

void Speculator::propose(const Schedule& schedule, int64_t most_rows) {
  HONE_CHECK(cost_.has_value(), "no cost of {} rows", schedule.num_tokens);
  offers_.clear();
  drafts_.clear();
  budget_.clear();
  for (const Schedule::Item& item : schedule.items) {
    item.sequence->draft.clear();
    if (draws(item)) read(*item.sequence);
  }
  const auto num_draws = static_cast<int64_t>(schedule.draws.size());
  if (options_.disable_by_batch_size > 0 && num_draws > options_.disable_by_batch_size) return;
  for (const Schedule::Item& item : schedule.items) {
    if (draws(item)) offer(*item.sequence);
  }
  const std::vector<int64_t>& counts = budget_.choose(*cost_, schedule.num_tokens, num_draws, most_rows);
  for (size_t o = 0; o < offers_.size(); ++o) {
    const auto first = drafts_.begin() + static_cast<std::ptrdiff_t>(offers_[o].begin);
    offers_[o].sequence->draft.assign(first, first + counts[o]);
  }
}

// Gives the automaton what the sequence has got since, and learns from it how good a proposal would have been.
void Speculator::read(Sequence& sequence) {
  SequenceGroup& group = *sequence.group;
  if (group.drafts == nullptr) {
    group.drafts = std::make_shared<GroupDrafts>();
    group.drafts->automata.resize(options_.from_group ? 1 : group.sequences.size());
    group.drafts->samples.resize(group.sequences.size());
  }
  GroupDrafts::Sample& sample = group.drafts->samples[sequence.sample];
  if (sample.text < 0) start(group, *group.drafts, sequence.sample);
  SuffixAutomaton& automaton = group.drafts->automaton(sequence.sample);
  for (; sample.num_read < sequence.num_ids(); ++sample.num_read) {
    const int32_t id = sequence.ids[static_cast<size_t>(sample.num_read)];
    const SuffixAutomaton::Match match = automaton.match(sample.text);
    if (match.length > 0) {
      const bool right = automaton.next_id(match) == id;
      acceptance_.observe(match.length, right);
      sample.recent.observe(match.length, right);
    }
    automaton.append(sample.text, id);
  }
}

void Speculator::start(const SequenceGroup& group, GroupDrafts& drafts, size_t sample) {
  std::unique_ptr<SuffixAutomaton>& automaton = drafts.automata[drafts.automata.size() == 1 ? 0 : sample];
  const std::vector<int32_t>& prompt = group.drawn.prompt->ids;
  if (automaton == nullptr) {
    automaton = std::make_unique<SuffixAutomaton>();
    append_all(*automaton, automaton->add_text(), prompt);
    if (const AnswerHistory::Entry* earlier = history_.find(prompt)) {
      for (const std::vector<int32_t>& answer : earlier->answers)
        append_all(*automaton, automaton->add_text(0), answer);
    }
  }
  drafts.samples[sample].text = automaton->add_text(0);
  drafts.samples[sample].num_read = static_cast<int64_t>(prompt.size());
}

// A first id may be drawn from a row that siblings share, so drafts come after it. Penalties look at the ids before a
// row, of which drafts are none yet.
void Speculator::offer(Sequence& sequence) {
  if (sequence.num_response() == 0 || sequence.group->sampling.filter.penalises()) return;
  SequenceGroup& group = *sequence.group;
  const GroupDrafts::Sample& sample = group.drafts->samples[sequence.sample];
  const SuffixAutomaton& automaton = group.drafts->automaton(sequence.sample);
  const SuffixAutomaton::Match match = automaton.match(sample.text);
  const int64_t left = group.sampling.max_new_tokens - sequence.num_response() - 1;  // the last id is drawn, not fed
  const size_t begin = drafts_.size();
  automaton.draft(sample.text, match, std::min(options_.num_speculative_tokens, left), drafts_);
  probabilities_.clear();
  double probability = 1;
  for (int64_t length = match.length; begin + probabilities_.size() < drafts_.size(); ++length) {
    const double run = acceptance_.probability(length, kFirstGuess, kGuessWeight);
    probability *= sample.recent.probability(length, run, kRunWeight);
    if (probability < kLeastProbability) break;
    probabilities_.push_back(probability);
  }
  offers_.push_back({&sequence, begin});
  budget_.offer(probabilities_);
}

void Speculator::count(const Sequence& sequence, int64_t index, bool right) {
  stats_.total_right_length += right;
  if (index > 0) return;
  ++stats_.num_sequence_steps;
  stats_.predict_times += !sequence.draft.empty();
  stats_.effective_times += right;
  stats_.num_drafts += static_cast<int64_t>(sequence.draft.size());
}

void Speculator::remember(const SequenceGroup& group) {
  if (!options_.from_history) return;
  AnswerHistory::Entry entry{group.drawn.prompt->ids, {}};
  for (const Sequence& sequence : group.sequences) {
    entry.answers.emplace_back(sequence.ids.begin() + sequence.num_prompt, sequence.ids.end());
  }
  history_.remember(std::move(entry));
}

}  // namespace hone
