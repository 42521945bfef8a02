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
struct Family {
  MicroBatch sequences;
  Load load;
  int64_t work = 0;
  int64_t shared_before = 0;  // rows that the first one would share with the family before, which is full
};

std::vector<Family> families_of(std::span<const SequenceRows> sequences, const MicroBatchLimits& limits,
                                int64_t hidden_size) {
  std::vector<Family> families;
  for (size_t s = 0; s < sequences.size(); ++s) {
    const auto& [rows, shared] = sequences[s];
    const Load more{rows - shared, shared, 1};
    const bool joins = shared > 0 && families.back().load.with(more).within(limits);
    if (!joins) families.push_back({{s, s}, {}, 0, shared});
    Family& family = families.back();
    family.load = family.load.with(joins ? more : Load{rows, 0, 1});
    const int64_t computed = joins ? rows - shared : rows;
    family.work += computed * (6 * hidden_size + rows);
    family.sequences.end = s + 1;
  }
  return families;
}

// Empty if a set is beyond the limits.
std::vector<std::vector<size_t>> sets_within(const std::vector<Family>& families, size_t count,
                                             const MicroBatchLimits& limits) {
  std::vector<int64_t> work;
  for (const Family& family : families) work.push_back(family.work);
  std::vector<std::vector<size_t>> sets = karmarkar_karp(work, count);
  for (const auto& set : sets) {
    Load load;
    for (size_t i = 0; i < set.size(); ++i) {
      load = load.with(families[set[i]].load);
      if (i > 0 && set[i] == set[i - 1] + 1) load.shared += families[set[i]].shared_before;
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
  const std::vector<Family> families = families_of(sequences, limits, hidden_size);
  const Load all = std::accumulate(families.begin(), families.end(), Load{},
                                   [](const Load& sum, const Family& family) { return sum.with(family.load); });
  const auto fewest = static_cast<size_t>((all.rows + limits.tokens - 1) / limits.tokens);
  for (size_t count = fewest; count <= std::min(result.batches.size(), families.size()); ++count) {
    const auto sets = sets_within(families, count, limits);
    if (sets.empty()) continue;
    result = {};
    for (const auto& set : sets) {
      const size_t begin = result.order.size();
      for (const size_t f : set) {
        for (size_t s = families[f].sequences.begin; s < families[f].sequences.end; ++s) result.order.push_back(s);
      }
      result.batches.push_back({begin, result.order.size()});
    }
    break;
  }
  return result;
}

}  // namespace hone
