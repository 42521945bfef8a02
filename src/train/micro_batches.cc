#include "train/micro_batches.h"

#include <algorithm>
#include <numeric>

#include "train/partition.h"

namespace hone {

namespace {

struct Load {
  int64_t rows = 0, shared = 0, sequences = 0;

  Load with(const Load& more) const { return {rows + more.rows, shared + more.shared, sequences + more.sequences}; }
  bool within(const MicroBatchLimits& limits) const {
    return rows <= limits.tokens && shared <= limits.tokens && (limits.sequences == 0 || sequences <= limits.sequences);
  }
};

// Neighbours that have to be together.
struct PromptRun {
  MicroBatch sequences;
  Load load;
  int64_t work = 0;
  int64_t shared_before = 0;  // rows that the first one would share with the run before, which is full
};

std::vector<PromptRun> prompt_runs_of(std::span<const SequenceRows> sequences, const MicroBatchLimits& limits,
                                      int64_t hidden_size) {
  std::vector<PromptRun> runs;
  for (size_t s = 0; s < sequences.size(); ++s) {
    const auto& [rows, shared] = sequences[s];
    const Load more{rows - shared, shared, 1};
    const bool joins = shared > 0 && runs.back().load.with(more).within(limits);
    if (!joins) runs.push_back({{s, s}, {}, 0, shared});
    PromptRun& run = runs.back();
    run.load = run.load.with(joins ? more : Load{rows, 0, 1});
    const int64_t computed = joins ? rows - shared : rows;
    run.work += computed * (6 * hidden_size + rows);
    run.sequences.end = s + 1;
  }
  return runs;
}

// Empty if a set is beyond the limits.
std::vector<std::vector<size_t>> sets_within(const std::vector<PromptRun>& runs, size_t count,
                                             const MicroBatchLimits& limits) {
  std::vector<int64_t> work;
  for (const PromptRun& run : runs) work.push_back(run.work);
  std::vector<std::vector<size_t>> sets = karmarkar_karp(work, count);
  for (const auto& set : sets) {
    Load load;
    for (size_t i = 0; i < set.size(); ++i) {
      load = load.with(runs[set[i]].load);
      if (i > 0 && set[i] == set[i - 1] + 1) load.shared += runs[set[i]].shared_before;
    }
    if (set.empty() || (set.size() > 1 && !load.within(limits))) return {};
  }
  return sets;
}

}  // namespace

std::vector<MicroBatch> cut_micro_batches(std::span<const SequenceRows> sequences, const MicroBatchLimits& limits) {
  std::vector<MicroBatch> batches;
  Load load;
  for (size_t s = 0; s < sequences.size(); ++s) {
    const auto& [rows, shared] = sequences[s];
    const Load joined = load.with({rows - shared, shared, 1});
    const bool joins = !batches.empty() && joined.within(limits);
    if (!joins) batches.push_back({s, s});
    load = joins ? joined : Load{rows, 0, 1};
    batches.back().end = s + 1;
  }
  return batches;
}

BalancedMicroBatches balance_micro_batches(std::span<const SequenceRows> sequences, const MicroBatchLimits& limits,
                                           int64_t hidden_size) {
  BalancedMicroBatches result;
  result.order.resize(sequences.size());
  std::iota(result.order.begin(), result.order.end(), size_t{0});
  result.batches = cut_micro_batches(sequences, limits);
  if (result.batches.size() <= 1) return result;
  const std::vector<PromptRun> runs = prompt_runs_of(sequences, limits, hidden_size);
  int64_t rows = 0;  // a sequence beyond the budget fills one micro-batch, not several
  for (const PromptRun& run : runs) rows += std::min(run.load.rows, limits.tokens);
  const auto fewest = static_cast<size_t>((rows + limits.tokens - 1) / limits.tokens);
  for (size_t count = fewest; count <= std::min(result.batches.size(), runs.size()); ++count) {
    const auto sets = sets_within(runs, count, limits);
    if (sets.empty()) continue;
    result = {};
    for (const auto& set : sets) {
      const size_t begin = result.order.size();
      for (const size_t f : set) {
        for (size_t s = runs[f].sequences.begin; s < runs[f].sequences.end; ++s) result.order.push_back(s);
      }
      result.batches.push_back({begin, result.order.size()});
    }
    break;
  }
  return result;
}

}  // namespace hone
