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
    for (const MetricDefinition& d : metric_definitions()) {
      fmt::print("{}{}: {}\n", d.name, d.in_rl && d.in_sft ? "" : d.in_rl ? " (train)" : " (sft)", d.definition);
    }
    return 0;
  }
  if (const auto metric = find_metric(name)) {
    fmt::print("{}: {}\n", name, metric->definition);
    return 0;
  }
  const std::string train = option_help<Recipe>(name), sft = option_help<SftRecipe>(name);
  if (train.empty() && sft.empty()) {
    Recipe recipe;
    const std::string nearest = schema_of(recipe).nearest(name);
    throw Error(fmt::format("'{}' is no metric and no option of hone{}", name,
                            nearest.empty() ? "" : "; the nearest option is " + nearest),
                "hone explain lists the metrics, hone train --help-config and hone sft --help-config the options");
  }
  fmt::print("{}", train);
  if (sft != train) fmt::print("{}{}", train.empty() || sft.empty() ? "" : "in hone sft:\n", sft);
  return 0;
}

}  // namespace hone::cli
