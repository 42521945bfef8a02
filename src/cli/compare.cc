// hone compare: two dumps of eval, sample by sample.
#include <algorithm>

#include "cli/commands.h"
#include "core/error.h"
#include "io/json.h"
#include "loop/comparison.h"

namespace hone::cli {

namespace {

io::Json as_json(const ComparedSource& source) {
  const Interval& difference = source.difference;
  return io::Json::object({{"data_source", source.data_source},
                           {"num_prompts", source.num_prompts},
                           {"num_absent", source.num_absent},
                           {"mean_first", source.mean_a},
                           {"mean_second", source.mean_b},
                           {"difference", source.mean_b - source.mean_a},
                           {"difference_interval", io::Json::array({io::Json::number_or_null(difference.low),
                                                                    io::Json::number_or_null(difference.high)})},
                           {"prompts_better", source.better},
                           {"prompts_worse", source.worse},
                           {"p_value", source.p_value},
                           {"samples_better", source.samples_won},
                           {"samples_worse", source.samples_lost}});
}

void print_source(const ComparedSource& source) {
  fmt::print("{}: {} prompts: mean {:.4f} -> {:.4f}, difference {:+.4f} [{:+.4f}, {:+.4f}]\n", source.data_source,
             source.num_prompts, source.mean_a, source.mean_b, source.mean_b - source.mean_a, source.difference.low,
             source.difference.high);
  fmt::print("  prompts: {} better, {} worse (sign test p = {:.3g}); samples: {} better, {} worse, {} absent\n",
             source.better, source.worse, source.p_value, source.samples_won, source.samples_lost, source.num_absent);
}

void print_changes(const ComparedSource& source, int64_t show) {
  for (const ComparedSample& sample : source.changed) {
    if (show-- <= 0) return;
    fmt::print("-- {}, draw {}, sample {}: {} -> {}, ground truth {}\n{}\n-- first:\n{}\n-- second:\n{}\n",
               source.data_source, sample.draw, sample.sample, sample.score_a, sample.score_b, sample.ground_truth,
               sample.input, sample.output_a, sample.output_b);
  }
}

}  // namespace

int run_compare(const CompareArgs& args) {
  if (args.show < 0) throw Error(fmt::format("--show: expected at least 0, found {}", args.show));
  for (const ComparedSource& source : compare_evaluations(args.first, args.second)) {
    if (args.json) {
      fmt::print("{}\n", as_json(source).dump());
    } else {
      print_source(source);
      print_changes(source, args.show);
    }
  }
  return 0;
}

}  // namespace hone::cli
