// DynamicSampling: which groups a step trains on (DAPO, Yu et al. 2025, section 3.2): those whose answers differ in a
// metric, for the others teach nothing. It counts what it sees of the generation batches of one step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop/metrics.h"
#include "records/trajectory.h"

namespace hone {

enum class FilterMetric {
  acc,    // what the scorer calls acc, else its number
  score,  // the scorer's number
  reward  // as shaped
};
// Of algorithm.filter_groups.metric: seq_reward and seq_final_reward are both the reward.
std::optional<FilterMetric> filter_metric(const std::string& name);

// Whether answers with a score and an id differ in the metric. One answer by itself compares with nothing and passes.
bool answers_differ(const Group& group, FilterMetric metric);

class DynamicSampling {
 public:
  // max_batches: 0 or below for no limit. A step without one ends when all num_prompts of the data, and ten generation
  // batches, gave not a single group.
  DynamicSampling(FilterMetric metric, int64_t wanted, int64_t max_batches, int64_t num_prompts)
      : metric_(metric), wanted_(wanted), max_batches_(max_batches), num_prompts_(num_prompts) {}

  // Moves the groups of a generation batch that are to be trained on to `kept`.
  void filter(std::vector<Group>&& batch, std::vector<Group>& kept);
  // Why no other batch is drawn although there are too few groups, with the shares of what was tried.
  std::optional<std::string> reason_to_end() const;
  void report(Metrics& metrics) const;

 private:
  double share(int64_t groups) const { return static_cast<double>(groups) / static_cast<double>(num_tried_); }

  FilterMetric metric_;
  int64_t wanted_, max_batches_, num_prompts_;
  int64_t num_batches_ = 0, num_tried_ = 0, num_kept_ = 0, num_solved_ = 0, num_unsolved_ = 0;
};

}  // namespace hone
