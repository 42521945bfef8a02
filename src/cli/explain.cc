// hone explain: what a metric means, in one line.
#include "cli/commands.h"
#include "core/error.h"
#include "loop/metrics.h"

namespace hone::cli {

int run_explain(const std::string& metric) {
  if (metric.empty()) {
    for (const MetricDefinition& d : metric_definitions()) fmt::print("{}: {}\n", d.name, d.definition);
    return 0;
  }
  const auto found = find_metric(metric);
  if (!found) throw Error(fmt::format("'{}' is no metric of hone", metric), "hone explain lists all of them");
  fmt::print("{}: {}\n", metric, found->definition);
  return 0;
}

}  // namespace hone::cli
