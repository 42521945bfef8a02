// Metrics of a step under verl's names, each defined once in one line. A name outside the list is a bug.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json.h"

namespace hone {

enum class RunKind { rl, sft };

struct MetricDefinition {
  std::string_view name;  // `*` stands for any part, as in val-aux/*; {mean,max} for one of these
  std::string_view definition;
  bool in_rl = true, in_sft = true;  // runs that have it
};
std::span<const MetricDefinition> metric_definitions();
// The names of a definition, one for each choice of its braces; `*` stays.
std::vector<std::string> names_of(const MetricDefinition& definition);
bool matches_metric(std::string_view pattern, std::string_view name);
// The definition that covers this name.
std::optional<MetricDefinition> find_metric(std::string_view name);
// Clock fields are the only ones that may differ between equal runs (law 3).
bool is_clock_metric(std::string_view name);

// The metrics of one step in the order they were set.
class Metrics {
 public:
  void set(const std::string& name, double value);
  void add(const std::string& name, double value);  // to what is there, or to 0
  double get(std::string_view name) const;          // must be there
  bool has(std::string_view name) const;
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }
  // One object; a number that is not finite becomes null.
  io::Json json() const;

 private:
  std::vector<std::pair<std::string, double>> values_;
};

}  // namespace hone
