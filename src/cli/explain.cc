// hone explain: what a metric or an option means.
#include "cli/commands.h"
#include "config/print.h"
#include "core/error.h"
#include "loop/metrics.h"
#include "loop/recipe.h"
#include "loop/sft_recipe.h"

namespace hone::cli {

namespace {

template <class R>
std::string option_help(const std::string& name) {
  R recipe;
  return config::help_text(schema_of(recipe), name);
}

}  // namespace

int run_explain(const std::string& name) {
  if (name.empty()) {
    for (const MetricDefinition& d : metric_definitions()) fmt::print("{}: {}\n", d.name, d.definition);
    return 0;
  }
  if (const auto metric = find_metric(name)) {
    fmt::print("{}: {}\n", name, metric->definition);
    return 0;
  }
  std::string text = option_help<Recipe>(name);
  if (text.empty()) text = option_help<SftRecipe>(name);
  if (text.empty()) {
    throw Error(fmt::format("'{}' is no metric and no option of hone", name),
                "hone explain lists the metrics, hone train --help-config and hone sft --help-config the options");
  }
  fmt::print("{}", text);
  return 0;
}

}  // namespace hone::cli
