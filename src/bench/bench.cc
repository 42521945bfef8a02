#include "bench/bench.h"

#include "bench/check.h"
#include "bench/gemm.h"
#include "bench/load.h"
#include "bench/oversampling.h"
#include "bench/resampler.h"
#include "bench/rollout.h"
#include "bench/scheduling.h"
#include "bench/scorers.h"
#include "bench/speculation.h"
#include "bench/tokenize.h"
#include "bench/train.h"
#include "bench/train_memory.h"
#include "bench/train_work.h"
#include "core/error.h"

namespace hone::bench {

namespace {

struct Bench {
  std::string_view name;
  int (*run)(const Options&);
};

constexpr Bench kBenches[] = {
    {"gemm", run_gemm},
    {"train", run_train},
    {"train_memory", run_train_memory},
    {"rollout", run_rollout},
    {"tokenize", run_tokenize},
    {"load", run_load},
    {"scorers", run_scorers},
    {"check", run_check},
    {"speculation_tail", run_speculation_tail},
    {"speculation_crowd", run_speculation_crowd},
    {"speculation_draft", run_speculation_draft},
    {"resampler", run_resampler},
    {"oversampling", run_oversampling},
    {"chunked_prefill", run_chunked_prefill},
    {"group_prefill", run_group_prefill},
    {"rollout_memory", run_rollout_memory},
    {"no_second_pass", run_no_second_pass},
    {"prefix_sharing", run_prefix_sharing},
    {"dynamic_batch", run_dynamic_batch},
};

}  // namespace

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const Bench& bench : kBenches) all.push_back(bench.name);
  return all;
}

int run(std::string_view name, const Options& options) {
  std::string known;
  for (const Bench& bench : kBenches) {
    if (bench.name == name) return bench.run(options);
    known += fmt::format(" {}", bench.name);
  }
  throw Error(fmt::format("bench: '{}' is no benchmark", name), fmt::format("one of{}", known));
}

}  // namespace hone::bench
