// Metrics of a step under verl's names, each defined once in one line. A name outside the list is a bug.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

struct MetricDefinition {
  std::string_view name;  // `*` stands for any part, as in timing_s/*
  std::string_view definition;
};
std::span<const MetricDefinition> metric_definitions();
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
  // One JSON object in one line; a number that is not finite becomes null.
  std::string json_line() const;

 private:
  std::vector<std::pair<std::string, double>> values_;
};

}  // namespace hone
